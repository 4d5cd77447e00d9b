//go:build unix

package gitwatch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestObserveProperty: after any changes to a worktree, Observe gives what the
// plain questions give, also where it has seen the worktree before.
func TestObserveProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSandbox(t)
		s.repo("r")
		g := settledGit()
		w := &walk{sandbox: s, t: rt}
		for range rapid.IntRange(1, 3).Draw(rt, "observations") {
			for range rapid.IntRange(1, 6).Draw(rt, "changes") {
				w.step()
			}
			if diff := cmp.Diff(s.reference(s.path("r")), s.observe(g, s.path("r"))); diff != "" {
				rt.Fatal(diff)
			}
		}
	})
}

// walk changes a worktree at random.
type walk struct {
	*sandbox
	t *rapid.T
}

var walkNames = []string{"a.txt", "sub/b.txt", "sub", "new", "sub/new", "deep/er/x", "deep", "odd\nname", "ünï", "link"}

func (w *walk) name() string { return "r/" + rapid.SampledFrom(walkNames).Draw(w.t, "name") }

func (w *walk) step() {
	steps := map[string]func(){
		"write": func() {
			w.replace(w.name(), func(path string) error { return os.WriteFile(path, []byte(w.text()), 0o644) })
		},
		"remove":   func() { _ = os.RemoveAll(w.path(w.name())) },
		"symlink":  func() { w.replace(w.name(), func(path string) error { return os.Symlink(w.text(), path) }) },
		"mode":     func() { _ = os.Chmod(w.path(w.name()), 0o755) },
		"rename":   func() { _ = os.Rename(w.path(w.name()), w.path(w.name())) },
		"nested":   func() { w.try("init", "-q", w.path(w.name())) },
		"add":      func() { w.try("add", "-A") },
		"intend":   func() { w.try("add", "-N", ".") },
		"commit":   func() { w.try("commit", "-qam", "x") },
		"reset":    func() { w.try("reset", "-q", "HEAD~") },
		"unstage":  func() { w.try("rm", "-q", "--cached", "-r", ".") },
		"stash":    func() { w.try("stash", "-q") },
		"pop":      func() { w.try("stash", "pop", "-q") },
		"copies":   func() { w.try("config", "status.renames", "copies") },
		"stashes":  func() { w.try("config", "status.showStash", "true") },
		"ignore":   func() { w.try("config", "core.excludesFile", w.path("r/a.txt")) },
		"branch":   func() { w.try("checkout", "-q", "-B", rapid.SampledFrom([]string{"one", "two"}).Draw(w.t, "branch")) },
		"detach":   func() { w.try("checkout", "-q", "--detach") },
		"merge":    func() { w.try("merge", "-q", "one") },
		"orphan":   func() { w.try("checkout", "-q", "--orphan", "fresh") },
		"filemode": func() { w.try("config", "core.fileMode", "false") },
	}
	steps[rapid.SampledFrom(slices.Sorted(maps.Keys(steps))).Draw(w.t, "step")]()
}

// try runs a Git command that may find nothing to do.
func (w *walk) try(args ...string) { _, _ = w.tryGit("r", args...) }

func (w *walk) text() string {
	base := strings.Repeat("line\n", 20)
	return base + fmt.Sprint(rapid.IntRange(0, 3).Draw(w.t, "text")) + "\n"
}

// replace puts something in the place of whatever stands at name.
func (w *walk) replace(name string, make func(path string) error) {
	path := w.path(name)
	_ = os.RemoveAll(path)
	for above := filepath.Dir(path); above != w.path("r"); above = filepath.Dir(above) {
		if info, err := os.Lstat(above); err == nil && !info.IsDir() {
			w.must(os.Remove(above))
		}
	}
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.must(make(path))
}
