package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/journal"
)

// link puts a link at a path; what stood there is its target.
func link(t *testing.T, path string) {
	t.Helper()
	target := path + ".target"
	if err := os.Rename(path, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// obstruct puts an object of the wrong kind at a path.
func obstruct(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".target"); err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		err = os.WriteFile(path, []byte("in the way"), 0o600)
	} else {
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var spoilers = map[string]func(*testing.T, string){"link": link, "other kind": obstruct}

func TestSpoiltNamespaceIsRefused(t *testing.T) {
	for _, name := range []string{"common", "namespace", "runs"} {
		for how, spoil := range spoilers {
			t.Run(name+" "+how, func(t *testing.T) {
				r := newRepository(t)
				r.path = filepath.Join(r.path, "common")
				if err := os.Mkdir(r.path, 0o700); err != nil {
					t.Fatal(err)
				}
				r.start("run-1", `{}`)
				spoil(t, places(r)[name])
				for _, access := range []journal.Access{journal.ReadOnly, journal.ReadWrite} {
					var refused *journal.StoreError
					if _, err := journal.OpenStore(journal.OS(), r.path, access); !errors.As(err, &refused) {
						t.Errorf("OpenStore: %v", err)
					} else if refused.Path != places(r)[name] {
						t.Errorf("the error names %s", refused.Path)
					}
				}
			})
		}
	}
	var refused *journal.StoreError
	if _, err := journal.OpenStore(journal.OS(), filepath.Join(t.TempDir(), "nothing"), journal.ReadWrite); !errors.As(err, &refused) {
		t.Errorf("OpenStore without common directory: %v", err)
	}
}

// TestSpoiltRunIsRefused holds the rows of storage.md, section 9, that concern one
// Run: what still works, and which error the rest gives.
func TestSpoiltRunIsRefused(t *testing.T) {
	type outcome struct{ first, read, lock, load, append string }
	tests := map[string]outcome{
		"run":      {first: "invalid", read: "invalid", lock: "invalid"},
		"journal":  {first: "invalid", read: "invalid", load: "invalid"},
		"lock":     {lock: "lock_open"},
		"run.json": {append: "projection_prepare"},
	}
	for name, want := range tests {
		for how, spoil := range spoilers {
			t.Run(name+" "+how, func(t *testing.T) {
				r := newRepository(t)
				r.start("run-1", `{}`)
				w := r.lock("run-1")
				if err := w.Project([]byte("{}")); err != nil {
					t.Fatal(err)
				}
				w.Close()
				at := places(r)
				at["run.json"] = r.file("run-1", "run.json")
				spoil(t, at[name])
				before := r.tree()

				var got outcome
				store := r.open(journal.ReadWrite)
				_, err := store.First("run-1")
				got.first = classOf(err)
				_, _, _, err = store.Read(t.Context(), "run-1", journal.Stamp{})
				got.read = classOf(err)
				w, err = store.Lock(t.Context(), "run-1")
				got.lock = classOf(err)
				if err == nil {
					_, _, _, err = w.Load(journal.Stamp{})
					got.load = classOf(err)
					if err == nil {
						_, err = w.Append(record(2, `{}`))
						got.append = classOf(err)
						if committed(err) {
							t.Errorf("Append: %v", err)
						}
						if err := w.Project([]byte("new")); err == nil {
							t.Error("Project went through")
						}
					}
					w.Close()
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(before, r.tree()); diff != "" {
					t.Errorf("the disk was changed:\n%s", diff)
				}
			})
		}
	}
}

// classOf is the phase of a *MutationError, "invalid" for an *InvalidError of the
// whole Run, else the text of the error.
func classOf(err error) string {
	var invalid *journal.InvalidError
	switch {
	case err == nil:
		return ""
	case phaseOf(err) != "":
		return phaseOf(err)
	case errors.As(err, &invalid) && invalid.Sequence == 0:
		return "invalid"
	}
	return err.Error()
}

func TestMissingJournal(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	if err := os.Remove(r.file("run-1", "journal.jsonl")); err != nil {
		t.Fatal(err)
	}
	store := r.open(journal.ReadWrite)
	if _, err := store.First("run-1"); classOf(err) != "invalid" {
		t.Errorf("First: %v", err)
	}
	if _, _, _, err := store.Read(t.Context(), "run-1", journal.Stamp{}); classOf(err) != "invalid" {
		t.Errorf("Read: %v", err)
	}
	w := r.lock("run-1")
	defer w.Close()
	if _, _, _, err := w.Load(journal.Stamp{}); classOf(err) != "invalid" {
		t.Errorf("Load: %v", err)
	}
}

// TestLockFileComesBack: the first writer that misses run.lock makes it.
func TestLockFileComesBack(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	if err := os.Remove(r.file("run-1", "run.lock")); err != nil {
		t.Fatal(err)
	}
	r.lock("run-1").Close()
	if got := r.read("run-1", "run.lock"); got != "" {
		t.Errorf("run.lock holds %q", got)
	}
}
