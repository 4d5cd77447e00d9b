//go:build linux

package gitwatch

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// What no event tells of, or not in time.

// mapped gives the content of a file through a mapping, the only thing that keeps
// the file open.
func (s *sandbox) mapped(name string, before ...func(*os.File) error) (content []byte, end func()) {
	s.tb.Helper()
	file, err := os.OpenFile(s.path(name), os.O_RDWR, 0)
	s.must(err)
	for _, do := range before {
		s.must(do(file))
	}
	info, err := file.Stat()
	s.must(err)
	content, err = unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	s.must(err)
	s.must(file.Close())
	return content, func() { s.must(unix.Munmap(content)) }
}

// TestMappedFile: a file written through a mapping causes no event but that of its
// closing.
func TestMappedFile(t *testing.T) {
	w := newWatched(t, nil)
	content, end := w.mapped("r/a.txt")
	content[0] = 'X'
	end()
	w.expect(Watched, 1)
}

// TestOpenMapping: while the mapping stays, there is no event at all.
func TestOpenMapping(t *testing.T) {
	for name, write := range map[string]func(file *os.File) error{
		"written": func(file *os.File) error { _, err := file.WriteAt([]byte("aaa\n"), 0); return err },
		"cut":     func(file *os.File) error { return file.Truncate(4) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, nil)
			content, end := w.mapped("r/a.txt", write)
			defer end()
			w.look()
			for i := range 5 {
				content[0] = byte('a' + i)
				w.look()
				content[1] = byte('0' + i) // the page can be written without a fault by now
				w.look()
			}
			w.git("r", "commit", "-qam", "x")
			w.untilWatched()
			content[2] = 'X'
			if mode, _ := w.look(); mode != Watched {
				t.Error("it was scanned")
			}
		})
	}
}

// TestMappingThatEnds: what was mapped costs nothing after it is gone.
func TestMappingThatEnds(t *testing.T) {
	w := newWatched(t, nil)
	_, end := w.mapped("r/a.txt", func(file *os.File) error { return file.Truncate(4) })
	w.look()
	end()
	w.look()
	if open := w.g.lookouts.snapshot()[0].open; len(open) > 0 {
		t.Error(open)
	}
	w.expect(Watched, 0)
}

// TestUnseenMapping: a file that was never written by a call is seen by a fresh
// look, which ends the watch.
func TestUnseenMapping(t *testing.T) {
	w := newWatched(t, nil)
	content, end := w.mapped("r/a.txt")
	defer end()
	content[0] = 'X'
	o, err := w.g.ObserveFresh(t.Context(), w.env, w.ws)
	w.must(err)
	if diff := cmp.Diff(w.reference(w.root), o); diff != "" {
		t.Error(diff)
	}
	if o.PathCount > 0 { // tmpfs stamps no time, so Git does not see it either
		w.expect(Scanned, 0)
	}
}

// TestFileWithFurtherName: a change through a name outside is no event.
func TestFileWithFurtherName(t *testing.T) {
	w := newWatched(t, func(s *sandbox) {
		s.write("outside", "x")
		s.must(os.Link(s.path("outside"), s.path("r/inside")))
	})
	for range 3 {
		w.write("outside", "changed")
		w.expect(Watched, 1)
		w.write("outside", "CHANGED")
		w.look()
		w.quiet()
	}
}

// quiet looks until nothing is asked: what changed a moment ago is asked about again.
func (w *watched) quiet() {
	w.tb.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if mode, asked := w.look(); mode == Watched && len(asked) == 0 {
			return
		}
	}
	w.tb.Errorf("it is asked about again and again: %+v", w.g.Worktrees())
}

// TestRulesWithFurtherName: rules change what others mean, however they are changed.
func TestRulesWithFurtherName(t *testing.T) {
	for _, name := range []string{ignoreFile, attributesFile} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, func(s *sandbox) {
				s.write("outside", "")
				s.must(os.Link(s.path("outside"), s.path("r/"+name)))
				s.write("r/new", "x")
				s.write("r/a.txt", "aaa\r\n")
			})
			w.write("outside", "new text eol=crlf\na.txt text eol=crlf\nnew\n")
			w.expect(Scanned, 0)
			w.untilWatched()
		})
	}
}

// TestLinkForATrackedFolder: of files that are left out of the worktree
// (skip-worktree, of a sparse checkout), Git takes one for present that it finds
// through a link.
func TestLinkForATrackedFolder(t *testing.T) {
	replace := func(s *sandbox) {
		s.remove("r/sub")
		s.symlink(".", "r/sub")
	}
	for name, before := range map[string]bool{"before the watch": true, "while watched": false} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, func(s *sandbox) {
				s.git("r", "config", "core.sparseCheckout", "true")
				s.git("r", "update-index", "--skip-worktree", "sub/b.txt")
				if before {
					replace(s)
				}
			})
			if !before {
				replace(w.sandbox)
				w.look()
			}
			for _, text := range []string{"x", "y"} {
				w.write("r/b.txt", text)
				w.look()
			}
			w.remove("r/b.txt")
			w.look()
		})
	}
}

// mount mounts for the time of the test.
func (s *sandbox) mount(source, name, kind string, flags uintptr, data string) {
	s.tb.Helper()
	if err := unix.Mount(source, s.path(name), kind, flags, data); err != nil {
		s.tb.Skip("mounting needs more rights:", err)
	}
	s.tb.Cleanup(func() { _ = unix.Unmount(s.path(name), unix.MNT_DETACH) })
}

func (s *sandbox) bind(source, name string) {
	s.tb.Helper()
	s.mount(s.path(source), name, "", unix.MS_BIND, "")
}

