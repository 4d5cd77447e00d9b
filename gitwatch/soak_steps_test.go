//go:build linux

package gitwatch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var (
	soakFolders = []string{"", "a/", "a/b/", "a/b/c/", "d/", "d/e/"}
	soakPlaces  = []string{"", "a/", "a/b/", "a/b/c/", "d/", "d/e/", "ign/", "ign/x/", "new/", "new/er/", "a/ign/", "nested/", "nested/in/", "sub/"}
	soakNames   = []string{"f0", "f1", "f2", "g0", "x.log", "sp ace", "ünï"}
	soakRules   = []string{"*.log\nign/\n", "*.log\n", "ign/\nnew/\n", "/a/b/\n*.log\n", "f1\n", "!x.log\n", "d/*\n!d/f0\n", "**/c/\n", ""}
)

func (s *soak) pick(from []string) string { return from[s.random.IntN(len(from))] }

func (s *soak) file() string { return "r/" + s.pick(soakPlaces) + s.pick(soakNames) }

// folder is never the root.
func (s *soak) folder() string {
	return "r/" + strings.TrimSuffix(s.pick(soakPlaces[1:]), "/")
}

func (s *soak) text() string {
	return strings.Repeat("line\n", 20) + fmt.Sprint(s.random.IntN(5)) + "\n"
}

// change is one kind of change; weight is how often it is chosen.
type change struct {
	name   string
	weight int
	do     func(s *soak)
}

// step changes something: mostly a few things in the worktree, then something that
// only Git does.
func (s *soak) step() {
	kinds := gitChanges
	if s.calm > 0 {
		kinds = fileChanges
		s.calm--
	} else if s.random.IntN(3) > 0 {
		s.calm = s.random.IntN(12)
	}
	total := 0
	for _, c := range kinds {
		total += c.weight
	}
	n := s.random.IntN(total)
	for _, c := range kinds {
		if n -= c.weight; n < 0 {
			s.note(c.name)
			c.do(s)
			s.done++
			return
		}
	}
}

const soakLogLength = 40

func (s *soak) note(text string) {
	s.log = append(s.log, text)
	s.log = s.log[max(0, len(s.log)-soakLogLength):]
}

// try runs a command of Git that may find nothing to do.
func (s *soak) try(args ...string) {
	_, err := s.tryGit("r", args...)
	if s.note(strings.Join(args, " ")); err != nil {
		s.note("(failed)")
	}
}

// above makes room for name.
func (s *soak) above(name string) string {
	path := s.path(name)
	for above := filepath.Dir(path); above != s.path("r"); above = filepath.Dir(above) {
		if info, err := os.Lstat(above); err == nil && !info.IsDir() {
			s.must(os.Remove(above))
		}
	}
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	return path
}

// clear makes a free place at name.
func (s *soak) clear(name string) {
	s.above(name)
	s.must(os.RemoveAll(s.path(name)))
}

// put writes a file, in the way of one of the usual programs.
func (s *soak) put(name, text string) {
	s.note(name)
	path := s.above(name)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		s.must(os.RemoveAll(path))
	}
	switch s.random.IntN(4) {
	case 0: // beside, and over it
		s.must(os.WriteFile(path+"~", []byte(text), 0o644))
		s.must(os.Rename(path+"~", path))
	case 1: // not cut first
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		s.must(err)
		_, err = file.WriteAt([]byte(text), 0)
		s.must(err)
		s.must(file.Truncate(int64(len(text))))
		s.must(file.Close())
	default:
		s.must(os.WriteFile(path, []byte(text), 0o644))
	}
}

// edit changes a file that is there; change gets its content.
func (s *soak) edit(change func(path string, content []byte)) {
	name := s.file()
	path := s.path(name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return
	}
	s.note(name)
	content, err := os.ReadFile(path)
	s.must(err)
	change(path, content)
}

