package gitwatch

import (
	"cmp"
	"slices"
	"time"
)

// Worktree says how a worktree in use is looked at (daemon.md, section 6).
type Worktree struct {
	Root            string
	Mode            Mode
	Reason          string        // why it is not watched, or not even scanned; empty where it is watched, or about to be
	Directories     int           // that are watched
	Events          int64         // since the worktree is in use, as all that follow
	Overflows       int64         // how often events were lost
	Rescans         int64         // observations that asked about everything
	LastObservation time.Duration // how long it took
}

// Worktrees tells about the worktrees in use, by root. One that is no longer there
// is not in use. One that several
// environments look at differently is one entry. A Git that scans has none.
func (g *Git) Worktrees() []Worktree {
	if g.lookouts == nil {
		return nil
	}
	var all []Worktree
	lookouts := g.lookouts.snapshot()
	slices.SortFunc(lookouts, func(a, b *lookout) int {
		return cmp.Or(cmp.Compare(a.ws.WorktreeRoot, b.ws.WorktreeRoot), cmp.Compare(b.lastUse.Load(), a.lastUse.Load()))
	})
	for _, l := range lookouts {
		w := l.figures()
		if last := len(all) - 1; last >= 0 && all[last].Root == w.Root {
			all[last].add(w)
			continue
		}
		all = append(all, w)
	}
	return all
}

// add counts the figures of a further environment in.
func (w *Worktree) add(other Worktree) {
	w.Directories += other.Directories
	w.Events += other.Events
	w.Overflows += other.Overflows
	w.Rescans += other.Rescans
}

// failedReason begins the reason of a worktree that can not be looked at.
const failedReason = "the last observation failed: "

// health is what a lookout counts, and why it does not watch.
type health struct {
	events, overflows, rescans int64
	last                       time.Duration
	reason                     string // why there is no watch
	failure                    error  // of the last observation

	failures int
	began    time.Time // the watch
	retryAt  time.Time
}

func (l *lookout) figures() Worktree {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &l.health
	w := Worktree{
		Root: l.ws.WorktreeRoot, Mode: Scanned, Reason: h.reason, Directories: len(l.folders.byID),
		Events: h.events, Overflows: h.overflows, Rescans: h.rescans, LastObservation: h.last,
	}
	switch {
	case h.failure != nil:
		w.Reason = failedReason + h.failure.Error()
	case l.notes != nil && l.ready && !l.restart:
		w.Mode, w.Reason = Watched, ""
	}
	return w
}

func (l *lookout) observed(took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.health.last, l.health.failure = took, err
}

// steadyTime is how long a watch has to last for earlier failures to be forgotten.
const steadyTime = time.Minute

// failed notes why there is no watch, and when it is tried again.
func (h *health) failed(cause error, p pace) {
	if h.failures > 0 && !h.began.IsZero() && time.Since(h.began) > steadyTime {
		h.failures = 0
	}
	h.reason = cause.Error()
	h.retryAt = time.Now().Add(min(p.retry<<min(h.failures, maxDoublings), p.retryMost))
	h.failures++
}

// maxDoublings keeps the pause from overflowing.
const maxDoublings = 20

// waiting reports whether the next try to watch is not due yet.
func (h *health) waiting() bool { return time.Now().Before(h.retryAt) }