func (s *sandbox) unmount(name string) {
	s.tb.Helper()
	s.must(unix.Unmount(s.path(name), 0))
}

// TestMounts: what is mounted over something is no event, nor that it goes.
func TestMounts(t *testing.T) {
	for name, c := range map[string]struct {
		mount func(s *sandbox)
		over  string
		edit  func(s *sandbox)
	}{
		"tracked folder": {func(s *sandbox) { s.mount("none", "r/sub", "tmpfs", 0, "") }, "r/sub",
			func(s *sandbox) { s.write("r/sub/b.txt", "x") }},
		"untracked folder": {func(s *sandbox) { s.mount("none", "r/new", "tmpfs", 0, "") }, "r/new",
			func(s *sandbox) { s.write("r/new/in", "x") }},
		"empty folder": {func(s *sandbox) { s.bind("else", "r/empty") }, "r/empty",
			func(s *sandbox) { s.write("else/in", "x") }},
		"bound folder": {func(s *sandbox) { s.bind("else", "r/sub") }, "r/sub",
			func(s *sandbox) { s.write("else/b.txt", "more") }},
		"overlay": {func(s *sandbox) {
			s.mount("overlay", "r/sub", "overlay", 0, "lowerdir="+s.path("else")+",upperdir="+s.path("up")+",workdir="+s.path("work"))
		}, "r/sub", func(s *sandbox) { s.write("r/sub/b.txt", "more") }},
		"tracked file": {func(s *sandbox) { s.bind("else/b.txt", "r/a.txt") }, "r/a.txt",
			func(s *sandbox) { s.write("else/b.txt", "more") }},
		"tracked file, edited here": {func(s *sandbox) { s.bind("else/b.txt", "r/a.txt") }, "r/a.txt",
			func(s *sandbox) { s.write("r/a.txt", "more") }},
		"untracked file": {func(s *sandbox) { s.bind("else/b.txt", "r/new/n") }, "r/new/n",
			func(s *sandbox) { s.write("else/b.txt", "more") }},
		"file of the same content": {func(s *sandbox) { s.bind("else/same", "r/a.txt") }, "r/a.txt",
			func(s *sandbox) { s.write("else/same", "more") }},
		"rules": {func(s *sandbox) { s.bind("else/rules", "r/.gitignore") }, "r/.gitignore",
			func(s *sandbox) { s.write("else/rules", "new\n") }},
		"folder of the repository": {func(s *sandbox) { s.bind("else/info", "r/.git/info") }, "r/.git/info",
			func(s *sandbox) { s.write("else/info/exclude", "") }},
		"folder of a nested repository": {func(s *sandbox) { s.mount("none", "r/nested/.git", "tmpfs", 0, "") }, "r/nested/.git",
			func(s *sandbox) { s.write("r/nested/deep/in", "x") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, func(s *sandbox) {
				s.write("else/b.txt", "else\n")
				s.write("else/same", "aaa\n")
				s.write("else/rules", "")
				s.write("else/info/exclude", "new\n")
				s.write("r/new/n", "x")
				s.write("r/.gitignore", "")
				s.repo("r/nested")
				s.mkdir("r/empty")
				s.mkdir("up")
				s.mkdir("work")
			})
			c.mount(w.sandbox)
			w.expect(Scanned, 0)
			w.untilWatched()
			c.edit(w.sandbox)
			w.look()
			w.untilWatched()
			w.unmount(c.over)
			w.expect(Scanned, 0)
			w.untilWatched()
			c.mount(w.sandbox)
			w.look()
		})
	}
}

// TestMountInPlaceOfAnother: the table of mounts looks as it did before, because
// numbers are given again.
func TestMountInPlaceOfAnother(t *testing.T) {
	w := newWatched(t, func(s *sandbox) { s.mount("none", "r/sub", "tmpfs", 0, "") })
	for range 3 {
		w.unmount("r/sub")
		w.mount("none", "r/sub", "tmpfs", 0, "")
		w.write("r/sub/b.txt", "bbb\n")
		w.expect(Scanned, 0)
		w.untilWatched()
		w.write("r/sub/b.txt", "BBB\n")
		w.expect(Watched, 1)
	}
}

// TestMountWhileWatchesAreSet: what was mounted for that time only was watched in
// the place of what is there.
func TestMountWhileWatchesAreSet(t *testing.T) {
	s := newSandbox(t)
	w := &watched{sandbox: s, root: s.repo("r"), g: watchingGit(t)}
	w.ws = s.discover(w.g, w.root)
	s.write("else/b.txt", "else\n")
	w.g.lookouts.notify = func() (notifier, error) {
		w.g.lookouts.notify = newNotifier
		s.bind("else", "r/sub")
		n, err := newNotifier()
		return &lateNotifier{n, s.path("r/sub"), func() { s.unmount("r/sub") }}, err
	}
	w.untilWatched()
	w.write("r/sub/b.txt", "changed\n")
	w.look()
}

// lateNotifier does something after it was told to watch a folder.
type lateNotifier struct {
	notifier
	folder string
	after  func()
}

func (n *lateNotifier) add(path string) (watchID, error) {
	id, err := n.notifier.add(path)
	if path == n.folder {
		n.after()
		n.folder = ""
	}
	return id, err
}

// TestMountsElsewhere have no say.
func TestMountsElsewhere(t *testing.T) {
	w := newWatched(t, func(s *sandbox) { s.mkdir("far") })
	w.mount("none", "far", "tmpfs", 0, "")
	w.expect(Watched, 0)
	w.unmount("far")
	w.expect(Watched, 0)
}
