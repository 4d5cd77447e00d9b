package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// repeated is an operation, and what its exact and its changed repeat come to
// (run.md, section 11). Without a code a repeat succeeds.
type repeated struct {
	name          string
	stage         string
	line          string
	call          params
	first, again  schema.Code // of the first time, of the exact repeat
	records       bool        // the repeat is recorded again
	changedLine   string
	changedCall   params
	changedRepeat schema.Code
}

func everyRepeat() []repeated {
	submit := params{"method": "run/submit", "run": "$RUN", "action": "$A", "outcome_base64": "@outcome.json"}
	const submitLine = "protocol submit --run $RUN --action $A --outcome-file $TMP/"
	answer := params{"method": "run/answer", "run": "$RUN", "action": "$A", "text": "left"}
	const answerLine = "protocol answer --run $RUN --action $A "
	confirm := params{"method": "run/answer", "run": "$RUN", "action": "$A", "confirm_destructive": true, "scope_sha256": "$SCOPE"}
	const confirmLine = answerLine + "--confirm-destructive --scope-sha256 $SCOPE"
	decline := params{"method": "run/answer", "run": "$RUN", "action": "$A", "text": "no"}
	choose := params{"method": "run/resume", "run": "$RUN", "source_choice": "adopt", "candidate": "$CANDIDATE"}
	const chooseLine = "protocol resume $RUN --candidate $CANDIDATE --source-choice "
	resume := params{"method": "run/resume", "run": "$RUN"}
	resumeFive := params{"method": "run/resume", "run": "$RUN", "budget": 5}
	skip := params{"method": "run/skip", "run": "$RUN", "action": "$A"}
	stop := params{"method": "run/stop", "run": "$RUN"}
	return []repeated{
		{name: "submit", stage: "active", line: submitLine + "outcome.json", call: submit,
			changedLine: submitLine + "other.json", changedCall: replaced(submit, "@outcome", "@other"), changedRepeat: schema.CodeOutcomeConflict},
		{name: "question", stage: "active", line: submitLine + "question.json", call: replaced(submit, "@outcome", "@question"),
			changedLine: submitLine + "outcome.json", changedCall: submit, changedRepeat: schema.CodeOutcomeConflict},
		{name: "answer", stage: "asked", line: answerLine + "--text left", call: answer,
			changedLine: answerLine + "--text right", changedCall: replaced(answer, "left", "right"), changedRepeat: schema.CodeAnswerConflict},
		{name: "confirmation", stage: "destructive", line: confirmLine, call: confirm,
			changedLine: answerLine + "--text no", changedCall: decline, changedRepeat: schema.CodeAnswerConflict},
		{name: "decline", stage: "destructive", line: answerLine + "--text no", call: decline,
			changedLine: confirmLine, changedCall: confirm, changedRepeat: schema.CodeAnswerConflict},
		{name: "confirmation without budget", stage: "destructive without budget", line: confirmLine, call: confirm,
			first: schema.CodeBudgetExhausted, again: schema.CodeBudgetExhausted,
			changedLine: answerLine + "--text no", changedCall: decline, changedRepeat: schema.CodeAnswerConflict},
		{name: "skip", stage: "active", line: "protocol skip --run $RUN --action $A", call: skip, again: schema.CodeStaleAction,
			changedLine: "protocol skip --run $RUN --action other", changedCall: replaced(skip, "$A", "other"), changedRepeat: schema.CodeStaleAction},
		{name: "stop", stage: "active", line: "stop $RUN --json", call: stop, records: true, changedLine: "stop $RUN --json", changedCall: stop},
		{name: "resume", stage: "stopped", line: "protocol resume $RUN", call: resume, again: schema.CodeRunNotResumable,
			changedLine: "protocol resume $RUN --budget 5", changedCall: resumeFive, changedRepeat: schema.CodeRunNotResumable},
		{name: "choice", stage: "candidate", line: chooseLine + "adopt", call: choose,
			changedLine: chooseLine + "pinned", changedCall: replaced(choose, "adopt", "pinned"), changedRepeat: schema.CodeSourceChoiceConflict},
	}
}

