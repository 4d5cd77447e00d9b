package engine_test

import (
	"os"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

func TestAListIsNeverOlderThanTheRuns(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	other := h.newKeeper(engine.Options{}) // as another process would write
	first, second := h.start(), h.start()
	states := func() map[string]schema.State {
		t.Helper()
		list, err := h.keeper.List(ctx, h.caller)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]schema.State{}
		for _, r := range list.Runs {
			found[r.RunID()] = r.Status.State
		}
		return found
	}
	if got := states(); len(got) != 2 || got[first.RunID] != schema.Active {
		t.Errorf("at first the list is %v", got)
	}
	for _, keeper := range []*engine.Keeper{other, h.keeper} {
		if _, err := keeper.Stop(ctx, h.caller, engine.StopRequest{Run: first.RunID}); err != nil {
			t.Fatal(err)
		}
		if got := states(); got[first.RunID] != schema.Stopped || got[second.RunID] != schema.Active {
			t.Errorf("after a stop the list is %v", got)
		}
		if _, err := keeper.Resume(ctx, h.caller, engine.ResumeRequest{Run: first.RunID}); err != nil {
			t.Fatal(err)
		}
	}
	third := h.start()
	if err := os.RemoveAll(h.runFile(second.RunID, "")); err != nil {
		t.Fatal(err)
	}
	if got := states(); len(got) != 2 || got[first.RunID] != schema.Active || got[third.RunID] != schema.Active {
		t.Errorf("after a start and a removal the list is %v", got)
	}
}
