package engine_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

const testRunID = "00000000-0000-4000-8000-00000000aaaa"

// testWorkspace is a worktree that exists on paper only: the pure half never
// looks at it.
var testWorkspace = schema.NewWorkspaceIdentity(absolute("/srv/demo"), absolute("/srv/demo/.git"), absolute("/srv/demo/.git"))

func absolute(path string) string {
	full, err := filepath.Abs(filepath.FromSlash(path))
	if err != nil {
		panic(err)
	}
	return full
}

var startOfTime = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

var (
	stop   = engine.Stop{}
	resume = engine.Resume{}
)

// history is a Run under test and the events that made it.
type history struct {
	t      tester
	run    *engine.Run
	events []engine.Event
	ids    int
	now    time.Time
	asked  bool // the last command asked for an observation
}

func (h *history) facts() engine.Facts {
	h.ids++
	h.now = h.now.Add(1500 * time.Millisecond)
	return engine.Facts{Now: h.now, ActionID: actionID(h.ids)}
}

func actionID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n) }

// startWith is the ordinary start of a test, changed by edits.
func startWith(t tester, git *schema.Observation, edits ...func(*engine.Start)) *history {
	t.Helper()
	h := &history{t: t, now: startOfTime}
	s := engine.Start{RunID: testRunID, Goal: "reach the goal", Budget: 20, Review: true, Workspace: testWorkspace}
	for _, edit := range edits {
		edit(&s)
	}
	f := h.facts()
	f.Git = seen(git)
	d, err := engine.DecideStart(s, f)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	h.take(d)
	return h
}

func withBudget(n int) func(*engine.Start)  { return func(s *engine.Start) { s.Budget = n } }
func withGoal(g string) func(*engine.Start) { return func(s *engine.Start) { s.Goal = g } }
func withoutReview(s *engine.Start)         { s.Review = false }

func (h *history) take(d engine.Decision) {
	h.t.Helper()
	if d.Event != nil {
		h.events = append(h.events, *d.Event)
	}
	h.run = d.Run
}

// try decides a command, first without an observation as the keeper does. A
// refusal that is recorded counts as a refusal, too.
func (h *history) try(c engine.Command, git *engine.GitFact) (engine.Decision, *schema.Error) {
	h.t.Helper()
	f := h.facts()
	d, err := engine.Decide(h.run, c, f)
	h.asked = errors.Is(err, engine.ErrObservationNeeded)
	if h.asked {
		f.Git = git
		d, err = engine.Decide(h.run, c, f)
	}
	if err != nil {
		var refusal *schema.Error
		if !errors.As(err, &refusal) {
			h.t.Fatalf("%T: an error that no caller can be told: %v", c, err)
		}
		return d, refusal
	}
	h.take(d)
	return d, d.Refusal
}

// must decides a command that is to be accepted, in an unchanged worktree.
func (h *history) must(c engine.Command) *history {
	h.t.Helper()
	return h.mustSeeing(c, seen(clean))
}

func (h *history) mustSeeing(c engine.Command, git *engine.GitFact) *history {
	h.t.Helper()
	before := len(h.events)
	if _, refusal := h.try(c, git); refusal != nil {
		h.t.Fatalf("%#v: %v", c, refusal)
	}
	if len(h.events) != before+1 {
		h.t.Fatalf("%T recorded %d events", c, len(h.events)-before)
	}
	return h
}

func (h *history) status() *schema.RunStatus {
	h.t.Helper()
	s, err := h.run.Status()
	if err != nil {
		h.t.Fatalf("status: %v", err)
	}
	return s
}

// action is the current one.
func (h *history) action() *schema.Action {
	h.t.Helper()
	p, err := h.run.ProtocolState()
	if err != nil {
		h.t.Fatalf("protocol state: %v", err)
	}
	if p.Action == nil {
		h.t.Fatalf("no Action waits in state %s %s", p.State, p.PauseReason)
	}
	return p.Action
}

// outcome of the current Action; it is legal for every kind unless edited.
func (h *history) outcome(edits ...func(*schema.Outcome)) *schema.Outcome {
	h.t.Helper()
	return outcomeOf(h.action(), edits...)
}

func outcomeOf(a *schema.Action, edits ...func(*schema.Outcome)) *schema.Outcome {
	o := &schema.Outcome{
		ContractVersion: schema.ContractVersion, ActionID: a.ActionID, ActionKind: a.Kind,
		Status: schema.Completed, Summary: "did " + string(a.Kind),
		Observations: []string{}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{},
	}
	switch a.Kind {
	case schema.Implement:
		o.Implementation = implementation(schema.ResultApplied)
	case schema.Review:
		o.Review = &schema.ReviewReport{Result: schema.ReviewNoFindings, Findings: []schema.Finding{}, Uncertainties: []string{}}
	}
	for _, edit := range edits {
		edit(o)
	}
	return o
}

