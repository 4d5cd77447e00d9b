//go:build linux

package gitwatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
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

func TestUnchangedAsksNothing(t *testing.T) {
	w := newWatched(t, func(s *sandbox) { s.write("r/a.txt", "dirty"); s.write("r/new/x", "x") })
	for range 3 {
		w.expect(Watched, 0)
	}
	w.write("r/.git/unknown", "no matter")
	w.write("elsewhere", "no matter")
	w.expect(Watched, 0)
}

// TestChangesAskAboutThemselves: what is asked about is what changed.
func TestChangesAskAboutThemselves(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *sandbox)
		about  string
	}{
		"edit":            {func(s *sandbox) { s.write("r/a.txt", "x") }, "a.txt"},
		"new file":        {func(s *sandbox) { s.write("r/sub/n", "x") }, "sub/n"},
		"delete":          {func(s *sandbox) { s.remove("r/sub/b.txt") }, "sub/b.txt"},
		"rename":          {func(s *sandbox) { s.rename("r/a.txt", "r/c.txt") }, "a.txt c.txt"},
		"mode":            {func(s *sandbox) { s.chmod("r/a.txt", 0o755) }, "a.txt"},
		"folder":          {func(s *sandbox) { s.write("r/n/m/x", "x") }, "n"},
		"folder renamed":  {func(s *sandbox) { s.rename("r/sub", "r/bus") }, "bus sub"},
		"odd name":        {func(s *sandbox) { s.write("r/:(top)*", "x") }, ":(top)*"},
		"two in a folder": {func(s *sandbox) { s.write("r/sub/1", "x"); s.write("r/sub/2", "x") }, "sub/1 sub/2"},
		"link":            {func(s *sandbox) { s.remove("r/a.txt"); s.symlink("sub", "r/a.txt") }, "a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, nil)
			c.change(w.sandbox)
			mode, asked := w.look()
			question := asked[len(asked)-1]
			if _, about, _ := strings.Cut(question, " -- "); mode != Watched || about != c.about {
				t.Errorf("%s, asked %q", mode, asked)
			}
			w.untilWatched()
			w.expect(Watched, 0)
		})
	}
}

