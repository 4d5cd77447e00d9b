package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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

// newKeeperNow is a Keeper that remembers nothing and meets no faults.
func (h *house) newKeeperNow() *engine.Keeper {
	return engine.NewKeeper(engine.Options{Git: gitwatch.New(), Embedded: true})
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
