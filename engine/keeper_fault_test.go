package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"

	"slipway/engine"
	"slipway/journal"
	"slipway/journal/faultfs"
	"slipway/schema"
)

func TestFailedStepsOfASubmitAreToldTruly(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails func(op faultfs.Op) bool
		code  schema.Code
		flags schema.MutationDetails
	}{
		{"write", on("writeat", "journal.jsonl"), schema.CodeMutationNotCommitted,
			schema.MutationDetails{Phase: journal.PhaseJournalWrite}},
		{"sync", on("sync", "journal.jsonl"), schema.CodeMutationOutcomeAmbiguous,
			schema.MutationDetails{Phase: journal.PhaseJournalSync, Ambiguous: true}},
		{"projection examined", on("lstat", "run.json"), schema.CodeMutationNotCommitted,
			schema.MutationDetails{Phase: journal.PhaseProjectionPrepare}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			state := h.start()
			before := h.status(h.keeper, state.RunID)
			h.faulty.Before = func(op faultfs.Op) error {
				if c.fails(op) {
					return syscall.EIO
				}
				return nil
			}
			_, err := h.submit(h.keeper, state.Action, clarify(state.Action, "lost?"))
			h.faulty.Before = nil
			e := failure(t, err)
			if e.Code != c.code || e.Details != schema.Details(c.flags) {
				t.Errorf("got %s %+v, expected %s %+v", e.Code, e.Details, c.code, c.flags)
			}
			if c.code == schema.CodeMutationNotCommitted && len(h.status(h.keeper, state.RunID).Actions) != len(before.Actions) {
				t.Error("something was recorded although the caller was told that nothing was")
			}
			if _, err := h.submit(h.keeper, state.Action, clarify(state.Action, "lost?")); err != nil {
				t.Errorf("the exact repeat fails: %v", err)
			}
			if got := len(h.status(h.keeper, state.RunID).Actions); got != 2 {
				t.Errorf("%d Actions after the repeat, expected 2", got)
			}
		})
	}
}

func on(kind, name string) func(faultfs.Op) bool {
	return func(op faultfs.Op) bool { return op.Kind == kind && path.Base(op.Path) == name }
}

func TestEveryFileOperationOfASubmitMayFail(t *testing.T) {
	h := newHouse(t)
	h.keeper = h.newKeeper(engine.Options{Embedded: true})
	state := h.start()
	for at, failed := 1, true; failed; at++ {
		failed = false
		first := h.faulty.Count()
		h.faulty.Before = func(op faultfs.Op) error {
			if op.Number == first+at {
				failed = true
				return syscall.ENOSPC
			}
			return nil
		}
		before := len(h.status(h.newKeeperNow(), state.RunID).Actions)
		first, outcome := h.faulty.Count(), clarify(state.Action, fmt.Sprint("operation ", at))
		failed = false
		_, err := h.submit(h.keeper, state.Action, outcome)
		h.faulty.Before = nil
		after := len(h.status(h.newKeeperNow(), state.RunID).Actions)
		h.checkClass(at, err, before, after)
		if state, err = h.submit(h.keeper, state.Action, outcome); err != nil {
			t.Fatalf("operation %d: the exact repeat fails: %v", at, err)
		}
	}
}

// checkClass holds what a caller was told against what was recorded.
func (h *house) checkClass(at int, err error, before, after int) {
	h.t.Helper()
	recorded := after > before
	if err == nil {
		if !recorded {
			h.t.Errorf("operation %d: acknowledged, but not recorded", at)
		}
		return
	}
	switch code := failure(h.t, err).Code; code {
	case schema.CodeMutationCommittedProjectionStale, schema.CodeMutationCommittedVerificationFailed:
		if !recorded {
			h.t.Errorf("operation %d: %s, but nothing was recorded", at, code)
		}
	case schema.CodeMutationOutcomeAmbiguous:
	default:
		if recorded {
			h.t.Errorf("operation %d: %s, but the Outcome was recorded", at, code)
		}
	}
}

func TestAFailedProjectionIsShownAndTheAnswerStands(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	h.faulty.Before = func(op faultfs.Op) error {
		if op.Kind == "rename" {
			return syscall.ENOSPC
		}
		return nil
	}
	if _, err := h.submit(h.keeper, state.Action, clarify(state.Action, "on")); err != nil {
		t.Fatal(err)
	}
	if err := h.keeper.Close(context.Background()); err == nil {
		t.Error("Close hides that a projection could not be written")
	}
	if stale := h.keeper.Stale(); len(stale) != 1 || !strings.Contains(stale[0], state.RunID) {
		t.Errorf("stale projections: %q", stale)
	}
	h.faulty.Before = nil
	if err := h.keeper.Close(context.Background()); err != nil || len(h.keeper.Stale()) != 0 {
		t.Errorf("after space returned: %v, %q", err, h.keeper.Stale())
	}
}

func TestDamagedRunsAreNamed(t *testing.T) {
	h := newHouse(t)
	good, bad := h.start().RunID, h.start().RunID
	h.keeper.Close(context.Background())
	sound, err := os.ReadFile(h.runFile(bad, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*testing.T){
		"a second start": func(t *testing.T) {
			h.record(bad, func(first journal.Record) journal.Record { return first })
		},
		"an unknown type": func(t *testing.T) {
			h.record(bad, func(first journal.Record) journal.Record {
				return journal.Record{Type: "run_cheated", At: first.At, Data: []byte(`{"state":"active","remaining_budget":3}`)}
			})
		},
		"a record that was changed": func(t *testing.T) {
			h.record(bad, func(first journal.Record) journal.Record {
				return journal.Record{Type: "run_stopped", At: first.At, Data: []byte(`{"state":"stopped","remaining_budget":3}`)}
			})
			changed, err := os.ReadFile(h.runFile(bad, "journal.jsonl"))
			if err == nil {
				changed = bytes.Replace(changed, []byte(`:3}`), []byte(`:4}`), 1)
				err = os.WriteFile(h.runFile(bad, "journal.jsonl"), changed, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(h.runFile(bad, "journal.jsonl"), sound, 0o600); err != nil {
				t.Fatal(err)
			}
			damage(t)
			_, err := h.keeper.Status(context.Background(), h.caller, bad)
			if e := failure(t, err); e.Code != schema.CodeRunJournalInvalid {
				t.Errorf("status: %s", e.Code)
			}
			_, err = h.keeper.Stop(context.Background(), h.caller, engine.StopRequest{Run: bad})
			want := schema.MutationDetails{Phase: journal.PhaseReplay}
			if e := failure(t, err); e.Code != schema.CodeMutationNotCommitted || e.Details != schema.Details(want) {
				t.Errorf("stop: %s %+v", e.Code, e.Details)
			}
			list, err := h.keeper.List(context.Background(), h.caller)
			if err != nil || len(list.Runs) != 1 || list.Runs[0].RunID() != good || len(list.UnavailableRuns) != 1 {
				t.Errorf("list: %+v, %v", list, err)
			}
		})
	}
}
