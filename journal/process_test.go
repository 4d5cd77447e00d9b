package journal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/journal"
	"slipway/journal/faultfs"
)

// childRole names the environment variable by which the test binary, started by
// itself, learns which part to play.
const childRole = "JOURNAL_TEST_ROLE"

func TestMain(m *testing.M) {
	role, args, _ := strings.Cut(os.Getenv(childRole), " ")
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](strings.Fields(args)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// roles are what a child process can do; those of one platform add themselves.
var roles = map[string]func(args []string) error{
	"append": appendRole,
	"hold":   holdRole,
}

// appendRole appends a number of records to a Run, each under its own lock.
func appendRole(args []string) error {
	store, err := journal.OpenStore(journal.OS(), args[0], journal.ReadWrite)
	if err != nil {
		return err
	}
	defer store.Close()
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var stamp journal.Stamp
	for range count {
		if stamp, err = appendNext(store, stamp); err != nil {
			return err
		}
	}
	return nil
}

// appendNext appends what comes after the records that are there.
func appendNext(store *journal.Store, have journal.Stamp) (journal.Stamp, error) {
	w, err := store.Lock(context.Background(), "run-1")
	if err != nil {
		return journal.Stamp{}, err
	}
	defer w.Close()
	_, stamp, _, err := w.Load(have)
	if err != nil {
		return journal.Stamp{}, err
	}
	data, err := json.Marshal(map[string]int{"by": os.Getpid()})
	if err != nil {
		return journal.Stamp{}, err
	}
	return w.Append(journal.Record{Sequence: stamp.Sequence() + 1, Type: "outcome_submitted", At: time.Now(), Data: data})
}

// holdRole holds the lock of a Run, says so, and keeps it until its input ends.
func holdRole(args []string) error {
	store, err := journal.OpenStore(journal.OS(), args[0], journal.ReadWrite)
	if err != nil {
		return err
	}
	w, err := store.Lock(context.Background(), "run-1")
	if err != nil {
		return err
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	w.Close()
	store.Close()
	return nil
}

// child prepares a process that plays a role.
func child(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childRole+"="+role+" "+strings.Join(args, " "))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestWritersOfManyProcesses: several processes and several goroutines append to
// one Run; nothing is lost, nothing is there twice, nothing is torn.
func TestWritersOfManyProcesses(t *testing.T) {
	const processes, goroutines, each = 3, 2, 15
	r := newRepository(t)
	r.start("run-1", `{}`)
	var group sync.WaitGroup
	for range processes {
		cmd := child(t, "append", r.path, strconv.Itoa(each))
		group.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	for range goroutines {
		group.Go(func() {
			if err := appendRole([]string{r.path, strconv.Itoa(each)}); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	store := r.open(journal.ReadOnly)
	store.LockWait = journal.DefaultLockWait
	seen := int64(0)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		records, stamp, _, err := store.Read(t.Context(), "run-1", journal.Stamp{})
		if err != nil {
			t.Fatal(err)
		}
		if stamp.Sequence() < seen || stamp.Sequence() != int64(len(records)) {
			t.Fatalf("a reader saw %d records after %d", len(records), seen)
		}
		seen = stamp.Sequence()
	}
	if want := int64(1 + (processes+goroutines)*each); seen != want {
		t.Errorf("%d records, want %d", seen, want)
	}
}

// TestBusy: while another process holds the lock, writers and readers wait for
// LockWait and then say so; the first record and other Runs need no lock. When the
// other one is killed the lock is free.
func TestBusy(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	r.start("run-2", `{}`)
	ctx := t.Context()
	store := r.open(journal.ReadWrite)
	holder := holding(t, r)

	start := time.Now()
	if _, err := store.Lock(ctx, "run-1"); err != journal.ErrBusy {
		t.Errorf("Lock: %v", err)
	}
	if waited := time.Since(start); waited < store.LockWait {
		t.Errorf("Lock gave up after %v, before %v", waited, store.LockWait)
	}
	if _, _, _, err := store.Read(ctx, "run-1", journal.Stamp{}); err != journal.ErrBusy {
		t.Errorf("Read: %v", err)
	}
	if _, err := store.First("run-1"); err != nil {
		t.Errorf("First: %v", err)
	}
	if w, err := store.Lock(ctx, "run-2"); err != nil {
		t.Errorf("Lock of another Run: %v", err)
	} else {
		w.Close()
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	store.LockWait = time.Hour
	if _, err := store.Lock(cancelled, "run-1"); phaseOf(err) != "lock_open" || committed(err) {
		t.Errorf("Lock with a cancelled context: %v", err)
	}
	if _, _, _, err := store.Read(cancelled, "run-1", journal.Stamp{}); err != context.Canceled {
		t.Errorf("Read with a cancelled context: %v", err)
	}

	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w, err := store.Lock(ctx, "run-1") // waits for the kill to take effect
	if err != nil {
		t.Fatalf("Lock after its holder was killed: %v", err)
	}
	w.Close()
	holder.Wait()
}

// holding starts a process that holds the lock of run-1.
func holding(t *testing.T, r repository) *exec.Cmd {
	t.Helper()
	holder := child(t, "hold", r.path)
	if _, err := holder.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	return holder
}

// TestWaitingWriterGetsTheLock: who waits gets the lock when it is given back.
func TestWaitingWriterGetsTheLock(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	held := r.lock("run-1")
	store := r.open(journal.ReadWrite)
	store.LockWait = time.Minute
	got := make(chan error)
	go func() {
		w, err := store.Lock(context.Background(), "run-1")
		if err == nil {
			w.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("Lock came back although the lock is held: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	held.Close()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// TestStartedRunIsSeenWhole: nobody sees anything of a start before its record, and
// then only all of it.
func TestStartedRunIsSeenWhole(t *testing.T) {
	r := newRepository(t)
	w, err := r.open(journal.ReadWrite).Create(t.Context(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	store := r.open(journal.ReadOnly)
	if ids, err := store.RunIDs(); err != nil || len(ids) > 0 {
		t.Errorf("Runs during a start: %v, %v", ids, err)
	}
	if _, err := store.First("run-1"); err != journal.ErrNoRun {
		t.Errorf("First during a start: %v", err)
	}
	if _, err := w.Append(record(1, `{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.First("run-1"); err != nil {
		t.Errorf("First before the lock is free: %v", err)
	}
	if _, _, _, err := store.Read(t.Context(), "run-1", journal.Stamp{}); err != journal.ErrBusy {
		t.Errorf("Read before the lock is free: %v", err)
	}
	if _, err := w.Append(record(2, `{}`)); err != nil {
		t.Errorf("another record of the same Writer: %v", err)
	}
	w.Close()
	if records, err := r.records("run-1"); err != nil || len(records) != 2 {
		t.Errorf("Read after the start: %d records, %v", len(records), err)
	}
}

// TestReaderOutlivesARun: a Run that is taken away while a reader waits for it is
// not there.
func TestReaderOutlivesARun(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	w := r.lock("run-1")
	faulty := &faultfs.FS{FS: journal.OS()}
	store := r.openOn(faulty, journal.ReadOnly)
	store.LockWait = time.Minute
	faulty.Before = func(op faultfs.Op) error {
		if op.Kind == "trylock" && w != nil {
			if err := w.Remove(); err != nil {
				t.Error(err)
			}
			w.Close()
			w = nil
		}
		return nil
	}
	if _, _, _, err := store.Read(t.Context(), "run-1", journal.Stamp{}); err != journal.ErrNoRun {
		t.Errorf("Read: %v", err)
	}
}

// TestFirstOutlivesARun: a Run that is taken away while its first record is read is
// there or not, but never one that can not be read.
func TestFirstOutlivesARun(t *testing.T) {
	for n, reached := 1, true; reached; n++ {
		r := newRepository(t)
		r.start("run-1", `{}`)
		w := r.lock("run-1")
		faulty := &faultfs.FS{FS: journal.OS()}
		store := r.openOn(faulty, journal.ReadOnly)
		before := faulty.Count()
		reached = false
		faulty.Before = func(op faultfs.Op) error {
			if op.Number == before+n {
				reached = true
				return w.Remove()
			}
			return nil
		}
		if _, err := store.First("run-1"); err != nil && err != journal.ErrNoRun {
			t.Errorf("operation %d: %v", n, err)
		}
		w.Close()
	}
}

// TestInterruptedStart: what a start leaves whose process was killed is no Run, and
// the next start takes it away, but for one that may be under way.
func TestInterruptedStart(t *testing.T) {
	for _, test := range []struct {
		name string
		age  time.Duration
		held bool // another process works on it
		twin bool // a crash left the Run under both names
		left bool
	}{
		{name: "old", age: time.Hour},
		{name: "young", left: true},
		{name: "under way", age: time.Hour, held: true, left: true},
		{name: "with its own name", age: time.Hour, twin: true, left: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-0", `{}`)
			left := filepath.Join(r.runs(), ".run-1.starting")
			if test.held {
				w, err := r.open(journal.ReadWrite).Create(t.Context(), "run-1")
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
			} else {
				r.write(".run-1.starting", "journal.jsonl", "")
				r.write(".run-1.starting", "run.lock", "")
			}
			if test.twin {
				r.write("run-1", "journal.jsonl", lineOf(1, `{}`))
			}
			then := time.Now().Add(-test.age)
			if err := os.Chtimes(left, then, then); err != nil {
				t.Fatal(err)
			}
			before, err := r.open(journal.ReadOnly).RunIDs()
			if err != nil || slices.Contains(before, "run-1") != test.twin {
				t.Fatalf("Runs: %v, %v", before, err)
			}
			r.start("run-2", `{}`)
			if _, err := os.Lstat(left); (err == nil) != test.left {
				t.Errorf("afterwards: %v", err)
			}
			ids, err := r.open(journal.ReadOnly).RunIDs()
			if want := append(before, "run-2"); err != nil || !slices.Equal(ids, want) {
				t.Errorf("Runs: %v, %v; want %v", ids, err, want)
			}
		})
	}
}
