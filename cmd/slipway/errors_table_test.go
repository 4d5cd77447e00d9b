package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slipway/schema"
)

// metElsewhere are the codes that no row of the table meets, and why.
var metElsewhere = map[schema.Code]string{
	schema.CodeUnknownHelpTopic:                    "reserved",
	schema.CodeSourceProviderMismatch:              "reserved",
	schema.CodeSourceIntegrityMismatch:             "reserved",
	schema.CodeDestructiveRequestMissing:           "reserved",
	schema.CodeInvalidDestructiveRequest:           "reserved",
	schema.CodeDestructiveScopeChanged:             "reserved",
	schema.CodeDestructiveGrantConflict:            "reserved",
	schema.CodeInvalidDestructiveGrant:             "reserved",
	schema.CodeRunUnavailable:                      "never an error: it is in a listing",
	schema.CodeRunBusy:                             "needs a held lock: TestBusyRun",
	schema.CodeJournalRecordTooLarge:               "needs an envelope of millions of bytes: engine",
	schema.CodeMaterialCorrupt:                     "needs a catalogue that no start records: source",
	schema.CodeMutationOutcomeAmbiguous:            "needs a disk that fails: engine",
	schema.CodeMutationCommittedProjectionStale:    "needs a disk that fails: engine",
	schema.CodeMutationCommittedVerificationFailed: "needs a disk that fails: engine",
	schema.CodeMutationCommittedOutputFailed:       "needs a stdout that fails: TestClosedPipe, output.txtar",
	schema.CodeDaemonUnavailable:                   "needs a daemon that does not come: daemon.txtar, rpc",
	schema.CodeDaemonUnresponsive:                  "needs a daemon that hangs: rpc",
	schema.CodeGitRepositoryUnavailable:            "needs a Git that hangs: TestSlowGit",
	schema.CodeListFailed:                          "hosts: deploy",
	schema.CodeDoctorFailed:                        "hosts: deploy",
}

// codesOfTheContract are the constants of the contract's codes.
func codesOfTheContract(t *testing.T) []schema.Code {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "schema", "error_codes.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []schema.Code
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, schema.Code(text))
		}
		return true
	})
	if len(codes) < 80 {
		t.Fatalf("only %d codes are found", len(codes))
	}
	return codes
}

func everyError() []wrong {
	return slices.Concat(usageErrors(), placeErrors(), storageErrors(), stateErrors(), answerErrors(), sourceErrors(), materialErrors(), hostErrors())
}

const (
	nothing     = "none"
	inspectOne  = "command inspect-run"
	inspectAll  = "command inspect-runs"
	listRuns    = "command list-runs"
	runDetails  = "run_id state"
	workDetails = "expected_workspace_identity observed_workspace_identity"
	mutation    = "ambiguous committed namespace_detached phase projection_stale"
	stepNext    = "action submit-outcome-file submit-outcome-stdin skip-action"
	askedNext   = "answer answer-decision skip-action"
	sureNext    = "answer confirm-destructive decline-or-feedback skip-action"
	retryFile   = "action submit-outcome-file"
	sourceNext  = "resume refresh-source use-pinned-source"
	chooseNext  = "resume keep-pinned adopt"
	noRun       = "00000000-0000-4000-8000-000000000000"
)

