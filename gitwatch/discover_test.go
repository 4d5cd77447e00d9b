//go:build unix

package gitwatch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// layouts builds one of everything that a root can be.
func layouts(t *testing.T) *sandbox {
	s := newSandbox(t)
	s.usualLayouts("r", "mod", "linked", "apart")
	s.emptyRepo("unborn")
	s.repo("r/nested")
	s.emptyRepo("line\nbreak\n")
	s.git(".", "clone", "-q", "--bare", s.path("r"), "bare.git")
	s.git("bare.git", "worktree", "add", "-q", s.path("bare.git/inside"), "HEAD")
	s.emptyRepo("above")
	s.mkdir("above/real")
	s.git("above", "config", "core.worktree", s.path("above/real"))
	return s
}

// usualLayouts builds a repository and, of what can hang on it, what is named.
func (s *sandbox) usualLayouts(names ...string) {
	s.repo("r")
	s.mkdir("r/docs/deep")
	s.symlink(s.path("r/docs"), "docslink")
	s.symlink(s.path("r/sub/b.txt"), "filelink")
	for _, name := range names {
		switch name {
		case "mod":
			s.repo("lib")
			s.git("r", "submodule", "add", "-q", s.path("lib"), "mod")
		case "linked":
			s.git("r", "worktree", "add", "-q", s.path("linked"), "-b", "side")
		case "apart":
			s.mkdir("apart")
			s.git("apart", "init", "-q", "--separate-git-dir", s.path("apart.git"))
		}
	}
}

// giveAway makes somebody else the owner, where the system lets us.
func (s *sandbox) giveAway(name string) {
	const somebody = 12345
	if err := os.Lchown(s.path(name), somebody, -1); errors.Is(err, os.ErrPermission) {
		s.tb.Skip("only root can give files away")
	} else {
		s.must(err)
	}
}

func TestDiscover(t *testing.T) {
	s := layouts(t)
	for _, c := range []struct{ path, root, gitDir, commonDir string }{
		{"r", "r", "r/.git", "r/.git"},
		{"r/", "r", "r/.git", "r/.git"},
		{"r/docs/../docs/deep", "r", "r/.git", "r/.git"},
		{"r/sub/b.txt", "r", "r/.git", "r/.git"},
		{"docslink/deep", "r", "r/.git", "r/.git"},
		{"filelink", "r", "r/.git", "r/.git"},
		{"unborn", "unborn", "unborn/.git", "unborn/.git"},
		{"r/mod", "r/mod", "r/.git/modules/mod", "r/.git/modules/mod"},
		{"r/mod/sub", "r/mod", "r/.git/modules/mod", "r/.git/modules/mod"},
		{"linked/sub", "linked", "r/.git/worktrees/linked", "r/.git"},
		{"apart", "apart", "apart.git", "apart.git"},
		{"r/nested/sub", "r/nested", "r/nested/.git", "r/nested/.git"},
		{"line\nbreak\n", "line\nbreak\n", "line\nbreak\n/.git", "line\nbreak\n/.git"},
		{"bare.git/inside/sub", "bare.git/inside", "bare.git/worktrees/inside", "bare.git"},
		{"above/real", "above/real", "above/.git", "above/.git"},
	} {
		want := schema.NewWorkspaceIdentity(s.path(c.root), s.path(c.gitDir), s.path(c.commonDir))
		g := settledGit()
		for round := range 3 {
			got, err := g.Discover(t.Context(), s.env, s.dir+"/"+c.path)
			if err != nil || got != want {
				t.Errorf("%q, round %d: got %+v, %v; want %+v", c.path, round, got, err, want)
			}
		}
	}
}

func TestDiscoverFindsNoWorkspace(t *testing.T) {
	s := layouts(t)
	s.emptyRepo("headless")
	s.remove("headless/.git/HEAD")
	s.emptyRepo("bent")
	s.write("bent/.git/config", "[core")
	s.write("void/.git", "gitdir: "+s.path("nowhere"))
	g := settledGit()
	for _, path := range []string{
		"none", " ", ".", "bare.git", "bare.git/objects", "r/.git", "r/.git/HEAD", "r/.git/objects", "r/.git/modules/mod",
		"headless", "bent", "void", "r/sub/b.txt/x",
	} {
		ws, err := g.Discover(t.Context(), s.env, s.dir+"/"+path)
		var none *NoWorkspaceError
		if !errors.As(err, &none) || none.Path != s.dir+"/"+path || none.Reason == "" || strings.Contains(none.Reason, "\n") {
			t.Errorf("%q: got %+v, %v", path, ws, err)
		}
	}
	for _, c := range []struct {
		name string
		env  []string
		path string
	}{
		{"somebody else's", append(slices.Clone(s.env), "GIT_TEST_ASSUME_DIFFERENT_OWNER=1"), s.path("r")},
		{"no git on PATH", []string{"PATH=" + s.path("none")}, s.path("r")},
		{"a git that can not run", s.fakeGit("exit 127"), s.path("r")},
		{"a git that answers nonsense", s.fakeGit("echo /"), s.path("r")},
		{"a git that answers nothing", s.fakeGit(""), s.path("r")},
		{"a relative path", s.env, "r"},
	} {
		var none *NoWorkspaceError
		if ws, err := g.Discover(t.Context(), c.env, c.path); !errors.As(err, &none) {
			t.Errorf("%s: got %+v, %v", c.name, ws, err)
		}
	}
}

