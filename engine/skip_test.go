package engine_test

import (
	"reflect"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

func TestSkipIsRefused(t *testing.T) {
	skipped := startWith(t, clean).must(engine.Skip{ActionID: actionID(1)})
	runRefusals(t, []refusalCase{
		{name: "stopped", history: stoppedRun(t), command: engine.Skip{ActionID: actionID(1)}, code: schema.CodeRunNotSkippable},
		{name: "ended", history: endedRun(t), command: engine.Skip{ActionID: "nobody"}, code: schema.CodeRunNotSkippable},
		{name: "repeated", history: skipped, command: engine.Skip{ActionID: actionID(1)}, code: schema.CodeStaleAction},
		{name: "nothing waits", history: blindRun(t), command: engine.Skip{ActionID: actionID(1)}, code: schema.CodeStaleAction},
		{name: "without budget", history: exhaustedRun(t), command: engine.Skip{ActionID: actionID(1)}, code: schema.CodeStaleAction},
	})
}

// run.md, 6.5: what follows a skip.
func TestSkip(t *testing.T) {
	cases := []struct {
		name    string
		history *history
		git     *engine.GitFact
		state   schema.State
		pause   schema.PauseReason
		kind    schema.Kind
		pending bool // Review
	}{
		{name: "orient", history: atKind(t, "orient"), git: seen(clean), state: "active", kind: "summarize"},
		{name: "orient with a change", history: atKind(t, "orient"), git: seen(edited), state: "active", kind: "review", pending: true},
		{name: "without Review", history: startWith(t, clean, withoutReview), git: seen(edited), state: "active", kind: "summarize"},
		{name: "clarify", history: atKind(t, "clarify"), git: seen(clean), state: "active", kind: "summarize"},
		{name: "implement", history: atKind(t, "implement"), git: seen(commit), state: "active", kind: "review", pending: true},
		{name: "unseen", history: atKind(t, "implement"), git: unseen("no git"), state: "paused", pause: "environment_unavailable"},
		{name: "review", history: atKind(t, "review"), git: unseen("not asked for"), state: "active", kind: "summarize"},
		{name: "summarize", history: atKind(t, "summarize"), git: seen(edited), state: "ended"},
		{name: "summarize unseen", history: atKind(t, "summarize"), git: unseen("no git"), state: "ended"},
		{name: "question", history: decisionRun(t), git: seen(clean), state: "active", kind: "summarize"},
		{name: "request", history: destructiveRun(t), git: seen(clean), state: "active", kind: "summarize"},
		{name: "environment", history: environmentRun(t), git: seen(clean), state: "active", kind: "summarize"},
		{name: "without budget", history: startWith(t, clean, withBudget(1)), git: seen(clean), state: "paused", pause: "budget_exhausted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := c.history
			h.t = t
			a := h.action()
			before := h.status()
			s := h.mustSeeing(engine.Skip{ActionID: a.ActionID}, c.git).status()
			if h.asked == (a.Kind == schema.Review) {
				t.Errorf("asked for the worktree: %v", h.asked)
			}
			var kind schema.Kind
			if s.CurrentAction != nil {
				kind = s.CurrentAction.Kind
			}
			if s.State != c.state || s.PauseReason != c.pause || kind != c.kind || s.ReviewPending != c.pending {
				t.Errorf("got %s %q %q, Review pending %v", s.State, s.PauseReason, kind, s.ReviewPending)
			}
			checkSkipped(t, before, s, len(before.Actions)-1)
		})
	}
}

// checkSkipped: marked, not voided, and an Outcome stays.
func checkSkipped(t *testing.T, before, after *schema.RunStatus, at int) {
	t.Helper()
	r := after.Actions[at]
	if !r.Skipped || r.Voided || !reflect.DeepEqual(r.Outcome, before.Actions[at].Outcome) {
		t.Errorf("the record: %+v", r)
	}
	wants := r.Action.Kind == schema.Review
	if (r.ReviewProjection != nil) != wants || wants && r.ReviewProjection.Result != schema.ReviewNotRun {
		t.Errorf("the projection of a %s: %+v", r.Action.Kind, r.ReviewProjection)
	}
	if after.PendingDestructiveRequest != nil || after.DestructiveGrant != nil || len(after.PendingActions) != 0 {
		t.Errorf("left over: %+v", after)
	}
	if after.CurrentAction != nil && !strings.Contains(after.CurrentAction.Brief, "skipped") {
		t.Errorf("the brief: %s", after.CurrentAction.Brief)
	}
	told := strings.Contains(contextOf(after), r.Action.ActionID)
	if after.CurrentAction != nil && told != (r.Outcome != nil) {
		t.Errorf("the context:\n%s", contextOf(after))
	}
}

func contextOf(s *schema.RunStatus) string {
	if s.CurrentAction == nil {
		return ""
	}
	return s.CurrentAction.Context
}

// A failed observation names its cause, each time.
func TestSkipUnseen(t *testing.T) {
	h := blindRun(t)
	h.must(engine.Resume{})
	s := h.mustSeeing(engine.Skip{ActionID: h.action().ActionID}, unseen("git failed")).status()
	if len(s.KnownIssues) != 2 || s.KnownIssues[0] != s.KnownIssues[1] || !strings.Contains(s.KnownIssues[0], "git failed") {
		t.Errorf("%q", s.KnownIssues)
	}
	if s.CurrentAction != nil || s.Next.Variants[0].ID != "resume-ad-hoc" || len(s.Next.Variants) != 1 {
		t.Errorf("next: %+v", s.Next)
	}
}
