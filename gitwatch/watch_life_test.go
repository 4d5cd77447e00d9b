//go:build linux

package gitwatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestIdleWatchesEnd(t *testing.T) {
	w := newWatched(t, nil)
	l := w.g.lookouts.snapshot()[0]
	w.g.lookouts.pace.idle = time.Millisecond
	l.idle.Reset(0)
	for len(w.g.Worktrees()) > 0 || w.g.lookouts.used.Load() > 0 {
		<-time.After(time.Millisecond)
	}
	w.g.lookouts.pace.idle = time.Hour
	w.write("r/a.txt", "x")
	w.untilWatched()
}

func TestNoMoreThanSomeLookouts(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	g := watchingGit(t)
	ws := s.discover(g, root)
	for i := range maxLookouts + 3 {
		env := append(s.realEnv[:len(s.realEnv):len(s.realEnv)], fmt.Sprintf("LANG=%d", i))
		if _, _, err := g.Observe(t.Context(), env, ws); err != nil {
			t.Fatal(err)
		}
		planned(g)
	}
	if all := g.lookouts.snapshot(); len(all) != maxLookouts {
		t.Errorf("%d lookouts", len(all))
	}
	if w := g.Worktrees(); len(w) != 1 || w[0].Rescans != maxLookouts {
		t.Errorf("%+v", w)
	}
}

func TestWatchTellsOfChanges(t *testing.T) {
	w := newWatched(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	changes, err := w.g.Watch(ctx, w.env, w.ws)
	w.must(err)
	for name, change := range map[string]func(){
		"edit":         func() { w.write("r/a.txt", "x") },
		"in a folder":  func() { w.write("r/sub/n", "x") },
		"empty commit": func() { w.git("r", "commit", "-q", "--allow-empty", "-m", "x") },
	} {
		change()
		select {
		case _, open := <-changes:
			if !open {
				t.Fatal("it ended")
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing is told of: %s", name)
		}
		w.look()
	}
	stop()
	for range changes {
	}
	if _, err := New().Watch(t.Context(), w.env, w.ws); err == nil {
		t.Error("a Git that scans can not watch")
	}
}

// TestWatchOfAnUnknownWorktree: it begins with the first observation.
func TestWatchOfAnUnknownWorktree(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	g := watchingGit(t)
	ws := s.discover(g, root)
	changes, err := g.Watch(t.Context(), s.env, ws)
	s.must(err)
	_, _, err = g.Observe(t.Context(), s.env, ws)
	s.must(err)
	<-changes // when everything is watched
	s.write("r/a.txt", "x")
	<-changes
	g.Close()
	for range changes {
	}
	if o, mode, err := g.Observe(t.Context(), s.env, ws); err != nil || mode != Scanned || o.PathCount != 1 {
		t.Error("after Close:", o, mode, err)
	}
}

func TestWatchEndsWhereItFails(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	g := watchingGit(t)
	g.lookouts.notify = func() (notifier, error) { return nil, errors.New("none") }
	ws := s.discover(g, root)
	changes, err := g.Watch(t.Context(), s.env, ws)
	s.must(err)
	_, _, err = g.Observe(t.Context(), s.env, ws)
	s.must(err)
	for range changes {
	}
	if _, err := g.Watch(t.Context(), s.env, ws); err == nil || err.Error() != "none" {
		t.Error(err)
	}
}

// TestObserveIsCancelled: one who waits for the turn of another can go.
func TestObserveIsCancelled(t *testing.T) {
	w := newWatched(t, nil)
	l := w.g.lookouts.snapshot()[0]
	<-l.turn
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	stop(cause)
	if _, _, err := w.g.Observe(ctx, w.env, w.ws); !errors.Is(err, cause) {
		t.Error(err)
	}
	l.turn <- struct{}{}
	w.expect(Watched, 0)
}
