package main

import (
	"encoding/json"
	"strings"
	"testing"

	"slipway/schema"
)

// inTerminal runs the program in a terminal and gives what is on it then.
func (w *world) inTerminal(env []string, args ...string) (text string, exit int) {
	w.t.Helper()
	return w.shown(inTerminal(w.t, env, w.vars["ROOT"], args...))
}

// shown waits for the program in a terminal and gives what is on it then.
func (w *world) shown(console *terminal) (text string, exit int) {
	w.t.Helper()
	const end = "<end of output>"
	if err := console.cmd.Wait(); err != nil && console.cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	if _, err := console.slave.WriteString(end); err != nil {
		w.t.Fatal(err)
	}
	console.await(end)
	text, _, _ = strings.Cut(console.text(), end)
	return strings.ReplaceAll(text, "\r\n", "\n"), console.cmd.ProcessState.ExitCode()
}

// TestFailuresAtATerminal: a person reads a sentence and the ways on; whoever
// asked for JSON, and every host, gets JSON there as well.
func TestFailuresAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, "SLIPWAY_DAEMON=off").world(t)
	for _, test := range []struct {
		line string
		json bool
	}{
		{"status unknown", false},
		{"status unknown --json", true},
		{"status --nope", false},
		{"nothing", false},
		{"status --json --nope", true},
		{"stop", false},
		{"protocol skip --run unknown --action a", true},
		{"protocol --nope", true},
		{"run", false},
	} {
		text, exit := w.inTerminal(w.env, w.argv(test.line)...)
		var failure schema.Error
		isJSON := json.Unmarshal([]byte(text), &failure) == nil
		switch {
		case isJSON != test.json:
			t.Errorf("%s: %q", test.line, text)
		case !isJSON && !strings.HasPrefix(text, "\x1b[31mslipway:\x1b[0m "):
			t.Errorf("%s: no sentence in red: %q", test.line, text)
		case exit != 2 && exit != 3:
			t.Errorf("%s: exit %d", test.line, exit)
		}
	}
}

// TestReportsAtATerminal: the layout of adapters.md, within the width and in colours.
func TestReportsAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, "SLIPWAY_DAEMON=off").world(t)
	for command, want := range map[string]string{"doctor": "\x1b[33mwarning -  ", "list": "\x1b[2mcodex      detected=false "} {
		text, exit := w.inTerminal(w.env, command)
		if exit != 0 || !strings.Contains(text, want) {
			t.Errorf("%s: exit %d, no %q in %q", command, exit, want, text)
		}
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(line) > 80+len("\x1b[33m\x1b[0m\n") && len(words) > 1 {
				t.Errorf("%s: a line is longer than the terminal is wide: %q", command, line)
			}
		}
	}
}

// TestStatusAtATerminal: colours, unless the user does not want them.
func TestStatusAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, "SLIPWAY_DAEMON=off").world(t)
	if r := w.run(w.env, "", "run", strings.Repeat("a long goal ", 20)); r.exit != 0 {
		t.Fatalf("%s", r.stderr)
	}
	for setting, coloured := range map[string]bool{"OTHER=1": true, "NO_COLOR=": true, "NO_COLOR=1": false} {
		text, _ := w.inTerminal(append(w.env, setting), "status")
		if got := strings.Contains(text, "\x1b["); got != coloured {
			t.Errorf("%s: colours %v: %q", setting, got, text)
		}
		if !strings.Contains(text, "…") || strings.Count(text, "\n") > 4 {
			t.Errorf("the goal is not cut to the width: %q", text)
		}
	}
}
