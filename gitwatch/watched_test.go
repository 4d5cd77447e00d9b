//go:build linux

package gitwatch

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

func watchingGit(t testing.TB) *Git {
	g := NewWatching()
	t.Cleanup(g.Close)
	return g
}

// planned waits until a Git has set all watches that it is about to.
func planned(g *Git) {
	for _, l := range g.lookouts.snapshot() {
		<-l.turn
		l.turn <- struct{}{}
	}
}

// watched is a worktree in which every file is old enough for its times to be
// trusted, with a Git that watches it.
type watched struct {
	*sandbox
	g    *Git
	ws   schema.WorkspaceIdentity
	root string
}

func newWatched(t *testing.T, prepare func(s *sandbox)) *watched {
	s := newSandbox(t)
	w := &watched{sandbox: s, root: s.repo("r"), g: NewWatching()}
	t.Cleanup(w.g.Close)
	if prepare != nil {
		prepare(s)
	}
	w.ws = s.discover(w.g, w.root)
	w.untilWatched()
	return w
}

// look observes, holds the answer against a scan, and gives the questions that were
// put to Git.
func (w *watched) look() (Mode, []string) {
	w.tb.Helper()
	w.asked()
	o, mode, err := w.g.Observe(context.Background(), w.env, w.ws)
	w.must(err)
	asked := w.asked()
	planned(w.g)
	want, _, err := New().Observe(context.Background(), w.realEnv, w.ws)
	w.must(err)
	if diff := cmp.Diff(want, o); diff != "" {
		w.tb.Error(diff)
	}
	return mode, asked
}

// untilWatched observes until an answer comes from the watch: what was made a
// moment ago has to get older first.
func (w *watched) untilWatched() {
	w.tb.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if mode, _ := w.look(); mode == Watched {
			return
		}
	}
	w.tb.Fatalf("it is not watched: %+v", w.g.Worktrees())
}

// expect takes a look; the number of questions is that of an answer from the watch.
func (w *watched) expect(mode Mode, questions int) {
	w.tb.Helper()
	got, asked := w.look()
	if got != mode || len(asked) != questions && mode == Watched {
		w.tb.Errorf("%s with %q, expected %s with %d questions; %+v", got, asked, mode, questions, w.g.Worktrees())
	}
}

// many writes files, some in each of several folders.
func (s *sandbox) many(prefix string, folders, files int) {
	s.tb.Helper()
	for i := range folders {
		for j := range files {
			s.write(fmt.Sprintf("%s%d/%d", prefix, i, j), "x")
		}
	}
}

func (s *sandbox) conflict() {
	s.git("r", "checkout", "-qb", "left")
	s.write("r/a.txt", "left")
	s.git("r", "commit", "-qam", "left")
	s.git("r", "checkout", "-q", "main")
	s.write("r/a.txt", "right")
	s.git("r", "commit", "-qam", "right")
	if _, err := s.tryGit("r", "merge", "left"); err == nil {
		s.tb.Fatal("no conflict")
	}
}

// heal lets the time until the next try pass.
func (w *watched) heal() {
	for _, l := range w.g.lookouts.snapshot() {
		l.mu.Lock()
		l.health.retryAt = time.Time{}
		l.mu.Unlock()
	}
}
