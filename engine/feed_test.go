package engine_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// follow begins to follow; it fails the test where that is refused.
func (h *house) follow(ctx context.Context, k *engine.Keeper, q engine.FollowRequest) iter.Seq2[engine.RunEvent, error] {
	h.t.Helper()
	events, err := k.Follow(ctx, h.caller, q)
	if err != nil {
		h.t.Fatal(err)
	}
	return events
}

// patience bounds what a test waits for.
func patience(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 20*time.Second)
}

func after(sequence int64) *int64 { return &sequence }

func TestEventsOfAllWritersAreToldOnce(t *testing.T) {
	h := newHouse(t)
	first, second := h.start(), h.start()
	other := h.newKeeper(engine.Options{}) // as another process would write
	const each = 20
	ctx, cancel := patience(t)
	defer cancel()

	var writers sync.WaitGroup
	for i, keeper := range []*engine.Keeper{h.keeper, other} {
		action := []*schema.Action{first.Action, second.Action}[i]
		writers.Go(func() {
			for range each {
				state, err := h.submit(keeper, action, clarify(action, "looked"))
				if err != nil {
					t.Error(err)
					return
				}
				action = state.Action
			}
		})
	}
	// One reader follows all the time, the other leaves and comes back.
	told := map[string][]int64{}
	readers := []map[string][]int64{told, {}}
	var reading sync.WaitGroup
	for i, stay := range []int{1000, 3} {
		reading.Go(func() {
			h.readAll(ctx, readers[i], []string{first.RunID, second.RunID}, each+1, stay)
		})
	}
	writers.Wait()
	reading.Wait()
	for i, told := range readers {
		for _, run := range []string{first.RunID, second.RunID} {
			for n, sequence := range told[run] {
				if sequence != int64(n+1) {
					t.Fatalf("reader %d heard of %s: %v", i, run, told[run])
				}
			}
		}
	}
}

// readAll follows each Run until it has heard of count events, leaving and coming
// back after every stay events.
func (h *house) readAll(ctx context.Context, told map[string][]int64, runs []string, count, stay int) {
	for _, run := range runs {
		for len(told[run]) < count {
			leaving, leave := context.WithCancel(ctx)
			heard := 0
			for e, err := range h.follow(leaving, h.keeper, engine.FollowRequest{Run: run, After: after(int64(len(told[run])))}) {
				if err != nil {
					h.t.Error(err)
					leave()
					return
				}
				told[run] = append(told[run], e.Sequence)
				if heard++; heard == stay || len(told[run]) == count {
					break
				}
			}
			leave()
			if ctx.Err() != nil {
				h.t.Errorf("heard of %d events of %d", len(told[run]), count)
				return
			}
		}
	}
}

func TestAFeedOfAllRunsTellsOfNewOnes(t *testing.T) {
	h := newHouse(t)
	old := h.start()
	ctx, cancel := patience(t)
	defer cancel()
	next, stop := iter.Pull2(h.follow(ctx, h.keeper, engine.FollowRequest{}))
	defer stop()
	other := h.newKeeper(engine.Options{})
	for name, keeper := range map[string]*engine.Keeper{"this Keeper": h.keeper, "another": other} {
		state, err := keeper.Start(ctx, h.caller, engine.StartRequest{Goal: "mend", Budget: 1, Review: true})
		if err != nil {
			t.Fatal(err)
		}
		e, err, ok := next()
		want := engine.RunEvent{
			Run: state.RunID, Sequence: 1, Type: engine.RunStarted, State: schema.Active, ActionID: state.Action.ActionID, Kind: schema.Orient,
		}
		if !ok || err != nil || e != want {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if _, err := h.keeper.Stop(ctx, h.caller, engine.StopRequest{Run: old.RunID}); err != nil {
		t.Fatal(err)
	}
	if e, err, _ := next(); err != nil || e.Run != old.RunID || e.State != schema.Stopped || e.Sequence != 2 {
		t.Errorf("the stop is told as %+v, %v", e, err)
	}
}

func TestAReaderFarBehindIsLetGo(t *testing.T) {
	if testing.Short() {
		t.Skip("needs more events than are kept for a reader")
	}
	h := newHouse(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	state := h.start()
	next, stop := iter.Pull2(h.follow(ctx, h.keeper, engine.FollowRequest{Run: state.RunID}))
	defer stop()
	stopRun := engine.StopRequest{Run: state.RunID}
	if _, err := h.keeper.Stop(ctx, h.caller, stopRun); err != nil {
		t.Fatal(err)
	}
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	for range 1001 {
		if _, err := h.keeper.Stop(ctx, h.caller, stopRun); err != nil {
			t.Fatal(err)
		}
	}
	if _, err, _ := next(); !errors.Is(err, engine.ErrBehind) {
		t.Errorf("a reader far behind gets %v", err)
	}
}

func TestFollowingWhatIsNotThere(t *testing.T) {
	h := newHouse(t)
	ctx, cancel := patience(t)
	defer cancel()
	for run, want := range map[string]schema.Code{"nobody": schema.CodeRunNotFound, "no/id": schema.CodeInvalidRunID} {
		if _, err := h.keeper.Follow(ctx, h.caller, engine.FollowRequest{Run: run}); failure(t, err).Code != want {
			t.Errorf("%s: %v", run, err)
		}
	}
	state := h.start()
	next, stop := iter.Pull2(h.follow(ctx, h.keeper, engine.FollowRequest{Run: state.RunID}))
	defer stop()
	if err := os.Rename(h.root, h.root+".moved"); err != nil {
		t.Fatal(err)
	}
	if _, err, _ := next(); failure(t, err).Code != schema.CodeGitRepositoryRequired {
		t.Errorf("after the worktree moved away: %v", err)
	}
}

func TestAWorktreeIsToldWhenItLooksDifferent(t *testing.T) {
	h := newHouse(t)
	ctx, cancel := patience(t)
	defer cancel()
	changes, err := h.keeper.FollowWorkspace(ctx, h.caller)
	if err != nil {
		t.Fatal(err)
	}
	next, stop := iter.Pull2(changes)
	defer stop()
	for i, name := range []string{"one", "two"} {
		h.write(name, name)
		o, err, _ := next()
		if err != nil || len(o.PathObservations) != i+1 {
			t.Fatalf("after %s: %+v, %v", name, o, err)
		}
	}
	if err := os.Remove(filepath.Join(h.root, "one")); err != nil {
		t.Fatal(err)
	}
	if o, err, _ := next(); err != nil || len(o.PathObservations) != 1 {
		t.Errorf("after a removal: %+v, %v", o, err)
	}
}

func TestFiguresOfAKeeper(t *testing.T) {
	h := newHouse(t)
	h.start()
	if _, err := h.keeper.Stop(t.Context(), h.caller, engine.StopRequest{Run: h.start().RunID}); err != nil {
		t.Fatal(err)
	}
	f := h.keeper.Figures()
	if f.Cached != 2 || f.Active != 1 || f.SyncP50 <= 0 || f.SyncP99 < f.SyncP50 || len(f.Stale) > 0 {
		t.Errorf("figures %+v", f)
	}
}
