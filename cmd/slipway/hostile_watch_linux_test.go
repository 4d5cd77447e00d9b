package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileFolder is a name that a file system allows and a terminal would obey.
const hostileFolder = "re\x1b]0;owned\a\x1b[8m\u202epo\t\u009b2J"

// inHostileFolder moves the world to a folder with such a name.
func (w *world) inHostileFolder() {
	w.t.Helper()
	root := filepath.Join(w.vars["WORK"], hostileFolder)
	if err := os.Rename(w.vars["ROOT"], root); err != nil {
		w.t.Fatal(err)
	}
	w.vars["ROOT"] = root
}

// TestAHostileWorktreeIsShownHarmless: its name is in what people read wherever a
// command says where it is, and where a Run of another worktree is listed.
func TestAHostileWorktreeIsShownHarmless(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.inHostileFolder()
	run := hostileRun(t, w)
	linked := filepath.Join(w.vars["WORK"], "linked\x1b]0;owned\a")
	runGit(t, w.env, w.vars["ROOT"], "worktree", "add", "-q", linked, "-b", "other")
	env := append(w.env, "NO_COLOR=1")
	for _, root := range []string{w.vars["ROOT"], linked} {
		for _, args := range [][]string{{"status"}, {"status", run}, {"log", run}, {"journal", "list"}, {"journal", "verify", run}, {"doctor"}, {"list"}} {
			text, _ := w.shown(inTerminal(t, env, root, args...))
			if r, found := unseen(text); found || strings.Contains(text, "\x1b[8m") {
				t.Errorf("%q: the terminal gets %U: %q", args, r, text)
			}
		}
		watch := inTerminalOf(t, 400, 24, env, root, "watch")
		watch.await(run)
		watch.await("1 Runs")
		_, _ = io.WriteString(watch.master, "q")
		watch.end()
		text := watch.text()
		if r, found := unseen(text); found || strings.Contains(text, "\x1b[8m") {
			t.Errorf("watch gives %U: %q", r, text)
		}
		if !strings.Contains(text, `\u001b]0;owned`) || !strings.Contains(text, `\u202e`) {
			t.Errorf("watch does not spell out what it can not show: %q", text)
		}
	}
}
