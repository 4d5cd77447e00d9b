package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"}, "powershell": nil,
	} {
		script, err := exec.Command(program("slipway"), "completion", shell).Output()
		if err != nil || !strings.Contains(string(script), "__complete") {
			t.Errorf("%s: %v, %.80q", shell, err, script)
			continue
		}
		if check == nil {
			continue
		}
		if _, err := exec.LookPath(check[0]); err != nil {
			continue // that shell is not here
		}
		reader := exec.Command(check[0], check[1:]...)
		reader.Stdin = strings.NewReader(string(script))
		if output, err := reader.CombinedOutput(); err != nil {
			t.Errorf("%s does not take its script: %v\n%s", shell, err, output)
		}
	}
}

// TestBashWithoutItsPackage: the script completes in a shell that has nothing else.
func TestBashWithoutItsPackage(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	w := newWorlds(t).world(t)
	w.reach("active")
	for line, want := range map[string]string{
		"slipway st": "status stop", "slipway stat": "status", "slipway daemon res": "restart", "slipway protocol submit --outcome-": "--outcome-file --outcome-stdin",
		"slipway completion ": "bash fish powershell zsh", "slipway status ": w.vars["RUN"],
	} {
		const ask = `source <(slipway completion bash); compopt() { :; }; COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
			__start_slipway; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", ask, "bash", line)
		cmd.Dir, cmd.Env = w.vars["ROOT"], append(w.env, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
		output, err := cmd.CombinedOutput()
		var offered []string
		for reply := range strings.Lines(string(output)) {
			offered = append(offered, strings.Fields(reply)[0])
		}
		slices.Sort(offered)
		if got := strings.Join(offered, " "); err != nil || got != want {
			t.Errorf("%q: %q (%v), want %q", line, output, err, want)
		}
	}
}

// TestCompletion asks as the scripts do.
func TestCompletion(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.reach("ended")
	w.vars["ENDED"] = w.vars["RUN"]
	w.reach("asked")
	w.vars["ASKED"], w.vars["QUESTION"] = w.vars["RUN"], w.vars["A"]
	w.reach("candidate")
	for _, test := range []struct {
		line       string // ∅ at the end: nothing typed yet
		want, none string
	}{
		{"∅", "run status stop protocol daemon completion", "help"},
		{"st", "status stop", "run"},
		{"protocol ∅", "submit answer skip resume material", "status"},
		{"daemon st", "start stop status", "restart"},
		{"completion ∅", "bash zsh fish powershell", ""},
		{"status --", "--root --section --json", "--goal-file"},
		{"protocol resume --source-choice ∅", "pinned adopt", ""},
		{"install --tool c", "claude codex copilot cursor", ""},
		{"run --goal-file ∅", "", "--json"},
		{"run ∅", "", "$RUN"},

		{"status ∅", "$RUN $ASKED $ENDED", ""},
		{"stop ∅", "$RUN $ASKED", "$ENDED"},
		{"protocol resume ∅", "$RUN", "$ASKED"},
		{"protocol answer --run ∅", "$ASKED", "$RUN"},
		{"protocol answer --run $ASKED --action ∅", "$QUESTION", ""},
		{"protocol resume $RUN --candidate ∅", "$CANDIDATE", ""},
		{"status $RUN --section ∅", "outcome requirements", ""},
		{"status $ASKED ∅", "", "$RUN"},
		{"--root /nowhere/at/all status ∅", "", "$RUN"},
	} {
		r := w.run(w.env, "", append([]string{"__complete"}, w.argv(test.line)...)...)
		if r.exit != 0 {
			t.Errorf("%s: exit %d %s", test.line, r.exit, r.stderr)
		}
		offered := map[string]bool{}
		for line := range strings.SplitSeq(string(r.stdout), "\n") {
			word, _, _ := strings.Cut(line, "\t")
			offered[word] = true
		}
		for word := range strings.FieldsSeq(w.expand(test.want)) {
			if !offered[word] {
				t.Errorf("%s: no %s in %q", test.line, word, r.stdout)
			}
		}
		if none := w.expand(test.none); none != "" && offered[none] {
			t.Errorf("%s: offers %s", test.line, none)
		}
	}
}