func implementation(result schema.ImplementationResult) *schema.Implementation {
	return &schema.Implementation{
		Result: result, FilesChanged: []string{}, Activities: []schema.Activity{}, Uncertainties: []string{}, Attempts: 1,
	}
}

// submitted is the command for an Outcome, decoded from bytes as a host's is.
func submitted(t tester, o *schema.Outcome) engine.Submit {
	t.Helper()
	return submittedBytes(t, o.ActionID, encode(t, o))
}

func submittedBytes(t tester, action string, document []byte) engine.Submit {
	t.Helper()
	decoded, fault := schema.DecodeOutcome(document)
	if fault != nil {
		t.Fatalf("the test's Outcome can not be decoded: %v", fault)
	}
	return engine.Submit{ActionID: action, Outcome: decoded, Payload: schema.PayloadDigest(document)}
}

func encode(t tester, v any) []byte {
	t.Helper()
	data, err := schema.Marshal(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return data
}

// submit reports on the current Action, in an unchanged worktree.
func (h *history) submit(edits ...func(*schema.Outcome)) *history {
	h.t.Helper()
	return h.must(submitted(h.t, h.outcome(edits...)))
}

func (h *history) submitSeeing(git *engine.GitFact, edits ...func(*schema.Outcome)) *history {
	h.t.Helper()
	return h.mustSeeing(submitted(h.t, h.outcome(edits...)), git)
}

func suggesting(kind schema.Kind, brief string) func(*schema.Outcome) {
	return func(o *schema.Outcome) { o.SuggestedActions = []schema.Suggestion{{Kind: kind, Brief: brief}} }
}

// asking turns the Outcome into a question.
func asking(reason schema.PauseReason) func(*schema.Outcome) {
	return func(o *schema.Outcome) {
		o.Status, o.Implementation, o.SuggestedActions = schema.NeedsInput, nil, []schema.Suggestion{}
		o.Pause = &schema.Pause{Reason: reason, Question: "what now?"}
		if reason == schema.DestructiveConfirmationRequired {
			o.Pause.DestructiveRequest = destructiveRequest()
		}
	}
}

func superseding(action string) func(*schema.Outcome) {
	return func(o *schema.Outcome) { o.Pause.SupersedesAnswerActionID = &action }
}

func destructiveRequest() *schema.DestructiveRequest {
	r := &schema.DestructiveRequest{
		RequestID: "3f6d2f0c-9a51-4c3e-8b7a-5d1e2c4b6a90", Impact: "drops it;\nno \"undo\"",
		Targets: []schema.Target{{Kind: schema.TargetGitRef, Value: "refs/heads/old"}, {Kind: schema.TargetPath, Value: "tmp/é\\x"}},
	}
	r.ScopeSHA256 = schema.ScopeDigest(r.RequestID, r.Impact, r.Targets)
	return r
}

// toImplement brings a new Run to its Implement.
func (h *history) toImplement() *history {
	h.t.Helper()
	return h.submit(suggesting(schema.Implement, "do it"))
}

// atKind starts a Run and brings it to an Action of the kind.
func atKind(t tester, kind schema.Kind) *history {
	t.Helper()
	h := startWith(t, clean)
	switch kind {
	case schema.Clarify:
		h.submit(suggesting(schema.Clarify, "ask"))
	case schema.Implement:
		h.toImplement()
	case schema.Review:
		h.submitSeeing(seen(edited))
	case schema.Summarize:
		h.submit()
	}
	return h
}

// replayed makes the Run once more of its events, through their JSON.
func (h *history) replayed() *engine.Run {
	h.t.Helper()
	run, err := engine.Replay(testRunID, h.decoded())
	if err != nil {
		h.t.Fatalf("replay: %v", err)
	}
	return run
}

func (h *history) decoded() []engine.Event {
	h.t.Helper()
	events := make([]engine.Event, len(h.events))
	for i, e := range h.events {
		data, err := e.Encode()
		if err != nil {
			h.t.Fatalf("encode: %v", err)
		}
		if events[i], err = engine.DecodeEvent(string(e.Type), e.At, data); err != nil {
			h.t.Fatalf("decode: %v\n%s", err, data)
		}
	}
	return events
}

func statusJSON(t tester, r *engine.Run) string {
	t.Helper()
	s, err := r.Status()
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	return string(encode(t, s))
}

// repeated is a text of exactly n bytes.
func repeated(unit string, n int) string {
	text := strings.Repeat(unit, n/len(unit))
	return text + strings.Repeat("x", n-len(text))
}
