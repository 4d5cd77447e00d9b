//go:build unix

package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"slipway/schema"
)

// TestSlowGit: a Git that hangs is told from a daemon that does, and from a place
// without a repository.
func TestSlowGit(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	hung := filepath.Join(w.vars["WORK"], "bin")
	if err := writeFile(filepath.Join(hung, "git"), []byte("#!/bin/sh\nexec sleep 300\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(hung, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for _, mode := range []string{"require", "off"} {
		waiting.Go(func() {
			r := w.run(append(w.env, "PATH="+hung+string(os.PathListSeparator)+os.Getenv("PATH"), "SLIPWAY_DAEMON="+mode), "", "status")
			failure, err := r.failed()
			want := wrong{code: schema.CodeGitRepositoryUnavailable, exit: 3, next: "command retry-doctor"}
			if err != nil || brief(failure) != want.brief() {
				t.Errorf("%s: %v\ngot  %s\nwant %s", mode, err, brief(failure), want.brief())
			}
		})
	}
	waiting.Wait()
}
