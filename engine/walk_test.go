package engine_test

import (
	"flag"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"slipway/engine"
	"slipway/schema"
)

// TestWalk takes Runs through random operations and holds each step against the
// model: what it answers, what the record of the Run is afterwards, and that
// nothing of the past changed.
func TestWalk(t *testing.T) {
	setFlag(t, "rapid.checks", walks)
	setFlag(t, "rapid.steps", walkLength)
	counts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(t, counts)
		t.Repeat(map[string]func(*rapid.T){"": w.check, "step": w.step})
		w.finish()
	})
	total := 0
	for _, n := range counts {
		total += n
	}
	t.Logf("%d operations: %v", total, counts)
	if testing.Short() || walks < fullWalks {
		return
	}
	if total < leastOperations {
		t.Errorf("only %d operations", total)
	}
	for _, code := range walkedCodes {
		if counts[string(code)] == 0 {
			t.Errorf("no walk met %s", code)
		}
	}
}

// What a full test must have walked; fewer walks than fullWalks prove less.
const (
	fullWalks       = 2000
	leastOperations = 100_000
)

// walkedCodes are the refusals that a walk must have met.
var walkedCodes = []schema.Code{
	schema.CodeStaleAction, schema.CodeOutcomeConflict, schema.CodeRunNotActive, schema.CodeInvalidOutcome,
	schema.CodeInvalidDecisionSupersession, schema.CodeAnswerConflict, schema.CodeAnswerNotExpected,
	schema.CodeAnswerNotAllowed, schema.CodeAnswerRequired, schema.CodeBudgetExhausted, schema.CodeInvalidAction,
	schema.CodeDestructiveConfirmationNotExpected, schema.CodeDestructiveConfirmationFlagRequired,
	schema.CodeDestructiveScopeRequired, schema.CodeDestructiveScopeMismatch, schema.CodeRunNotSkippable,
	schema.CodeRunNotResumable, schema.CodeRunAlreadyEnded, schema.CodeSourceModeNotAllowed,
}

func setFlag(t *testing.T, name string, value int) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, strconv.Itoa(value)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, before) })
}

// walk is a Run on its way and the model of it.
type walk struct {
	t      *rapid.T
	h      *history
	m      *model
	counts map[string]int
	// issued are the Actions as they were first given to the host.
	issued []schema.Action
	// kept is an older Run, which must stay as it was.
	kept     *engine.Run
	keptJSON string
	// accepted and answered are commands that can be repeated.
	accepted []engine.Submit
	answered []engine.Reply
}

func newWalk(t *rapid.T, counts map[string]int) *walk {
	w := &walk{t: t, counts: counts}
	git := one(w, "worktree", worktreesAtStart)
	budget := one(w, "budget", []int{1, 2, 5, 20, 20, 1000})
	review := !w.rarely("no review", 3)
	w.h = startWith(t, git, withBudget(budget), func(s *engine.Start) { s.Review = review })
	w.m = modelOf(w.h)
	w.checkStart(git, budget, review)
	w.issued = append(w.issued, w.m.s.Actions[0].Action)
	w.counts["start"]++
	return w
}

// checkStart is 6.2.
func (w *walk) checkStart(git *schema.Observation, budget int, review bool) {
	s := w.m.s
	incomplete := 0
	if !git.ContentObservationComplete {
		incomplete = 1
	}
	switch {
	case s.State != "active", s.RemainingBudget != budget-1, s.InitialBudget != budget, s.ReviewEnabled != review, s.ReviewPending:
		w.t.Fatalf("a started Run: %+v", s)
	case !reflect.DeepEqual(s.InitialGit, *git), !reflect.DeepEqual(s.CurrentGit, *git), s.FinalGitObserved:
		w.t.Fatalf("the worktree of a started Run: %+v", s)
	case len(s.Actions) != 1, s.Actions[0].Action.Kind != "orient", s.Actions[0].Action.RemainingBudget != budget-1:
		w.t.Fatalf("the Actions of a started Run: %+v", s.Actions)
	case len(s.Uncertainties) != incomplete, len(s.Observations)+len(s.KnownIssues)+len(s.Answers) != 0:
		w.t.Fatalf("the lists of a started Run: %+v", s)
	}
	if incomplete > 0 {
		w.m.texts["git_content_observation_incomplete:"] = s.Uncertainties[0]
	}
}

// step is one operation.
func (w *walk) step(t *rapid.T) {
	w.t, w.h.t = t, t
	if w.m.s.State == schema.Ended && w.rarely("start anew", 4) {
		w.finish()
		*w = *newWalk(t, w.counts)
		return
	}
	op := w.draw()
	w.m.id, w.m.instant = actionID(w.h.ids+1), w.h.now.Add(1500e6)
	after := w.m.clone()
	want := op.expect(after)
	before := w.h.run
	d, refusal := w.h.try(op.command, op.git)
	w.count(op, refusal)
	w.compareAnswer(op, want, d, refusal, after)
	if !want.recorded {
		if d.Event != nil || w.h.run != before {
			t.Fatalf("%s: recorded though nothing happened", op.name)
		}
		return
	}
	if d.Event == nil {
		t.Fatalf("%s: not recorded", op.name)
	}
	w.compareRecord(op, after)
	w.m = after
	op.remember(w)
}

