package engine_test

import (
	"errors"
	"slices"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// run.md, 6.3: the first rule that fits decides.
func TestSubmitIsRefused(t *testing.T) {
	first := actionID(1)
	asked := decisionRun(t)
	voided := decisionRun(t)
	voided.must(replying(voided, "yes"))
	stopped := decisionRun(t).must(engine.Stop{})
	other := func(h *history) engine.Submit {
		return submitted(t, &schema.Outcome{
			ContractVersion: 2, ActionID: first, ActionKind: schema.Orient, Status: schema.Completed, Summary: "other",
			Observations: []string{}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{},
		})
	}
	skipped := startWith(t, clean).must(engine.Skip{ActionID: first})
	resumed := stoppedRun(t).must(engine.Resume{})
	illegal := activeRun(t)
	runRefusals(t, []refusalCase{
		{name: "1 voided with an Outcome", history: voided, command: other(voided), code: schema.CodeStaleAction},
		{name: "1 before 4", history: stopped, command: other(stopped), code: schema.CodeStaleAction},
		{name: "3 another Outcome", history: asked, command: other(asked), code: schema.CodeOutcomeConflict},
		{name: "3 in an ended Run", history: endedRun(t), command: other(nil), code: schema.CodeOutcomeConflict},
		{name: "4 stopped, before 5", history: stoppedRun(t), command: other(nil), code: schema.CodeRunNotActive},
		{name: "4 ended, unknown Action", history: endedRun(t), command: engine.Submit{ActionID: "nobody", Outcome: &schema.Outcome{}}, code: schema.CodeRunNotActive},
		{name: "5 voided without an Outcome", history: resumed, command: other(nil), code: schema.CodeStaleAction},
		{name: "6 paused", history: asked, command: engine.Submit{ActionID: "nobody", Outcome: &schema.Outcome{}}, code: schema.CodeRunNotActive},
		{name: "6 exhausted", history: exhaustedRun(t), command: engine.Submit{ActionID: "nobody", Outcome: &schema.Outcome{}}, code: schema.CodeRunNotActive},
		{name: "7 unknown", history: activeRun(t), command: engine.Submit{ActionID: "nobody", Outcome: &schema.Outcome{}}, code: schema.CodeStaleAction},
		{name: "7 skipped", history: skipped, command: other(nil), code: schema.CodeStaleAction},
		{
			name: "8 semantic rule", history: illegal, bare: true, code: schema.CodeInvalidOutcome,
			command: submitted(t, illegal.outcome(func(o *schema.Outcome) { o.Summary = " " })),
		},
		{
			name: "9 nothing to supersede", history: illegal, code: schema.CodeInvalidDecisionSupersession,
			command: submitted(t, illegal.outcome(asking(schema.DecisionRequired), superseding("nobody"))),
		},
		{
			name: "8 before 9", history: illegal, bare: true, code: schema.CodeInvalidOutcome,
			command: submitted(t, illegal.outcome(asking(schema.EnvironmentUnavailable), superseding("nobody"))),
		},
	})
}

// An exact repeat gives the Run as it is now and looks at nothing.
func TestSubmitRepeated(t *testing.T) {
	h := startWith(t, clean)
	first := submitted(t, h.outcome(asking(schema.DecisionRequired)))
	h.must(first)
	for _, on := range []func(){
		func() {}, func() { h.must(engine.Skip{ActionID: first.ActionID}) },
		func() { h.must(engine.Stop{}) }, func() { h.must(engine.Resume{}) }, func() { h.submit().submit() },
	} {
		on()
		before := statusJSON(t, h.run)
		d, refusal := h.try(first, nil)
		if refusal != nil || d.Event != nil || h.asked || statusJSON(t, d.Run) != before {
			t.Fatalf("in state %s: %v, event %v, asked %v", h.run.State(), refusal, d.Event, h.asked)
		}
	}
	if h.run.State() != schema.Ended {
		t.Fatalf("ended up %s", h.run.State())
	}
	spaced := append(encode(t, first.Outcome), '\n')
	if _, refusal := h.try(submittedBytes(t, first.ActionID, spaced), nil); refusal == nil || refusal.Code != schema.CodeOutcomeConflict {
		t.Fatalf("one more LF is another payload: %v", refusal)
	}
}

// Only transitions that depend on the worktree ask for it.
func TestSubmitAsksForTheWorktree(t *testing.T) {
	for kind, asks := range map[schema.Kind]bool{
		schema.Orient: true, schema.Clarify: true, schema.Implement: true, schema.Review: false, schema.Summarize: true,
	} {
		h := atKind(t, kind)
		_, err := engine.Decide(h.run, submitted(t, h.outcome()), h.facts())
		if errors.Is(err, engine.ErrObservationNeeded) != asks {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// run.md, 7.1 and section 4: what follows an Outcome.
func TestRouting(t *testing.T) {
	clarify := suggesting(schema.Clarify, " \u2003ask them\n")
	cases := []struct {
		name    string
		history *history
		git     *engine.GitFact
		outcome func(*schema.Outcome)
		state   schema.State
		pause   schema.PauseReason
		kind    schema.Kind // of the Action issued
		left    int         // budget
		dropped int         // unresolved suggestions
		queue   int
	}{
		{name: "orient", history: atKind(t, schema.Orient), git: seen(clean), state: "active", kind: "summarize", left: 18},
		{name: "orient with a suggestion", history: atKind(t, schema.Orient), git: seen(clean), outcome: clarify, state: "active", kind: "clarify", left: 18},
		{name: "failed orient with a suggestion", history: atKind(t, schema.Orient), git: seen(clean), state: "active", kind: "clarify", left: 18,
			outcome: func(o *schema.Outcome) { clarify(o); o.Status = schema.Failed }},
		{name: "change before suggestion", history: atKind(t, schema.Orient), git: seen(edited), outcome: clarify, state: "active", kind: "review", left: 18, dropped: 1},
		{name: "change without Review", history: startWith(t, clean, withoutReview), git: seen(edited), outcome: clarify, state: "active", kind: "clarify", left: 18},
		{name: "incomplete is no change", history: startWith(t, deleted), git: seen(deletedUnsure), state: "active", kind: "summarize", left: 18},
		{name: "clarify", history: atKind(t, schema.Clarify), git: seen(clean), outcome: suggesting(schema.Summarize, "sum up"), state: "active", kind: "summarize", left: 17},
		{name: "implement", history: atKind(t, schema.Implement), git: seen(clean), state: "active", kind: "summarize", left: 17},
		{name: "implement with a change", history: atKind(t, schema.Implement), git: seen(commit), state: "active", kind: "review", left: 17},
		{name: "review", history: atKind(t, schema.Review), state: "active", kind: "summarize", left: 17},
		{name: "summarize", history: atKind(t, schema.Summarize), git: seen(edited), state: "ended", left: 18},
		{name: "summarize unseen", history: atKind(t, schema.Summarize), git: unseen("x"), state: "ended", left: 18},
		{name: "unseen", history: atKind(t, schema.Orient), git: unseen("x"), outcome: clarify, state: "paused", pause: "environment_unavailable", left: 19, queue: 1},
		{name: "no budget", history: startWith(t, clean, withBudget(1)), git: seen(clean), outcome: clarify, state: "paused", pause: "budget_exhausted"},
		{name: "no budget for Review", history: startWith(t, clean, withBudget(1)), git: seen(edited), outcome: clarify, state: "paused", pause: "budget_exhausted", dropped: 1},
		{name: "ending without budget", history: startWith(t, clean, withBudget(2)).submit(), git: seen(clean), state: "ended"},
		{name: "question without budget", history: startWith(t, clean, withBudget(1)), git: seen(clean), outcome: asking("decision_required"), state: "paused", pause: "decision_required"},
		{name: "unseen question", history: startWith(t, clean), git: unseen("x"), outcome: asking("decision_required"), state: "paused", pause: "environment_unavailable", left: 19},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.history.t = t
			issued := len(c.history.status().Actions)
			var edits []func(*schema.Outcome)
			if c.outcome != nil {
				edits = append(edits, c.outcome)
			}
			s := c.history.submitSeeing(c.git, edits...).status()
			var kind schema.Kind
			if len(s.Actions) > issued {
				kind = s.CurrentAction.Kind
			}
			if s.State != c.state || s.PauseReason != c.pause || kind != c.kind || s.RemainingBudget != c.left {
				t.Errorf("got %s %q %q with %d left", s.State, s.PauseReason, kind, s.RemainingBudget)
			}
			if n := countPrefix(s.Uncertainties, "unresolved_suggestion:"); n != c.dropped || len(s.PendingActions) != c.queue {
				t.Errorf("dropped %d, queue %v", n, s.PendingActions)
			}
		})
	}
}

// A new question may replace an earlier answer, which stays until the question is
// answered (run.md, section 9).
func TestSupersession(t *testing.T) {
	h := decisionRun(t)
	first := h.action().ActionID
	h.must(replying(h, "left"))
	question := func() { h.submit(asking(schema.DecisionRequired), superseding(first)) }
	question()
	h.must(engine.Skip{ActionID: h.action().ActionID})
	if a := h.status().Answers[0]; !a.Active || a.SupersededBy != "" {
		t.Fatalf("skipping the question superseded: %+v", a)
	}
	h.must(engine.Stop{}).must(engine.Resume{})
	question()
	second := h.action().ActionID
	h.must(replying(h, "right"))
	answers := h.status().Answers
	if answers[0].Active || answers[0].SupersededBy != second || !answers[1].Active {
		t.Fatalf("answers: %+v", answers)
	}
	_, refusal := h.try(submitted(t, h.outcome(asking(schema.DecisionRequired), superseding(first))), seen(clean))
	if refusal == nil || refusal.Code != schema.CodeInvalidDecisionSupersession {
		t.Fatalf("superseded twice: %v", refusal)
	}
	if d, refusal := h.try(engine.Reply{ActionID: first, Text: "left"}, nil); refusal != nil || d.Event != nil {
		t.Fatalf("the superseded answer repeated: %v", refusal)
	}
}

// What the host reports joins the lists as given; statements follow (run.md,
// section 8).
func TestListsOfAnOutcome(t *testing.T) {
	h := atKind(t, schema.Implement)
	s := h.submitSeeing(seen(deleted), func(o *schema.Outcome) {
		o.Observations, o.KnownIssues = []string{"b", "a", "b"}, []string{"", "i"}
		o.Implementation.Result = schema.ResultNotNeeded
		o.Implementation.Uncertainties = []string{"u", "u"}
		o.Implementation.Activities = []schema.Activity{{Kind: "lint", Command: "c", ExitCode: 1, Summary: "s"}}
	}).status()
	if !slices.Equal(s.Observations[:3], []string{"b", "a", "b"}) || !slices.Equal(s.KnownIssues, []string{"", "i"}) ||
		!slices.Equal(s.Uncertainties[:2], []string{"u", "u"}) || len(s.Activities) != 1 {
		t.Errorf("as reported: %q %q %q %v", s.Observations, s.KnownIssues, s.Uncertainties, s.Activities)
	}
	wantPrefixes(t, s.Observations[3:], "observed_since_start:", "report_discrepancy:")
	wantPrefixes(t, s.Uncertainties[2:], "git_content_observation_incomplete:", "attribution_uncertainty:")
	if s.CurrentAction.Kind != schema.Review || !s.ReviewPending {
		t.Errorf("then %s, review pending %v", s.CurrentAction.Kind, s.ReviewPending)
	}
	s = h.submit().status()
	if s.ReviewPending {
		t.Error("Review is pending after it was submitted")
	}
	before := len(s.Uncertainties)
	if s = h.submitSeeing(seen(deleted)).status(); len(s.Observations) != 5 || len(s.Uncertainties) != before {
		t.Errorf("statements were repeated: %q %q", s.Observations, s.Uncertainties)
	}
}

// report_discrepancy compares the report with the difference from the start.
func TestDiscrepancy(t *testing.T) {
	for result, status := range map[schema.ImplementationResult]schema.OutcomeStatus{
		"applied": "completed", "partial": "partial", "not_needed": "completed", "unable": "error",
	} {
		for _, git := range []*schema.Observation{clean, edited} {
			claims := result == "applied" || result == "partial"
			want := 0
			if claims != (git == edited) {
				want = 1
			}
			s := atKind(t, schema.Implement).submitSeeing(seen(git), func(o *schema.Outcome) {
				o.Status, o.Implementation.Result = status, result
			}).status()
			if n := countPrefix(s.Observations, "report_discrepancy:"); n != want {
				t.Errorf("%s, changed %v: %q", result, git == edited, s.Observations)
			}
		}
	}
}

func countPrefix(list []string, prefix string) (n int) {
	for _, text := range list {
		if beginning(prefix)(text) == nil {
			n++
		}
	}
	return n
}

func wantPrefixes(t *testing.T, list []string, prefixes ...string) {
	t.Helper()
	if len(list) != len(prefixes) {
		t.Fatalf("got %q, want %q", list, prefixes)
	}
	for i, text := range list {
		if err := beginning(prefixes[i])(text); err != nil {
			t.Errorf("%q %v", text, err)
		}
	}
}