// TestWhatNeedsAScan: these change what other paths mean.
func TestWhatNeedsAScan(t *testing.T) {
	for name, change := range map[string]func(s *sandbox){
		"add":    func(s *sandbox) { s.write("r/n", "x"); s.git("r", "add", "n") },
		"commit": func(s *sandbox) { s.git("r", "commit", "-q", "--allow-empty", "-m", "x") },
		"branch": func(s *sandbox) { s.git("r", "checkout", "-qb", "x") },
		"ref": func(s *sandbox) {
			s.git("r", "commit-tree", "-m", "x", "HEAD^{tree}")
			s.git("r", "update-ref", "-d", "HEAD")
		},
		"ignore":           func(s *sandbox) { s.write("r/sub/.gitignore", "b*") },
		"exclude":          func(s *sandbox) { s.write("r/.git/info/exclude", "new") },
		"excludes of user": func(s *sandbox) { s.write("home/.config/git/ignore", "new") },
		"attributes":       func(s *sandbox) { s.write("r/.gitattributes", "* text\n") },
		"own attributes":   func(s *sandbox) { s.write("r/.git/info/attributes", "* text\n") },
		"configuration":    func(s *sandbox) { s.git("r", "config", "core.fileMode", "false") },
		"settings of user": func(s *sandbox) { s.git("r", "config", "--global", "status.renames", "false") },
		"many":             func(s *sandbox) { s.many("r/x", maxAskedPaths+1, 10) },
		"conflict":         func(s *sandbox) { s.conflict() },
		"intent":           func(s *sandbox) { s.write("r/n", "x"); s.git("r", "add", "-N", "n") },
		"further name":     func(s *sandbox) { s.must(os.Link(s.path("r/a.txt"), s.path("r/hard"))) },
		"gc":               func(s *sandbox) { s.git("r", "gc", "-q") },
		"replaced by a copy": func(s *sandbox) {
			s.rename("r", "old")
			if out, err := exec.Command("cp", "-a", s.path("old"), s.path("r")).CombinedOutput(); err != nil {
				s.tb.Fatal(string(out))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, func(s *sandbox) { s.write("r/new", "x") })
			change(w.sandbox)
			if mode, _ := w.look(); mode != Scanned {
				t.Error("it was not scanned")
			}
			if name != "conflict" && name != "intent" {
				w.untilWatched()
			}
			w.write("r/a.txt", "later")
			w.look()
		})
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

// TestIgnoredFoldersAreNotWatched: save those with tracked files in them.
func TestIgnoredFoldersAreNotWatched(t *testing.T) {
	w := newWatched(t, func(s *sandbox) {
		s.write("r/.gitignore", "/out/\nnode_modules/\n")
		s.many("r/out/x", 20, 1)
		s.many("r/sub/node_modules/x", 20, 1)
		s.write("r/out/kept/file", "x")
		s.git("r", "add", "-f", "out/kept/file")
	})
	l := w.g.lookouts.snapshot()[0]
	for path, want := range map[string]bool{"sub": true, "out": true, "out/kept": true, "out/x1": false, "sub/node_modules": false} {
		if got := l.folders.find(path) != nil; got != want {
			t.Errorf("%s: watched is %v", path, got)
		}
	}
	w.write("r/out/kept/file", "changed")
	w.expect(Watched, 1)
	w.write("r/out/x1/0", "changed")
	w.expect(Watched, 0)
	w.git("r", "add", "-f", "out/x1/0")
	w.untilWatched()
	w.write("r/out/x1/0", "changed again")
	w.expect(Watched, 1)
	w.write("r/.gitignore", "")
	w.expect(Scanned, 0)
	w.untilWatched()
	w.write("r/out/x2/0", "changed")
	w.expect(Watched, 1)
}

// TestSubmodules are asked about every time, because nothing in them is watched.
func TestSubmodules(t *testing.T) {
	w := newWatched(t, func(s *sandbox) {
		s.repo("lib")
		s.git("r", "submodule", "add", "-q", s.path("lib"), "mod")
		s.git("r", "commit", "-qm", "mod")
	})
	w.expect(Watched, 1)
	w.write("r/mod/sub/b.txt", "changed")
	w.expect(Watched, 1)
	w.git("r/mod", "commit", "-qam", "x")
	w.expect(Watched, 1)
	w.git("r", "submodule", "-q", "deinit", "-f", "mod")
	w.untilWatched()
	w.expect(Watched, 0)
}

func TestNestedRepositories(t *testing.T) {
	w := newWatched(t, func(s *sandbox) {
		s.repo("r/nested")
		s.git("r", "worktree", "add", "-q", s.path("r/linked"))
	})
	w.expect(Watched, 0)
	w.write("r/nested/deep/er/x", "x")
	w.look()
	w.remove("r/nested/.git/HEAD")
	w.expect(Watched, 2)
	w.untilWatched()
	w.write("r/nested/deep/er/y", "x")
	w.expect(Watched, 1)
	w.git("r/nested", "init", "-q")
	w.look()
	w.untilWatched()
	w.remove("r/.git/worktrees/linked/HEAD")
	w.look()
	w.write("r/linked/sub/x", "x")
	w.look()
}

// TestNewFolderBeforeAScan: a scan sees a folder that is not watched yet, but not
// what comes into it later.
func TestNewFolderBeforeAScan(t *testing.T) {
	w := newWatched(t, nil)
	w.expect(Watched, 0)
	for _, name := range []string{"one", "two"} {
		w.write("r/"+name+"/old", "x")
		_, err := w.g.ObserveFresh(t.Context(), w.env, w.ws)
		w.must(err)
		w.write("r/"+name+"/new", "x")
		w.look()
	}
}

// TestFolderThatGetsTracked: an ignored folder is watched once it holds tracked
// files, and no change before that is missed.
func TestFolderThatGetsTracked(t *testing.T) {
	w := newWatched(t, func(s *sandbox) { s.write("r/.gitignore", "ign/\n") })
	for _, name := range []string{"one", "two"} {
		w.write("r/ign/"+name+"/f", "x")
		w.look()
		w.git("r", "add", "-f", "ign/"+name+"/f")
		w.git("r", "commit", "-qm", name)
		for mode := Scanned; mode == Scanned && w.g.lookouts.snapshot()[0].base == nil; {
			mode, _ = w.look() // until something is built upon a scan
		}
		w.remove("r/ign/" + name + "/f")
		w.look()
	}
}

// TestNestedRepositoryOfAnother: what makes it one is outside, and goes away there.
func TestNestedRepositoryOfAnother(t *testing.T) {
	for name, change := range map[string]func(s *sandbox){
		"HEAD goes":           func(s *sandbox) { s.remove("far/other/.git/worktrees/nested/HEAD") },
		"a folder above goes": func(s *sandbox) { s.rename("far", "farther") },
		"all goes":            func(s *sandbox) { s.remove("far") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, func(s *sandbox) {
				s.repo("far/other")
				s.git("far/other", "worktree", "add", "-q", s.path("r/nested"))
			})
			w.expect(Watched, 0)
			change(w.sandbox)
			w.look()
			w.untilWatched()
			w.write("r/nested/sub/new", "x")
			w.look()
		})
	}
}

