//go:build linux

package gitwatch

import (
	"testing"
)

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