var fileChanges = []change{
	{"write", 20, func(s *soak) { s.put(s.file(), s.text()) }},
	{"append", 6, func(s *soak) {
		s.edit(func(path string, content []byte) { s.must(os.WriteFile(path, append(content, 'x', '\n'), 0o644)) })
	}},
	{"same size", 6, func(s *soak) {
		s.edit(func(path string, content []byte) {
			content[0] ^= 1
			s.must(os.WriteFile(path, content, 0o644))
		})
	}},
	{"same size and time", 4, func(s *soak) {
		s.edit(func(path string, content []byte) {
			info, err := os.Stat(path)
			s.must(err)
			content[0] ^= 1
			s.must(os.WriteFile(path, content, 0o644))
			s.must(os.Chtimes(path, info.ModTime(), info.ModTime()))
		})
	}},
	{"through a mapping", 3, func(s *soak) {
		s.edit(func(path string, content []byte) {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			s.must(err)
			mapped, err := unix.Mmap(int(file.Fd()), 0, len(content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			s.must(err)
			s.must(file.Close())
			mapped[0] ^= 1
			s.must(unix.Munmap(mapped))
		})
	}},
	{"through an open mapping", 2, func(s *soak) {
		// What was written before the watch began is not known to be open.
		if s.compare(); !s.isWatched() {
			return
		}
		s.edit(func(path string, content []byte) {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			s.must(err)
			_, err = file.WriteAt(content[:1], 0)
			s.must(err)
			mapped, err := unix.Mmap(int(file.Fd()), 0, len(content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			s.must(err)
			s.must(file.Close())
			for i := range 2 {
				s.compare()
				mapped[i%len(mapped)] ^= 1
			}
			s.compare()
			s.must(unix.Munmap(mapped))
		})
	}},
	{"touch", 3, func(s *soak) {
		now := time.Now()
		_ = os.Chtimes(s.path(s.file()), now, now)
	}},
	{"delete", 8, func(s *soak) {
		name := s.file()
		s.note(name)
		_ = os.Remove(s.path(name))
	}},
	{"delete folder", 3, func(s *soak) {
		name := s.folder()
		s.note(name)
		_ = os.RemoveAll(s.path(name))
	}},
	{"rename file", 8, func(s *soak) {
		from, to := s.file(), s.file()
		s.note(from + " " + to)
		_ = os.Rename(s.path(from), s.path(to))
	}},
	{"rename folder", 6, func(s *soak) {
		from, to := s.folder(), s.folder()
		s.note(from + " " + to)
		_ = os.Rename(s.path(from), s.path(to))
	}},
	{"exchange", 2, func(s *soak) {
		from, to := s.folder(), s.folder()
		s.note(from + " " + to)
		_ = unix.Renameat2(unix.AT_FDCWD, s.path(from), unix.AT_FDCWD, s.path(to), unix.RENAME_EXCHANGE)
	}},
	{"out and in", 3, func(s *soak) {
		from, to := s.folder(), s.folder()
		_ = os.RemoveAll(s.path("away"))
		s.note(from + " " + to)
		if os.Rename(s.path(from), s.path("away")) == nil {
			if s.random.IntN(2) == 0 {
				s.compare()
			}
			s.clear(to)
			s.must(os.Rename(s.path("away"), s.path(to)))
		}
	}},
	{"folder", 3, func(s *soak) { _ = os.MkdirAll(s.path(s.folder()), 0o755) }},
	{"deep folder", 2, func(s *soak) { s.put(s.folder()+"/"+s.pick(soakNames[:3])+".d/deep/er/f", s.text()) }},
	{"mode", 5, func(s *soak) { _ = os.Chmod(s.path(s.file()), 0o644|os.FileMode(s.random.IntN(2)*0o111)) }},
	{"mode of a folder", 1, func(s *soak) { _ = os.Chmod(s.path(s.folder()), 0o755|os.FileMode(s.random.IntN(2)*0o20)) }},
	{"link", 5, func(s *soak) {
		name := s.file()
		s.note(name)
		s.clear(name)
		s.must(os.Symlink(s.pick([]string{"f0", "../a", "../../outside", "nowhere"}), s.path(name)))
	}},
	{"link for a folder", 2, func(s *soak) {
		name := s.folder()
		s.note(name)
		s.clear(name)
		s.must(os.Symlink(s.pick([]string{"a", "../outside", "."}), s.path(name)))
	}},
	{"hard link", 0, func(s *soak) {
		from, to := s.file(), s.file()
		s.note(from + " " + to)
		_ = os.Link(s.path(from), s.path(to))
	}},
	{"through a hard link", 1, func(s *soak) {
		s.must(os.RemoveAll(s.path("outside/hard")))
		name := s.file()
		s.note(name)
		if os.Link(s.path(name), s.path("outside/hard")) == nil {
			// A name outside is told by no event; touching the one inside is.
			_ = os.Chmod(s.path(name), 0o644)
			s.compare()
			if info, err := os.Lstat(s.path("outside/hard")); err == nil && info.Mode().IsRegular() {
				s.must(os.WriteFile(s.path("outside/hard"), []byte(s.text()), 0o644))
			}
			s.compare()
			s.must(os.Remove(s.path("outside/hard")))
		}
	}},
	{"rules", 3, func(s *soak) { s.put("r/"+s.pick(soakPlaces)+".gitignore", s.pick(soakRules)) }},
	{"no rules", 1, func(s *soak) { _ = os.Remove(s.path("r/" + s.pick(soakPlaces) + ".gitignore")) }},
	{"exclude", 1, func(s *soak) { s.write("r/.git/info/exclude", s.pick(soakRules)) }},
	{"excludes of the user", 1, func(s *soak) { s.write("home/excludes", s.pick(soakRules)) }},
	{"attributes", 1, func(s *soak) {
		s.put("r/"+s.pick(soakFolders)+".gitattributes", s.pick([]string{"* text=auto\n", "f0 text eol=crlf\n", "* -text\n", ""}))
	}},
	{"nested repository", 2, func(s *soak) {
		name := s.folder()
		s.note(name)
		s.above(name + "/x")
		s.try("init", "-q", s.path(name))
	}},
	{"nested repository with a commit", 1, func(s *soak) {
		name := s.folder()
		s.note(name)
		s.put(name+"/in", "x")
		_, _ = s.tryGit(strings.TrimPrefix(name, "/"), "init", "-q")
		_, _ = s.tryGit(name, "add", "in")
		_, _ = s.tryGit(name, "commit", "-qm", "x")
	}},
	{"nested no more", 3, func(s *soak) {
		name := s.folder() + "/.git"
		s.note(name)
		_ = os.RemoveAll(s.path(name))
	}},
	{"nested broken", 1, func(s *soak) {
		name := s.folder() + "/.git/" + s.pick([]string{"HEAD", "refs", "objects"})
		s.note(name)
		_ = os.RemoveAll(s.path(name))
	}},
	{"nested file", 1, func(s *soak) {
		name := s.folder()
		s.note(name)
		s.clear(name + "/.git")
		s.must(os.WriteFile(s.path(name+"/.git"), []byte("gitdir: "+s.path("lib/.git")+"\n"), 0o644))
	}},
}

var gitChanges = []change{
	{"add", 10, func(s *soak) { s.try("add", "-A") }},
	{"add some", 6, func(s *soak) { s.try("add", "--", strings.TrimPrefix(s.file(), "r/")) }},
	{"force", 3, func(s *soak) { s.try("add", "-f", "--", strings.TrimPrefix(s.file(), "r/")) }},
	{"intend", 2, func(s *soak) { s.try("add", "-N", ".") }},
	{"commit", 10, func(s *soak) { s.try("commit", "-qam", "x") }},
	{"empty commit", 2, func(s *soak) { s.try("commit", "-q", "--allow-empty", "-m", "x") }},
	{"amend", 2, func(s *soak) { s.try("commit", "-q", "--amend", "--no-edit") }},
	{"checkout", 6, func(s *soak) {
		s.try("checkout", "-q", s.pick([]string{"-f", "--"}), s.pick([]string{"main", "other", "HEAD"}))
	}},
	{"branch", 3, func(s *soak) { s.try("checkout", "-q", "-B", s.pick([]string{"other", "third", "feature/x"})) }},
	{"detach", 2, func(s *soak) { s.try("checkout", "-q", "--detach", s.pick([]string{"HEAD", "HEAD~1", "main"})) }},
	{"update ref", 2, func(s *soak) { s.try("update-ref", "HEAD", s.pick([]string{"HEAD~1", "main", "other"})) }},
	{"stash", 4, func(s *soak) { s.try("stash", "-q", s.pick([]string{"-u", "-k"})) }},
	{"pop", 4, func(s *soak) { s.try("stash", "pop", "-q") }},
	{"reset", 6, func(s *soak) {
		s.try("reset", "-q", s.pick([]string{"--hard", "--mixed", "--soft"}), s.pick([]string{"HEAD", "HEAD~1", "main"}))
	}},
	{"unstage", 2, func(s *soak) {
		s.try("rm", "-q", "-r", "--cached", "--ignore-unmatch", "--", s.pick([]string{"a", "d", "f0"}))
	}},
	{"move", 3, func(s *soak) {
		s.try("mv", "-k", s.pick([]string{"a", "d", "f0", "a/f1"}), s.pick([]string{"a", "d", "new", "d/f9"}))
	}},
	{"clean", 3, func(s *soak) { s.try("clean", "-ffdq"+s.pick([]string{"", "x"})) }},
	{"restore", 3, func(s *soak) { s.try("checkout", "-q", "HEAD", "--", ".") }},
	{"rebase", 3, func(s *soak) { s.try("rebase", "-q", s.pick([]string{"main", "other", "--abort", "--skip"})) }},
	{"merge", 4, func(s *soak) { s.try("merge", "-q", s.pick([]string{"main", "other", "--abort"})) }},
	{"cherry-pick", 2, func(s *soak) { s.try("cherry-pick", s.pick([]string{"main", "other", "--abort", "--quit"})) }},
	{"gc", 2, func(s *soak) { s.try("gc", "-q", "--prune=now") }},
	{"pack refs", 1, func(s *soak) { s.try("pack-refs", "--all") }},
	{"refresh", 3, func(s *soak) { s.try("status") }},
	{"tag", 1, func(s *soak) { s.try("tag", "-f", "v1") }},
	{"sparse", 2, func(s *soak) { s.try("sparse-checkout", "set", "--cone", s.pick([]string{"a", "a/b", "d"})) }},
	{"not sparse", 3, func(s *soak) { s.try("sparse-checkout", "disable") }},
	{"skip", 1, func(s *soak) { s.try("update-index", "--skip-worktree", "f0", "a/f1") }},
	{"no skip", 1, func(s *soak) { s.try("update-index", "--no-skip-worktree", "f0", "a/f1") }},
	{"assume", 1, func(s *soak) {
		s.try("update-index", s.pick([]string{"--assume-unchanged", "--no-assume-unchanged"}), "f1")
	}},
	{"submodule", 2, func(s *soak) { s.try("submodule", "add", "-q", "-f", s.path("lib"), "sub") }},
	{"submodule changes", 3, func(s *soak) {
		if info, err := os.Stat(s.path("r/sub")); err == nil && info.IsDir() {
			_ = os.WriteFile(s.path("r/sub/a.txt"), []byte(s.text()), 0o644)
			_, _ = s.tryGit("r/sub", "commit", "-qam", "x")
		}
	}},
	{"submodule update", 1, func(s *soak) { s.try("submodule", "update", "-q", "--init", "--force") }},
	{"no submodule", 2, func(s *soak) { s.try("submodule", "deinit", "-q", "-f", "sub"); s.try("rm", "-rqf", "--", "sub") }},
	{"linked worktree", 2, func(s *soak) { s.try("worktree", "add", "-qf", "--detach", s.path(s.folder())) }},
	{"linked worktrees end", 1, func(s *soak) { s.try("worktree", "prune") }},
	{"in the linked worktree", 4, func(s *soak) {
		s.write("linked/"+s.pick(soakFolders)+s.pick(soakNames), s.text())
		if s.random.IntN(2) == 0 {
			_, _ = s.tryGit("linked", "add", "-A")
			_, _ = s.tryGit("linked", "commit", "-qam", "x")
		}
	}},
	{"renames", 1, func(s *soak) { s.try("config", "status.renames", s.pick([]string{"true", "false", "copies"})) }},
	{"file mode", 1, func(s *soak) { s.try("config", "core.fileMode", s.pick([]string{"true", "false"})) }},
	{"line ends", 1, func(s *soak) { s.try("config", "core.autocrlf", s.pick([]string{"input", "false"})) }},
	{"split index", 1, func(s *soak) { s.try("update-index", s.pick([]string{"--split-index", "--no-split-index"})) }},
	{"intent undone", 3, func(s *soak) { s.try("reset", "-q") }},
}