func (w *walk) count(op *operation, refusal *schema.Error) {
	if refusal == nil {
		w.counts[op.name]++
	} else {
		w.counts[string(refusal.Code)]++
	}
}

// compareAnswer looks at what the caller is told.
func (w *walk) compareAnswer(op *operation, want verdict, d engine.Decision, refusal *schema.Error, after *model) {
	w.t.Helper()
	if refusal == nil && want.code != "" || refusal != nil && refusal.Code != want.code {
		w.t.Fatalf("%s: got %v, want %q; state %s %s", op.name, refusal, want.code, w.m.s.State, w.m.s.PauseReason)
	}
	if want.code == "" && w.h.asked != want.asks {
		w.t.Fatalf("%s: asked for an observation: %v", op.name, w.h.asked)
	}
	if refusal == nil {
		return
	}
	now := w.m
	if want.recorded {
		now = after
	}
	next := now.next()
	if want.resume {
		next = now.resumeChoices()
	}
	var details schema.Details = schema.RunDetails{RunID: now.s.ID, State: now.s.State}
	if want.bare {
		details = nil
	}
	switch {
	case refusal.ExitCode != 3 || refusal.ContractVersion != 2 || refusal.Message == "":
		w.t.Fatalf("%s: %+v", op.name, refusal)
	case !reflect.DeepEqual(refusal.Next, next):
		w.t.Fatalf("%s: %s offers %+v\nwant %+v", op.name, refusal.Code, refusal.Next, next)
	case refusal.Details != details:
		w.t.Fatalf("%s: %s has the details %+v, want %+v", op.name, refusal.Code, refusal.Details, details)
	}
}

// compareRecord looks at the Run afterwards.
func (w *walk) compareRecord(op *operation, after *model) {
	w.t.Helper()
	got := w.h.status()
	if len(got.PendingActions) == 0 {
		got.PendingActions = nil
	}
	if err := after.settle(got); err != nil {
		w.t.Fatalf("%s: %v", op.name, err)
	}
	after.s.UpdatedAt = w.h.now
	want := after.status()
	if difference := compare(want, *got); difference != "" {
		w.t.Fatalf("%s: the record differs (-want +got):\n%s", op.name, difference)
	}
	w.compareState(got)
	if n := len(got.Actions); n > len(w.issued) {
		if n != len(w.issued)+1 {
			w.t.Fatalf("%s: issued %d Actions", op.name, n-len(w.issued))
		}
		w.issued = append(w.issued, got.Actions[n-1].Action)
	}
	for i, a := range w.issued {
		if !reflect.DeepEqual(a, got.Actions[i].Action) {
			w.t.Fatalf("%s: Action %d is not as it was issued:\n%s", op.name, i, compare(a, got.Actions[i].Action))
		}
	}
}

// compareState holds the protocol state against the record.
func (w *walk) compareState(s *schema.RunStatus) {
	w.t.Helper()
	got, err := w.h.run.ProtocolState()
	if err != nil {
		w.t.Fatalf("protocol state: %v", err)
	}
	want := &schema.ProtocolState{
		ContractVersion: 2, RunID: s.ID, State: s.State, PauseReason: s.PauseReason,
		Summary: s.Summary, Action: s.CurrentAction, Next: s.Next,
	}
	if difference := compare(want, got); difference != "" {
		w.t.Fatalf("the protocol state differs (-want +got):\n%s", difference)
	}
	if err := got.Next.Validate(); err != nil {
		w.t.Fatal(err)
	}
}

// check holds between the steps.
func (w *walk) check(t *rapid.T) {
	w.t, w.h.t = t, t
	switch w.throw("look back", 60) {
	case 0:
		w.compareReplay()
	case 1:
		w.keep()
	}
}

func (w *walk) keep() {
	w.compareKept()
	wantPublishedShapes(w.t, w.h.run)
	w.kept, w.keptJSON = w.h.run, statusJSON(w.t, w.h.run)
}

func (w *walk) compareKept() {
	if w.kept != nil && statusJSON(w.t, w.kept) != w.keptJSON {
		w.t.Fatalf("an older Run changed while a newer one was made")
	}
}

func (w *walk) compareReplay() {
	if got, want := statusJSON(w.t, w.h.replayed()), statusJSON(w.t, w.h.run); got != want {
		w.t.Fatalf("replay makes another Run:\n%s\n%s", got, want)
	}
}

func (w *walk) finish() {
	w.compareReplay()
	w.compareKept()
}