func TestDiscoverEndsInTime(t *testing.T) {
	s := newSandbox(t)
	env := s.fakeGit("exec sleep 1000")
	for _, shrink := range []func(*limits){
		func(l *limits) { l.discovery = 100 * time.Millisecond },
		func(l *limits) { l.question = 100 * time.Millisecond },
	} {
		g := New()
		shrink(&g.limits)
		if _, err := g.Discover(t.Context(), env, s.dir); err != ErrTimeout {
			t.Errorf("got %v", err)
		}
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := New().Discover(ctx, env, s.dir); err != enough {
		t.Errorf("got %v", err)
	}
}

func TestDiscoverIgnoresWhereTheEnvironmentPoints(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	other := s.repo("other")
	want := s.discover(New(), root)
	env := append(slices.Clone(s.env),
		"GIT_DIR="+other+"/.git", "GIT_WORK_TREE="+other, "git_common_dir="+other+"/.git", "GIT_CEILING_DIRECTORIES="+s.dir,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0="+other, "GIT_CONFIG_PARAMETERS='core.bare=true'")
	got, err := New().Discover(t.Context(), env, root+"/sub")
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDiscoverAsksOnce(t *testing.T) {
	s := layouts(t)
	g := settledGit()
	for _, path := range []string{"r", "r/docs/deep", "r/mod", "linked", "apart", "r/nested", "unborn", "bare.git/inside"} {
		s.asked()
		s.discover(g, s.path(path))
		want := []string{"-c core.fsmonitor=false -C " + s.path(path) +
			" rev-parse --path-format=absolute --show-toplevel --git-dir --git-common-dir"}
		if diff := cmp.Diff(want, s.asked()); diff != "" {
			t.Errorf("%s, the first time: %s", path, diff)
		}
		s.discover(g, s.path(path))
		if again := s.asked(); again != nil {
			t.Errorf("%s, the second time: %q", path, again)
		}
	}
}

func TestDiscoverDoesNotTrustFreshFiles(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	n, err := examine(s.path("r/.git/config"), keepLinks)
	s.must(err)
	g := New()
	g.files.now = func() time.Time { return time.Unix(0, n.changed).Add(settleTime - 1) }
	s.discover(g, root)
	if _, kept := g.files.files[s.path("r/.git/config")]; kept {
		t.Error("a file that changed this moment was taken for settled")
	}
	g.files.now = func() time.Time { return time.Unix(0, n.changed).Add(coarseSettleTime) }
	s.discover(g, root)
	if _, kept := g.files.files[s.path("r/.git/config")]; !kept {
		t.Error("a settled file was not kept")
	}
}

// TestDiscoverNoticesChanges: whatever decides the answer changes, Git is asked
// again, and the answer is the one of somebody who knows nothing yet.
func TestDiscoverNoticesChanges(t *testing.T) {
	const elsewhere = "[core]\n\tworktree = /\n"
	for _, c := range []struct {
		name, path string
		change     func(s *sandbox)
	}{
		{"renamed", "r", func(s *sandbox) { s.rename("r", "r2") }},
		{"replaced", "r", func(s *sandbox) { s.rename("r", "r2"); s.repo("r") }},
		{"replaced by a link", "r", func(s *sandbox) { s.rename("r", "r2"); s.symlink(s.path("r2"), "r") }},
		{"Git directory replaced", "r", func(s *sandbox) { s.rename("r/.git", "old"); s.emptyRepo("r") }},
		{"Git directory gone", "r/sub", func(s *sandbox) { s.remove("r/.git") }},
		{"a repository between", "r/docs/deep", func(s *sandbox) { s.emptyRepo("r/docs") }},
		{"a repository at the path", "r/docs/deep", func(s *sandbox) { s.emptyRepo("r/docs/deep") }},
		{"a bare repository between", "r/docs/deep", func(s *sandbox) { s.git("r/docs", "init", "-q", "--bare") }},
		{"an empty .git between", "r/docs/deep", func(s *sandbox) { s.mkdir("r/docs/.git") }},
		{"a broken .git file between", "r/docs/deep", func(s *sandbox) { s.write("r/docs/.git", "gitdir: x") }},
		{"a file in place of the folder", "r/docs", func(s *sandbox) { s.remove("r/docs"); s.write("r/docs", "") }},
		{"a link leads elsewhere", "docslink", func(s *sandbox) { s.remove("docslink"); s.symlink(s.emptyRepo("other"), "docslink") }},
		{"HEAD gone", "r", func(s *sandbox) { s.remove("r/.git/HEAD") }},
		{"HEAD broken", "r", func(s *sandbox) { s.write("r/.git/HEAD", "x\n") }},
		{"objects gone", "r", func(s *sandbox) { s.rename("r/.git/objects", "o") }},
		{"refs gone", "r", func(s *sandbox) { s.rename("r/.git/refs", "o") }},
		{"core.worktree", "r", func(s *sandbox) { s.git("r", "config", "core.worktree", s.path("home")) }},
		{"core.bare", "r", func(s *sandbox) { s.git("r", "config", "core.bare", "true") }},
		{"unknown extension", "r", func(s *sandbox) { s.git("r", "config", "extensions.unheard", "1") }},
		{"configuration broken", "r", func(s *sandbox) { s.write("r/.git/config", "[core") }},
		{"per-worktree configuration", "linked", func(s *sandbox) { s.write("r/.git/worktrees/linked/config.worktree", elsewhere) }},
		{"Git file edited", "linked", func(s *sandbox) { s.write("linked/.git", "gitdir: "+s.path("r/.git")) }},
		{"Git file emptied", "linked", func(s *sandbox) { s.write("linked/.git", "") }},
		{"worktree moved by Git", "linked", func(s *sandbox) { s.git("r", "worktree", "move", s.path("linked"), s.path("moved")) }},
		{"commondir edited", "linked", func(s *sandbox) { s.write("r/.git/worktrees/linked/commondir", s.emptyRepo("other")+"/.git") }},
		{"main repository renamed", "linked", func(s *sandbox) { s.rename("r", "r2") }},
		{"submodule removed", "r/mod", func(s *sandbox) { s.git("r", "submodule", "deinit", "-f", "mod") }},
		{"separate Git directory renamed", "apart", func(s *sandbox) { s.rename("apart.git", "a") }},
		{"root given away", "r", func(s *sandbox) { s.giveAway("r") }},
		{"Git directory given away", "r", func(s *sandbox) { s.giveAway("r/.git") }},
		{"user's configuration broken", "r", func(s *sandbox) { s.write("home/.gitconfig", "[user") }},
		{"user's second configuration broken", "r", func(s *sandbox) { s.write("home/.config/git/config", "[user") }},
		{"system's configuration broken", "r", func(s *sandbox) { s.write("system.gitconfig", "[user") }},
		{"included configuration broken", "r", func(s *sandbox) { s.write("home/inc/two", "[user") }},
		{"conditional configuration broken", "r", func(s *sandbox) { s.write("home/inc/cond", "[user") }},
		{"git replaced", "r", func(s *sandbox) { s.write("bin/git", "#!/bin/sh\nexit 1\n"); s.chmod("bin/git", 0o755) }},
		{"git shadowed", "r", func(s *sandbox) { s.rename("bin/git", "bin/gone") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSandbox(t)
			s.usualLayouts(path.Base(c.path))
			s.write("home/.gitconfig", userConfig+"[include]\n\tpath = ~/inc/one\n")
			s.write("home/inc/one", "[include] path = two\n[includeIf \"gitdir:"+s.dir+"/\"]\npath = cond\n")
			s.write("home/inc/two", "")
			g := settledGit()
			s.discover(g, s.path(c.path))
			s.discover(g, s.path(c.path))
			if asked := s.asked(); len(asked) != 1 {
				t.Fatalf("asked %d times before anything changed", len(asked))
			}
			c.change(s)
			s.asked()
			got, gotErr := g.Discover(t.Context(), s.env, s.path(c.path))
			if _, err := exec.LookPath(s.path("bin/git")); err == nil && gotErr == nil && s.asked() == nil {
				t.Error("Git was not asked again")
			}
			want, wantErr := New().Discover(t.Context(), s.env, s.path(c.path))
			if got != want || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("got  %+v, %v\nwant %+v, %v", got, gotErr, want, wantErr)
			}
		})
	}
}

// TestDiscoverKnowsWhatHasNoSay: daily work does not make it ask again.
func TestDiscoverKnowsWhatHasNoSay(t *testing.T) {
	for name, change := range map[string]func(s *sandbox){
		"commit":             func(s *sandbox) { s.git("r", "commit", "-q", "--allow-empty", "-m", "x") },
		"checkout":           func(s *sandbox) { s.git("r", "checkout", "-qb", "other") },
		"detached":           func(s *sandbox) { s.git("r", "checkout", "-q", "--detach") },
		"new file":           func(s *sandbox) { s.write("r/new", "x") },
		"config rewritten":   func(s *sandbox) { s.git("r", "config", "a.b", "c"); s.git("r", "config", "--remove-section", "a") },
		"identity of caller": func(s *sandbox) { s.env = append(s.env[:len(s.env):len(s.env)], "GIT_DIR=/elsewhere") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.repo("r")
			g := settledGit()
			want := s.discover(g, s.path("r/sub"))
			change(s)
			s.asked()
			if got := s.discover(g, s.path("r/sub")); got != want {
				t.Errorf("got %+v", got)
			}
			if asked := s.asked(); asked != nil {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func TestDiscoverIsNotSureOfStrangeForms(t *testing.T) {
	for name, change := range map[string]func(s *sandbox){
		"include that is not followed": func(s *sandbox) { s.write("home/.gitconfig", userConfig+"[include]\npath = \"~/x\"\n") },
		"HEAD is a link":               func(s *sandbox) { s.remove("r/.git/HEAD"); s.symlink("refs/heads/main", "r/.git/HEAD") },
		".git is a link":               func(s *sandbox) { s.rename("r/.git", "g"); s.symlink(s.path("g"), "r/.git") },
		"relative configuration":       func(s *sandbox) { s.env = append(s.env, "GIT_CONFIG_GLOBAL=x") },
		"somebody else's, but safe": func(s *sandbox) {
			s.write("home/.gitconfig", "[safe]\ndirectory = *\n")
			s.giveAway("r")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.repo("r")
			change(s)
			g := settledGit()
			s.discover(g, s.path("r"))
			s.discover(g, s.path("r"))
			if asked := s.asked(); len(asked) != 2 {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func TestCachesAreBounded(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	g := settledGit()
	program, err := g.program(Scrub(s.env))
	s.must(err)
	facts := g.survey(program, root)
	for i := range 3 * maxKnownAnswers {
		g.known.keep(keyOf(root, []string{strings.Repeat("x", i)}), facts, schema.WorkspaceIdentity{})
	}
	for i := range 3 * maxMemoFiles {
		g.files.keep(strings.Repeat("x", i), memorized{})
	}
	if len(g.known.answers) != maxKnownAnswers || len(g.files.files) != maxMemoFiles {
		t.Errorf("%d answers, %d files", len(g.known.answers), len(g.files.files))
	}
}

func TestIncludesOf(t *testing.T) {
	for _, c := range []struct {
		text    string
		paths   []string
		unclear bool
	}{
		{"[user]\nname = n\npath = x\n", nil, false},
		{"[include]\npath = x\n", []string{"x"}, false},
		{"[INCLUDE] PATH=x y\r\n", []string{"x y"}, false},
		{"[includeIf \"gitdir:/a]b\\\"]/\"] path = x\n\tPath=~/y", []string{"x", "~/y"}, false},
		{"[include]\npath = \"x\"\n", nil, true},
		{"[include]\npath = x \\\n y\n", nil, true},
		{"[include]\npath = x ; said\n", nil, true},
		{"[include]\npath =\n", nil, true},
		{"[include]\npath\n", nil, false},
		{"[include\npath = x\n", []string{"x"}, true},
		{"# [include]\n[a][include]path=x", []string{"x"}, false},
		{"\ufeff[include] path=x", []string{"x"}, false},
	} {
		got := includesOf(c.text)
		if diff := cmp.Diff(c.paths, got.paths); diff != "" || got.unclear != c.unclear {
			t.Errorf("%q: unclear %v, %s", c.text, got.unclear, diff)
		}
	}
}

func TestExpandInclude(t *testing.T) {
	for _, c := range []struct {
		value, want string
		ok          bool
	}{
		{"x", "/etc/x", true}, {"../x", "/x", true}, {"/a/b", "/a/b", true}, {"~/x", "/home/x", true},
		{"~other/x", "", false}, {"%(prefix)/x", "", false},
	} {
		if got, ok := expandInclude(c.value, "/etc/gitconfig", "/home"); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %q, %v", c.value, got, ok)
		}
	}
}

// FuzzIncludesOf: an include that Git follows must be found, or the file must be
// called unclear.
func FuzzIncludesOf(f *testing.F) {
	f.Add("[include]\npath = x\n")
	f.Add("[includeIf \"gitdir:/\"]path=x")
	f.Fuzz(func(t *testing.T, text string) {
		got := includesOf(text)
		for _, path := range got.paths {
			if path == "" || path != strings.TrimSpace(path) {
				t.Errorf("%q", path)
			}
		}
		// A plain include after any text that ends in a line is always seen.
		with := includesOf(text + "\n[include]\npath = marker\n")
		if !slices.Contains(with.paths, "marker") {
			t.Errorf("the include after %q was not seen", text)
		}
	})
}
