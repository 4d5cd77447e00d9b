package main

import (
	"strings"
	"testing"

	"slipway/schema"
)

// limit is a limit of cli.md, section 11: what comes of an input of exactly that
// size, and of one that is larger by one.
type limit struct {
	name, stage    string
	line           string
	within, beyond string // stdin; "$INPUT" of the line where the line has it
	code, over     schema.Code
	exit, overExit int
}

func everyLimit() []limit {
	const (
		text, outcome = 262_144, 1_048_576
		goal          = "run --json --goal-stdin"
		answer        = "protocol answer --run $RUN --action $A --text-stdin"
		spare         = "protocol answer --run $RUN --action $A --confirm-destructive --text-stdin"
		pair          = schema.CodeDestructiveConfirmationPairRequired
	)
	x := func(n int) string { return strings.Repeat("x", n) }
	// The literal adds two quotes; what is escaped in it counts twice or six times.
	return []limit{
		{name: "goal, bytes", line: goal, within: strings.Repeat(" ", text), code: schema.CodeGoalRequired, exit: 2,
			beyond: strings.Repeat(" ", text+1), over: schema.CodeActionTooLarge, overExit: 2},
		{name: "goal, literal", line: goal, within: x(text - 2), code: schema.CodeActionTooLarge, exit: 3,
			beyond: x(text - 1), over: schema.CodeActionTooLarge, overExit: 2},
		{name: "goal, escaped", line: goal, within: "é" + strings.Repeat("\"\\\t\n\r", (text-4)/10), code: schema.CodeActionTooLarge, exit: 3,
			beyond: "é" + strings.Repeat("\"\\\t\n\r", (text-4)/10) + "1", over: schema.CodeActionTooLarge, overExit: 2},
		{name: "goal, separators", line: goal, within: "xxxx" + strings.Repeat("\u2028\u2029", (text-6)/12) + x((text-6)%12), code: schema.CodeActionTooLarge, exit: 3,
			beyond: "xxxxx" + strings.Repeat("\u2028\u2029", (text-6)/12) + x((text-6)%12), over: schema.CodeActionTooLarge, overExit: 2},
		{name: "answer, bytes", line: spare, stage: "asked", within: strings.Repeat("\xff", text), code: schema.CodeInvalidAnswer, exit: 2,
			beyond: strings.Repeat("\xff", text+1), over: schema.CodeAnswerTooLarge, overExit: 2},
		{name: "answer, literal", line: spare, stage: "asked", within: x(text - 2), code: pair, exit: 2,
			beyond: x(text - 1), over: schema.CodeAnswerTooLarge, overExit: 2},
		{name: "answer, controls", line: spare, stage: "asked", within: strings.Repeat("\x01", (text-2)/6), code: pair, exit: 2,
			beyond: strings.Repeat("\x01", (text-2)/6) + x((text-2)%6+1), over: schema.CodeAnswerTooLarge, overExit: 2},
		{name: "answer, taken", line: answer, stage: "asked", within: x(text - 2), beyond: x(text - 1), over: schema.CodeAnswerTooLarge, overExit: 2},
		{name: "outcome", line: "protocol submit --run $RUN --action $A --outcome-stdin", stage: "active", within: "@" + x(outcome), beyond: "@" + x(outcome+1),
			over: schema.CodeInvalidOutcome, overExit: 2},
		{name: "run id", line: "status -- $INPUT", within: x(128), code: schema.CodeRunNotFound, exit: 3, beyond: x(129), over: schema.CodeInvalidRunID, overExit: 2},
		{name: "section key", line: "status r --section $INPUT", within: x(64), code: schema.CodeRunNotFound, exit: 3,
			beyond: x(65), over: schema.CodeMaterialSectionInvalid, overExit: 3},
		{name: "highest budget", line: "run x --budget $INPUT", within: "1000", beyond: "1001", over: schema.CodeInvalidBudget, overExit: 2},
		{name: "lowest budget", line: "run x --budget $INPUT", within: "1", beyond: "0", over: schema.CodeInvalidBudget, overExit: 2},
		{name: "resumed budget", line: "protocol resume $RUN --budget $INPUT", stage: "stopped", within: "1000", beyond: "1001", over: schema.CodeInvalidBudget, overExit: 2},
		{name: "highest number", line: "run x --budget $INPUT", within: "9223372036854775807", code: schema.CodeInvalidBudget, exit: 2,
			beyond: "9223372036854775808", over: schema.CodeInvalidUsage, overExit: 2},
		{name: "lowest number", line: "run x --budget $INPUT", within: "-9223372036854775808", code: schema.CodeInvalidBudget, exit: 2,
			beyond: "-9223372036854775809", over: schema.CodeInvalidUsage, overExit: 2},
	}
}

// TestLimits meets each limit exactly and by one too many, with a daemon and
// without one. What is beyond comes first: it changes nothing.
func TestLimits(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t)
	for _, l := range everyLimit() {
		for _, mode := range []string{"SLIPWAY_DAEMON=require", "SLIPWAY_DAEMON=off"} {
			t.Run(l.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				w := shared.world(t)
				if l.stage != "" {
					w.reach(l.stage)
				}
				w.env = append(w.env, mode)
				w.meet(l.line, l.beyond, l.over, l.overExit)
				w.meet(l.line, l.within, l.code, l.exit)
			})
		}
	}
}

// meet runs a line with an input and holds what comes of it against a code, or
// against success. An input that begins with "@" is an Outcome filled up to its size.
func (w *world) meet(line, input string, code schema.Code, exit int) {
	w.t.Helper()
	if size, ok := strings.CutPrefix(input, "@"); ok {
		input = string(w.outcome(nil))
		input += strings.Repeat("\n", len(size)-len(input))
	}
	w.vars["INPUT"] = input
	r := w.run(w.env, input, w.argv(line)...)
	if code == "" {
		if r.exit != 0 {
			w.t.Errorf("%d bytes: %s", len(input), r.stderr)
		}
		return
	}
	failure, err := r.failed()
	if err != nil {
		w.t.Fatal(err)
	}
	if failure["code"] != string(code) || r.exit != exit {
		w.t.Errorf("%d bytes: %v, exit %d, want %s, exit %d", len(input), failure["code"], r.exit, code, exit)
	}
}
