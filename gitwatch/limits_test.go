//go:build linux

package gitwatch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestExhaustedLimits lowers the limits of the machine for a moment, so it needs
// root and runs in the soak only.
func TestExhaustedLimits(t *testing.T) {
	if os.Getenv(soakVariable) == "" || os.Geteuid() != 0 {
		t.Skip("it changes the limits of the machine: only in the soak, as root")
	}
	for name, reason := range map[string]string{"max_user_watches": errWatchLimit.reason, "max_user_instances": "limit: no further inotify instance"} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			w := &watched{sandbox: s, root: s.repo("r"), g: watchingGit(t)}
			w.ws = s.discover(w.g, w.root)
			w.g.lookouts.most = func() int { return 1000 } // so that the system refuses
			restore := lower(t, filepath.Join("/proc/sys/fs/inotify", name), "0")
			for i := range 20 {
				w.write("r/sub/b.txt", strings.Repeat("x", i))
				w.expect(Scanned, 0)
				w.heal()
			}
			if figures := w.g.Worktrees()[0]; !strings.HasPrefix(figures.Reason, reason) {
				t.Errorf("%+v", figures)
			}
			restore()
			w.heal()
			w.untilWatched()
		})
	}
}

func lower(t *testing.T, file, limit string) (restore func()) {
	before, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(limit), 0)
	}
	if err != nil {
		t.Skip(err)
	}
	restore = func() {
		if err := os.WriteFile(file, before, 0); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	return restore
}

// TestQuietWatchesCostNothing: twenty watched worktrees in which nothing happens
// take no time of the processor, and leave nothing behind.
func TestQuietWatchesCostNothing(t *testing.T) {
	before := openDescriptors(t)
	s := newSandbox(t)
	s.env = s.realEnv
	g := NewWatching()
	defer g.Close()
	for i := range 20 {
		root := s.repo("r" + string(rune('a'+i)))
		if _, _, err := g.Observe(t.Context(), s.env, s.discover(g, root)); err != nil {
			t.Fatal(err)
		}
	}
	planned(g)
	used := processorTime(t)
	<-time.After(500 * time.Millisecond)
	if took := processorTime(t) - used; took > 50*time.Millisecond {
		t.Errorf("%v in half a second in which nothing happened", took)
	}
	for _, w := range g.Worktrees() {
		if w.Mode != Watched {
			t.Errorf("%+v", w)
		}
	}
	g.Close()
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func processorTime(t *testing.T) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func openDescriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
