//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/schema"
)

// sh runs a line of the shell in which slipway is the program.
func (w *world) sh(line string) ran {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", w.expand(line))
	cmd.Env, cmd.Dir = append(w.env, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH")), w.vars["ROOT"]
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), []byte(stdout.String()), []byte(stderr.String())}
}

// TestStreamsThatFail: cli.md, 4.2 and 5.2.
func TestStreamsThatFail(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	const outputLost = schema.CodeMutationCommittedOutputFailed
	ids := " --run $RUN --action $A "
	shared := newWorlds(t)
	for _, test := range []struct {
		line, stage string
		exit        int
		code        schema.Code // on stderr
		next        string
	}{
		// What can not be read.
		{"slipway run --goal-stdin </", "nothing", 2, schema.CodeInvalidGoal, nothing},
		{"slipway protocol answer --text-stdin --run r --action a </", "nothing", 2, schema.CodeInvalidAnswer, inspectOne},
		{"slipway protocol submit --outcome-stdin --run r --action a </", "nothing", 2, schema.CodeInvalidOutcome, "action submit-outcome-stdin"},
		{"slipway protocol submit --outcome-stdin --run r --action a --root /nowhere </", "nothing", 2, schema.CodeGitRepositoryRequired, nothing},
		{"slipway run --goal-stdin 0>/dev/null", "nothing", 2, schema.CodeInvalidGoal, nothing},
		// What is closed is empty, or thrown away.
		{"slipway run --goal-stdin <&-", "nothing", 2, schema.CodeGoalRequired, nothing},
		{"slipway protocol submit --outcome-stdin" + ids + "<&-", "active", 2, schema.CodeInvalidOutcome, "action submit-outcome-stdin"},
		{"slipway protocol answer --text-stdin" + ids + "<&-", "asked", 3, schema.CodeAnswerRequired, askedNext},
		{"slipway run tidy <&- >&- 2>&-", "nothing", 0, "", ""},
		{"slipway status >&-", "active", 0, "", ""},
		{"slipway status unknown <&- >&- 2>&-", "nothing", 3, "", ""},
		{"slipway nothing 2>&-", "nothing", 2, "", ""},
		// A full disk behind stdout.
		{"slipway --help >/dev/full", "nothing", 0, "", ""},
		{"slipway status --help >/dev/full", "nothing", 0, "", ""},
		{"slipway --version >/dev/full", "nothing", 3, schema.CodeRuntimeError, nothing},
		{"slipway status >/dev/full", "active", 3, schema.CodeRuntimeError, nothing},
		{"slipway status --json >/dev/full", "active", 3, schema.CodeRuntimeError, nothing},
		{"slipway status $RUN >/dev/full", "active", 3, schema.CodeRuntimeError, nothing},
		{"slipway status $RUN --section outcome >/dev/full", "source", 3, schema.CodeRuntimeError, nothing},
		{"slipway list >/dev/full", "nothing", 3, schema.CodeRuntimeError, nothing},
		{"slipway doctor --json >/dev/full", "nothing", 3, schema.CodeRuntimeError, nothing},
		{"slipway install --tool codex >/dev/full", "nothing", 3, schema.CodeRuntimeError, nothing},
		{"slipway protocol material --section outcome" + ids + ">/dev/full", "source", 3, schema.CodeRuntimeError, inspectOne},
		{"slipway run tidy >/dev/full", "nothing", 3, outputLost, inspectOne},
		{"slipway run --json tidy >/dev/full", "nothing", 3, outputLost, inspectOne},
		{"slipway stop $RUN >/dev/full", "active", 3, outputLost, inspectOne},
		{"slipway stop --json >/dev/full", "active", 3, outputLost, inspectOne},
		{"slipway protocol skip" + ids + ">/dev/full", "active", 3, outputLost, inspectOne},
		{"slipway protocol answer --text x" + ids + ">/dev/full", "asked", 3, outputLost, inspectOne},
		{"slipway protocol resume $RUN >/dev/full", "stopped", 3, outputLost, inspectOne},
		{"slipway protocol submit --run $RUN --action $BEFORE --outcome-file $TMP/first.json >/dev/full", "reported", 3, outputLost, inspectOne},
		// And behind stderr.
		{"slipway status unknown 2>/dev/full", "nothing", 1, "", ""},
		{"slipway nothing 2>/dev/full", "nothing", 1, "", ""},
		{"slipway stop $RUN >/dev/full 2>/dev/full", "active", 1, "", ""},
	} {
		eachMode(t, test.line, func(t *testing.T, mode string) {
			w := shared.world(t)
			w.reach(test.stage)
			w.env = append(w.env, mode)
			r := w.sh(test.line)
			if r.exit != test.exit || len(r.stdout) > 0 {
				t.Fatalf("exit %d, want %d; stdout %.200q stderr %s", r.exit, test.exit, r.stdout, r.stderr)
			}
			if test.next == "" {
				if got := strings.TrimSpace(string(r.stderr)); got != string(test.code) {
					t.Errorf("stderr %q, want %q", got, test.code)
				}
				return
			}
			failure, err := r.failed()
			if err != nil {
				t.Fatal(err)
			}
			if failure["code"] != string(test.code) || shown(failure["next"]) != test.next {
				t.Errorf("got %v, next %v: %v", failure["code"], shown(failure["next"]), failure["message"])
			}
			if test.code == outputLost {
				w.checkOutputLost(failure)
			}
		})
	}
}