// usageErrors: errors.md, section 4.
func usageErrors() []wrong {
	call := func(method string, p params) params {
		p["method"] = method
		return p
	}
	long := strings.Repeat("x", 262_145)
	literal := strings.Repeat(`\`, 131_072) // as many bytes as a goal may have, twice as many as a literal
	return []wrong{
		{code: schema.CodeInvalidUsage, exit: 2, line: "nothing", next: nothing},
		{code: schema.CodeInvalidUsage, exit: 2, line: "status --nope", next: nothing},
		{code: schema.CodeInvalidUsage, exit: 2, line: "status --root", next: nothing},
		{code: schema.CodeInvalidUsage, exit: 2, line: "daemon", next: nothing},
		{code: schema.CodeInvalidUsage, exit: 2, line: "protocol resume", next: nothing},
		{code: schema.CodeProtocolOperationRequired, exit: 2, line: "protocol", next: nothing},

		{code: schema.CodeRunIDRequired, exit: 2, line: "protocol submit --run ∅", next: nothing,
			call: call("run/submit", params{"run": "", "action": "", "outcome": 1})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "protocol answer", next: nothing, call: call("run/answer", params{"run": "", "action": ""})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "protocol skip", next: nothing, call: call("run/skip", params{"run": "", "action": ""})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "protocol resume ∅", next: nothing, call: call("run/resume", params{"run": ""})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "protocol material", next: inspectAll,
			call: call("run/material", params{"run": "", "action": "", "section": ""})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "status --section ∅", next: inspectAll,
			call: call("run/section", params{"run": "", "section": ""})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "stop", next: listRuns, call: call("run/stop", params{})},
		{code: schema.CodeRunIDRequired, exit: 2, line: "stop", next: listRuns, call: call("run/stop", params{}), stage: "ended"},
		{code: schema.CodeRunIDRequired, exit: 2, line: "stop", next: listRuns, call: call("run/stop", params{}), stage: "active",
			prepare: func(w *world) { w.reach("asked") }},
		{code: schema.CodeRunIDRequired, exit: 2, line: "stop", next: listRuns, call: call("run/stop", params{}), stage: "active",
			prepare: func(w *world) {
				if err := os.Mkdir(w.storage("damaged"), 0o700); err != nil {
					w.t.Fatal(err)
				}
			}},

		{code: schema.CodeInvalidRunID, exit: 2, line: "status ∅", next: inspectAll, call: call("run/status", params{"run": ""})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "stop a/b", next: inspectAll, call: call("run/stop", params{"run": "a/b"})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "status ä --section x", next: inspectAll, call: call("run/section", params{"run": "ä", "section": "x"})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "protocol submit --run a.b", next: inspectAll,
			call: call("run/submit", params{"run": "a.b", "action": "", "outcome": 1})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "protocol answer --run " + strings.Repeat("x", 129), next: inspectAll,
			call: call("run/answer", params{"run": strings.Repeat("x", 129), "action": ""})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "protocol skip --run ..", next: inspectAll, call: call("run/skip", params{"run": "..", "action": ""})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "protocol resume a.b", next: inspectAll, call: call("run/resume", params{"run": "a.b"})},
		{code: schema.CodeInvalidRunID, exit: 2, line: "protocol material --run a.b", next: inspectAll,
			call: call("run/material", params{"run": "a.b", "action": "", "section": ""})},

		{code: schema.CodeActionIDRequired, exit: 2, line: "protocol submit --run r", next: inspectOne,
			call: call("run/submit", params{"run": "r", "action": "", "outcome": 1})},
		{code: schema.CodeActionIDRequired, exit: 2, line: "protocol answer --run r --text x --text-stdin", next: inspectOne,
			call: call("run/answer", params{"run": "r", "action": ""})},
		{code: schema.CodeActionIDRequired, exit: 2, line: "protocol skip --run r --action ∅", next: inspectOne, call: call("run/skip", params{"run": "r", "action": ""})},
		{code: schema.CodeActionIDRequired, exit: 2, line: "protocol material --run r", next: inspectOne,
			call: call("run/material", params{"run": "r", "action": "", "section": ""})},
		{code: schema.CodeActionIDRequired, exit: 2, line: "protocol skip --run FILE", next: nothing, call: call("run/skip", params{"run": "FILE", "action": ""})},

		{code: schema.CodeGoalRequired, exit: 2, line: "run", next: nothing},
		{code: schema.CodeGoalRequired, exit: 2, line: "run --goal-stdin=false", next: nothing},
		{code: schema.CodeGoalRequired, exit: 2, line: "run ∅", next: nothing, call: call("run/start", params{"goal": ""})},
		{code: schema.CodeGoalRequired, exit: 2, line: "run --goal-stdin", stdin: "\u0085\u2028", next: nothing, call: call("run/start", params{"goal": "\u0085\u2028"})},
		{code: schema.CodeGoalModeConflict, exit: 2, line: "run x --goal-file ∅", next: nothing},
		{code: schema.CodeGoalModeConflict, exit: 2, line: "run --goal-stdin --goal-file none", next: nothing},
		{code: schema.CodeGoalFileRequired, exit: 2, line: "run --goal-file=\u2003", next: nothing},
		{code: schema.CodeGoalUnavailable, exit: 2, line: "run --goal-file none", next: nothing},
		{code: schema.CodeGoalUnavailable, exit: 2, line: "run --goal-file .", next: nothing},
		{code: schema.CodeInvalidGoal, exit: 2, line: "run --goal-stdin", stdin: "a\xff", next: nothing},
		{code: schema.CodeInvalidGoal, exit: 2, line: "run a\x01", next: nothing, call: call("run/start", params{"goal": "a\x01"})},
		{code: schema.CodeActionTooLarge, exit: 2, line: "run --goal-stdin --budget 0", stdin: long, next: nothing, call: call("run/start", params{"goal": long, "budget": 0})},
		{code: schema.CodeActionTooLarge, exit: 2, line: "run --goal-file $TMP/goal", next: nothing, prepare: bigFile("goal", 262_145)},
		{code: schema.CodeActionTooLarge, exit: 2, line: "run --goal-stdin", stdin: literal, next: nothing, call: call("run/start", params{"goal": literal})},
		{code: schema.CodeInvalidBudget, exit: 2, line: "run x --budget 0", next: nothing, call: call("run/start", params{"goal": "x", "budget": 0})},
		{code: schema.CodeInvalidBudget, exit: 2, line: "run x --budget 1001", next: nothing, call: call("run/start", params{"goal": "x", "budget": 1001})},
		{code: schema.CodeInvalidBudget, exit: 2, line: "run x --budget -1", next: nothing, call: call("run/start", params{"goal": "x", "budget": -1})},
		{code: schema.CodeInvalidBudget, exit: 2, line: "protocol resume r --budget 1001", next: inspectOne, call: call("run/resume", params{"run": "r", "budget": 1001})},
		{code: schema.CodeSourceFileRequired, exit: 2, line: "run x --source-file ∅", next: nothing},
		{code: schema.CodeSourceFileRequired, exit: 2, line: "protocol resume r --source-file ∅ --candidate c", next: inspectOne},
		{code: schema.CodeInvalidSource, exit: 2, line: "run x --source-file none", next: "start start-with-source"},
		{code: schema.CodeInvalidSource, exit: 2, line: "run x --source-file $TMP/source.json --budget 7 --no-review", next: "start start-with-source",
			prepare: outcomeFile("source.json", "{}"), call: call("run/start", params{"goal": "x", "source_base64": "@source.json", "budget": 7, "review": false})},
		{code: schema.CodeInvalidSource, exit: 2, line: "run x --source-file $TMP/source.json", next: "start start-with-source",
			prepare: bigFile("source.json", 16_777_217)},

		{code: schema.CodeOutcomeModeRequired, exit: 2, line: "protocol submit --run r --action a", next: inspectOne},
		{code: schema.CodeOutcomeModeRequired, exit: 2, line: "protocol submit --run r --action a --outcome-stdin --outcome-file ∅", next: inspectOne},
		{code: schema.CodeOutcomeFileRequired, exit: 2, line: "protocol submit --run r --action a --outcome-file ∅", next: inspectOne},
		{code: schema.CodeOutcomeUnavailable, exit: 2, line: "protocol submit --run r --action a --outcome-file none", next: retryFile},
		{code: schema.CodeOutcomeUnavailable, exit: 2, line: "protocol submit --run r --action --a --outcome-file none", next: nothing},
		{code: schema.CodeInvalidOutcome, exit: 2, line: "protocol submit --run r --action a --outcome-file $TMP/o", next: retryFile,
			prepare: outcomeFile("o", "{"), call: call("run/submit", params{"run": "r", "action": "a", "outcome_base64": "@o"})},
		{code: schema.CodeInvalidOutcome, exit: 2, line: "protocol submit --run r --action <a> --outcome-file $TMP/o", next: nothing,
			prepare: outcomeFile("o", "\ufeff{}"), call: call("run/submit", params{"run": "r", "action": "<a>", "outcome_base64": "@o"})},
		{code: schema.CodeInvalidOutcome, exit: 2, line: "protocol submit --run r --action a --outcome-stdin", next: "action submit-outcome-stdin",
			call: call("run/submit", params{"run": "r", "action": "a", "outcome_base64": "", "outcome_mode": "stdin"})},
		{code: schema.CodeInvalidOutcome, exit: 2, line: "protocol submit --run r --action a --outcome-file $TMP/o", next: retryFile,
			prepare: bigFile("o", 1_048_577), call: call("run/submit", params{"run": "r", "action": "a", "outcome_base64": "@o"})},

		{code: schema.CodeMaterialSectionRequired, exit: 2, line: "protocol material --run r --action a --section ∅", next: inspectOne,
			call: call("run/material", params{"run": "r", "action": "a", "section": ""})},
		{code: schema.CodeMaterialSectionRequired, exit: 2, line: "status r --section ∅", next: inspectOne, call: call("run/section", params{"run": "r", "section": ""})},
	}
}

// placeErrors: where there is no worktree, or another one.
func placeErrors() []wrong {
	const elsewhere = "command inspect-run-in-its-workspace"
	list := []wrong{
		{code: schema.CodeGitObservationFailed, exit: 3, line: "run --no-review x", next: "start retry-run", prepare: badIndex,
			call: params{"method": "run/start", "goal": "x", "review": false}},
		{code: schema.CodeActionTooLarge, exit: 3, line: "run --goal-file $TMP/goal --budget 3", next: "start retry-run", prepare: bigFile("goal", 262_000),
			call: params{"method": "run/start", "goal": strings.Repeat("x", 262_000), "budget": 3}},
		{code: schema.CodeRunNotFound, exit: 3, line: "status " + noRun, next: listRuns, call: params{"method": "run/status", "run": noRun}},
		{code: schema.CodeRunNotFound, exit: 3, line: "status r --section x", next: listRuns, call: params{"method": "run/section", "run": "r", "section": "x"}},
		{code: schema.CodeRunNotFound, exit: 3, line: "protocol material --run r --action a --section x", next: listRuns,
			call: params{"method": "run/material", "run": "r", "action": "a", "section": "x"}},
		{code: schema.CodeContractVersionMismatch, exit: 3, line: "protocol submit --run r --action a --outcome-file $TMP/o", next: "command refresh-adapters",
			prepare: outcomeFile("o", "{}"), call: params{"method": "run/submit", "run": "r", "action": "a", "outcome": json.RawMessage("{}")}},
	}
	for line, call := range everyOperation("$RUN") {
		list = append(list, wrong{
			code: schema.CodeWorkspaceIdentityMismatch, exit: 3, line: line, call: call, next: elsewhere, details: workDetails,
			stage: "active", prepare: func(w *world) { goodOutcome(w); inAnotherWorktree(w) },
		})
	}
	for line, call := range everyOperation("r") {
		nowhere := params{"root": filepath.Join(string(filepath.Separator), "nowhere", "at", "all")}
		for name, value := range call {
			nowhere[name] = value
		}
		list = append(list, wrong{
			code: schema.CodeGitRepositoryRequired, exit: 2, line: line + " --root " + nowhere["root"].(string), call: nowhere, next: nothing,
			prepare: outcomeFile("outcome.json", "{}"),
		})
	}
	return list
}

// everyOperation is each operation on a Run by its command line.
func everyOperation(run string) map[string]params {
	return map[string]params{
		"status " + run:                                         {"method": "run/status", "run": run},
		"status " + run + " --section x":                        {"method": "run/section", "run": run, "section": "x"},
		"stop " + run:                                           {"method": "run/stop", "run": run},
		"protocol skip --run " + run + " --action a":            {"method": "run/skip", "run": run, "action": "a"},
		"protocol answer --run " + run + " --action a --text x": {"method": "run/answer", "run": run, "action": "a", "text": "x"},
		"protocol submit --run " + run + " --action a --outcome-file $TMP/outcome.json": {"method": "run/submit", "run": run, "action": "a", "outcome_base64": "@outcome.json"},
		"protocol resume " + run:                                     {"method": "run/resume", "run": run},
		"protocol material --run " + run + " --action a --section x": {"method": "run/material", "run": run, "action": "a", "section": "x"},
	}
}

// changes tells an operation that changes a Run from one that reads it.
func changes(method string) bool {
	return !slices.Contains([]string{"run/status", "run/section", "run/material"}, method)
}

// badIndex makes a worktree that Git finds, but can not look at.
func badIndex(w *world) {
	if err := os.WriteFile(filepath.Join(w.vars["ROOT"], ".git", "index"), []byte("no index"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// storageErrors: storage.md, section 9.
func storageErrors() []wrong {
	var list []wrong
	changes := func(method string) bool {
		return !slices.Contains([]string{"run/status", "run/section", "run/material"}, method)
	}
	damaged := func(w *world) { goodOutcome(w); garbage(w) }
	later := func(w *world) { goodOutcome(w); garbageLater(w) }
	for line, call := range everyOperation("$RUN") {
		method := call["method"].(string)
		list = append(list, wrong{
			code: schema.CodeRunstoreUnavailable, exit: 3, line: line, call: call, next: "command run-doctor",
			stage: "active", prepare: func(w *world) { goodOutcome(w); linkedStorage(w) },
		})
		first := wrong{code: schema.CodeRuntimeError, exit: 3, line: line, call: call, next: inspectOne, stage: "active", prepare: damaged}
		second := wrong{code: schema.CodeRuntimeError, exit: 3, line: line, call: call, next: inspectOne, stage: "active", prepare: later}
		switch {
		case changes(method):
			second.code, second.next, second.details = schema.CodeMutationNotCommitted, nothing, mutation
		case method != "run/material":
			first.code, first.next = schema.CodeRunJournalInvalid, listRuns
			second.code, second.next = schema.CodeRunJournalInvalid, listRuns
		}
		list = append(list, first, second)
		if changes(method) {
			list = append(list, wrong{
				code: schema.CodeRuntimeError, exit: 3, line: strings.ReplaceAll(line, "$RUN", noRun), call: replaced(call, "$RUN", noRun),
				next: inspectOne, stage: "active", prepare: goodOutcome,
			})
		}
	}
	return append(list,
		wrong{code: schema.CodeRunstoreUnavailable, exit: 3, line: "status", call: params{"method": "run/list"}, next: "command run-doctor", prepare: linkedStorage},
		wrong{code: schema.CodeRunstoreUnavailable, exit: 3, line: "run x", call: params{"method": "run/start", "goal": "x"}, next: "command run-doctor", prepare: linkedStorage},
		wrong{code: schema.CodeRunstoreUnavailable, exit: 3, line: "stop", call: params{"method": "run/stop"}, next: "command run-doctor", prepare: linkedStorage},
		wrong{code: schema.CodeMutationNotCommitted, exit: 3, line: "stop $RUN", call: params{"method": "run/stop", "run": "$RUN"}, next: nothing, details: mutation,
			stage: "active", prepare: func(w *world) { w.replaceByLink("run.json") }},
		wrong{code: schema.CodeMutationNotCommitted, exit: 3, line: "stop $RUN", call: params{"method": "run/stop", "run": "$RUN"}, next: nothing, details: mutation,
			stage: "active", prepare: func(w *world) { w.replaceByLink("run.lock") }},
	)
}

func replaced(p params, old, by string) params {
	changed := params{}
	for name, value := range p {
		if text, ok := value.(string); ok {
			value = strings.ReplaceAll(text, old, by)
		}
		changed[name] = value
	}
	return changed
}

// replaceByLink puts a link into the place of a file of the Run.
func (w *world) replaceByLink(name string) {
	path := w.storage(w.vars["RUN"], name)
	if err := os.Remove(path); err != nil {
		w.t.Fatal(err)
	}
	w.link(w.file("target", nil), path)
}

// stateErrors: errors.md, 5.2, but for answers.
func stateErrors() []wrong {
	submit := params{"method": "run/submit", "run": "$RUN", "action": "$A", "outcome_base64": "@outcome.json"}
	before := params{"method": "run/submit", "run": "$RUN", "action": "$BEFORE", "outcome_base64": "@outcome.json"}
	const submitLine = "protocol submit --run $RUN --action $A --outcome-file $TMP/outcome.json"
	const beforeLine = "protocol submit --run $RUN --action $BEFORE --outcome-file $TMP/outcome.json"
	skip := params{"method": "run/skip", "run": "$RUN", "action": "$A"}
	const skipLine = "protocol skip --run $RUN --action $A"
	return []wrong{
		{code: schema.CodeInvalidOutcome, exit: 3, stage: "active", line: submitLine, call: submit, next: stepNext,
			prepare: func(w *world) { w.vars["KIND"] = "review"; goodOutcome(w) }},
		{code: schema.CodeOutcomeConflict, exit: 3, stage: "reported", line: beforeLine, call: before, next: stepNext, details: runDetails, prepare: goodOutcome},
		{code: schema.CodeRunNotActive, exit: 3, stage: "ended", line: "protocol submit --run $RUN --action a --outcome-file $TMP/outcome.json",
			call: replaced(submit, "$A", "a"), next: nothing, details: runDetails, prepare: goodOutcome},
		{code: schema.CodeRunNotActive, exit: 3, stage: "stopped", line: submitLine, call: submit, next: "resume resume-ad-hoc", details: runDetails, prepare: goodOutcome},
		{code: schema.CodeRunNotActive, exit: 3, stage: "asked", line: "protocol submit --run $RUN --action a --outcome-file $TMP/outcome.json",
			call: replaced(submit, "$A", "a"), next: askedNext, details: runDetails, prepare: goodOutcome},
		{code: schema.CodeRunNotActive, exit: 3, stage: "spent", line: "protocol submit --run $RUN --action a --outcome-file $TMP/outcome.json",
			call: replaced(submit, "$A", "a"), next: "resume resume-ad-hoc", details: runDetails, prepare: goodOutcome},
		{code: schema.CodeStaleAction, exit: 3, stage: "answered", line: beforeLine, call: before, next: stepNext, details: runDetails, prepare: goodOutcome},
		{code: schema.CodeStaleAction, exit: 3, stage: "active", line: "protocol submit --run $RUN --action a --outcome-file $TMP/outcome.json",
			call: replaced(submit, "$A", "a"), next: stepNext, details: runDetails, prepare: goodOutcome},
		{code: schema.CodeInvalidDecisionSupersession, exit: 3, stage: "answered", line: submitLine, call: submit, next: stepNext, details: runDetails,
			prepare: func(w *world) {
				w.file("outcome.json", w.outcome(func(o *schema.Outcome) {
					asks(schema.DecisionRequired, "really?")(o)
					o.Pause.SupersedesAnswerActionID = &o.ActionID
				}))
			}},
		{code: schema.CodeInvalidAction, exit: 3, stage: "asked", line: "protocol answer --run $RUN --action $A --text-stdin", stdin: "yes\x1b[2J",
			call: params{"method": "run/answer", "run": "$RUN", "action": "$A", "text": "yes\x1b[2J"}, next: askedNext},
		{code: schema.CodeActionTooLarge, exit: 3, line: submitLine, call: submit, next: stepNext, prepare: func(w *world) {
			w.start(map[string]any{"goal": strings.Repeat("x", 255_000)})
			w.file("outcome.json", w.outcome(func(o *schema.Outcome) {
				o.SuggestedActions = []schema.Suggestion{{Kind: schema.Implement, Brief: strings.Repeat("x", 8192)}}
			}))
		}},

		{code: schema.CodeRunNotSkippable, exit: 3, stage: "stopped", line: skipLine, call: skip, next: "resume resume-ad-hoc", details: runDetails},
		{code: schema.CodeRunNotSkippable, exit: 3, stage: "ended", line: skipLine, call: skip, next: nothing, details: runDetails},
		{code: schema.CodeStaleAction, exit: 3, stage: "spent", line: skipLine, call: skip, next: "resume resume-ad-hoc", details: runDetails},
		{code: schema.CodeStaleAction, exit: 3, stage: "reported", line: "protocol skip --run $RUN --action $BEFORE", call: replaced(skip, "$A", "$BEFORE"), next: stepNext, details: runDetails},
		{code: schema.CodeRunAlreadyEnded, exit: 3, stage: "ended", line: "stop $RUN", call: params{"method": "run/stop", "run": "$RUN"}, next: nothing, details: runDetails},
		{code: schema.CodeRunAlreadyEnded, exit: 3, stage: "ended", line: "protocol resume $RUN", call: params{"method": "run/resume", "run": "$RUN"}, next: nothing, details: runDetails},
		{code: schema.CodeRunNotResumable, exit: 3, stage: "active", line: "protocol resume $RUN --use-pinned-source",
			call: params{"method": "run/resume", "run": "$RUN", "use_pinned_source": true}, next: stepNext, details: runDetails},
		{code: schema.CodeRunNotResumable, exit: 3, stage: "asked", line: "protocol resume $RUN", call: params{"method": "run/resume", "run": "$RUN"}, next: askedNext, details: runDetails},
		// A decision is recorded although the budget is spent; what it says can stand in the way later.
		{code: schema.CodeInvalidAction, exit: 3, line: "protocol resume $RUN", call: params{"method": "run/resume", "run": "$RUN"}, next: "resume resume-ad-hoc",
			prepare: func(w *world) {
				w.start(map[string]any{"budget": 1})
				w.submit(asks(schema.DecisionRequired, "which one?"))
				w.answer("the \a one")
			}},
		{code: schema.CodeActionTooLarge, exit: 3, line: "protocol resume $RUN --budget 3", call: params{"method": "run/resume", "run": "$RUN", "budget": 3}, next: "resume resume-ad-hoc",
			prepare: func(w *world) {
				w.start(map[string]any{"goal": w.longestGoal()})
				w.submit(asks(schema.DecisionRequired, "which one?"))
				w.answer("the left one")
				w.stop()
			}},
		{code: schema.CodeRunNotResumable, exit: 3, stage: "destructive", line: "protocol resume $RUN", call: params{"method": "run/resume", "run": "$RUN"}, next: sureNext, details: runDetails},
	}
}

// answerErrors: everything about answers.
func answerErrors() []wrong {
	const line = "protocol answer --run $RUN --action $A"
	usage := func(code schema.Code, rest, stdin string) wrong {
		return wrong{code: code, exit: 2, line: "protocol answer --run r --action a " + rest, stdin: stdin, next: inspectOne}
	}
	state := func(code schema.Code, stage, rest, next string, more params) wrong {
		call := params{"method": "run/answer", "run": "$RUN", "action": "$A"}
		for name, value := range more {
			call[name] = value
		}
		return wrong{code: code, exit: 3, stage: stage, line: line + " " + rest, call: call, next: next, details: runDetails}
	}
	tooBig := usage(schema.CodeAnswerTooLarge, "--text-file $TMP/text", "")
	tooBig.prepare = bigFile("text", 262_145)
	onSocket := usage(schema.CodeDestructiveConfirmationPairRequired, "--confirm-destructive --scope-sha256=\u2003", "")
	onSocket.call = params{"method": "run/answer", "run": "r", "action": "a", "confirm_destructive": true, "scope_sha256": "\u2003"}
	literal := usage(schema.CodeAnswerTooLarge, "--text-stdin --confirm-destructive", strings.Repeat("\n", 131_072))
	literal.call = params{"method": "run/answer", "run": "r", "action": "a", "confirm_destructive": true, "text": strings.Repeat("\n", 131_072)}
	notCurrent := state(schema.CodeStaleAction, "asked", "--text x", askedNext, params{"text": "x", "action": "other"})
	notCurrent.line = "protocol answer --run $RUN --action other --text x"
	conflict := state(schema.CodeAnswerConflict, "answered", "--text right", stepNext, params{"text": "right", "action": "$BEFORE"})
	conflict.line = "protocol answer --run $RUN --action $BEFORE --text right"
	exhausted := state(schema.CodeBudgetExhausted, "destructive without budget", "--confirm-destructive --scope-sha256 $SCOPE", "resume resume-ad-hoc",
		params{"confirm_destructive": true, "scope_sha256": "$SCOPE"})
	other := "sha256:" + strings.Repeat("0", 64)
	return []wrong{
		usage(schema.CodeAnswerModeConflict, "--text ∅ --text-stdin", ""),
		usage(schema.CodeAnswerModeConflict, "--text ∅ --text-file none", ""),
		usage(schema.CodeAnswerFileRequired, "--text-file ∅ --confirm-destructive", ""),
		usage(schema.CodeAnswerUnavailable, "--text-file none --confirm-destructive", ""),
		usage(schema.CodeInvalidAnswer, "--text-stdin --confirm-destructive", "a\xff"),
		usage(schema.CodeDestructiveConfirmationPairRequired, "--scope-sha256 x", ""),
		tooBig, onSocket, literal, notCurrent, conflict, exhausted,

		state(schema.CodeAnswerNotExpected, "active", "--text x", stepNext, params{"text": "x"}),
		state(schema.CodeAnswerNotExpected, "spent", "--text x", "resume resume-ad-hoc", params{"text": "x"}),
		state(schema.CodeAnswerNotExpected, "ended", "--text x", nothing, params{"text": "x"}),
		state(schema.CodeAnswerNotAllowed, "environment", "--text x", "resume resume-ad-hoc", params{"text": "x"}),
		state(schema.CodeAnswerRequired, "asked", "", askedNext, nil),
		state(schema.CodeAnswerRequired, "destructive", "--text \u2003", sureNext, params{"text": "\u2003"}),
		state(schema.CodeDestructiveConfirmationNotExpected, "asked", "--confirm-destructive --scope-sha256 x", askedNext, params{"confirm_destructive": true, "scope_sha256": "x"}),
		state(schema.CodeDestructiveConfirmationNotExpected, "asked", "--scope-sha256=\u2003 --text x", askedNext, params{"scope_sha256": "\u2003", "text": "x"}),
		state(schema.CodeDestructiveConfirmationFlagRequired, "destructive", "--scope-sha256=\u2003", sureNext, params{"scope_sha256": "\u2003"}),
		state(schema.CodeDestructiveScopeRequired, "destructive", "--confirm-destructive --scope-sha256 SHA256:0", sureNext, params{"confirm_destructive": true, "scope_sha256": "SHA256:0"}),
		state(schema.CodeDestructiveScopeMismatch, "destructive", "--confirm-destructive --scope-sha256 "+other, sureNext, params{"confirm_destructive": true, "scope_sha256": other}),
	}
}
