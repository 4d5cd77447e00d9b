package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/journal"
	"slipway/journal/faultfs"
)

// replace puts another object of the same kind and content at a path.
func replace(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	old, err := os.Stat(path + ".moved")
	if err != nil {
		t.Fatal(err)
	}
	if old.IsDir() {
		err = os.CopyFS(path, os.DirFS(path+".moved"))
	} else {
		var content []byte
		if content, err = os.ReadFile(path + ".moved"); err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// places are the objects that an operation holds, from the outside in.
func places(r repository) map[string]string {
	return map[string]string{
		"common":    r.path,
		"namespace": filepath.Join(r.path, "slipway"),
		"runs":      r.runs(),
		"run":       filepath.Join(r.runs(), "run-1"),
		"journal":   r.file("run-1", "journal.jsonl"),
		"lock":      r.file("run-1", "run.lock"),
	}
}

// TestReplacedBeforeTheAppend: nothing is written, neither to the old object nor to
// the one that took its place.
func TestReplacedBeforeTheAppend(t *testing.T) {
	for name, phase := range map[string]string{
		"common": "namespace_verify", "namespace": "namespace_verify", "runs": "namespace_verify",
		"run": "namespace_verify", "journal": "journal_verify", "lock": "lock_verify",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.path = filepath.Join(r.path, "common")
			if err := os.Mkdir(r.path, 0o700); err != nil {
				t.Fatal(err)
			}
			r.start("run-1", `{}`)
			w := r.lock("run-1")
			if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
				t.Fatal(err)
			}
			replace(t, places(r)[name])
			outside := repository{t, filepath.Dir(r.path)}
			before := outside.tree()
			if _, err := w.Append(record(2, `{}`)); phaseOf(err) != phase || committed(err) {
				t.Errorf("Append: %v, want phase %s", err, phase)
			}
			if err := w.Project([]byte("{}")); name != "journal" && name != "lock" && err == nil {
				t.Error("Project went through")
			}
			if name != "journal" && name != "lock" {
				content := []byte("x")
				if err := w.PutMaterial(journal.MaterialDigest(content), content); phaseOf(err) != "namespace_verify" {
					t.Errorf("PutMaterial: %v", err)
				}
			}
			w.Close()
			after := outside.tree()
			if name == "journal" || name == "lock" {
				ignoreProjection(before, after)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the disk was changed:\n%s", diff)
			}
		})
	}
}

// ignoreProjection takes away what a projection of an otherwise sound Run changes.
func ignoreProjection(trees ...map[string]entry) {
	for _, tree := range trees {
		for name := range tree {
			if strings.HasSuffix(name, "run.json") || strings.HasSuffix(name, "/run-1") {
				delete(tree, name)
			}
		}
	}
}

// TestReplacedDuringTheAppend: the object is replaced after the bytes were written;
// the caller learns that they went somewhere else, and nothing is taken back.
func TestReplacedDuringTheAppend(t *testing.T) {
	for name, want := range map[string]struct{ phase, flags string }{
		"namespace": {"namespace_verify", "committed+namespace_detached"},
		"runs":      {"namespace_verify", "committed+namespace_detached"},
		"run":       {"namespace_verify", "committed+namespace_detached"},
		"journal":   {"journal_verify", "committed+namespace_detached"},
		"lock":      {"lock_verify", "committed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-1", `{}`)
			faulty := &faultfs.FS{FS: journal.OS()}
			w := lockOn(t, r, faulty)
			defer w.Close()
			if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
				t.Fatal(err)
			}
			faulty.Before = func(op faultfs.Op) error {
				if op.Kind == "sync" && strings.HasSuffix(op.Path, "journal.jsonl") {
					replace(t, places(r)[name])
				}
				return nil
			}
			_, err := w.Append(record(2, `{}`))
			if phaseOf(err) != want.phase || flags(err) != want.flags {
				t.Errorf("Append: %v (%s), want %s, %s", err, flags(err), want.phase, want.flags)
			}
			if _, err := w.Append(record(3, `{}`)); phaseOf(err) != "replay" {
				t.Errorf("the next Append: %v", err)
			}
		})
	}
}

// TestReplacedDuringAStart: a new Run whose directory is exchanged is not taken
// away from where somebody else put something.
func TestReplacedDuringAStart(t *testing.T) {
	r := newRepository(t)
	w, err := r.open(journal.ReadWrite).Create(t.Context(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(r.runs(), ".run-1.starting"))
	before := r.tree()
	if _, err := w.Append(record(1, `{}`)); phaseOf(err) != "namespace_verify" || committed(err) {
		t.Errorf("Append: %v", err)
	}
	w.Close()
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("the disk was changed:\n%s", diff)
	}
}

func TestReplacedDuringARead(t *testing.T) {
	for _, name := range []string{"namespace", "runs", "run", "journal"} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-1", `{}`)
			faulty := &faultfs.FS{FS: journal.OS()}
			store := r.openOn(faulty, journal.ReadOnly)
			faulty.Before = func(op faultfs.Op) error {
				if op.Kind == "readat" {
					replace(t, places(r)[name])
				}
				return nil
			}
			var invalid *journal.InvalidError
			if _, _, _, err := store.Read(t.Context(), "run-1", journal.Stamp{}); !errors.As(err, &invalid) {
				t.Errorf("Read: %v", err)
			}
			faulty.Before = nil
			var refused *journal.StoreError
			if _, err := store.RunIDs(); (name == "namespace" || name == "runs") != errors.As(err, &refused) {
				t.Errorf("RunIDs afterwards: %v", err)
			}
			if records, err := r.records("run-1"); err != nil || len(records) != 1 {
				t.Errorf("a new Store reads %d records, %v", len(records), err)
			}
		})
	}
}
