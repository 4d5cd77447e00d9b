//go:build unix

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/schema"
)

// Row 1: the daemon is killed and leaves its socket and its files.
func TestKilledDaemon(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	for i := range 5 {
		state = h.submit(state, fmt.Sprint("summary ", i))
		h.kill()
	}
	a := h.must("status", state.RunID, "--json")
	if a.took > time.Second && !testing.Short() {
		t.Errorf("the next command took %v", a.took)
	}
	if got := h.summaries(state.RunID); len(got) != 5 || h.sequences(state.RunID) != 6 {
		t.Errorf("of five acknowledged Outcomes there are %v", got)
	}
}

// Row 2: 64 clients at once, no daemon.
func TestManyClientsAtOnce(t *testing.T) {
	h := newHouse(t)
	var clients sync.WaitGroup
	for range 64 {
		clients.Go(func() {
			if a := h.do("status", "--json"); a.status != 0 {
				t.Errorf("a client ends with %d: %s", a.status, a.stderr)
			}
		})
	}
	clients.Wait()
	log := h.must("daemon", "logs", "--lines", "1000").stdout
	if n := strings.Count(string(log), "msg=started"); n != 1 {
		t.Errorf("%d daemons were started:\n%s", n, log)
	}
}

// Row 5: the daemon is stopped.
func TestStoppedDaemon(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	freeze(t, h.pid())
	for _, args := range [][]string{{"status", state.RunID}, {"stop", state.RunID}, {"daemon", "status"}} {
		a := h.do(append(args, "--timeout", "300ms")...)
		if a.status != 3 || a.code(t) != schema.CodeDaemonUnresponsive || a.took > 5*time.Second {
			t.Errorf("%v: exit %d after %v: %s", args, a.status, a.took, a.stderr)
		}
	}
	if err := syscall.Kill(h.pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	h.must("stop", state.RunID)
}

// Row 6: the client is killed between request and answer, at any moment.
func TestKilledClient(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	for i := range 12 {
		summary := fmt.Sprint("summary ", i)
		text := outcome(state.Action, summary)
		victim := h.submission(state.RunID, state.Action, text)
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 2 * time.Millisecond) // the moment of the fault
		_ = victim.Process.Kill()
		_ = victim.Wait() // killed, or just done
		a := run(h.submission(state.RunID, state.Action, text))
		if a.status != 0 {
			t.Fatalf("the repeat: exit %d: %s", a.status, a.stderr)
		}
		next := decode[schema.ProtocolState](t, a)
		if state = &next; len(h.summaries(state.RunID)) != i+1 {
			t.Fatalf("after %d Outcomes there are %v", i+1, h.summaries(state.RunID))
		}
	}
}

// Row 9: the worktree is renamed, replaced, removed.
func TestWorktreeThatGoesAway(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	elsewhere := filepath.Join(h.dir, "elsewhere")
	if err := os.Rename(h.root, elsewhere); err != nil {
		t.Fatal(err)
	}
	cmd := h.command("--root", h.root, "status", "--json")
	cmd.Dir = h.dir
	if a := run(cmd); a.status != 2 || a.code(t) != schema.CodeGitRepositoryRequired {
		t.Errorf("after a rename: exit %d, %s", a.status, a.stderr)
	}
	// Another repository at the same path knows nothing of the Run.
	if err := os.Mkdir(h.root, 0o700); err != nil {
		t.Fatal(err)
	}
	makeRepository(h, h.root)
	if a := h.do("status", state.RunID); a.status != 3 || a.code(t) != schema.CodeRunNotFound {
		t.Errorf("of the repository that took its place: exit %d, %s", a.status, a.stderr)
	}
	// The moved one still has it, and it belongs to the old place.
	cmd = h.command("stop", state.RunID)
	cmd.Dir = elsewhere
	if a := run(cmd); a.status != 3 || a.code(t) != schema.CodeWorkspaceIdentityMismatch {
		t.Errorf("at its new place: exit %d, %s", a.status, a.stderr)
	}
	if err := os.RemoveAll(h.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(elsewhere, h.root); err != nil {
		t.Fatal(err)
	}
	h.must("stop", state.RunID) // back at home
}

// Row 11: the machine sleeps. A process that stood still has timers that are late
// and connections that were idle; both go on.
func TestSleep(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	held := h.command("log", "--follow", state.RunID)
	said, err := held.StdoutPipe()
	if err == nil {
		err = held.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer held.Process.Kill()
	first := make([]byte, 1)
	if _, err := said.Read(first); err != nil {
		t.Fatal(err)
	}
	freeze(t, h.pid())
	freeze(t, held.Process.Pid)
	time.Sleep(1200 * time.Millisecond) // as long as the sleep is
	for _, pid := range []int{held.Process.Pid, h.pid()} {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	h.must("stop", state.RunID)
	rest := make(chan string, 1)
	go func() {
		var text strings.Builder
		buffer := make([]byte, 1024)
		for !strings.Contains(text.String(), "stopped") {
			n, err := said.Read(buffer)
			text.Write(buffer[:n])
			if err != nil {
				break
			}
		}
		rest <- text.String()
	}()
	select {
	case text := <-rest:
		if !strings.Contains(text, "stopped") {
			t.Errorf("after the sleep the follower hears %q", text)
		}
	case <-time.After(patience):
		t.Error("after the sleep the follower hears nothing")
	}
}

// Row 14: one Run whose lock is held keeps no other Run waiting.
func TestBusyRunHindersNoOther(t *testing.T) {
	h := newHouse(t)
	busy := h.start()
	lock, err := os.Open(filepath.Join(h.root, ".git", "slipway", "runs", busy.RunID))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	others := make([]*schema.ProtocolState, 8)
	for i := range others {
		others[i] = h.start()
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for range 8 { // all of these wait
		clients.Go(func() {
			if a := h.do("stop", busy.RunID); a.status != 3 || a.code(t) != schema.CodeRunBusy {
				t.Errorf("the busy Run: exit %d, %s", a.status, a.stderr)
			}
		})
	}
	for _, other := range others {
		if a := h.must("stop", other.RunID); a.took > 4*time.Second {
			t.Errorf("another Run waited %v", a.took)
		}
	}
	clients.Wait()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	h.must("stop", busy.RunID)
}

// Row 15: two daemons and embedded clients on one Run.
func TestManyWritersOfOneRun(t *testing.T) {
	h := newHouse(t)
	other := filepath.Join(h.dir, "run", "other.sock")
	writers := map[string][]string{
		"the daemon": nil, "a second one": {"SLIPWAY_SOCKET=" + other}, "embedded": {"SLIPWAY_DAEMON=off"},
	}
	defer func() {
		stop := h.command("daemon", "stop")
		stop.Env = append(h.env, "SLIPWAY_SOCKET="+other)
		run(stop)
	}()
	state := h.start()
	const each = 8
	var clients sync.WaitGroup
	for name, settings := range writers {
		clients.Go(func() {
			for range each {
				cmd := h.command("stop", state.RunID)
				cmd.Env = append(h.env, settings...)
				if a := run(cmd); a.status != 0 {
					t.Errorf("%s: exit %d, %s", name, a.status, a.stderr)
				}
			}
		})
	}
	clients.Wait()
	if n := h.sequences(state.RunID); n != 1+each*len(writers) {
		t.Errorf("%d stops were answered, the log has %d events", each*len(writers), n)
	}
}
