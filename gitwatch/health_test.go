//go:build linux

package gitwatch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFailedObservationIsToldInHealth: it is neither watched nor scanned, and health
// says what Git said, until it works again.
func TestFailedObservationIsToldInHealth(t *testing.T) {
	w := newWatched(t, nil)
	index := w.path("r/.git/index")
	good, err := os.ReadFile(index)
	w.must(err)
	w.must(os.WriteFile(index, []byte("no index"), 0o644))
	if o, _, err := w.g.Observe(t.Context(), w.env, w.ws); err == nil {
		t.Fatalf("%+v", o)
	}
	if f := w.g.Worktrees()[0]; f.Mode != Scanned || !strings.HasPrefix(f.Reason, failedReason+"git ") {
		t.Errorf("%+v", f)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	w.must(os.WriteFile(index, good, 0o644))
	w.untilWatched()
	if _, _, err := w.g.Observe(stopped, w.env, w.ws); err == nil {
		t.Log("it was answered before it was cancelled")
	}
	if f := w.g.Worktrees()[0]; f.Reason != "" {
		t.Errorf("%+v", f)
	}
}

// TestWorktreesThatAreGone are not told about, whether somebody looks or not.
func TestWorktreesThatAreGone(t *testing.T) {
	for name, looks := range map[string]bool{"unseen": false, "looked at": true} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, nil)
			w.remove("r")
			if looks {
				if o, _, err := w.g.Observe(t.Context(), w.env, w.ws); err == nil {
					t.Fatalf("%+v", o)
				}
			}
			for deadline := time.Now().Add(10 * time.Second); len(w.g.Worktrees()) > 0; <-time.After(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%+v", w.g.Worktrees())
				}
			}
			if used := w.g.lookouts.used.Load(); used != 0 {
				t.Errorf("%d watches are held", used)
			}
			w.repo(filepath.Base(w.root))
			w.untilWatched()
		})
	}
}
