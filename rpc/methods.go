package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/schema"
)

// Runs is what the methods call: an [engine.Keeper]. Every error of it is a
// *[schema.Error].
type Runs interface {
	Start(context.Context, engine.Caller, engine.StartRequest) (*schema.ProtocolState, error)
	Submit(context.Context, engine.Caller, engine.SubmitRequest) (*schema.ProtocolState, error)
	Answer(context.Context, engine.Caller, engine.AnswerRequest) (*schema.ProtocolState, error)
	Skip(context.Context, engine.Caller, engine.SkipRequest) (*schema.ProtocolState, error)
	Resume(context.Context, engine.Caller, engine.ResumeRequest) (*schema.ProtocolState, error)
	Stop(context.Context, engine.Caller, engine.StopRequest) (*schema.ProtocolState, error)
	Status(ctx context.Context, c engine.Caller, run string) (*schema.RunStatus, error)
	Listing(context.Context, engine.Caller) (engine.Listing, error)
	Log(ctx context.Context, c engine.Caller, run string, after int64, limit int) (*engine.EventLog, error)
	Material(context.Context, engine.Caller, engine.MaterialRequest) (*schema.ActionMaterial, error)
	Section(context.Context, engine.Caller, engine.SectionRequest) (*schema.PinnedMaterial, error)
	Observe(context.Context, engine.Caller) (*engine.Seen, error)
	Workspace(context.Context, engine.Caller) (schema.WorkspaceIdentity, error)
	// Follow and FollowWorkspace tell what happens from now on, until ctx ends.
	Follow(context.Context, engine.Caller, engine.FollowRequest) (iter.Seq2[engine.RunEvent, error], error)
	FollowWorkspace(context.Context, engine.Caller) (iter.Seq2[*schema.Observation, error], error)
	// Close finishes what is due after answers. No call is running by then.
	Close(context.Context) error
}

// target is what a call acts on.
type target struct {
	runs        Runs
	environment []string // of the caller
	session     *session // nil in embedded mode
}

func (t target) caller(root string) engine.Caller {
	return engine.Caller{Root: root, Environment: t.environment}
}

// method is one row of the method table.
type method struct {
	name    string
	mutates bool // the fate of an unanswered call matters
	inline  bool // handled before the connection's next message is looked at
	// decode checks the parameters and gives the call.
	decode func(params json.RawMessage) (func(context.Context, target) (any, error), error)
}

// row makes a method from a function that takes decoded parameters.
func row[P any](name string, call func(context.Context, target, P) (any, error)) method {
	return method{name: name, decode: func(params json.RawMessage) (func(context.Context, target) (any, error), error) {
		var p P
		if err := decodeParams(params, &p); err != nil {
			return nil, err
		}
		if c, ok := any(p).(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, t target) (any, error) { return call(ctx, t, p) }, nil
	}}
}

func mutating(m method) method {
	m.mutates = true
	return m
}

func inline(m method) method {
	m.inline = true
	return m
}

// runMethods are about Runs and worktrees. They need no daemon.
var runMethods = table(
	mutating(row("run/start", startRun)),
	mutating(row("run/submit", submitOutcome)),
	mutating(row("run/answer", answerQuestion)),
	mutating(row("run/skip", skipAction)),
	mutating(row("run/resume", resumeRun)),
	mutating(row("run/stop", stopRun)),
	row("run/status", runStatus),
	row("run/list", listRuns),
	row("run/material", readMaterial),
	row("run/section", readSection),
	row("run/log", runLog),
	row("adapter/list", listAdapters),
	mutating(row("adapter/install", installAdapters)),
	mutating(row("adapter/uninstall", uninstallAdapters)),
	row("doctor/run", runDoctor),
	row("workspace/observe", observeWorkspace),
)

// daemonMethods need a daemon: they are about it or about the connection to it.
var daemonMethods = table(
	row(runSubscribeMethod, subscribeToRuns),
	row(workspaceSubscribeMethod, subscribeToWorkspace),
	row(unsubscribeMethod, unsubscribe),
	inline(row(helloMethod, hello)),
	row(healthMethod, health),
	inline(row(shutdownMethod, shutdown)),
)

func table(rows ...method) map[string]method {
	t := make(map[string]method, len(rows))
	for _, m := range rows {
		t[m.name] = m
	}
	return t
}

// findMethod looks in both tables.
func findMethod(name string) (method, bool) {
	if m, ok := runMethods[name]; ok {
		return m, true
	}
	m, ok := daemonMethods[name]
	return m, ok
}

