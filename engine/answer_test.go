package engine_test

import (
	"reflect"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// run.md, 6.4 and 10.3: the first rule that fits decides.
func TestAnswerIsRefused(t *testing.T) {
	decision, destructive := decisionRun(t), destructiveRun(t)
	scope := string(destructiveRequest().ScopeSHA256)
	answered := decisionRun(t)
	yes := replying(answered, "yes")
	answered.must(yes)
	changed := yes
	changed.Text = "yes "
	exhausted, confirmation := exhaustedConfirmation(t)
	confirm := func(scope string) engine.Reply {
		return engine.Reply{ActionID: destructive.action().ActionID, ConfirmDestructive: true, Scope: scope}
	}
	nobody := engine.Reply{ActionID: "nobody", Text: "yes"}
	runRefusals(t, []refusalCase{
		{name: "1 repeated confirmation without budget", history: exhausted, command: confirmation, code: schema.CodeBudgetExhausted, resume: true},
		{name: "2 another answer", history: answered, command: changed, code: schema.CodeAnswerConflict},
		{name: "2 in a stopped Run", history: decisionAnsweredAnd(t, yes, engine.Stop{}), command: changed, code: schema.CodeAnswerConflict},
		{name: "3 active", history: activeRun(t), command: nobody, code: schema.CodeAnswerNotExpected},
		{name: "3 stopped", history: stoppedRun(t), command: nobody, code: schema.CodeAnswerNotExpected},
		{name: "3 ended", history: endedRun(t), command: nobody, code: schema.CodeAnswerNotExpected},
		{name: "4 environment", history: environmentRun(t), command: nobody, code: schema.CodeAnswerNotAllowed, resume: true},
		{name: "4 environment without Action", history: blindRun(t), command: nobody, code: schema.CodeAnswerNotAllowed, resume: true},
		{name: "5 budget", history: exhaustedRun(t), command: nobody, code: schema.CodeAnswerNotExpected},
		{name: "6 another Action", history: decision, command: nobody, code: schema.CodeStaleAction},
		{name: "7 confirmation of a decision", history: decision, command: confirmingFor(decision, scope), code: schema.CodeDestructiveConfirmationNotExpected},
		{name: "7 blank scope for a decision", history: decision, command: engine.Reply{ActionID: decision.action().ActionID, Text: "yes", Scope: " "}, code: schema.CodeDestructiveConfirmationNotExpected},
		{name: "8 blank decision", history: decision, command: replying(decision, " \u3000\n"), code: schema.CodeAnswerRequired},
		{name: "10.3/8 blank scope without flag", history: destructive, command: engine.Reply{ActionID: destructive.action().ActionID, Text: "no", Scope: " "}, code: schema.CodeDestructiveConfirmationFlagRequired},
		{name: "10.3/9 blank feedback", history: destructive, command: replying(destructive, ""), code: schema.CodeAnswerRequired},
		{name: "10.3/11 upper case", history: destructive, command: confirm(strings.ToUpper(scope)), code: schema.CodeDestructiveScopeRequired},
		{name: "10.3/11 no scope", history: destructive, command: confirm(""), code: schema.CodeDestructiveScopeRequired},
		{name: "10.3/12 another scope", history: destructive, command: confirm(string(digestOf("x"))), code: schema.CodeDestructiveScopeMismatch},
	})
}

func confirmingFor(h *history, scope string) engine.Reply {
	return engine.Reply{ActionID: h.action().ActionID, ConfirmDestructive: true, Scope: scope}
}

func decisionAnsweredAnd(t *testing.T, answer engine.Reply, then engine.Command) *history {
	return decisionRun(t).must(answer).must(then)
}

// Receipts outlive the Action and every state.
func TestAnswerRepeated(t *testing.T) {
	h := decisionRun(t)
	yes := replying(h, "yes\r\n")
	h.must(yes)
	for _, on := range []func(){func() {}, func() { h.must(engine.Stop{}) }, func() { h.must(engine.Resume{}).submit().submit() }} {
		on()
		before := statusJSON(t, h.run)
		if d, refusal := h.try(yes, nil); refusal != nil || d.Event != nil || statusJSON(t, d.Run) != before {
			t.Fatalf("in state %s: %v, event %v", h.run.State(), refusal, d.Event)
		}
	}
}

// The check value of wire.md, 6.3, and that the text is kept as it is.
func TestAnswerIsDigestedExactly(t *testing.T) {
	const id = "7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21"
	h := &history{t: t, now: startOfTime}
	f := h.facts()
	f.ActionID, f.Git = id, seen(clean)
	d, err := engine.DecideStart(engine.Start{RunID: testRunID, Goal: "g", Budget: 3, Review: true, Workspace: testWorkspace}, f)
	if err != nil {
		t.Fatal(err)
	}
	h.take(d)
	h.submit(asking(schema.DecisionRequired)).must(replying(h, "yes"))
	if got := h.status().Answers[0].PayloadSHA256; got != "sha256:bf841eed8cb135e03bbff12639f5406c9a49273ba157f1855e8be19082031a64" {
		t.Error(got)
	}
	h = decisionRun(t)
	const text = " a\r\nb\u2028 "
	if got := h.must(replying(h, text)).status().Answers[0].Text; got != text {
		t.Errorf("%q", got)
	}
}

// A decision voids the question and leads to an Orient; without budget the
// answer stays (run.md, 6.4).
func TestDecision(t *testing.T) {
	for budget, state := range map[int]schema.State{1: schema.Paused, 5: schema.Active} {
		h := startWith(t, clean, withBudget(budget)).submit(asking(schema.DecisionRequired))
		question := h.action().ActionID
		s := h.must(replying(h, "yes")).status()
		a := s.Answers[0]
		if !a.Active || a.ConfirmDestructive || a.ScopeSHA256 != "" || a.ActionID != question || !a.At.Equal(s.UpdatedAt) {
			t.Errorf("the answer: %+v", a)
		}
		if s.State != state || !s.Actions[0].Voided || s.Actions[0].Skipped || s.Actions[0].Outcome == nil {
			t.Errorf("budget %d: %s, asking Action %+v", budget, s.State, s.Actions[0])
		}
		if state == schema.Active && (s.CurrentAction.Kind != schema.Orient || s.RemainingBudget != budget-2) {
			t.Errorf("then %s with %d left", s.CurrentAction.Kind, s.RemainingBudget)
		}
		if state == schema.Paused && s.PauseReason != schema.BudgetExhausted {
			t.Errorf("paused for %s", s.PauseReason)
		}
	}
}

// What a decision brings into the context must be text (run.md, section 5).
func TestDecisionWithControlCharacter(t *testing.T) {
	h := decisionRun(t)
	bell := replying(h, "ring\a")
	refusalCase{history: h, command: bell, code: schema.CodeInvalidAction, bare: true}.run(t)
	// Without budget no Action is issued, so the answer is recorded.
	h = startWith(t, clean, withBudget(1)).submit(asking(schema.DecisionRequired))
	h.must(bell)
	refusalCase{history: h, command: engine.Resume{}, code: schema.CodeInvalidAction, bare: true}.run(t)
	// The text of a confirmation appears in no context.
	h = destructiveRun(t)
	c := confirming(h)
	c.Text = "ring\a"
	if a := h.must(c).action(); strings.Contains(a.Context, "\a") {
		t.Error("the note of a confirmation is in the context")
	}
}

// run.md, 10.3 and 10.4: request and grant live exactly as long as they should.
func TestConfirmation(t *testing.T) {
	h := destructiveRun(t)
	asked := h.status()
	request := asked.PendingDestructiveRequest
	if request == nil || asked.DestructiveGrant != nil || !reflect.DeepEqual(request, destructiveRequest()) {
		t.Fatalf("asked: %+v", request)
	}
	origin := h.action().ActionID
	s := h.must(confirming(h)).status()
	a := s.Answers[0]
	want := &schema.Authorization{
		RequestID: request.RequestID, OriginatingActionID: origin, ScopeVersion: 1, ScopeSHA256: request.ScopeSHA256,
		Targets: request.Targets, Impact: request.Impact, ConfirmedAt: a.At,
	}
	switch {
	case a.Active || !a.ConfirmDestructive || a.ScopeSHA256 != request.ScopeSHA256 || !a.At.Equal(s.UpdatedAt):
		t.Errorf("the answer: %+v", a)
	case s.CurrentAction.Kind != schema.Implement || !reflect.DeepEqual(s.CurrentAction.DestructiveAuthorization, want):
		t.Errorf("issued: %+v", s.CurrentAction)
	case !reflect.DeepEqual(s.DestructiveGrant, want) || !reflect.DeepEqual(s.PendingDestructiveRequest, request):
		t.Errorf("grant: %+v, request: %+v", s.DestructiveGrant, s.PendingDestructiveRequest)
	case s.Actions[1].Voided || s.Actions[1].Skipped:
		t.Errorf("the asking Action: %+v", s.Actions[1])
	case strings.Contains(s.CurrentAction.Context, "decision:\n") || !strings.Contains(s.CurrentAction.Context, origin+": "):
		t.Errorf("context: %s", s.CurrentAction.Context)
	}
	granted := h.events
	for name, end := range map[string]func(h *history){
		"outcome":  func(h *history) { h.submit() },
		"question": func(h *history) { h.submit(asking(schema.DecisionRequired)) },
		"skip":     func(h *history) { h.must(engine.Skip{ActionID: h.action().ActionID}) },
		"stop":     func(h *history) { h.must(engine.Stop{}) },
		"again":    func(h *history) { h.submit(asking(schema.DestructiveConfirmationRequired)) },
	} {
		h := &history{t: t, events: granted, now: h.now, ids: h.ids}
		h.run = h.replayed()
		end(h)
		s := h.status()
		if s.DestructiveGrant != nil || (s.PendingDestructiveRequest != nil) != (name == "again") {
			t.Errorf("after %s: grant %v, request %v", name, s.DestructiveGrant, s.PendingDestructiveRequest)
		}
		if !reflect.DeepEqual(s.Actions[2].Action.DestructiveAuthorization, want) {
			t.Errorf("after %s the issued Action changed", name)
		}
		if s.CurrentAction != nil && s.CurrentAction.ActionID != s.Actions[2].Action.ActionID && s.CurrentAction.DestructiveAuthorization != nil {
			t.Errorf("after %s another Action inherits the grant", name)
		}
	}
}

// Without budget the confirmation is recorded, told as an error and void.
func TestConfirmationWithoutBudget(t *testing.T) {
	h, c := exhaustedConfirmation(t)
	s := h.status()
	if s.PauseReason != schema.BudgetExhausted || s.CurrentAction != nil || !s.Actions[1].Voided || len(s.Answers) != 1 ||
		s.PendingDestructiveRequest != nil || s.DestructiveGrant != nil || !s.Answers[0].ConfirmDestructive {
		t.Fatalf("recorded: %+v", s)
	}
	h.must(engine.Resume{})
	if d, refusal := h.try(c, nil); refusal != nil || d.Event != nil || h.action().Kind != schema.Orient {
		t.Fatalf("repeated after a resume: %v", refusal)
	}
}

// "yes" confirms nothing.
func TestDecline(t *testing.T) {
	h := destructiveRun(t)
	s := h.must(replying(h, "yes")).status()
	switch {
	case !s.Actions[1].Voided || s.PendingDestructiveRequest != nil || s.DestructiveGrant != nil:
		t.Errorf("declined: %+v", s)
	case s.CurrentAction.Kind != schema.Orient || s.CurrentAction.DestructiveAuthorization != nil:
		t.Errorf("then: %+v", s.CurrentAction)
	case !s.Answers[0].Active || !strings.Contains(s.CurrentAction.Context, "  yes\n"):
		t.Errorf("the decision: %+v\n%s", s.Answers[0], s.CurrentAction.Context)
	case !strings.Contains(s.CurrentAction.Brief, "Do not perform"):
		t.Errorf("the brief: %s", s.CurrentAction.Brief)
	}
}

// A question whose observation failed can only be skipped or resumed away
// (run.md, 3.2).
func TestUnseenQuestion(t *testing.T) {
	h := startWith(t, clean).toImplement()
	s := h.submitSeeing(unseen("no git"), asking(schema.DestructiveConfirmationRequired)).status()
	if s.PauseReason != schema.EnvironmentUnavailable || s.CurrentAction == nil || s.PendingDestructiveRequest != nil ||
		len(s.KnownIssues) != 1 || !strings.Contains(s.KnownIssues[0], "no git") {
		t.Fatalf("paused: %+v", s)
	}
	refusalCase{history: h, command: confirming(h), code: schema.CodeAnswerNotAllowed, resume: true}.run(t)
	h.must(engine.Skip{ActionID: h.action().ActionID})
}
