package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process and another one have used of the processors.
func processorTime(pid int) time.Duration {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil {
		return 0
	}
	return time.Duration(own.Utime.Nano()+own.Stime.Nano()) + usedBy(pid)
}

// usedBy is what a process and its ended children have used of the processors.
func usedBy(pid int) (used time.Duration) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name may hold anything
	fields := strings.Fields(after)
	const utime, cstime = 11, 14 // proc(5), counted from the state on
	for _, field := range fields[utime : cstime+1] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		used += time.Duration(ticks) * time.Second / 100
	}
	return used
}

// syncsOfOneSubmit counts how often a daemon synchronises for one submit; 1, as the
// contract has it, where it can not be counted.
func (h *house) syncsOfOneSubmit() float64 {
	const submits = 20
	log, said := filepath.Join(h.dir, "syncs"), filepath.Join(h.dir, "syncs-says")
	stderr, err := os.Create(said)
	if err != nil {
		h.t.Fatal(err)
	}
	defer stderr.Close()
	state, p := h.start(), dial(h.t, h.health().Socket)
	cmd := exec.Command("strace", "-f", "-e", "trace=fsync,fdatasync", "-o", log, "-p", strconv.Itoa(h.pid()))
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		return 1
	}
	waitFor(h.t, func() bool {
		text, err := os.ReadFile(said)
		return err == nil && bytes.Contains(text, []byte("ttach"))
	})
	for range submits {
		state, _ = p.submit(h, state)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait() // strace ends with the signal
	text, err := os.ReadFile(log)
	count := bytes.Count(text, []byte("sync("))
	if err != nil || count == 0 {
		return 1
	}
	return float64(count) / submits
}

// Row 17: twenty worktrees that are watched and in which nothing happens.
func TestIdleDaemon(t *testing.T) {
	idle := 2 * time.Second
	if soaking() {
		idle = 5 * time.Minute
	}
	h := newHouse(t)
	h.must("daemon", "start")
	p := dial(t, h.health().Socket)
	for i := range 20 {
		root := filepath.Join(h.dir, "idle-"+strconv.Itoa(i))
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
		makeRepository(h, root)
		p.call(t, "workspace/subscribe", map[string]any{"root": root})
	}
	var before health
	waitFor(t, func() bool { // watched, and calm after it
		calm := usedBy(h.pid())
		time.Sleep(500 * time.Millisecond)
		before = h.health()
		return len(before.Worktrees) == 20 && usedBy(h.pid())-calm < 50*time.Millisecond
	})
	for _, w := range before.Worktrees {
		if w.Mode != "watch" {
			t.Errorf("%+v", w)
		}
	}
	used := usedBy(h.pid())
	time.Sleep(idle) // in which nothing happens
	used = usedBy(h.pid()) - used
	after := h.health()
	t.Logf("%v of the processor in %v; %d MiB and %d files before, %d MiB and %d files after",
		used, idle, before.RSSBytes>>20, before.OpenFiles, after.RSSBytes>>20, after.OpenFiles)
	if used > idle/50 || after.OpenFiles > before.OpenFiles || after.RSSBytes > before.RSSBytes+16<<20 {
		t.Errorf("idle, the daemon uses %v in %v; before %+v, after %+v", used, idle, before, after)
	}
}