// eachMode runs a test with a daemon and without one, side by side.
func eachMode(t *testing.T, name string, test func(t *testing.T, mode string)) {
	for _, mode := range []string{"SLIPWAY_DAEMON=require", "SLIPWAY_DAEMON=off"} {
		t.Run(name+" "+mode, func(t *testing.T) {
			t.Parallel()
			test(t, mode)
		})
	}
}

// checkOutputLost: the one error after which everything has happened.
func (w *world) checkOutputLost(failure map[string]any) {
	w.t.Helper()
	want := "map[ambiguous:false committed:true namespace_detached:false phase:response_output projection_stale:false]"
	if got := fmt.Sprint(failure["details"]); got != want {
		w.t.Errorf("details %v", got)
	}
	run := failure["next"].(map[string]any)["variants"].([]any)[0].(map[string]any)["base_argv"].([]any)[2]
	if r := w.run(w.env, "", "status", fmt.Sprint(run)); r.exit != 0 {
		w.t.Errorf("the Run %v that the error names: %s", run, r.stderr)
	}
}

// TestReadersThatHaveGone: the signal ends what changed no Run; a change is told, or
// where nobody reads that either, the exit status says that something happened.
func TestReadersThatHaveGone(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t)
	for line, stage := range map[string]string{
		"status": "active", "status --json": "active", "status $RUN": "active", "status $RUN --section outcome": "source",
		"protocol material --run $RUN --action $A --section outcome": "source", "list": "nothing", "doctor --json": "nothing", "--help": "nothing",
		"--version": "nothing", "install --tool codex": "nothing", "uninstall --tool all --json": "installed",
		"run tidy": "nothing", "run --json tidy": "nothing",
		"stop $RUN": "active", "stop --json": "active", "protocol skip --run $RUN --action $A": "active", "protocol resume $RUN": "stopped",
		"protocol answer --run $RUN --action $A --text x":                            "asked",
		"protocol submit --run $RUN --action $BEFORE --outcome-file $TMP/first.json": "reported",
	} {
		changes := strings.HasPrefix(line, "run") || strings.HasPrefix(line, "stop") ||
			strings.HasPrefix(line, "protocol") && !strings.Contains(line, "material")
		for _, deaf := range []bool{false, true} {
			eachMode(t, fmt.Sprint(line, " deaf ", deaf), func(t *testing.T, mode string) {
				w := shared.world(t)
				if stage == "installed" {
					w.expect("install --tool codex --json", "")
				} else {
					w.reach(stage)
				}
				w.env = append(w.env, mode)
				status, stderr := w.toClosedPipe(line, deaf)
				switch {
				case changes && deaf && status.ExitStatus() != exitNoError:
					t.Errorf("%v", status)
				case changes && !deaf:
					failure, err := ran{status.ExitStatus(), nil, []byte(stderr)}.failed()
					if err != nil || status.ExitStatus() != schema.ExitRuntime || failure["code"] != string(schema.CodeMutationCommittedOutputFailed) {
						t.Fatalf("exit %d %s: %v", status.ExitStatus(), stderr, err)
					}
					w.checkOutputLost(failure)
				case !changes && (status.Signal() != syscall.SIGPIPE || stderr != ""):
					t.Errorf("%v %s", status, stderr)
				}
			})
		}
	}
}

// toClosedPipe runs a line whose stdout, and stderr if it is deaf, nobody reads.
func (w *world) toClosedPipe(line string, deaf bool) (syscall.WaitStatus, string) {
	w.t.Helper()
	cmd := exec.Command(program("slipway"), w.argv(line)...)
	var stderr strings.Builder
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.vars["ROOT"], closedPipe(w.t), &stderr
	if deaf {
		cmd.Stderr = cmd.Stdout
	}
	if err := cmd.Run(); cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus), stderr.String()
}

// TestStdinIsLeftAlone: nobody waits for a stdin that is not asked for, or whose
// command is refused anyway.
func TestStdinIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.reach("asked")
	runGit(t, w.env, w.vars["TMP"], "init", "-q", "--bare", "bare.git")
	read, write, err := os.Pipe() // never written to, never closed
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	for line, exit := range map[string]int{
		"run --goal-stdin=false": 2, "run --goal-stdin x": 2, "run x": 0, "run --goal-file none": 2, "status": 0, "--help": 0, "run --goal-stdin -h": 0,
		"protocol answer --run $RUN --text-stdin": 2, "protocol answer --run $RUN --action $A --text-stdin --text x": 2,
		"protocol answer --run $RUN --action $A": 3, "protocol submit --run $RUN --action $A --outcome-file none": 2,
		"protocol submit --outcome-stdin --run a/b --action $A":                          2,
		"protocol submit --outcome-stdin --run $RUN --action $A --root /":                2,
		"protocol submit --outcome-stdin --run $RUN --action $A --root .git":             2,
		"protocol submit --outcome-stdin --run $RUN --action $A --root .git/objects":     2,
		"protocol submit --outcome-stdin --run $RUN --action $A --root $TMP/bare.git":    2,
		"protocol submit --outcome-stdin --run $RUN --action $A --root $ROOT/none/below": 2,
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		cmd := exec.CommandContext(ctx, program("slipway"), w.argv(line)...)
		cmd.Env, cmd.Dir, cmd.Stdin = w.env, w.vars["ROOT"], read
		output, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != exit {
			t.Errorf("%s: exit %d, want %d: %s", line, got, exit, output)
		}
		cancel()
	}
}