// TestOwnEditIsNeverMissed: whoever edits and asks at once sees the edit,
// whichever process made it.
func TestOwnEditIsNeverMissed(t *testing.T) {
	w := newWatched(t, nil)
	for i := range 1000 {
		name := []string{"a.txt", "sub/b.txt", "sub/new"}[i%3]
		text := fmt.Sprint(i)
		if i%50 == 0 {
			cmd := exec.Command("sh", "-c", "printf %s \"$1\" > \"$2\"", "sh", text, w.path("r/"+name))
			w.must(cmd.Run())
		} else {
			w.write("r/"+name, text)
		}
		o, _, err := w.g.Observe(t.Context(), w.realEnv, w.ws)
		w.must(err)
		found := false
		for _, p := range o.PathObservations {
			found = found || p.Path == name && p.ContentSHA256 == schema.PayloadDigest([]byte(text))
		}
		if !found {
			t.Fatalf("edit %d of %s is not in %+v", i, name, o.PathObservations)
		}
	}
}

// TestDrainIsABarrier: a drain hands on everything that was done before it, also
// while others keep the queue filled.
func TestDrainIsABarrier(t *testing.T) {
	folder := t.TempDir()
	n, err := newNotifier()
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	if _, err := n.add(folder); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			_ = os.WriteFile(fmt.Sprintf("%s/noise%d", folder, i%7), nil, 0o600)
		}
	}()
	defer func() { stop(); <-done }()
	for i := range 2000 {
		name := fmt.Sprint("mine", i)
		if err := os.WriteFile(folder+"/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		seen := false
		err := n.drain(func(e event) { seen = seen || e.name == name && e.what&arrived != 0 || e.what&lost != 0 })
		if err != nil || !seen {
			t.Fatalf("%s was not handed on: %v", name, err)
		}
	}
}

func TestFreshAsksAboutEverything(t *testing.T) {
	w := newWatched(t, func(s *sandbox) { s.write("r/a.txt", "x") })
	w.asked()
	o, err := w.g.ObserveFresh(t.Context(), w.env, w.ws)
	if asked := w.asked(); err != nil || len(asked) != 2 || !cmp.Equal(o, w.reference(w.root)) {
		t.Error(o, err, asked)
	}
	w.expect(Watched, 0)
}

// heal lets the time until the next try pass.
func (w *watched) heal() {
	for _, l := range w.g.lookouts.snapshot() {
		l.mu.Lock()
		l.health.retryAt = time.Time{}
		l.mu.Unlock()
	}
}

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

// TestRulesOfTheUser: files with rules outside of the repository count, wherever
// the configuration names them.
func TestRulesOfTheUser(t *testing.T) {
	for name, c := range map[string]struct{ setting, file string }{
		"home":     {"~/mine", "home/mine"},
		"relative": {"rules", "r/rules"},
		"absolute": {"", "elsewhere/rules"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, func(s *sandbox) {
				setting := c.setting
				if setting == "" {
					setting = s.path(c.file)
				}
				s.git("r", "config", "core.excludesFile", setting)
				s.write("r/new", "x")
			})
			w.write(c.file, "new\n")
			w.expect(Scanned, 0)
			w.untilWatched()
		})
	}
}
