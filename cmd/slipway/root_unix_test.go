//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// TestRootThatIsNotUTF8: no command takes it for the folder that JSON would make
// of its name, and a link from it to a worktree works.
func TestRootThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	strange, mangled := filepath.Join(w.vars["WORK"], "a\xffb"), filepath.Join(w.vars["WORK"], "a\ufffdb")
	for _, folder := range []string{strange, mangled} {
		if err := os.CopyFS(folder, os.DirFS(w.vars["ROOT"])); err != nil {
			t.Skip(err) // some file systems know no such name
		}
	}
	link := filepath.Join(w.vars["WORK"], "to\xff")
	w.link(w.vars["ROOT"], link)
	var first map[string]any
	for _, mode := range []string{"require", "off"} {
		env := append(w.env, "SLIPWAY_DAEMON="+mode)
		failure, err := w.run(env, "", "run", "--root", strange, "tidy").failed()
		want := wrong{code: schema.CodeGitRepositoryRequired, exit: 2, next: nothing}
		if err != nil || brief(failure) != want.brief() {
			t.Errorf("%s: %v %v", mode, err, failure)
		}
		if first == nil {
			first = failure
		}
		if diff := gocmp.Diff(first, failure); diff != "" {
			t.Errorf("with a daemon and without one:\n%s", diff)
		}
		if r := w.run(env, "", "status", "--root", link); r.exit != 0 {
			t.Errorf("%s: %s", mode, r.stderr)
		}
	}
}
