package engine_test

import (
	"reflect"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

func TestStopAndResumeAreRefused(t *testing.T) {
	runRefusals(t, []refusalCase{
		{name: "stop an ended Run", history: endedRun(t), command: engine.Stop{}, code: schema.CodeRunAlreadyEnded},
		{name: "resume an ended Run", history: endedRun(t), command: engine.Resume{UsePinned: true}, code: schema.CodeRunAlreadyEnded},
		{name: "resume an active Run", history: activeRun(t), command: engine.Resume{UsePinned: true}, code: schema.CodeRunNotResumable},
		{name: "resume a decision", history: decisionRun(t), command: engine.Resume{}, code: schema.CodeRunNotResumable},
		{name: "resume a request", history: destructiveRun(t), command: engine.Resume{}, code: schema.CodeRunNotResumable},
		{name: "source option", history: environmentRun(t), command: engine.Resume{UsePinned: true}, code: schema.CodeSourceModeNotAllowed, resume: true},
	})
}

// run.md, 6.6: stop takes away what waits and keeps the rest.
func TestStop(t *testing.T) {
	waiting := map[string]*history{
		"active": activeRun(t), "decision": decisionRun(t), "request": destructiveRun(t), "environment": environmentRun(t),
		"budget": exhaustedRun(t), "stopped": stoppedRun(t), "review": atKind(t, schema.Review),
		"unseen, with a queue": startWith(t, clean).submitSeeing(unseen("x"), suggesting(schema.Clarify, "ask")),
		"granted":              grantedRun(t),
	}
	for name, h := range waiting {
		before := h.status()
		s := h.must(engine.Stop{}).status()
		if s.State != schema.Stopped || s.PauseReason != "" || s.CurrentAction != nil || s.PendingDestructiveRequest != nil || s.DestructiveGrant != nil {
			t.Errorf("%s: %+v", name, s)
		}
		if before.CurrentAction != nil && !s.Actions[len(s.Actions)-1].Voided {
			t.Errorf("%s: the current Action is not voided", name)
		}
		if s.RemainingBudget != before.RemainingBudget || s.ReviewPending != before.ReviewPending ||
			!reflect.DeepEqual(s.PendingActions, before.PendingActions) || !s.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("%s: budget %d, Review pending %v, queue %v", name, s.RemainingBudget, s.ReviewPending, s.PendingActions)
		}
	}
}

func grantedRun(t *testing.T) *history {
	h := destructiveRun(t)
	return h.must(confirming(h))
}

// run.md, section 4 and 6.7.
func TestResume(t *testing.T) {
	n := func(n int) *int { return &n }
	cases := []struct {
		name    string
		history *history
		budget  *int
		left    int
	}{
		{"a positive rest is kept", stoppedRun(t), nil, 18},
		{"nothing left, small start", exhaustedRun(t), nil, 2},
		{"nothing left, large start", startWith(t, clean, withBudget(5)).submitUntilExhausted(), nil, 4},
		{"given", stoppedRun(t), n(7), 6},
		{"given, without any left", exhaustedRun(t), n(1), 0},
		{"most", environmentRun(t), n(1000), 999},
		{"unseen", startWith(t, clean).submitSeeing(unseen("x"), suggesting(schema.Clarify, "ask")), nil, 18},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.history.t = t
			before := c.history.status()
			s := c.history.must(engine.Resume{Budget: c.budget}).status()
			if s.State != schema.Active || s.CurrentAction.Kind != schema.Orient || s.RemainingBudget != c.left || s.CurrentAction.RemainingBudget != c.left {
				t.Errorf("%s, %+v", s.State, s.CurrentAction)
			}
			if before.CurrentAction != nil && !s.Actions[len(s.Actions)-2].Voided {
				t.Error("the interrupted Action is not voided")
			}
			if len(s.PendingActions) != 0 || countPrefix(s.Uncertainties, "unresolved_suggestion:") != 0 || s.ReviewPending != before.ReviewPending {
				t.Errorf("queue %v, uncertainties %q", s.PendingActions, s.Uncertainties)
			}
			if want := (&schema.ResumeResult{Operation: "ad_hoc_resumed", BudgetApplied: true}); !reflect.DeepEqual(s.LastResumeResult, want) {
				t.Errorf("last resume: %+v", s.LastResumeResult)
			}
			if c.history.asked {
				t.Error("a resume asks for no observation")
			}
			refusalCase{history: c.history, command: engine.Resume{}, code: schema.CodeRunNotResumable}.run(t)
		})
	}
}

// submitUntilExhausted lets the Run ask questions until its budget is gone.
func (h *history) submitUntilExhausted() *history {
	h.t.Helper()
	for h.run.State() == schema.Active {
		h.submit(suggesting(schema.Clarify, "go on"))
	}
	return h
}

// Without Review it is never issued nor pending, however much changed.
func TestWithoutReview(t *testing.T) {
	h := startWith(t, clean, withoutReview)
	h.submitSeeing(seen(edited), suggesting(schema.Implement, "do it")).submitSeeing(seen(edited2))
	s := h.submitSeeing(seen(edited2)).status()
	for _, r := range s.Actions {
		if r.Action.Kind == schema.Review {
			t.Fatal("a Review was issued")
		}
	}
	if s.ReviewPending || s.ReviewEnabled || s.State != schema.Ended || countPrefix(s.Observations, "observed_since_start:") != 1 {
		t.Errorf("%+v", s)
	}
}