// methodNames lists the names of both tables in order.
func methodNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(runMethods)), maps.Keys(daemonMethods))
	slices.Sort(names)
	return names
}

// checkRoot holds a root against the rule of every call.
func checkRoot(root string) error {
	if !filepath.IsAbs(root) {
		return errors.New("root must be an absolute path")
	}
	return nil
}

type startParams struct {
	Root         string          `json:"root"`
	Goal         string          `json:"goal"`
	Budget       *int            `json:"budget,omitempty"`
	Review       *bool           `json:"review,omitempty"`
	Source       json.RawMessage `json:"source,omitempty"`
	SourceBase64 *[]byte         `json:"source_base64,omitempty"`
}

func (p startParams) check() error {
	return cmp.Or(checkRoot(p.Root), oneOf(p.Source, p.SourceBase64, "source", false))
}

func startRun(ctx context.Context, t target, p startParams) (any, error) {
	q := engine.StartRequest{Goal: p.Goal, Budget: schema.DefaultBudget, Review: true, Source: payload(p.Source, p.SourceBase64)}
	if p.Budget != nil {
		q.Budget = *p.Budget
	}
	if p.Review != nil {
		q.Review = *p.Review
	}
	return t.runs.Start(ctx, t.caller(p.Root), q)
}

// oneOf checks the two spellings of a document: as a JSON value, whose bytes as
// received count, and as base64 of exact bytes.
func oneOf(value json.RawMessage, exact *[]byte, name string, required bool) error {
	switch given := value != nil; {
	case given && exact != nil:
		return fmt.Errorf("give one of %s and %s_base64", name, name)
	case required && !given && exact == nil:
		return fmt.Errorf("%s or %s_base64 is missing", name, name)
	}
	return nil
}

// payload is the document's bytes; nil only where none was given.
func payload(value json.RawMessage, exact *[]byte) []byte {
	if exact != nil {
		return *exact
	}
	return value
}

// How an Outcome came to the caller; the next of errors offers that way again.
const (
	outcomeFromFile  = "file"
	outcomeFromStdin = "stdin"
)

type submitParams struct {
	Root          string          `json:"root"`
	Run           string          `json:"run"`
	Action        string          `json:"action"`
	Outcome       json.RawMessage `json:"outcome,omitempty"`
	OutcomeBase64 *[]byte         `json:"outcome_base64,omitempty"`
	OutcomeMode   string          `json:"outcome_mode,omitempty"`
}

func (p submitParams) check() error {
	if !slices.Contains([]string{"", outcomeFromFile, outcomeFromStdin}, p.OutcomeMode) {
		return fmt.Errorf("outcome_mode can be %s or %s", outcomeFromFile, outcomeFromStdin)
	}
	return cmp.Or(checkRoot(p.Root), oneOf(p.Outcome, p.OutcomeBase64, "outcome", true))
}

func submitOutcome(ctx context.Context, t target, p submitParams) (any, error) {
	return t.runs.Submit(ctx, t.caller(p.Root), engine.SubmitRequest{
		Run: p.Run, Action: p.Action,
		Outcome: payload(p.Outcome, p.OutcomeBase64), Stdin: p.OutcomeMode == outcomeFromStdin,
	})
}

type answerParams struct {
	Root               string `json:"root"`
	Run                string `json:"run"`
	Action             string `json:"action"`
	Text               string `json:"text,omitempty"`
	ConfirmDestructive bool   `json:"confirm_destructive,omitempty"`
	ScopeSHA256        string `json:"scope_sha256,omitempty"`
}

func (p answerParams) check() error { return checkRoot(p.Root) }

func answerQuestion(ctx context.Context, t target, p answerParams) (any, error) {
	return t.runs.Answer(ctx, t.caller(p.Root), engine.AnswerRequest{
		Run: p.Run, Action: p.Action, Text: p.Text,
		ConfirmDestructive: p.ConfirmDestructive, ScopeSHA256: p.ScopeSHA256,
	})
}

type skipParams struct {
	Root   string `json:"root"`
	Run    string `json:"run"`
	Action string `json:"action"`
}

func (p skipParams) check() error { return checkRoot(p.Root) }

func skipAction(ctx context.Context, t target, p skipParams) (any, error) {
	return t.runs.Skip(ctx, t.caller(p.Root), engine.SkipRequest{Run: p.Run, Action: p.Action})
}

