package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/journal"
)

var instant = time.Date(2025, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

func record(sequence int64, data string) journal.Record {
	return journal.Record{Sequence: sequence, Type: "outcome_submitted", At: instant, Data: json.RawMessage(data)}
}

// lineOf is the line that a record made by record takes as the first of a journal.
func lineOf(sequence int64, data string) string {
	return sealed(sequence, make([]byte, 16), data)
}

// after is the line that a record made by record takes behind the given journal,
// whose last record has its LF.
func after(journal, data string) string {
	const end = len(`"}` + "\n")
	previous, err := hex.DecodeString(journal[len(journal)-end-32 : len(journal)-end])
	if err != nil {
		panic(err)
	}
	return sealed(int64(strings.Count(journal, "\n"))+1, previous, data)
}

// sealed is the form of a record, written down once more.
func sealed(sequence int64, previous []byte, data string) string {
	body := fmt.Sprintf(`{"sequence":%d,"type":"outcome_submitted","at":"2025-03-04T05:06:07.89Z","data":%s`, sequence, data)
	sum := sha256.Sum256(append(previous, body...))
	return fmt.Sprintf(`%s,"chain":"%x"}`+"\n", body, sum[:16])
}

// repository is a Git common directory in a folder of the test.
type repository struct {
	t    testing.TB
	path string
}

func newRepository(t testing.TB) repository {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return repository{t, path}
}

func (r repository) open(access journal.Access) *journal.Store {
	r.t.Helper()
	return r.openOn(journal.OS(), access)
}

func (r repository) openOn(files journal.FS, access journal.Access) *journal.Store {
	r.t.Helper()
	store, err := journal.OpenStore(files, r.path, access)
	if err != nil {
		r.t.Fatal(err)
	}
	store.LockWait = 50 * time.Millisecond
	r.t.Cleanup(store.Close)
	return store
}

func (r repository) runs() string { return filepath.Join(r.path, "slipway", "runs") }

func (r repository) file(run, name string) string { return filepath.Join(r.runs(), run, name) }

func (r repository) read(run, name string) string {
	r.t.Helper()
	content, err := os.ReadFile(r.file(run, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(content)
}

func (r repository) write(run, name, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.file(run, name)), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.file(run, name), []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// start makes a Run with one record per data.
func (r repository) start(id string, data ...string) journal.Stamp {
	r.t.Helper()
	w, err := r.open(journal.ReadWrite).Create(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	defer w.Close()
	var stamp journal.Stamp
	for i, d := range data {
		if stamp, err = w.Append(record(int64(i+1), d)); err != nil {
			r.t.Fatal(err)
		}
	}
	return stamp
}

// lock locks a Run until the test ends or the Writer is closed.
func (r repository) lock(id string) *journal.Writer {
	r.t.Helper()
	w, err := r.open(journal.ReadWrite).Lock(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

// records reads a Run the way a reader does.
func (r repository) records(id string) ([]journal.Record, error) {
	r.t.Helper()
	store := r.open(journal.ReadOnly)
	records, _, _, err := store.Read(r.t.Context(), id, journal.Stamp{})
	return records, err
}

// entry is what tree tells about a file.
type entry struct {
	Mode     fs.FileMode
	Modified time.Time
	Content  string
}

// tree is everything below the repository.
func (r repository) tree() map[string]entry {
	r.t.Helper()
	all := map[string]entry{}
	err := filepath.WalkDir(r.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{Mode: info.Mode(), Modified: info.ModTime()}
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			e.Content = string(content)
		}
		all[strings.TrimPrefix(path, r.path)] = e
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func TestRecordsComeBack(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{"goal":"sort"}`, `{"n":[1,2,3]}`)
	if got := stamp.Sequence(); got != 2 {
		t.Errorf("Sequence of the stamp = %d, want 2", got)
	}
	want := []journal.Record{record(1, `{"goal":"sort"}`), record(2, `{"n":[1,2,3]}`)}
	got, err := r.records("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
	first, err := r.open(journal.ReadOnly).First("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[0], first); diff != "" {
		t.Errorf("First (-want +got):\n%s", diff)
	}
	if got, want := r.read("run-1", "journal.jsonl"), lineOf(1, `{"goal":"sort"}`)+after(lineOf(1, `{"goal":"sort"}`), `{"n":[1,2,3]}`); got != want {
		t.Errorf("journal:\n%swant:\n%s", got, want)
	}
}

func TestNewRunHoldsThreeFiles(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	w := r.lock("run-1")
	defer w.Close()
	if err := w.Project([]byte(`{"revision":1}`)); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := os.ReadDir(filepath.Join(r.runs(), "run-1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"journal.jsonl", "run.json", "run.lock"}; !slices.Equal(names, want) {
		t.Errorf("files = %q, want %q", names, want)
	}
	if got := r.read("run-1", "run.lock"); got != "" {
		t.Errorf("run.lock holds %q", got)
	}
}

func TestStampSparesTheReading(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	ctx := t.Context()
	store := r.open(journal.ReadOnly)

	records, again, unchanged, err := store.Read(ctx, "run-1", stamp)
	if err != nil || !unchanged || records != nil || again != stamp {
		t.Fatalf("Read with the stamp of Append = %v, %v, %v, %v", records, again == stamp, unchanged, err)
	}
	w := r.lock("run-1")
	if _, _, unchanged, err := w.Load(stamp); err != nil || !unchanged {
		t.Fatalf("Load with the stamp of Append: unchanged %v, %v", unchanged, err)
	}
	if _, err := w.Append(record(2, `{}`)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	records, moved, unchanged, err := store.Read(ctx, "run-1", stamp)
	if err != nil || unchanged || len(records) != 2 || moved.Sequence() != 2 {
		t.Fatalf("Read after an append = %d records, sequence %d, unchanged %v, %v", len(records), moved.Sequence(), unchanged, err)
	}
	// The same bytes in another file are another journal.
	content := r.read("run-1", "journal.jsonl")
	if err := os.Rename(r.file("run-1", "journal.jsonl"), r.file("run-1", ".old")); err != nil {
		t.Fatal(err)
	}
	r.write("run-1", "journal.jsonl", content)
	if _, _, unchanged, err := store.Read(ctx, "run-1", moved); err != nil || unchanged {
		t.Errorf("Read of a replaced journal: unchanged %v, %v", unchanged, err)
	}
	if _, _, unchanged, _ := store.Read(ctx, "run-1", journal.Stamp{}); unchanged {
		t.Error("the zero Stamp matches a journal")
	}
}

func TestAppendGoesOnAfterUnchangedLoad(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	for n := int64(2); n < 6; n++ {
		w := r.lock("run-1")
		_, _, unchanged, err := w.Load(stamp)
		if err != nil || !unchanged {
			t.Fatalf("Load %d: unchanged %v, %v", n, unchanged, err)
		}
		if stamp, err = w.Append(record(n, `{}`)); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	if records, err := r.records("run-1"); err != nil || len(records) != 5 {
		t.Errorf("%d records, %v; want 5", len(records), err)
	}
}

func TestAppendRefusesWhatCouldNotBeRead(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	before := r.read("run-1", "journal.jsonl")
	w := r.lock("run-1")
	defer w.Close()
	if _, err := w.Append(record(2, `{}`)); phaseOf(err) != "replay" {
		t.Errorf("Append before Load: %v", err)
	}
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	bad := map[string]journal.Record{
		"sequence too low":  record(1, `{}`),
		"sequence too high": record(3, `{}`),
		"no data":           record(2, ``),
		"data no object":    record(2, `[]`),
		"data twice":        record(2, `{}{}`),
		"key twice":         record(2, `{"a":1,"a":2}`),
		"not UTF-8":         record(2, "{\"a\":\"\xff\"}"),
		"escape":            record(2, `{}},"data":{}`),
		"no type":           {Sequence: 2, At: instant, Data: json.RawMessage(`{}`)},
		"quote in type":     {Sequence: 2, Type: `a"b`, At: instant, Data: json.RawMessage(`{}`)},
		"year":              {Sequence: 2, Type: "a", At: instant.AddDate(9000, 0, 0), Data: json.RawMessage(`{}`)},
	}
	for name, record := range bad {
		if _, err := w.Append(record); phaseOf(err) != "validation" || committed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := r.read("run-1", "journal.jsonl"); got != before {
		t.Errorf("the journal was changed:\n%s", got)
	}
	if _, err := w.Append(record(2, "{\n\"a\": 1\n}")); err != nil {
		t.Fatalf("an indented record after refused ones: %v", err)
	}
	if got, want := r.read("run-1", "journal.jsonl"), before+after(before, `{"a":1}`); got != want {
		t.Errorf("journal:\n%swant:\n%s", got, want)
	}
}

func TestSizeLimits(t *testing.T) {
	payload := func(size int) string { return `{"a":"` + strings.Repeat("x", size-len(`{"a":""}`)) + `"}` }
	var large *journal.RecordTooLargeError
	if err := journal.CheckSize(record(1, `{}`), record(2, payload(journal.MaxPayload+1))); !errors.As(err, &large) {
		t.Fatalf("CheckSize of a payload beyond the limit: %v", err)
	}
	if large.Size != 4_128_769 || large.Limit != 4_128_768 || large.Context == "" {
		t.Errorf("details %+v", large)
	}
	long := record(1, payload(journal.MaxPayload))
	long.Type = strings.Repeat("a", 1<<16)
	if err := journal.CheckSize(long); !errors.As(err, &large) || large.Limit != 4_194_304 {
		t.Errorf("CheckSize of a record beyond the limit: %v", err)
	}
	if err := journal.CheckSize(record(1, payload(journal.MaxPayload))); err != nil {
		t.Errorf("CheckSize at the limit: %v", err)
	}

	r := newRepository(t)
	r.start("run-1", `{}`)
	w := r.lock("run-1")
	defer w.Close()
	if _, _, _, err := w.Load(journal.Stamp{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(record(2, payload(journal.MaxPayload+1))); !errors.As(err, &large) {
		t.Fatalf("Append beyond the limit: %v", err)
	}
	if _, err := w.Append(record(2, payload(journal.MaxPayload))); err != nil {
		t.Fatalf("Append at the limit: %v", err)
	}
	if records, err := r.recordsUnder(w); err != nil || len(records) != 2 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// recordsUnder loads what a Writer has under its lock.
func (r repository) recordsUnder(w *journal.Writer) ([]journal.Record, error) {
	records, _, _, err := w.Load(journal.Stamp{})
	return records, err
}

// phaseOf is the phase of a *MutationError; empty for any other error.
func phaseOf(err error) string {
	var mutation *journal.MutationError
	if !errors.As(err, &mutation) {
		return ""
	}
	return mutation.Phase
}

// committed reports whether any flag of a *MutationError is set.
func committed(err error) bool {
	var mutation *journal.MutationError
	return errors.As(err, &mutation) &&
		(mutation.Committed || mutation.ProjectionStale || mutation.NamespaceDetached || mutation.Ambiguous)
}
