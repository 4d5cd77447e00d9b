package engine_test

import (
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// Row 11 of daemon.md, section 7: the clock is set back while a Run works. What
// counts is the order of the events, never their times.
func TestAClockThatGoesBackChangesNoOrder(t *testing.T) {
	h := newHouse(t)
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time {
		at = at.Add(-24 * time.Hour)
		return at
	}
	k := h.newKeeper(engine.Options{Now: clock})
	ctx := t.Context()
	state, err := k.Start(ctx, h.caller, engine.StartRequest{Goal: "mend the roof", Budget: 10, Review: true})
	if err != nil {
		t.Fatal(err)
	}
	events, err := k.Follow(ctx, h.caller, engine.FollowRequest{Run: state.RunID, After: after(0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, summary := range []string{"first", "second", "third"} {
		if state, err = h.submit(k, state.Action, clarify(state.Action, summary)); err != nil {
			t.Fatal(err)
		}
	}
	heard := int64(0)
	for e, err := range events {
		if heard++; err != nil || e.Sequence != heard {
			t.Fatalf("event %d is told as %+v, %v", heard, e, err)
		}
		if heard == 4 {
			break
		}
	}
	// Another process, with a clock that goes right, sees the same.
	other := h.newKeeper(engine.Options{})
	log, err := other.Log(ctx, h.caller, state.RunID, 1, 10)
	if err != nil || len(log.Events) != 3 || log.Events[0].Sequence != 2 {
		t.Fatalf("the log is %+v, %v", log, err)
	}
	status := h.status(other, state.RunID)
	for i, want := range []string{"first", "second", "third"} {
		if got := status.Actions[i].Outcome.Summary; got != want {
			t.Errorf("Outcome %d is %s", i+1, got)
		}
	}
	if status.State != schema.Active || status.RemainingBudget != 6 {
		t.Errorf("the Run is %s with a budget of %d", status.State, status.RemainingBudget)
	}
}
