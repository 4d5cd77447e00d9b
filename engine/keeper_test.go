package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/engine"
	"slipway/journal/faultfs"
	"slipway/schema"
)

func TestKeeperSeesWhatAnotherProcessRecorded(t *testing.T) {
	h := newHouse(t)
	other := h.newKeeper(engine.Options{Embedded: true})
	state := h.start()
	for i := range 6 {
		k := []*engine.Keeper{h.keeper, other}[i%2]
		next, err := h.submit(k, state.Action, clarify(state.Action, fmt.Sprint("round ", i)))
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		state = next
	}
	if got := len(h.status(h.keeper, state.RunID).Actions); got != 7 {
		t.Errorf("%d Actions, expected 7", got)
	}
}

func TestConcurrentWritersOfOneRunTakeTurns(t *testing.T) {
	h := newHouse(t)
	keepers := []*engine.Keeper{h.keeper, h.newKeeper(engine.Options{}), h.newKeeper(engine.Options{Embedded: true})}
	state := h.start()
	for round := range 5 {
		var accepted atomic.Int32
		var next atomic.Pointer[schema.ProtocolState]
		var wait sync.WaitGroup
		for i := range 9 {
			wait.Go(func() {
				got, err := h.submit(keepers[i%len(keepers)], state.Action, clarify(state.Action, fmt.Sprint("writer ", i)))
				if err == nil {
					accepted.Add(1)
					next.Store(got)
				} else if code := failure(t, err).Code; code != schema.CodeOutcomeConflict {
					t.Errorf("a losing writer was told %s", code)
				}
			})
		}
		wait.Wait()
		if accepted.Load() != 1 {
			t.Fatalf("round %d: %d writers were accepted", round, accepted.Load())
		}
		state = next.Load()
	}
	log, err := h.keeper.Log(context.Background(), h.caller, state.RunID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Events) != 6 {
		t.Errorf("%d events, expected a start and 5 Outcomes", len(log.Events))
	}
}

func TestProjectionFollowsTheJournal(t *testing.T) {
	revision := func(h *house, id string) int64 {
		data, err := os.ReadFile(h.runFile(id, "run.json"))
		if err != nil {
			return 0
		}
		var projection struct{ Revision int64 }
		if err := json.Unmarshal(data, &projection); err != nil {
			h.t.Fatal(err)
		}
		return projection.Revision
	}
	t.Run("embedded: before the answer", func(t *testing.T) {
		h := newHouse(t)
		h.keeper = h.newKeeper(engine.Options{Embedded: true})
		state := h.start()
		if got := revision(h, state.RunID); got != 1 {
			t.Errorf("revision %d after the start", got)
		}
	})
	t.Run("daemon: at the latest when it ends", func(t *testing.T) {
		h := newHouse(t)
		state := h.start()
		if _, err := h.submit(h.keeper, state.Action, clarify(state.Action, "on")); err != nil {
			t.Fatal(err)
		}
		if err := h.keeper.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := revision(h, state.RunID); got != 2 {
			t.Errorf("revision %d after the end", got)
		}
	})
	t.Run("daemon: soon by itself", func(t *testing.T) {
		h := newHouse(t)
		projected := make(chan struct{}, 1)
		h.faulty.Before = func(op faultfs.Op) error {
			if op.Kind == "rename" && path.Base(path.Dir(op.Path)) != "materials" {
				select {
				case projected <- struct{}{}:
				default:
				}
			}
			return nil
		}
		h.start()
		select {
		case <-projected:
		case <-time.After(20 * time.Second):
			t.Error("the projection was not written")
		}
	})
}

func TestRunsOfAnotherWorktreeAreSeenAndNotTouched(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	linked := filepath.Join(filepath.Dir(h.root), "linked")
	h.git(h.root, "worktree", "add", "-q", linked)
	there := h.caller
	there.Root = linked
	list, err := h.keeper.List(context.Background(), there)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Runs) != 1 || list.Runs[0].Stub == nil || list.Runs[0].Stub.Workspace != h.root {
		t.Fatalf("the list of the linked worktree: %+v", list)
	}
	_, err = h.keeper.Skip(context.Background(), there, engine.SkipRequest{Run: state.RunID, Action: state.Action.ActionID})
	if e := failure(t, err); e.Code != schema.CodeWorkspaceIdentityMismatch {
		t.Errorf("a skip from the other worktree: %s", e.Code)
	}
	_, err = h.keeper.Status(context.Background(), there, state.RunID)
	if e := failure(t, err); e.Code != schema.CodeWorkspaceIdentityMismatch {
		t.Errorf("a status from the other worktree: %s", e.Code)
	}
}

func TestLookingWritesNothing(t *testing.T) {
	h := newHouse(t)
	h.keeper = h.newKeeper(engine.Options{Embedded: true})
	id := h.start().RunID
	f, err := os.OpenFile(h.runFile(id, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"sequence":2,"type":"outc`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	before := snapshot(t, filepath.Join(h.root, ".git", "slipway"))
	h.status(h.newKeeperNow(), id)
	if _, err := h.newKeeperNow().List(context.Background(), h.caller); err != nil {
		t.Fatal(err)
	}
	if after := snapshot(t, filepath.Join(h.root, ".git", "slipway")); after != before {
		t.Errorf("looking changed something:\n%s\n%s", before, after)
	}
}

func TestAMovedWorkspaceIsNoticedBeforeAnythingIsRecorded(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	moved := h.root + "-moved"
	if err := os.Rename(h.root, moved); err != nil {
		t.Fatal(err)
	}
	_, err := h.submit(h.keeper, state.Action, clarify(state.Action, "nowhere"))
	if e := failure(t, err); e.Code != schema.CodeGitRepositoryRequired {
		t.Errorf("a submit at the old place: %s", e.Code)
	}
	h.caller.Root = moved
	_, err = h.submit(h.keeper, state.Action, clarify(state.Action, "elsewhere"))
	if e := failure(t, err); e.Code != schema.CodeWorkspaceIdentityMismatch {
		t.Errorf("a submit at the new place: %s", e.Code)
	}
}
