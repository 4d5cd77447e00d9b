package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/journal"
	"slipway/journal/faultfs"
	"slipway/schema"
)

// house is a throwaway repository with a Keeper in it.
type house struct {
	t      *testing.T
	root   string
	faulty *faultfs.FS
	keeper *engine.Keeper
	caller engine.Caller
}

func newHouse(t *testing.T) *house {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, root: filepath.Join(root, "repo"), faulty: &faultfs.FS{FS: journal.OS()}}
	h.caller = engine.Caller{Root: h.root, Environment: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.invalid", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.invalid",
	}}
	h.git(root, "init", "-q", "-b", "main", h.root)
	h.write("README.md", "# House\n")
	h.git(h.root, "add", "-A")
	h.git(h.root, "commit", "-qm", "first")
	h.keeper = h.newKeeper(engine.Options{})
	return h
}

func (h *house) newKeeper(o engine.Options) *engine.Keeper {
	o.Git, o.FS = gitwatch.New(), h.faulty
	k := engine.NewKeeper(o)
	h.t.Cleanup(func() { k.Close(context.Background()) })
	return k
}

func (h *house) git(dir string, args ...string) {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, h.caller.Environment
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.root, name), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) runFile(id, name string) string {
	return filepath.Join(h.root, ".git", "slipway", "runs", id, name)
}

func (h *house) start() *schema.ProtocolState {
	h.t.Helper()
	state, err := h.keeper.Start(context.Background(), h.caller, engine.StartRequest{Goal: "mend the roof", Budget: 1000, Review: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return state
}

// clarify is an Outcome that keeps the Run going with another Clarify.
func clarify(a *schema.Action, summary string) []byte {
	return report(a, schema.Outcome{
		Status: schema.Completed, Summary: summary,
		SuggestedActions: []schema.Suggestion{{Kind: schema.Clarify, Brief: "look once more"}},
	})
}

func report(a *schema.Action, o schema.Outcome) []byte {
	o.ContractVersion, o.ActionID, o.ActionKind = schema.ContractVersion, a.ActionID, a.Kind
	if o.Observations == nil {
		o.Observations = []string{}
	}
	if o.KnownIssues == nil {
		o.KnownIssues = []string{}
	}
	if o.SuggestedActions == nil {
		o.SuggestedActions = []schema.Suggestion{}
	}
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return data
}

func (h *house) submit(k *engine.Keeper, a *schema.Action, outcome []byte) (*schema.ProtocolState, error) {
	return k.Submit(context.Background(), h.caller, engine.SubmitRequest{Run: a.RunID, Action: a.ActionID, Outcome: outcome})
}

func (h *house) status(k *engine.Keeper, id string) *schema.RunStatus {
	h.t.Helper()
	status, err := k.Status(context.Background(), h.caller, id)
	if err != nil {
		h.t.Fatal(err)
	}
	return status
}

// failure is the contract's error in err; anything else fails the test.
func failure(t *testing.T, err error) *schema.Error {
	t.Helper()
	var e *schema.Error
	if !errors.As(err, &e) {
		t.Fatalf("expected an error of the contract, got %v", err)
	}
	return e
}

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

// newKeeperNow is a Keeper that remembers nothing and meets no faults.
func (h *house) newKeeperNow() *engine.Keeper {
	return engine.NewKeeper(engine.Options{Git: gitwatch.New(), Embedded: true})
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

// snapshot tells names, modes, times and contents of a folder.
func snapshot(t *testing.T, folder string) string {
	t.Helper()
	var b bytes.Buffer
	err := filepath.Walk(folder, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, p, info.Mode(), info.ModTime().UnixNano(), info.Size())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			b.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
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

// record appends to a journal of one record what the engine would not.
func (h *house) record(id string, from func(first journal.Record) journal.Record) {
	h.t.Helper()
	store, err := journal.OpenStore(journal.OS(), filepath.Join(h.root, ".git"), journal.ReadWrite)
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	w, err := store.Lock(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	defer w.Close()
	records, _, _, err := w.Load(journal.Stamp{})
	if err != nil {
		h.t.Fatal(err)
	}
	next := from(records[0])
	next.Sequence = 2
	if _, err := w.Append(next); err != nil {
		h.t.Fatal(err)
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
