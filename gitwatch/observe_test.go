//go:build unix

package gitwatch

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestObserveAnswersThePlainQuestions: in every state the values are those that
// the four plain questions give.
func TestObserveAnswersThePlainQuestions(t *testing.T) {
	for name, change := range map[string]func(s *sandbox){
		"clean":         func(s *sandbox) {},
		"unborn":        func(s *sandbox) { s.git("r", "checkout", "-q", "--orphan", "fresh") },
		"unborn, empty": func(s *sandbox) { s.remove("r"); s.emptyRepo("r"); s.write("r/x", "x") },
		"detached":      func(s *sandbox) { s.git("r", "checkout", "-q", "--detach"); s.write("r/a.txt", "x") },
		"HEAD is a tag object": func(s *sandbox) {
			s.git("r", "tag", "-am", "x", "v1")
			s.write("r/.git/HEAD", s.git("r", "rev-parse", "v1"))
		},
		"ref broken":    func(s *sandbox) { s.write("r/.git/refs/heads/main", "x") },
		"ref is a loop": func(s *sandbox) { s.write("r/.git/refs/heads/main", "ref: refs/heads/main\n") },
		"sha256": func(s *sandbox) {
			s.remove("r")
			s.mkdir("r")
			s.git("r", "init", "-q", "--object-format=sha256")
			s.write("r/a", "a")
			s.git("r", "add", "a")
			s.git("r", "commit", "-qm", "x")
			s.write("r/a", "b")
		},
		"upstream ahead and behind": func(s *sandbox) {
			s.git("r", "branch", "up")
			s.git("r", "branch", "-qu", "up")
			s.git("r", "commit", "-q", "--allow-empty", "-m", "x")
			s.git("r", "branch", "-f", "up", "HEAD~")
			s.write("r/new", "x")
		},
		"upstream gone": func(s *sandbox) {
			s.git("r", "config", "branch.main.remote", ".")
			s.git("r", "config", "branch.main.merge", "refs/heads/gone")
		},
		"stash shown": func(s *sandbox) {
			s.git("r", "config", "status.showStash", "true")
			s.write("r/a.txt", "stashed")
			s.git("r", "stash", "-q")
			s.write("r/a.txt", "x")
		},
		"status configuration": func(s *sandbox) {
			for _, set := range []string{"status.branch", "status.short", "status.relativePaths", "status.aheadBehind", "color.ui"} {
				s.git("r", "config", set, "true")
			}
			s.git("r", "config", "color.status", "always")
			s.git("r", "config", "status.showUntrackedFiles", "no")
			s.write("r/new", "x")
			s.write("r/a.txt", "x")
		},
		"staged, changed, deleted": func(s *sandbox) {
			s.write("r/a.txt", "x")
			s.git("r", "add", "a.txt")
			s.write("r/a.txt", "y")
			s.remove("r/sub/b.txt")
			s.write("r/added", "x")
			s.git("r", "add", "added")
			s.write("r/soon", "x")
			s.git("r", "add", "-N", "soon")
		},
		"mode changed": func(s *sandbox) { s.chmod("r/a.txt", 0o755) },
		"renamed and changed": func(s *sandbox) {
			s.write("r/long", strings.Repeat("line\n", 50))
			s.git("r", "add", "-A")
			s.git("r", "commit", "-qm", "x")
			s.git("r", "mv", "long", "longer name")
			s.write("r/longer name", strings.Repeat("line\n", 50)+"more")
		},
		"rename whose origin is there again": func(s *sandbox) {
			s.git("r", "mv", "a.txt", "c.txt")
			s.write("r/a.txt", "another one\n")
		},
		"copied": func(s *sandbox) {
			s.git("r", "config", "status.renames", "copies")
			s.write("r/copy.txt", "aaa\n")
			s.write("r/a.txt", "aaa\nchanged\n")
			s.git("r", "add", "-A")
			s.write("r/a.txt", "again")
		},
		"conflicts": func(s *sandbox) {
			s.git("r", "checkout", "-qb", "left")
			s.write("r/a.txt", "left")
			s.git("r", "rm", "-q", "sub/b.txt")
			s.git("r", "commit", "-qam", "left")
			s.git("r", "checkout", "-q", "main")
			s.write("r/a.txt", "right")
			s.write("r/sub/b.txt", "right")
			s.git("r", "commit", "-qam", "right")
			if _, err := s.tryGit("r", "merge", "left"); err == nil {
				s.tb.Fatal("no conflict")
			}
		},
		"submodule": func(s *sandbox) {
			s.repo("lib")
			s.git("r", "submodule", "add", "-q", s.path("lib"), "mod")
			s.git("r", "commit", "-qm", "mod")
			s.git("r/mod", "commit", "-q", "--allow-empty", "-m", "x")
			s.write("r/mod/a.txt", "x")
		},
		"nested repositories": func(s *sandbox) {
			s.repo("r/nested")
			s.emptyRepo("r/sub/empty")
			s.mkdir("r/hollow")
		},
		"sparse checkout": func(s *sandbox) {
			s.git("r", "sparse-checkout", "set", "--cone", "--sparse-index", "other")
			s.write("r/sub/b.txt", "here again")
			s.write("r/new", "x")
		},
		"flags in the index": func(s *sandbox) {
			s.git("r", "update-index", "--assume-unchanged", "a.txt")
			s.git("r", "update-index", "--skip-worktree", "sub/b.txt")
			s.write("r/a.txt", "x")
			s.remove("r/sub/b.txt")
		},
		"ignored": func(s *sandbox) {
			s.write("r/.gitignore", "*.log\n/out/\n")
			s.write("r/x.log", "x")
			s.write("r/out/y", "y")
			s.write("home/excluded", "*.tmp\n")
			s.git("r", "config", "--global", "core.excludesFile", s.path("home/excluded"))
			s.write("r/x.tmp", "x")
		},
		"odd names": func(s *sandbox) {
			for _, name := range []string{
				"new\nline", "tab\tbed", "sp ace", " leading", "trailing ", "ünï", "日本", "\"quoted\"", "back\\slash", "-dash", ":colon",
				"# branch.oid x", "? x", "1 .M N...", ".dot", "a..b", "\x01",
			} {
				s.write("r/"+name, name)
				s.write("r/dir "+name+"/f", name)
			}
			s.git("r", "add", "# branch.oid x")
			s.git("r", "commit", "-qm", "x")
			s.git("r", "mv", "# branch.oid x", "! moved")
		},
		"links": func(s *sandbox) {
			s.symlink("nowhere", "r/dangling")
			s.symlink("/etc/passwd", "r/out")
			s.symlink("sub", "r/folder")
			s.symlink(strings.Repeat("x/", 500), "r/long")
			s.remove("r/a.txt")
			s.symlink("a.txt", "r/a.txt")
		},
		"folder replaced by a link": func(s *sandbox) {
			s.rename("r/sub", "sub")
			s.symlink("../sub", "r/sub")
			s.write("sub/b.txt", "must not be read")
		},
		"folder replaced by a file": func(s *sandbox) { s.remove("r/sub"); s.write("r/sub", "x") },
		"file replaced by a folder": func(s *sandbox) { s.remove("r/a.txt"); s.write("r/a.txt/x", "x") },
		"file replaced by a pipe": func(s *sandbox) {
			s.remove("r/a.txt")
			s.must(syscall.Mkfifo(s.path("r/a.txt"), 0o600))
		},
		"an empty file and a big one": func(s *sandbox) {
			s.write("r/empty", "")
			s.write("r/big", strings.Repeat("0123456789abcdef", 1<<20)+"!")
			s.write("r/whole", strings.Repeat("0123456789abcdef", 1<<20))
		},
		"fsmonitor configured": func(s *sandbox) {
			s.git("r", "config", "core.fsmonitor", "touch "+s.path("ran"))
			s.write("r/new", "x")
		},
		"filters": func(s *sandbox) {
			s.git("r", "config", "filter.up.clean", "tr a-z A-Z")
			s.git("r", "config", "core.autocrlf", "input")
			s.write("r/.gitattributes", "*.txt filter=up\n")
			s.write("r/a.txt", "a\r\n")
		},
		"untracked cache and split index": func(s *sandbox) {
			s.git("r", "config", "core.untrackedCache", "true")
			s.git("r", "config", "core.splitIndex", "true")
			s.git("r", "update-index", "--untracked-cache", "--split-index")
			s.write("r/new", "x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			root := s.repo("r")
			change(s)
			want := s.reference(root)
			if diff := cmp.Diff(want, s.observe(New(), root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestObserveLinkedWorktreeAndSubmodule(t *testing.T) {
	s := newSandbox(t)
	s.usualLayouts("linked", "mod", "apart")
	for _, name := range []string{"linked", "r/mod", "apart"} {
		s.write(name+"/a.txt", "changed")
		if diff := cmp.Diff(s.reference(s.path(name)), s.observe(New(), s.path(name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestObserveCheckValue is the check value of git-observation.md 5.3.
func TestObserveCheckValue(t *testing.T) {
	s := newSandbox(t)
	root := s.emptyRepo("r")
	s.write("r/a.txt", "hello\n")
	at := time.Unix(0, 1_700_000_000_000_000_000)
	s.must(os.Chtimes(s.path("r/a.txt"), at, at))
	o := s.observe(New(), root)
	if o.StatusFingerprint != "sha256:d7f6b2f705220ccd02c972325852289d27c8060cdba5bd2dc4d08541d2bb669c" ||
		o.PathFingerprint != "sha256:ab636e212b4b4377fd24f96fded3a4c8a5e8535d419fa5540ed8c1a13c9b73d3" ||
		o.SnapshotHash != "sha256:2223991e433cb4c0c9c7d598239fcad277c6fb097bc2389aa7c113983ab261ba" {
		t.Errorf("%+v", o)
	}
}

func TestObserveAsksTwoQuestions(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	g := New()
	ws := s.discover(g, root)
	s.asked()
	if _, _, err := g.Observe(t.Context(), s.env, ws); err != nil {
		t.Fatal(err)
	}
	before := "-c core.fsmonitor=false -C " + root + " "
	want := map[string]bool{
		before + "ls-files --stage -z": true,
		before + "status --porcelain=v2 -z --branch --no-ahead-behind --untracked-files=all": true,
	}
	got := map[string]bool{}
	asked := s.asked()
	for _, question := range asked {
		got[question] = true
	}
	if diff := cmp.Diff(want, got); diff != "" || len(asked) != 2 {
		t.Error(diff, len(asked))
	}
}

// TestObserveStartsNothing: with everything configured that Git could start, and
// an environment that points elsewhere, nothing runs and nothing is written.
func TestObserveStartsNothing(t *testing.T) {
	s := newSandbox(t)
	root := s.repo("r")
	trap := "touch '" + s.path("ran") + "'"
	s.write("hooks/post-index-change", "#!/bin/sh\n"+trap+"\n")
	s.chmod("hooks/post-index-change", 0o755)
	s.write("hooks/fsmonitor", "#!/bin/sh\n"+trap+"\n")
	s.chmod("hooks/fsmonitor", 0o755)
	for name, value := range map[string]string{
		"core.hooksPath": s.path("hooks"), "core.fsmonitor": s.path("hooks/fsmonitor"), "core.pager": trap, "core.editor": trap,
		"alias.status": "!" + trap, "alias.ls-files": "!" + trap, "alias.rev-parse": "!" + trap, "diff.external": trap,
		"diff.x.textconv": trap, "credential.helper": "!" + trap, "core.askPass": trap, "core.sshCommand": trap, "gc.auto": "1",
	} {
		s.git("r", "config", name, value)
	}
	s.write("r/.git/info/attributes", "* diff=x\n")
	now := time.Now().Add(time.Hour)
	s.must(os.Chtimes(s.path("r/sub/b.txt"), now, now)) // Git would refresh the index
	s.write("r/a.txt", "changed")
	index, err := os.Stat(s.path("r/.git/index"))
	s.must(err)

	elsewhere := s.repo("elsewhere")
	s.env = append(s.env, "GIT_DIR="+elsewhere+"/.git", "GIT_WORK_TREE="+elsewhere, "GIT_INDEX_FILE="+elsewhere+"/.git/index",
		"GIT_EXTERNAL_DIFF="+trap, "GIT_PAGER="+trap, "GIT_EDITOR="+trap, "GIT_ASKPASS="+trap, "GIT_OPTIONAL_LOCKS=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+s.path("hooks/fsmonitor"))
	o := s.observe(New(), root)
	if diff := cmp.Diff([]string{"a.txt"}, o.DirtyFiles); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Lstat(s.path("ran")); !os.IsNotExist(err) {
		t.Error("something was started")
	}
	if after, err := os.Stat(s.path("r/.git/index")); err != nil || !after.ModTime().Equal(index.ModTime()) || !os.SameFile(index, after) {
		t.Error("the index was written")
	}
}

func TestObserveFails(t *testing.T) {
	for name, change := range map[string]func(s *sandbox){
		"index broken":            func(s *sandbox) { s.write("r/.git/index", "not an index") },
		"path is not UTF-8":       func(s *sandbox) { s.write("r/\xff", "x") },
		"path begins with ..":     func(s *sandbox) { s.write("r/..x", "x") },
		"object of HEAD missing":  func(s *sandbox) { s.write("r/.git/refs/heads/main", strings.Repeat("1", 40)+"\n") },
		"root gone":               func(s *sandbox) { s.remove("r") },
		"root renamed":            func(s *sandbox) { s.rename("r", "r2") },
		"root replaced by a link": func(s *sandbox) { s.rename("r", "r2"); s.symlink("r2", "r") },
		"repository above takes over": func(s *sandbox) {
			s.remove("r/.git")
			s.emptyRepo(".")
		},
		"repository above takes over for want of a HEAD": func(s *sandbox) {
			s.remove("r/.git/HEAD")
			s.emptyRepo(".")
		},
		"configured to another worktree": func(s *sandbox) {
			s.mkdir("other")
			s.git("r", "config", "core.worktree", s.path("other"))
		},
		"taken over, and somebody else's": func(s *sandbox) {
			s.giveAway("r")
			s.write("home/.gitconfig", userConfig+"[safe]\ndirectory = *\n")
			s.remove("r/.git/refs")
			s.emptyRepo(".")
		},
		"another Git directory": func(s *sandbox) {
			s.rename("r/.git", "g")
			s.write("r/.git", "gitdir: ../g\n")
		},
		"configuration broken": func(s *sandbox) { s.write("r/.git/config", "[core") },
		"no git":               func(s *sandbox) { s.remove("bin"); s.env[0] = "PATH=" + s.path("bin") },
		"answer nonsense":      func(s *sandbox) { s.env = s.fakeGit("echo nonsense") },
		"answer nothing":       func(s *sandbox) { s.env = s.fakeGit("exit 0") },
		"root replaced while Git answers": func(s *sandbox) {
			s.env = s.fakeGit("case \"$*\" in *status*) mv '" + s.path("r") + "' '" + s.path("r2") + "'; cp -R '" +
				s.path("r2") + "' '" + s.path("r") + "';; esac; PATH='" + os.Getenv("PATH") + "' exec git \"$@\"")
		},
		"only the index fails": func(s *sandbox) {
			s.env = s.fakeGit("case \"$*\" in *ls-files*) exit 1;; *) printf '# branch.oid (initial)\\0';; esac")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			g := New()
			ws := s.discover(g, s.repo("r"))
			change(s)
			if o, _, err := g.Observe(t.Context(), s.env, ws); err == nil || err.Error() == "" {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestObserveOfAFormThatOnlyGitUnderstands(t *testing.T) {
	s := newSandbox(t)
	s.emptyRepo("above")
	s.write("above/real/x", "x")
	s.git("above", "config", "core.worktree", s.path("above/real"))
	g := New()
	ws := s.discover(g, s.path("above/real"))
	o, _, err := g.Observe(t.Context(), s.env, ws)
	if err != nil || !cmp.Equal(o.DirtyFiles, []string{"x"}) {
		t.Errorf("got %+v, %v", o, err)
	}
	s.git("above", "config", "core.worktree", s.path("above"))
	if o, _, err := g.Observe(t.Context(), s.env, ws); err == nil {
		t.Errorf("of another worktree: %+v", o)
	}
}

func TestObserveTruncatesDetails(t *testing.T) {
	s := newSandbox(t)
	root := s.emptyRepo("r")
	for i := range 700 {
		s.write("r/"+strings.Repeat("x", 40)+string(rune('a'+i%26))+strings.Repeat("y", i/26), "")
	}
	full := s.reference(root)
	o := s.observe(New(), root)
	if !o.DetailsTruncated || o.PathCount != 700 || o.PathFingerprint != full.PathFingerprint || !o.ContentObservationComplete {
		t.Errorf("%v, %d paths, %d retained", o.DetailsTruncated, o.PathCount, len(o.PathObservations))
	}
	if diff := cmp.Diff(full.PathObservations[:len(o.PathObservations)], o.PathObservations); diff != "" {
		t.Error(diff)
	}
}

// TestConcurrentUse: one Git serves many at once, also while its caches fill.
func TestConcurrentUse(t *testing.T) {
	s := newSandbox(t)
	s.usualLayouts("linked")
	s.write("r/new", "x")
	s.write("linked/a.txt", "changed")
	g := New()
	var all sync.WaitGroup
	for i := range 8 {
		root, dirty := s.path("r"), "new"
		if i%2 == 1 {
			root, dirty = s.path("linked"), "a.txt"
		}
		all.Go(func() {
			for range 3 {
				ws, err := g.Discover(t.Context(), s.realEnv, root+"/sub")
				if err != nil || ws.WorktreeRoot != root {
					t.Errorf("%s: got %+v, %v", root, ws, err)
					return
				}
				o, _, err := g.Observe(t.Context(), s.realEnv, ws)
				if err != nil || !cmp.Equal(o.DirtyFiles, []string{dirty}) {
					t.Errorf("%s: got %+v, %v", root, o, err)
				}
			}
		})
	}
	all.Wait()
}
