package engine_test

import (
	"reflect"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// refusalCase is a command that a Run refuses. The Run must be as it was.
type refusalCase struct {
	name    string
	history *history
	command engine.Command
	code    schema.Code
	bare    bool // without details
	resume  bool // next holds the resume choices only
}

func (c refusalCase) run(t *testing.T) {
	t.Helper()
	before := c.history.run
	next := before.Next()
	if c.resume {
		next = schema.NextResume(testWorkspace.Place(), testRunID, schema.Resumption{}, "")
	}
	var details schema.Details = schema.RunDetails{RunID: testRunID, State: before.State()}
	if c.bare {
		details = nil
	}
	d, refusal := c.history.try(c.command, seen(edited))
	switch {
	case refusal == nil:
		t.Fatalf("accepted; want %s", c.code)
	case refusal.Code != c.code || refusal.ExitCode != schema.ExitRuntime:
		t.Errorf("got %s (%d), want %s", refusal, refusal.ExitCode, c.code)
	case !reflect.DeepEqual(refusal.Next, next):
		t.Errorf("next: got %+v\nwant %+v", refusal.Next, next)
	case refusal.Details != details:
		t.Errorf("details: got %+v, want %+v", refusal.Details, details)
	case d.Event != nil || c.history.run != before:
		t.Error("a refused command was recorded")
	}
}

func runRefusals(t *testing.T, cases []refusalCase) {
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

// The histories that the tables of refusals begin with.

func activeRun(t tester) *history { return startWith(t, clean) }

func decisionRun(t tester) *history {
	return startWith(t, clean).submit(asking(schema.DecisionRequired))
}

func destructiveRun(t tester) *history {
	return startWith(t, clean).toImplement().submit(asking(schema.DestructiveConfirmationRequired))
}

func environmentRun(t tester) *history {
	return startWith(t, clean).submit(asking(schema.EnvironmentUnavailable))
}

// blindRun could not observe the worktree after a settled Outcome.
func blindRun(t tester) *history {
	return startWith(t, clean).submitSeeing(unseen("git failed"))
}

func exhaustedRun(t tester) *history { return startWith(t, clean, withBudget(1)).submit() }

func stoppedRun(t tester) *history { return startWith(t, clean).must(engine.Stop{}) }

func endedRun(t tester) *history { return startWith(t, clean).submit().submit() }

// exhaustedConfirmation was confirmed without a budget for the Implement.
func exhaustedConfirmation(t *testing.T) (*history, engine.Reply) {
	h := startWith(t, clean, withBudget(2)).toImplement().submit(asking(schema.DestructiveConfirmationRequired))
	c := confirming(h)
	if _, refusal := h.try(c, nil); refusal == nil || refusal.Code != schema.CodeBudgetExhausted {
		t.Fatalf("a confirmation without budget: %v", refusal)
	}
	return h, c
}

func confirming(h *history) engine.Reply {
	return engine.Reply{ActionID: h.action().ActionID, ConfirmDestructive: true, Scope: string(destructiveRequest().ScopeSHA256)}
}

func replying(h *history, text string) engine.Reply {
	return engine.Reply{ActionID: h.action().ActionID, Text: text}
}