type resumeParams struct {
	Root            string          `json:"root"`
	Run             string          `json:"run"`
	Budget          *int            `json:"budget,omitempty"`
	Source          json.RawMessage `json:"source,omitempty"`
	SourceBase64    *[]byte         `json:"source_base64,omitempty"`
	UsePinnedSource bool            `json:"use_pinned_source,omitempty"`
	SourceChoice    *string         `json:"source_choice,omitempty"`
	Candidate       *string         `json:"candidate,omitempty"`
}

func (p resumeParams) check() error {
	return cmp.Or(checkRoot(p.Root), oneOf(p.Source, p.SourceBase64, "source", false))
}

func resumeRun(ctx context.Context, t target, p resumeParams) (any, error) {
	source := payload(p.Source, p.SourceBase64)
	return t.runs.Resume(ctx, t.caller(p.Root), engine.ResumeRequest{
		Run: p.Run, Budget: p.Budget, HasSource: source != nil, Source: source,
		UsePinnedSource: p.UsePinnedSource, SourceChoice: p.SourceChoice, Candidate: p.Candidate,
	})
}

type stopParams struct {
	Root string  `json:"root"`
	Run  *string `json:"run,omitempty"`
}

func (p stopParams) check() error { return checkRoot(p.Root) }

func stopRun(ctx context.Context, t target, p stopParams) (any, error) {
	q := engine.StopRequest{Any: p.Run == nil}
	if p.Run != nil {
		q.Run = *p.Run
	}
	return t.runs.Stop(ctx, t.caller(p.Root), q)
}

type runParams struct {
	Root string `json:"root"`
	Run  string `json:"run"`
}

func (p runParams) check() error { return checkRoot(p.Root) }

func runStatus(ctx context.Context, t target, p runParams) (any, error) {
	return t.runs.Status(ctx, t.caller(p.Root), p.Run)
}

type materialParams struct {
	Root    string `json:"root"`
	Run     string `json:"run"`
	Action  string `json:"action"`
	Section string `json:"section"`
}

func (p materialParams) check() error { return checkRoot(p.Root) }

func readMaterial(ctx context.Context, t target, p materialParams) (any, error) {
	return t.runs.Material(ctx, t.caller(p.Root), engine.MaterialRequest{Run: p.Run, Action: p.Action, Section: p.Section})
}

type sectionParams struct {
	Root    string `json:"root"`
	Run     string `json:"run"`
	Section string `json:"section"`
}

func (p sectionParams) check() error { return checkRoot(p.Root) }

func readSection(ctx context.Context, t target, p sectionParams) (any, error) {
	return t.runs.Section(ctx, t.caller(p.Root), engine.SectionRequest{Run: p.Run, Section: p.Section})
}

type rootParams struct {
	Root string `json:"root"`
}

func (p rootParams) check() error { return checkRoot(p.Root) }

func listRuns(ctx context.Context, t target, p rootParams) (any, error) {
	return t.runs.Listing(ctx, t.caller(p.Root))
}

type logParams struct {
	Root  string `json:"root"`
	Run   string `json:"run"`
	After int64  `json:"after,omitempty"`
	Limit *int   `json:"limit,omitempty"`
}

func (p logParams) check() error {
	switch {
	case p.After < 0:
		return errors.New("after can not be negative")
	case p.Limit != nil && (*p.Limit < 1 || *p.Limit > engine.MaxLogEvents):
		return fmt.Errorf("limit must be from 1 to %d", engine.MaxLogEvents)
	}
	return checkRoot(p.Root)
}

func runLog(ctx context.Context, t target, p logParams) (any, error) {
	limit := engine.MaxLogEvents
	if p.Limit != nil {
		limit = *p.Limit
	}
	return t.runs.Log(ctx, t.caller(p.Root), p.Run, p.After, limit)
}

// observation is the answer of workspace/observe.
type observation struct {
	*observed
	Mode      gitwatch.Mode `json:"mode"`
	ElapsedUS int64         `json:"elapsed_us"`
}

func observeWorkspace(ctx context.Context, t target, p rootParams) (any, error) {
	began := time.Now()
	o, err := t.runs.Observe(ctx, t.caller(p.Root))
	if err != nil {
		return nil, err
	}
	fields := observed(*o.Observation)
	return observation{&fields, o.Mode, time.Since(began).Microseconds()}, nil
}

// observed is an observation without its own way into JSON, which would stand for
// the whole answer.
type observed schema.Observation
