//go:build linux

package gitwatch

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// faultyNotifier fails on demand.
type faultyNotifier struct {
	notifier
	adds  int // that succeed; negative: all
	error error
	lose  atomic.Bool
}

func (n *faultyNotifier) add(path string) (watchID, error) {
	if n.adds == 0 {
		return 0, n.error
	}
	n.adds--
	return n.notifier.add(path)
}

func (n *faultyNotifier) drain(take func(event)) error {
	if n.lose.Swap(false) {
		take(event{id: -1, what: lost})
	}
	return n.notifier.drain(take)
}

func faultyAfter(adds int, err error) *faultyNotifier {
	n, newErr := newNotifier()
	if newErr != nil {
		panic(newErr)
	}
	return &faultyNotifier{notifier: n, adds: adds, error: err}
}

// TestFallback: where watching is not possible, it is scanned, health says why,
// and it heals by itself.
func TestFallback(t *testing.T) {
	var faulty *faultyNotifier
	for name, c := range map[string]struct {
		notify func() (notifier, error)
		most   int
		reason string
	}{
		"instances": {func() (notifier, error) { return nil, &unwatchable{"limit: instances"} }, 100, "limit: instances"},
		"watches":   {func() (notifier, error) { faulty = faultyAfter(2, errWatchLimit); return faulty, nil }, 100, errWatchLimit.reason},
		"share":     {newNotifier, 3, errWatchLimit.reason},
		"memory": {func() (notifier, error) {
			faulty = faultyAfter(1, &unwatchable{"inotify: no memory"})
			return faulty, nil
		}, 100, "inotify: no memory"},
		"forbidden": {func() (notifier, error) { faulty = faultyAfter(1, os.ErrPermission); return faulty, nil }, 100, "the folder sub may not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			w := &watched{sandbox: s, root: s.repo("r"), g: watchingGit(t)}
			w.ws = s.discover(w.g, w.root)
			w.g.lookouts.pace.retry = time.Hour
			w.g.lookouts.pace.retryMost = time.Hour
			w.g.lookouts.notify, w.g.lookouts.most = c.notify, func() int { return c.most }
			w.look()
			for range 3 {
				w.write("r/a.txt", time.Now().String())
				w.expect(Scanned, 0)
			}
			if figures := w.g.Worktrees()[0]; figures.Reason != c.reason || figures.Directories != 0 || figures.Mode != Scanned {
				t.Errorf("%+v", figures)
			}
			if held := w.g.lookouts.used.Load(); held != 0 {
				t.Errorf("%d watches are held", held)
			}
			w.heal()
			w.g.lookouts.notify, w.g.lookouts.most = newNotifier, func() int { return 100 }
			w.untilWatched()
			if figures := w.g.Worktrees()[0]; figures.Reason != "" || figures.Directories == 0 || figures.Mode != Watched {
				t.Errorf("%+v", figures)
			}
		})
	}
}

func TestOverflow(t *testing.T) {
	var faulty *faultyNotifier
	s := newSandbox(t)
	w := &watched{sandbox: s, root: s.repo("r"), g: watchingGit(t)}
	w.g.lookouts.notify = func() (notifier, error) { faulty = faultyAfter(-1, nil); return faulty, nil }
	w.ws = s.discover(w.g, w.root)
	w.untilWatched()
	faulty.lose.Store(true)
	w.write("r/a.txt", "x")
	w.expect(Scanned, 0)
	figures := w.g.Worktrees()[0]
	if !strings.HasPrefix(figures.Reason, "overflow") || figures.Overflows != 1 {
		t.Errorf("%+v", figures)
	}
	w.heal()
	w.untilWatched()
}

func TestRootGoes(t *testing.T) {
	w := newWatched(t, nil)
	w.rename("r", "moved")
	if o, _, err := w.g.Observe(t.Context(), w.env, w.ws); err == nil {
		t.Errorf("%+v", o)
	}
	if figures := w.g.Worktrees(); len(figures) > 0 || w.g.lookouts.used.Load() != 0 {
		t.Errorf("%+v", figures)
	}
	w.rename("moved", "r")
	w.untilWatched()
}

// TestReasonsToScan: what can not be looked up, or is not understood, is scanned.
func TestReasonsToScan(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(s *sandbox)
		reason  string
	}{
		"names without case":   {func(s *sandbox) { s.git("r", "config", "core.ignoreCase", "true") }, "core.ignoreCase"},
		"attributes of a tree": {func(s *sandbox) { s.git("r", "config", "attr.tree", "HEAD") }, "attr.tree"},
		"rules of ~user":       {func(s *sandbox) { s.git("r", "config", "core.excludesFile", "~root/x") }, "unusual way"},
		"an owner":             {func(s *sandbox) { s.giveAway("r"); s.write("home/.gitconfig", userConfig+"[safe]\ndirectory = *\n") }, "owner"},
		"headers": {func(s *sandbox) {
			s.git("r", "config", "status.showStash", "true")
			s.write("r/a.txt", "x")
			s.git("r", "stash", "-q")
		}, "status.showStash"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			w := &watched{sandbox: s, root: s.repo("r"), g: watchingGit(t)}
			w.ws = s.discover(w.g, w.root)
			c.prepare(s)
			for range 3 {
				w.write("r/sub/b.txt", time.Now().String())
				w.expect(Scanned, 0)
			}
			if figures := w.g.Worktrees()[0]; !strings.Contains(figures.Reason, c.reason) {
				t.Errorf("%+v", figures)
			}
		})
	}
}

// TestMissedChange: a scan that finds what no event told of ends the watch.
func TestMissedChange(t *testing.T) {
	w := newWatched(t, nil)
	l := w.g.lookouts.snapshot()[0]
	l.mu.Lock()
	l.notes.remove(l.folders.find("sub").id)
	l.mu.Unlock()
	w.write("r/sub/b.txt", "missed")
	if o, err := w.g.ObserveFresh(t.Context(), w.env, w.ws); err != nil || o.PathCount != 1 {
		t.Error(o, err)
	}
	if figures := w.g.Worktrees()[0]; figures.Mode != Scanned || !strings.Contains(figures.Reason, "no event") {
		t.Errorf("%+v", figures)
	}
	w.look()
}
