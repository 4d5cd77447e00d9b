package journal_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"slipway/journal"
	"slipway/journal/faultfs"
)

// flags names the flags of a *MutationError; "none" without one.
func flags(err error) string {
	var mutation *journal.MutationError
	if !errors.As(err, &mutation) {
		return fmt.Sprintf("%T", err)
	}
	var set []string
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"committed", mutation.Committed}, {"projection_stale", mutation.ProjectionStale},
		{"namespace_detached", mutation.NamespaceDetached}, {"ambiguous", mutation.Ambiguous},
	} {
		if flag.set {
			set = append(set, flag.name)
		}
	}
	if set == nil {
		return "none"
	}
	return strings.Join(set, "+")
}

// operations runs a mutation and lists what it did to the disk.
func operations(faulty *faultfs.FS, mutation func() error) ([]faultfs.Op, error) {
	var done []faultfs.Op
	faulty.Before = func(op faultfs.Op) error {
		done = append(done, op)
		return nil
	}
	err := mutation()
	faulty.Before = nil
	return done, err
}

// failing makes the n-th operation from now on fail.
func failing(faulty *faultfs.FS, n int, fault error) {
	at := faulty.Count() + n
	faulty.Before = func(op faultfs.Op) error {
		if op.Number == at {
			return fault
		}
		return nil
	}
}

// appendFaults says for every operation of an append to an existing Run, in order,
// what its failure means. stat and lstat of the same place share a row.
var appendFaults = []struct{ operation, phase, flags string }{
	{"lstat .", "namespace_verify", "none"},
	{"lstat slipway", "namespace_verify", "none"},
	{"lstat slipway/runs", "namespace_verify", "none"},
	{"lstat slipway/runs/run-1", "namespace_verify", "none"},
	{"lstat slipway/runs/run-1/run.lock", "lock_verify", "none"},
	{"lstat slipway/runs/run-1/run.json", "projection_prepare", "none"},
	{"lstat slipway/runs/run-1/journal.jsonl", "journal_verify", "none"},
	{"lstat slipway/runs/run-1/run.json", "journal_verify", "none"},
	{"readat slipway/runs/run-1/journal.jsonl", "journal_verify", "none"},
	{"writeat slipway/runs/run-1/journal.jsonl", "journal_write", "none"},
	{"sync slipway/runs/run-1/journal.jsonl", "journal_sync", "ambiguous"},
	{"stat slipway/runs/run-1/journal.jsonl", "journal_verify", "committed"},
	{"lstat .", "namespace_verify", "committed"},
	{"lstat slipway", "namespace_verify", "committed"},
	{"lstat slipway/runs", "namespace_verify", "committed"},
	{"lstat slipway/runs/run-1", "namespace_verify", "committed"},
	{"lstat slipway/runs/run-1/journal.jsonl", "journal_verify", "committed"},
	{"lstat slipway/runs/run-1/run.lock", "lock_verify", "committed"},
}

// startProjected starts a Run as a start leaves it that was not interrupted.
func startProjected(r repository) {
	r.start("run-1", `{}`)
	r.write("run-1", "run.json", `{}`)
}

func TestEveryFaultOfAnAppend(t *testing.T) {
	for i, want := range appendFaults {
		t.Run(fmt.Sprintf("%02d %s", i+1, strings.ReplaceAll(want.operation, "/", ":")), func(t *testing.T) {
			r := newRepository(t)
			startProjected(r)
			faulty := &faultfs.FS{FS: journal.OS()}
			w := lockOn(t, r, faulty)
			if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
				t.Fatal(err)
			}
			failing(faulty, i+1, syscall.EIO)
			_, err := w.Append(record(2, `{"try":1}`))
			if phaseOf(err) != want.phase || flags(err) != want.flags || !errors.Is(err, syscall.EIO) {
				t.Fatalf("Append: %v (phase %s, %s), want phase %s, %s", err, phaseOf(err), flags(err), want.phase, want.flags)
			}
			records := 1
			if want.flags == "committed" {
				records = 2
			}
			goesOn(t, r, w, faulty, records)
		})
	}
}

