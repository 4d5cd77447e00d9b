package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/journal"
)

func TestListing(t *testing.T) {
	r := newRepository(t)
	if ids, err := r.open(journal.ReadOnly).RunIDs(); err != nil || len(ids) != 0 {
		t.Fatalf("RunIDs without storage = %q, %v", ids, err)
	}
	r.start("b", `{}`)
	r.start("B", `{}`)
	for _, name := range []string{".hidden", "a b", "empty", strings.Repeat("x", 129)} {
		if err := os.Mkdir(filepath.Join(r.runs(), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.runs(), "stray"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := r.open(journal.ReadOnly)
	ids, err := store.RunIDs()
	if want := []string{"B", "b", "empty", "stray"}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("RunIDs = %q, %v; want %q", ids, err, want)
	}
	for _, id := range []string{"empty", "stray"} {
		var invalid *journal.InvalidError
		if _, err := store.First(id); !errors.As(err, &invalid) || invalid.Sequence != 0 {
			t.Errorf("First(%q): %v", id, err)
		}
		if _, _, _, err := store.Read(t.Context(), id, journal.Stamp{}); !errors.As(err, &invalid) || invalid.Sequence != 0 {
			t.Errorf("Read(%q): %v", id, err)
		}
	}
}

func TestUnknownRun(t *testing.T) {
	r := newRepository(t)
	ctx := t.Context()
	for _, store := range []*journal.Store{r.open(journal.ReadOnly), r.open(journal.ReadWrite)} {
		for _, id := range []string{"nobody", "", "..", "a/b", ".hidden"} {
			if _, err := store.First(id); err != journal.ErrNoRun {
				t.Errorf("First(%q): %v", id, err)
			}
			if _, _, _, err := store.Read(ctx, id, journal.Stamp{}); err != journal.ErrNoRun {
				t.Errorf("Read(%q): %v", id, err)
			}
			if _, err := store.Material(id, journal.MaterialDigest(nil)); err != journal.ErrNoRun {
				t.Errorf("Material(%q): %v", id, err)
			}
		}
	}
	store := r.open(journal.ReadWrite)
	if _, err := store.Lock(ctx, "nobody"); err != journal.ErrNoRun {
		t.Errorf("Lock: %v", err)
	}
	for _, id := range []string{"", "..", "a/b", ".hidden"} {
		if _, err := store.Create(ctx, id); phaseOf(err) != "validation" {
			t.Errorf("Create(%q): %v", id, err)
		}
	}
	r.start("taken", `{}`)
	if _, err := store.Create(ctx, "taken"); phaseOf(err) != "directory_create" || committed(err) {
		t.Errorf("Create of a taken id: %v", err)
	}
	if records, err := r.records("taken"); err != nil || len(records) != 1 {
		t.Errorf("the Run whose id was taken has %d records, %v", len(records), err)
	}
}

func TestReadingWritesNothing(t *testing.T) {
	r := newRepository(t)
	ctx := t.Context()
	before := r.tree()
	store := r.open(journal.ReadOnly)
	store.RunIDs()
	store.Read(ctx, "run-1", journal.Stamp{})
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("reading an empty repository changed it:\n%s", diff)
	}

	r.start("run-1", `{}`, `{}`)
	r.start("torn", `{}`)
	content := []byte("a material")
	w := r.lock("run-1")
	if err := w.PutMaterial(journal.MaterialDigest(content), content); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.write("torn", "journal.jsonl", lineOf(1, `{}`)+`{"sequence":2`)
	for _, path := range []string{filepath.Join(r.path, "slipway"), filepath.Join(r.runs(), "run-1")} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(r.file("run-1", "journal.jsonl"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.file("run-1", "run.lock")); err != nil {
		t.Fatal(err)
	}
	before = r.tree()
	store = r.open(journal.ReadOnly)
	ids, err := store.RunIDs()
	if err != nil || len(ids) != 2 {
		t.Fatalf("RunIDs = %q, %v", ids, err)
	}
	for _, id := range ids {
		if _, err := store.First(id); err != nil {
			t.Errorf("First(%q): %v", id, err)
		}
		_, stamp, _, err := store.Read(ctx, id, journal.Stamp{})
		if err != nil {
			t.Errorf("Read(%q): %v", id, err)
		}
		if _, _, unchanged, err := store.Read(ctx, id, stamp); err != nil || !unchanged {
			t.Errorf("second Read(%q): unchanged %v, %v", id, unchanged, err)
		}
	}
	if got, err := store.Material("run-1", journal.MaterialDigest(content)); err != nil || got != string(content) {
		t.Errorf("Material = %q, %v", got, err)
	}
	if _, err := store.Lock(ctx, "run-1"); phaseOf(err) != "namespace_verify" {
		t.Errorf("Lock on a store for reading: %v", err)
	}
	if _, err := store.Create(ctx, "run-2"); phaseOf(err) != "namespace_verify" {
		t.Errorf("Create on a store for reading: %v", err)
	}
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("reading changed the storage:\n%s", diff)
	}
}

func TestUnusedRunIsTakenAway(t *testing.T) {
	r := newRepository(t)
	w, err := r.open(journal.ReadWrite).Create(t.Context(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("x")
	if err := w.PutMaterial(journal.MaterialDigest(content), content); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if left, err := os.ReadDir(r.runs()); err != nil || len(left) > 0 {
		t.Errorf("of the Run that never began there is still %v, %v", left, err)
	}
}
