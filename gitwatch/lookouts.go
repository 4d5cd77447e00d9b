package gitwatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"slipway/schema"
)

// maxLookouts is how many worktrees are watched at a time; a further one takes the
// place of the one that was used least recently.
const maxLookouts = 64

// pace holds what a test must be able to shrink.
type pace struct {
	idle      time.Duration // a watch that nobody used for so long ends
	retry     time.Duration // after a failure; twice as long after each further one
	retryMost time.Duration
	settle    time.Duration // for new folders to be watched
	plan      time.Duration // for a whole worktree to be watched
}

func standardPace() pace {
	return pace{idle: 10 * time.Minute, retry: time.Second, retryMost: 10 * time.Minute, settle: 2 * time.Second, plan: 2 * time.Minute}
}

// lookouts are the worktrees in use of a Git that watches.
type lookouts struct {
	git    *Git
	pace   pace
	notify func() (notifier, error)
	most   func() int // folders that may be watched, of all worktrees together
	used   atomic.Int64
	mounts mounts

	running context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	all    map[answerKey]*lookout
}

func newLookouts(g *Git) *lookouts {
	s := &lookouts{git: g, pace: standardPace(), notify: newNotifier, most: mostWatches, all: make(map[answerKey]*lookout)}
	s.running, s.stop = context.WithCancel(context.Background())
	return s
}

// observe has the worktree's lookout answer.
func (s *lookouts) observe(ctx context.Context, scrubbed []string, ws schema.WorkspaceIdentity, deep depth) (schema.Observation, Mode, error) {
	for {
		l := s.of(scrubbed, ws)
		if err := l.take(ctx); err != nil {
			return schema.Observation{}, Scanned, err
		}
		if !l.dead {
			return l.observe(ctx, deep)
		}
		l.release() // it was given up after it was found
	}
}

// of finds or makes the lookout for a worktree as it looks in one environment.
func (s *lookouts) of(scrubbed []string, ws schema.WorkspaceIdentity) *lookout {
	key := keyOf(string(ws.ID)+"\x00"+ws.WorktreeRoot, scrubbed)
	s.mu.Lock()
	l := s.all[key]
	if l != nil {
		s.mu.Unlock()
		return l
	}
	l = newLookout(s, key, scrubbed, ws)
	if s.closed {
		l.close() // it still scans
		s.mu.Unlock()
		return l
	}
	var oldest *lookout
	if len(s.all) >= maxLookouts {
		oldest = s.leastRecent()
	}
	s.all[key] = l
	s.mu.Unlock()
	if oldest != nil {
		oldest.giveUp()
	}
	return l
}

// leastRecent finds the lookout that was used least recently.
func (s *lookouts) leastRecent() *lookout {
	var oldest *lookout
	for _, l := range s.all {
		if oldest == nil || l.lastUse.Load() < oldest.lastUse.Load() {
			oldest = l
		}
	}
	return oldest
}

func (s *lookouts) forget(l *lookout) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[l.key] == l {
		delete(s.all, l.key)
	}
}

func (s *lookouts) snapshot() []*lookout {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*lookout, 0, len(s.all))
	for _, l := range s.all {
		all = append(all, l)
	}
	return all
}

func (s *lookouts) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	for _, l := range s.snapshot() {
		l.close()
	}
	s.work.Wait()
	s.mounts.close()
}

// start runs work beside; false after close.
func (s *lookouts) start(work func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(work)
	}
	return !s.closed
}

var errWatchLimit = &unwatchable{"limit: no further inotify watch is left (fs.inotify.max_user_watches, of which half is used at most)"}

// reserve takes one of the folders that may be watched.
func (s *lookouts) reserve(most int) bool {
	if s.used.Add(1) <= int64(most) {
		return true
	}
	s.used.Add(-1)
	return false
}