// interruptions are what can happen between an operation and its repeat.
var interruptions = map[string]func(*world, repeated){
	"none": func(w *world, r repeated) { w.expect(r.line, r.first) },
	"the answer is lost": func(w *world, r repeated) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			w.t.Skip(err)
		}
		defer full.Close()
		cmd := exec.Command(program("slipway"), w.argv(r.line)...)
		cmd.Env, cmd.Dir, cmd.Stdout = w.env, w.vars["ROOT"], full
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != schema.ExitRuntime {
			w.t.Fatalf("an answer that is lost: %v", err)
		}
	},
	"another daemon": func(w *world, r repeated) {
		w.expect(r.line, r.first)
		w.peer = nil
		if restart := w.run(w.env, "", "daemon", "restart"); restart.exit != 0 {
			w.t.Fatalf("%s", restart.stderr)
		}
	},
}

// expect runs a line that has to come to a code, or to an answer.
func (w *world) expect(line string, code schema.Code) map[string]any {
	w.t.Helper()
	r := w.run(w.env, "", w.argv(line)...)
	text := r.stdout
	if code != "" {
		text = r.stderr
	}
	var object map[string]any
	if err := decodeNumbers(text, &object); err != nil || code != "" && object["code"] != string(code) {
		w.t.Fatalf("%s: %s%s, want %q", line, r.stdout, r.stderr, code)
	}
	return object
}

// call makes a call that has to come to a code, or to a result.
func (w *world) call(p params, code schema.Code) map[string]any {
	w.t.Helper()
	result, failure := w.try(p["method"].(string), w.params(p))
	switch {
	case code == "" && failure != nil:
		w.t.Fatalf("%v: %s", p, failure.Message)
	case code == "":
		return result
	case failure == nil || failure.Data["code"] != string(code):
		w.t.Fatalf("%v: %v, want %s", p, failure, code)
	}
	return failure.Data
}

// TestRetries repeats every operation, whatever happened after the first time.
func TestRetries(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t) // not in parallel below: one case restarts the daemon
	for _, r := range everyRepeat() {
		for interruption, happen := range interruptions {
			t.Run(r.name+"/"+interruption, func(t *testing.T) {
				w := shared.world(t)
				w.reach(r.stage)
				w.file("outcome.json", w.outcome(nil))
				w.file("other.json", append(w.outcome(nil), '\n'))
				w.file("question.json", w.outcome(asks(schema.DecisionRequired, "which one?")))
				happen(w, r)
				w.repeat(r)
			})
		}
	}
}

// repeat repeats an operation that was made once, exactly and changed.
func (w *world) repeat(r repeated) {
	w.t.Helper()
	journal := func() int64 {
		info, err := os.Stat(w.storage(w.vars["RUN"], "journal.jsonl"))
		if err != nil {
			w.t.Fatal(err)
		}
		return info.Size()
	}
	before := journal()
	byLine, bySocket := w.expect(r.line, r.again), w.call(r.call, r.again)
	if diff := differences(byLine, bySocket); diff != "" {
		w.t.Errorf("the repeats differ (-line +socket):\n%s", diff)
	}
	if r.again == "" {
		w.isNow(byLine)
	}
	after := journal()
	if r.records == (after == before) {
		w.t.Errorf("the journal had %d bytes and has %d", before, after)
	}
	byLine, bySocket = w.expect(r.changedLine, r.changedRepeat), w.call(r.changedCall, r.changedRepeat)
	if diff := differences(byLine, bySocket); diff != "" {
		w.t.Errorf("the changed repeats differ (-line +socket):\n%s", diff)
	}
	if r.records == (journal() == after) {
		w.t.Errorf("a changed repeat: the journal had %d bytes and has %d", after, journal())
	}
}

// isNow holds the answer of a repeat against the Run as it is.
func (w *world) isNow(state map[string]any) {
	w.t.Helper()
	status := w.call(params{"method": "run/status", "run": "$RUN"}, "")
	want := map[string]any{"contract_version": json.Number("2"), "run_id": w.vars["RUN"]}
	for there, here := range map[string]string{
		"state": "state", "pause_reason": "pause_reason", "current_action": "action", "next": "next", "summary": "summary", "pinned_source": "pinned_source",
	} {
		if value, ok := status[there]; ok {
			want[here] = value
		}
	}
	got := maps.Clone(state)
	delete(got, "resume_operation")
	delete(got, "budget_applied")
	if diff := gocmp.Diff(want, got); diff != "" {
		w.t.Errorf("the answer is not the Run as it is (-status +answer):\n%s", diff)
	}
}
