package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/schema"
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

// hostileStates are Runs with hostile texts in what only some states have: a request
// to destroy, a candidate, a summary at the end.
func (w *world) hostileStates() (runs []string) {
	w.t.Helper()
	w.start(map[string]any{"goal": hostile})
	w.submit(func(o *schema.Outcome) {
		o.Summary, o.SuggestedActions = hostile, []schema.Suggestion{{Kind: schema.Implement, Brief: hostile}}
	})
	request := schema.DestructiveRequest{
		RequestID: "7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", Impact: hostile, Targets: []schema.Target{{Kind: "git_ref", Value: hostile}},
	}
	request.ScopeSHA256 = schema.ScopeDigest(request.RequestID, request.Impact, request.Targets)
	w.submit(func(o *schema.Outcome) {
		asks(schema.DestructiveConfirmationRequired, hostile)(o)
		o.Pause.DestructiveRequest = &request
	})
	runs = append(runs, w.vars["RUN"])

	w.bring("source,stopped")
	amended := w.amended()
	amended.change = func(envelope map[string]any) { envelope["title"] = hostile }
	w.refresh(amended)
	runs = append(runs, w.vars["RUN"])

	w.start(map[string]any{"goal": hostile})
	for range 2 {
		w.submit(func(o *schema.Outcome) {
			o.Summary, o.Observations, o.KnownIssues = hostile, []string{hostile}, []string{hostile}
		})
	}
	return append(runs, w.vars["RUN"])
}

// TestAHostileWorktreeIsShownHarmless: its name is in what people read wherever a
// command says where it is, and where a Run of another worktree is listed.
func TestAHostileWorktreeIsShownHarmless(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.inHostileFolder()
	run := hostileRun(t, w)
	runs := append(w.hostileStates(), run)
	for _, name := range []string{"\x1b]0;owned\a", "a\u202eb", "a\nb", "-x"} {
		if err := os.Mkdir(w.storage(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	linked := filepath.Join(w.vars["WORK"], "linked\x1b]0;owned\a")
	runGit(t, w.env, w.vars["ROOT"], "worktree", "add", "-q", linked, "-b", "other")
	env := append(w.env, "NO_COLOR=1")
	for _, root := range []string{w.vars["ROOT"], linked} {
		lines := [][]string{{"status"}, {"journal", "list"}, {"journal", "prune", "--all"}, {"doctor"}, {"list"}, {"stop"}}
		for _, run := range runs {
			lines = append(lines, []string{"status", run}, []string{"log", run}, []string{"journal", "verify", run})
		}
		for _, args := range lines {
			text, _ := w.shown(inTerminal(t, env, root, args...))
			if r, found := unseen(text); found || strings.Contains(text, "\x1b[8m") {
				t.Errorf("%q: the terminal gets %U: %q", args, r, text)
			}
		}
		watch := inTerminalOf(t, 400, 24, env, root, "watch")
		watch.await(run)
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
