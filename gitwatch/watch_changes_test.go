//go:build linux

package gitwatch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

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