// TestAppendDoesNothingElse keeps the table above complete and an append cheap.
func TestAppendDoesNothingElse(t *testing.T) {
	r := newRepository(t)
	startProjected(r)
	faulty := &faultfs.FS{FS: journal.OS()}
	w := lockOn(t, r, faulty)
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	done, err := operations(faulty, func() error { _, err := w.Append(record(2, `{}`)); return err })
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, op := range done {
		got = append(got, op.Kind+" "+op.Path)
	}
	for _, row := range appendFaults {
		want = append(want, row.operation)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("an append does\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnchangedReadDoesNotOpenTheJournal keeps a read with a good stamp cheap.
func TestUnchangedReadDoesNotOpenTheJournal(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	faulty := &faultfs.FS{FS: journal.OS()}
	store := r.openOn(faulty, journal.ReadOnly)
	done, err := operations(faulty, func() error {
		_, _, unchanged, err := store.Read(t.Context(), "run-1", stamp)
		if !unchanged {
			t.Error("not unchanged")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, op := range done {
		kinds[op.Kind]++
	}
	if kinds["opendir"] != 1 || kinds["trylock"] != 1 || kinds["open"]+kinds["readat"] != 0 || len(done) > 16 {
		t.Errorf("an unchanged read does %v", done)
	}
}

// goesOn checks what a failed append left, that the Writer does not trust what it
// knew, and that writing goes on with it once the fault is over.
func goesOn(t *testing.T, r repository, w *journal.Writer, faulty *faultfs.FS, records int) {
	t.Helper()
	faulty.Before = nil
	if _, err := w.Append(record(2, `{}`)); phaseOf(err) != "replay" || committed(err) {
		t.Fatalf("Append without another Load: %v", err)
	}
	got, _, _, err := w.Load(journal.Stamp{})
	if err != nil || len(got) != records {
		t.Fatalf("Load after the fault: %d records, %v; want %d", len(got), err, records)
	}
	next := int64(len(got)) + 1
	if _, err := w.Append(record(next, `{"again":1}`)); err != nil {
		t.Fatalf("Append after the fault: %v", err)
	}
	w.Close()
	want := lineOf(1, `{}`)
	if records == 2 {
		want += after(want, `{"try":1}`)
	}
	if got := r.read("run-1", "journal.jsonl"); got != want+after(want, `{"again":1}`) {
		t.Errorf("journal:\n%s", got)
	}
}

func lockOn(t *testing.T, r repository, files journal.FS) *journal.Writer {
	t.Helper()
	w, err := r.openOn(files, journal.ReadWrite).Lock(t.Context(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestShortWrites: the disk is full after some bytes, and the journal can or can
// not be cut back.
func TestShortWrites(t *testing.T) {
	line := after(lineOf(1, `{}`), `{"try":1}`)
	for _, written := range []int{0, 1, len(line) / 2, len(line) - 1, len(line)} {
		for _, truncates := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d bytes, cut back %v", written, truncates), func(t *testing.T) {
				r := newRepository(t)
				r.start("run-1", `{}`)
				faulty := &faultfs.FS{FS: journal.OS()}
				w := lockOn(t, r, faulty)
				if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Sync(); err != nil { // else the last record is written once more
					t.Fatal(err)
				}
				faulty.Before = func(op faultfs.Op) error {
					switch {
					case op.Kind == "writeat":
						return &faultfs.Short{Bytes: written, Err: syscall.ENOSPC}
					case op.Kind == "truncate" && !truncates:
						return syscall.EIO
					}
					return nil
				}
				_, err := w.Append(record(2, `{"try":1}`))
				want, left := "ambiguous", 1
				if written == 0 {
					want = "none"
				}
				if !truncates && written >= len(line)-1 {
					left = 2
				}
				if phaseOf(err) != "journal_write" || flags(err) != want || !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("Append: %v (%s), want %s", err, flags(err), want)
				}
				if records, err := recordsBeside(r, w); err != nil || records != left {
					t.Fatalf("a reader sees %d records, %v; want %d", records, err, left)
				}
				goesOn(t, r, lockOn(t, r, faulty), faulty, left)
			})
		}
	}
}

// recordsBeside ends the mutation and counts what others see.
func recordsBeside(r repository, w *journal.Writer) (int, error) {
	w.Close()
	records, err := r.records("run-1")
	return len(records), err
}

// TestFaultsOfAStart fails every operation of a start in turn. A start that did not
// commit leaves nothing behind, one that did leaves a Run.
func TestFaultsOfAStart(t *testing.T) {
	content := []byte("accepted text\n")
	start := func(store *journal.Store) (err error) {
		w, err := store.Create(t.Context(), "run-1")
		if err != nil {
			return err
		}
		defer w.Close()
		if err := w.PutMaterial(journal.MaterialDigest(content), content); err != nil {
			return err
		}
		_, err = w.Append(record(1, `{}`))
		return err
	}
	faulty := &faultfs.FS{FS: journal.OS()}
	store := newRepository(t).openOn(faulty, journal.ReadWrite)
	all, err := operations(faulty, func() error { return start(store) })
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, op := range all {
		r := newRepository(t)
		faulty := &faultfs.FS{FS: journal.OS()}
		store := r.openOn(faulty, journal.ReadWrite)
		failing(faulty, i+1, syscall.EIO)
		err := start(store)
		name := fmt.Sprintf("%d: %s %s", i+1, op.Kind, op.Path)
		if err == nil {
			t.Errorf("%s: its failure went unnoticed", name)
			continue
		}
		if op.Kind == "openroot" || phaseOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		seen[phaseOf(err)+" "+flags(err)] = true
		records, readErr := r.records("run-1")
		switch flags(err) {
		case "none", "ambiguous":
			if readErr != journal.ErrNoRun {
				t.Errorf("%s (%s %s): a reader finds %v", name, phaseOf(err), flags(err), readErr)
			}
			if entries, _ := os.ReadDir(r.runs()); len(entries) > 0 {
				t.Errorf("%s: %v stayed behind", name, entries)
			}
		case "committed":
			if readErr != nil || len(records) != 1 {
				t.Errorf("%s: a reader finds %d records, %v", name, len(records), readErr)
			}
		default:
			t.Errorf("%s: %v (%s)", name, err, flags(err))
		}
	}
	for _, want := range []string{
		"namespace_verify none", "directory_create none", "directory_sync none", "lock_open none", "lock_sync none",
		"lock_verify none", "projection_prepare none", "journal_open none", "journal_write none",
		"journal_sync ambiguous", "directory_sync ambiguous",
		"namespace_verify committed", "journal_verify committed", "lock_verify committed",
	} {
		if !seen[want] {
			t.Errorf("no fault of a start gave %q", want)
		}
	}
}

// TestFailedSyncIsNotForgotten: after a failed sync the state is not durable, and
// the next append writes the lost bytes anew.
func TestFailedSyncIsNotForgotten(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	faulty := &faultfs.FS{FS: journal.OS()}
	w := lockOn(t, r, faulty)
	defer w.Close()
	if _, _, _, err := w.Load(stamp); err != nil {
		t.Fatal(err)
	}
	faulty.Before = func(op faultfs.Op) error {
		if op.Kind == "sync" {
			return syscall.EIO
		}
		return nil
	}
	if _, err := w.Append(record(2, `{"try":1}`)); flags(err) != "ambiguous" {
		t.Fatalf("Append: %v", err)
	}
	if got := r.read("run-1", "journal.jsonl"); got != lineOf(1, `{}`) {
		t.Errorf("journal after the failed sync:\n%s", got)
	}
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Sync(); phaseOf(err) != "journal_sync" || committed(err) {
		t.Errorf("Sync while the disk fails: %v", err)
	}
}

// TestSyncCostsNothingTwice: what this process synchronised is not synchronised
// again, what another one wrote is.
func TestSyncCostsNothingTwice(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	r.write("run-1", "run.json", `{}`)
	syncs := 0
	faulty := &faultfs.FS{FS: journal.OS()}
	faulty.Before = func(op faultfs.Op) error {
		if op.Kind == "sync" {
			syncs++
		}
		return nil
	}
	w := lockOn(t, r, faulty)
	defer w.Close()
	for _, step := range []struct {
		have  journal.Stamp
		syncs int
	}{{stamp, 0}, {journal.Stamp{}, 1}} {
		if _, _, _, err := w.Load(step.have); err != nil {
			t.Fatal(err)
		}
		syncs = 0
		for range 2 {
			synced, err := w.Sync()
			if err != nil || synced.Sequence() != 1 {
				t.Fatalf("Sync = %d, %v", synced.Sequence(), err)
			}
		}
		if syncs != step.syncs {
			t.Errorf("%d syncs, want %d", syncs, step.syncs)
		}
	}
}

// TestFaultsOfARepair: a repair that fails is no commit, and is done later.
func TestFaultsOfARepair(t *testing.T) {
	for _, tail := range []string{"torn", strings.TrimSuffix(after(lineOf(1, `{}`), `{"try":1}`), "\n")} {
		for _, kind := range []string{"truncate", "writeat", "sync"} {
			if (tail == "torn") == (kind == "writeat") {
				continue
			}
			if tail != "torn" && kind == "truncate" {
				continue
			}
			t.Run(tail[:4]+" "+kind, func(t *testing.T) {
				r := newRepository(t)
				r.start("run-1", `{}`)
				r.write("run-1", "journal.jsonl", lineOf(1, `{}`)+tail)
				faulty := &faultfs.FS{FS: journal.OS()}
				w := lockOn(t, r, faulty)
				records, _, _, err := w.Load(journal.Stamp{})
				if err != nil {
					t.Fatal(err)
				}
				faulty.Before = func(op faultfs.Op) error {
					if op.Kind == kind {
						return syscall.EIO
					}
					return nil
				}
				if _, err := w.Append(record(int64(len(records))+1, `{}`)); phaseOf(err) != "replay" || committed(err) {
					t.Fatalf("Append: %v", err)
				}
				goesOn(t, r, w, faulty, len(records))
			})
		}
	}
}

// TestFaultsOfAProjection: whatever fails, run.json is the old or the new one, and
// the error says that it is behind.
func TestFaultsOfAProjection(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	faulty := &faultfs.FS{FS: journal.OS()}
	w := lockOn(t, r, faulty)
	defer w.Close()
	if err := w.Project([]byte("old")); err != nil {
		t.Fatal(err)
	}
	all, err := operations(faulty, func() error { return w.Project([]byte("old")) })
	if err != nil {
		t.Fatal(err)
	}
	for i, op := range all {
		failing(faulty, i+1, syscall.EIO)
		err := w.Project([]byte("new"))
		if phaseOf(err) != "projection_rename" || flags(err) != "projection_stale" {
			t.Errorf("%s %s: %v (%s)", op.Kind, op.Path, err, flags(err))
		}
		if got := r.read("run-1", "run.json"); got != "old" {
			t.Errorf("%s %s: run.json is %q", op.Kind, op.Path, got)
		}
	}
	faulty.Before = nil
	if err := w.Project([]byte("new")); err != nil || r.read("run-1", "run.json") != "new" {
		t.Errorf("Project after the faults: %v", err)
	}
}
