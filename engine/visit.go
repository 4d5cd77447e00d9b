package engine

import (
	"context"
	"errors"
	"fmt"

	"slipway/gitwatch"
	"slipway/journal"
	"slipway/schema"
)

// visit is one operation in one worktree: who asks, which workspace was found,
// and the storage that was opened there.
type visit struct {
	keeper    *Keeper
	caller    Caller
	workspace schema.WorkspaceIdentity
	store     *journal.Store
}

// visit finds the worktree and opens its storage (run.md, 6.1, stages 2, 4, 5).
// The caller closes the store.
func (k *Keeper) visit(ctx context.Context, caller Caller, access journal.Access) (*visit, error) {
	w, err := k.workspace(ctx, caller)
	if err != nil {
		return nil, err
	}
	v := &visit{keeper: k, caller: caller, workspace: w}
	v.store, err = journal.OpenStore(k.fs, w.GitCommonDir, access)
	if err != nil {
		return nil, schema.Runtime(schema.CodeRunstoreUnavailable, schema.NextRunDoctor(v.place()), nil,
			"the storage of Runs in %s can not be used: %v%s", w.GitCommonDir, err, sandboxHint(caller.Environment))
	}
	if err := v.recheck(ctx); err != nil {
		v.store.Close()
		return nil, err
	}
	return v, nil
}

// Workspace finds the worktree that the caller's root is in. The error is
// git_repository_required or git_repository_unavailable.
func (k *Keeper) Workspace(ctx context.Context, caller Caller) (schema.WorkspaceIdentity, error) {
	return k.workspace(ctx, caller)
}

func (k *Keeper) workspace(ctx context.Context, caller Caller) (schema.WorkspaceIdentity, error) {
	w, err := k.git.Discover(ctx, caller.Environment, caller.Root)
	if err == nil {
		return w, nil
	}
	place := schema.UnavailablePlace(caller.Root)
	if errors.Is(err, gitwatch.ErrTimeout) {
		return w, schema.Runtime(schema.CodeGitRepositoryUnavailable, schema.NextRetryDoctorJSON(place), nil,
			"Git did not say in time which repository %s is in", place.Root)
	}
	return w, schema.Usage(schema.CodeGitRepositoryRequired, schema.NextNone(place), "%v. Name a folder in a worktree as the root (--root)", err)
}

// Place is where the next of a usage error applies: the worktree at the caller's
// root, else the root itself (next.md, section 7).
func (k *Keeper) Place(ctx context.Context, caller Caller) schema.Place {
	w, err := k.git.Discover(ctx, caller.Environment, caller.Root)
	if err != nil {
		return schema.UnavailablePlace(caller.Root)
	}
	return w.Place()
}

func (v *visit) place() schema.Place { return v.workspace.Place() }

func (v *visit) key(id string) key { return key{v.workspace.GitCommonDir, id} }

// recall gives what is remembered of a Run of this workspace; the zero value where
// nothing is.
func (v *visit) recall(id string) remembered {
	have := v.keeper.runs.get(v.key(id))
	if have.run == nil || have.run.workspace != v.workspace {
		return remembered{}
	}
	return have
}

// recheck finds the workspace once more: it must still be the one that the
// operation began in (storage.md, 11.2).
func (v *visit) recheck(ctx context.Context) error {
	now, err := v.keeper.git.Discover(ctx, v.caller.Environment, v.caller.Root)
	switch {
	case err != nil:
		return schema.Runtime(schema.CodeWorkspaceIdentityMismatch, schema.NextNone(v.place()),
			schema.WorkspaceDetails{ExpectedWorkspaceIdentity: v.workspace.ID, DiscoveryError: err.Error()},
			"the workspace can not be found any more: %v", err)
	case now != v.workspace:
		return schema.Runtime(schema.CodeWorkspaceIdentityMismatch, schema.NextInspectInWorkspace(v.place()),
			schema.WorkspaceDetails{ExpectedWorkspaceIdentity: v.workspace.ID, ObservedWorkspaceIdentity: now.ID},
			"the workspace changed while the command ran")
	}
	return nil
}

// foreign refuses a Run of another workspace.
func (v *visit) foreign(owner schema.WorkspaceIdentity) error {
	return schema.Runtime(schema.CodeWorkspaceIdentityMismatch, schema.NextInspectInWorkspace(owner.Place()),
		schema.WorkspaceDetails{ExpectedWorkspaceIdentity: owner.ID, ObservedWorkspaceIdentity: v.workspace.ID},
		"the Run belongs to the worktree %s", owner.WorktreeRoot)
}

// checkOwner reads whose Run it is from its first record, without the lock
// (run.md, 6.1, stages 6 and 7).
func (v *visit) checkOwner(id string) error {
	started, err := v.started(id)
	if err != nil {
		return v.unusable(id, err)
	}
	if owner := started.Change.Started.WorkspaceIdentity; owner != v.workspace {
		return v.foreign(owner)
	}
	return nil
}

// started is the first event of a Run.
func (v *visit) started(id string) (Event, error) {
	record, err := v.store.First(id)
	if err != nil {
		return Event{}, err
	}
	e, err := DecodeEvent(record.Type, record.At, record.Data)
	if err == nil {
		_, err = Stub(id, e)
	}
	if err != nil {
		return Event{}, &journal.InvalidError{Sequence: 1, Err: err}
	}
	return e, nil
}

// unusable is what a mutation says of a Run that is not there or has no usable
// first record.
func (v *visit) unusable(id string, err error) error {
	next := schema.NextInspectRun(v.place(), id)
	if errors.Is(err, journal.ErrNoRun) {
		return schema.Runtime(schema.CodeRuntimeError, next, nil, "there is no Run %s in this repository; `slipway status` lists the Runs there are", id)
	}
	return schema.Runtime(schema.CodeRuntimeError, next, nil, "the Run %s can not be used: %s; `slipway journal verify %s` says more", id, damageOf(err), id)
}

func (v *visit) observe(ctx context.Context) *GitFact {
	o, _, err := v.keeper.git.Observe(ctx, v.caller.Environment, v.workspace)
	return gitFact(&o, err)
}

// observeFinally is for the observation that ends a Run: nothing later would make
// up for what it misses.
func (v *visit) observeFinally(ctx context.Context) *GitFact {
	o, err := v.keeper.git.ObserveFresh(ctx, v.caller.Environment, v.workspace)
	return gitFact(&o, err)
}

func gitFact(o *schema.Observation, err error) *GitFact {
	if err != nil {
		return &GitFact{Failure: printableFailure(err)}
	}
	return &GitFact{Observation: o}
}

// printableFailure makes the words of Git fit to be stored as a statement.
func printableFailure(err error) string {
	text := err.Error()
	if schema.IsText(text) {
		return text
	}
	return fmt.Sprintf("%q", text)
}
