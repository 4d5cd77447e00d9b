package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/journal"
	"slipway/journal/faultfs"
	"slipway/schema"
)

func materialPath(r repository, digest schema.Digest) string {
	return r.file("run-1", filepath.Join("materials", strings.TrimPrefix(string(digest), "sha256:")))
}

func TestMaterialDigest(t *testing.T) {
	const want = "sha256:a4d7152cdabd1c3f269b065d588b815efc28edf251d3ec6a05c800ccbbb73ce6"
	if got := journal.MaterialDigest([]byte("# Title\n")); got != want {
		t.Errorf("MaterialDigest = %s, want %s", got, want)
	}
}

func TestMaterialsComeBack(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	w := r.lock("run-1")
	defer w.Close()
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	largest := bytes.Repeat([]byte{0xff, 0, '\n'}, journal.MaxMaterial/3+1)[:journal.MaxMaterial]
	for _, content := range [][]byte{[]byte("x"), largest, []byte("# Title\n"), []byte("x")} {
		if err := w.PutMaterial(journal.MaterialDigest(content), content); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Append(record(2, `{}`)); err != nil {
		t.Fatal(err)
	}
	store := r.open(journal.ReadOnly)
	for _, content := range [][]byte{[]byte("x"), largest, []byte("# Title\n")} {
		if got, err := store.Material("run-1", journal.MaterialDigest(content)); err != nil || got != string(content) {
			t.Errorf("Material of %d bytes: %d bytes, %v", len(content), len(got), err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(r.runs(), "run-1", "materials")); err != nil || len(entries) != 3 {
		t.Errorf("materials holds %v, %v", entries, err)
	}
}

func TestMaterialOfWrongSizeOrDigest(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	w := r.lock("run-1")
	defer w.Close()
	for _, content := range [][]byte{nil, make([]byte, journal.MaxMaterial+1)} {
		if err := w.PutMaterial(journal.MaterialDigest(content), content); phaseOf(err) != "validation" {
			t.Errorf("PutMaterial of %d bytes: %v", len(content), err)
		}
	}
	if err := w.PutMaterial(journal.MaterialDigest([]byte("a")), []byte("b")); phaseOf(err) != "validation" {
		t.Errorf("PutMaterial under another digest: %v", err)
	}
	store := r.open(journal.ReadOnly)
	for _, digest := range []schema.Digest{"", "sha256:../../journal.jsonl", journal.MaterialDigest([]byte("a"))} {
		if got, err := store.Material("run-1", digest); err == nil {
			t.Errorf("Material(%q) = %q", digest, got)
		}
	}
}

// TestSpoiltMaterials: a reader refuses them, a writer changes nothing and fails.
func TestSpoiltMaterials(t *testing.T) {
	content := []byte("# Title\n")
	digest := journal.MaterialDigest(content)
	for name, spoil := range map[string]func(*testing.T, string){
		"link": link, "directory": obstruct,
		"other content": func(t *testing.T, path string) { overwrite(t, path, "# TITLE\n") },
		"shorter":       func(t *testing.T, path string) { overwrite(t, path, "# Title") },
		"empty":         func(t *testing.T, path string) { overwrite(t, path, "") },
		"too large":     func(t *testing.T, path string) { overwrite(t, path, strings.Repeat("x", journal.MaxMaterial+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-1", `{}`)
			w := r.lock("run-1")
			defer w.Close()
			if err := w.PutMaterial(digest, content); err != nil {
				t.Fatal(err)
			}
			spoil(t, materialPath(r, digest))
			if got, err := r.open(journal.ReadOnly).Material("run-1", digest); err == nil {
				t.Errorf("Material = %q", got)
			}
			if err := w.PutMaterial(digest, content); phaseOf(err) != "directory_create" || committed(err) {
				t.Errorf("PutMaterial over it: %v", err)
			}
			if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Append(record(2, `{}`)); phaseOf(err) != "namespace_verify" || committed(err) {
				t.Errorf("Append of a record that relies on it: %v", err)
			}
		})
	}
}

func overwrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMaterialLostDuringTheAppend: the record is there, and the caller learns that
// a later check failed.
func TestMaterialLostDuringTheAppend(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	faulty := &faultfs.FS{FS: journal.OS()}
	w := lockOn(t, r, faulty)
	defer w.Close()
	content := []byte("# Title\n")
	digest := journal.MaterialDigest(content)
	if err := w.PutMaterial(digest, content); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	faulty.Before = func(op faultfs.Op) error {
		if op.Kind == "writeat" {
			os.Remove(materialPath(r, digest))
		}
		return nil
	}
	if _, err := w.Append(record(2, `{}`)); flags(err) != "committed" {
		t.Errorf("Append: %v (%s)", err, flags(err))
	}
}

// TestMaterialsAreDurableBeforeTheRecord looks at the order of what is done.
func TestMaterialsAreDurableBeforeTheRecord(t *testing.T) {
	r := newRepository(t)
	startProjected(r)
	faulty := &faultfs.FS{FS: journal.OS()}
	w := lockOn(t, r, faulty)
	defer w.Close()
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	content := []byte("# Title\n")
	digest := journal.MaterialDigest(content)
	done, err := operations(faulty, func() error {
		if err := w.PutMaterial(digest, content); err != nil {
			return err
		}
		_, err := w.Append(record(2, `{}`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(string(digest), "sha256:")
	const run = "slipway/runs/run-1"
	want := []string{
		"mkdir " + run + "/materials", "sync " + run,
		"create " + run + "/materials/." + name, "writeat " + run + "/materials/." + name,
		"sync " + run + "/materials/." + name, "publish " + run + "/materials/" + name, "sync " + run + "/materials",
		"writeat " + run + "/journal.jsonl", "sync " + run + "/journal.jsonl",
	}
	var got []string
	for _, op := range done {
		switch op.Kind {
		case "mkdir", "create", "writeat", "sync", "publish", "rename":
			got = append(got, op.Kind+" "+op.Path)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("order:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLeftoversOfACrash: temporary leaves are in nobody's way.
func TestLeftoversOfACrash(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	content := []byte("# Title\n")
	digest := journal.MaterialDigest(content)
	name := strings.TrimPrefix(string(digest), "sha256:")
	r.write("run-1", filepath.Join("materials", "."+name), "half")
	r.write("run-1", ".run.json", "half")
	w := r.lock("run-1")
	defer w.Close()
	if err := w.PutMaterial(digest, content); err != nil {
		t.Error(err)
	}
	if err := w.Project([]byte("{}")); err != nil || r.read("run-1", "run.json") != "{}" {
		t.Error(err)
	}
	for _, left := range []string{".run.json", filepath.Join("materials", "."+name)} {
		if _, err := os.Lstat(r.file("run-1", left)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
	}
}

func TestLaterProjection(t *testing.T) {
	r := newRepository(t)
	ctx := t.Context()
	stamp := r.start("run-1", `{}`)
	store := r.open(journal.ReadWrite)
	if err := store.Project(ctx, "run-1", []byte("one"), stamp); err != nil || r.read("run-1", "run.json") != "one" {
		t.Fatalf("Project: %v", err)
	}
	w := r.lock("run-1")
	if err := store.Project(ctx, "run-1", []byte("two"), stamp); err != journal.ErrBusy {
		t.Errorf("Project beside a writer: %v", err)
	}
	if _, _, _, err := w.Load(stamp); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(record(2, `{}`)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := store.Project(ctx, "run-1", []byte("old"), stamp); err != journal.ErrStale {
		t.Errorf("Project of an old state: %v", err)
	}
	if err := store.Project(ctx, "run-1", []byte("old"), journal.Stamp{}); err != journal.ErrStale {
		t.Errorf("Project of no state: %v", err)
	}
	if got := r.read("run-1", "run.json"); got != "one" {
		t.Errorf("run.json = %q", got)
	}
}
