package engine_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// run.md, 6.2, row 13: a goal that passes its own checks may still leave no room
// for an Action.
func TestStartIsRefused(t *testing.T) {
	for _, review := range []bool{true, false} {
		f := engine.Facts{Now: startOfTime, ActionID: actionID(1), Git: seen(clean)}
		goal := strings.Repeat("g", schema.MaxGoalBytes-2)
		if code, _ := schema.GoalFault([]byte(goal)); code != "" {
			t.Fatal(code)
		}
		_, err := engine.DecideStart(engine.Start{RunID: testRunID, Goal: goal, Budget: 9, Review: review, Workspace: testWorkspace}, f)
		var refusal *schema.Error
		if !errors.As(err, &refusal) || refusal.Code != schema.CodeActionTooLarge || refusal.ExitCode != 3 || refusal.Details != nil {
			t.Fatalf("got %v", err)
		}
		if want := schema.NextStart(testWorkspace.Place(), 9, review, false); !reflect.DeepEqual(refusal.Next, want) {
			t.Errorf("next: %+v", refusal.Next)
		}
	}
}

// The largest goal that fits fills the Action to its last byte.
func TestStartWithTheLargestGoal(t *testing.T) {
	empty := startWith(t, clean, withGoal("g"))
	a := *empty.action()
	room := schema.MaxEncodedActionBytes - a.EncodedSize()
	h := startWith(t, clean, withGoal(strings.Repeat("g", room+1)))
	if size := h.action().EncodedSize(); size != schema.MaxEncodedActionBytes {
		t.Errorf("%d bytes", size)
	}
	_, err := engine.DecideStart(
		engine.Start{RunID: testRunID, Goal: strings.Repeat("g", room+2), Budget: 20, Review: true, Workspace: testWorkspace},
		engine.Facts{Now: startOfTime, ActionID: actionID(1), Git: seen(clean)})
	if err == nil {
		t.Error("one byte more was accepted")
	}
}

// A worktree that was dirty is the state that the Run compares with.
func TestStartInADirtyWorktree(t *testing.T) {
	h := startWith(t, deleted)
	s := h.submitSeeing(seen(deleted)).status()
	wantPrefixes(t, s.Uncertainties, "git_content_observation_incomplete:")
	if s.CurrentAction.Kind != schema.Summarize || len(s.Observations) != 0 {
		t.Errorf("%s, %q", s.CurrentAction.Kind, s.Observations)
	}
}
