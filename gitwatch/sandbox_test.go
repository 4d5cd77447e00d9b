package gitwatch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway/schema"
)

const userConfig = `[user]
	name = n
	email = e@example.org
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
`

// sandbox is a home of its own, with real Git repositories and a git on PATH
// that counts how often it is started.
type sandbox struct {
	tb      testing.TB
	dir     string
	env     []string
	realEnv []string // without the counter
	log     string
}

func newSandbox(tb testing.TB) *sandbox {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	s := &sandbox{tb: tb, dir: dir, log: filepath.Join(dir, "asked")}
	git, err := exec.LookPath("git")
	if err != nil {
		tb.Fatal(err)
	}
	s.write("home/.gitconfig", userConfig)
	s.write("bin/git", "#!/bin/sh\necho \"$*\" >> '"+s.log+"'\nexec '"+git+"' \"$@\"\n")
	s.chmod("bin/git", 0o755)
	rest := []string{
		"HOME=" + s.path("home"),
		"GIT_CONFIG_SYSTEM=" + s.path("system.gitconfig"),
		"LC_ALL=C", "TZ=UTC",
	}
	s.realEnv = append([]string{"PATH=" + os.Getenv("PATH")}, rest...)
	s.env = append([]string{"PATH=" + s.path("bin") + string(os.PathListSeparator) + os.Getenv("PATH")}, rest...)
	return s
}

func (s *sandbox) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *sandbox) write(name, content string) {
	s.tb.Helper()
	path := s.path(name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(content), 0o644))
}

func (s *sandbox) chmod(name string, mode os.FileMode) {
	s.tb.Helper()
	s.must(os.Chmod(s.path(name), mode))
}

func (s *sandbox) mkdir(name string) {
	s.tb.Helper()
	s.must(os.MkdirAll(s.path(name), 0o755))
}

func (s *sandbox) rename(from, to string) {
	s.tb.Helper()
	s.must(os.Rename(s.path(from), s.path(to)))
}

func (s *sandbox) remove(name string) {
	s.tb.Helper()
	s.must(os.RemoveAll(s.path(name)))
}

func (s *sandbox) symlink(target, name string) {
	s.tb.Helper()
	s.must(os.Symlink(target, s.path(name)))
}

func (s *sandbox) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

// git runs a command of the test itself in folder.
func (s *sandbox) git(folder string, args ...string) string {
	s.tb.Helper()
	out, err := s.tryGit(folder, args...)
	if err != nil {
		s.tb.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (s *sandbox) tryGit(folder string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", s.path(folder)}, args...)...)
	cmd.Env = s.realEnv
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repo makes a repository with one commit.
func (s *sandbox) repo(name string) string {
	s.tb.Helper()
	s.emptyRepo(name)
	s.write(name+"/a.txt", "aaa\n")
	s.write(name+"/sub/b.txt", "bbb\n")
	s.git(name, "add", "-A")
	s.git(name, "commit", "-qm", "first")
	return s.path(name)
}

func (s *sandbox) emptyRepo(name string) string {
	s.tb.Helper()
	s.mkdir(name)
	s.git(name, "init", "-q")
	return s.path(name)
}

// asked returns the questions put to git since the last time.
func (s *sandbox) asked() []string {
	s.tb.Helper()
	data, err := os.ReadFile(s.log)
	if os.IsNotExist(err) {
		return nil
	}
	s.must(err)
	s.must(os.Remove(s.log))
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// fakeGit puts a shell script in the place of git and returns the environment in
// which it is found.
func (s *sandbox) fakeGit(script string) []string {
	s.tb.Helper()
	s.write("fake/git", "#!/bin/sh\n"+script+"\n")
	s.chmod("fake/git", 0o755)
	return append([]string{"PATH=" + s.path("fake") + string(os.PathListSeparator) + os.Getenv("PATH")}, s.realEnv[1:]...)
}

// settledGit is a Git for which every file has been as it is for a long time.
func settledGit() *Git {
	g := New()
	g.files.now = func() time.Time { return time.Now().Add(time.Hour) }
	return g
}

func (s *sandbox) discover(g *Git, path string) schema.WorkspaceIdentity {
	s.tb.Helper()
	ws, err := g.Discover(context.Background(), s.env, path)
	s.must(err)
	return ws
}

func (s *sandbox) observe(g *Git, root string) schema.Observation {
	s.tb.Helper()
	o, _, err := g.Observe(context.Background(), s.env, s.discover(g, root))
	s.must(err)
	if err := o.Validate(); err != nil {
		s.tb.Fatalf("not a valid observation: %v\n%+v", err, o)
	}
	return o
}
