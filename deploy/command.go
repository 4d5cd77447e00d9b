package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"

	"slipway/schema"
)

// opener opens the folder at an absolute path.
type opener func(path string) (folder, error)

// command is an install or uninstall on its way.
type command struct {
	code      schema.Code // of its failures
	workspace schema.WorkspaceIdentity
	site      *site
	lock      io.Closer
	plans     []*hostPlan
}

// open locks and opens the worktree. The caller closes the command.
func (c *command) open(ctx context.Context, openRoot opener) error {
	var err error
	if c.lock, err = lockSite(ctx, c.workspace, lockWait); err != nil {
		return err
	}
	root, err := openRoot(c.workspace.WorktreeRoot)
	if err != nil {
		return err
	}
	c.site = &site{root: root, path: c.workspace.WorktreeRoot}
	return nil
}

func (c *command) close() {
	if c.site != nil {
		c.site.root.Close()
	}
	if c.lock != nil {
		c.lock.Close()
	}
}

// add takes a host's plan, or says why the command fails.
func (c *command) add(h *host, p *hostPlan, err error) *schema.Error {
	var surface *surfaceError
	switch {
	case errors.As(err, &surface):
		return c.surfaceFault(surface)
	case err != nil:
		return c.fail(OutcomeNotCommitted, nil, fmt.Errorf("%s: %w", h.id, err))
	}
	c.plans = append(c.plans, p)
	return nil
}

// surfaceError is a missing or wrong surface.
type surfaceError struct{ reason string }

func (e *surfaceError) Error() string { return e.reason }

func (c *command) surfaceFault(err *surfaceError) *schema.Error {
	return schema.Usage(schema.CodeInvalidAdapterSurface, schema.NextInstallKiro(c.workspace.Place()), "%v", err)
}

// commit makes all planned changes.
func (c *command) commit(ctx context.Context) (*ChangeReport, *schema.Error) {
	t := newTransaction(c.site, c.plans)
	outcome, err := t.run(ctx)
	if err != nil {
		return nil, c.fail(outcome, t.artifacts, err)
	}
	return newChangeReport(outcome, c.lists(nil)), nil
}

// fail makes the error of the command, with the report of what was planned and
// what was kept.
func (c *command) fail(outcome Outcome, kept []artifact, err error) *schema.Error {
	report := newChangeReport(outcome, c.lists(kept))
	details := schema.AdapterDetails{TransactionOutcome: string(outcome), Report: report}
	return schema.Runtime(c.code, schema.NextInspectHostAdapters(c.workspace.Place()), details, "%s", inOneSentence(err))
}

func (c *command) lists(kept []artifact) reportLists {
	var all reportLists
	for _, p := range c.plans {
		all.add(p.reportLists)
	}
	for _, a := range kept {
		all.artifacts = append(all.artifacts, a.kept)
		all.warnings = append(all.warnings, recoveryWarning(a))
	}
	return all
}
