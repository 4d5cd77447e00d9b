package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
)

// ordered is a command and what can be wrong with it, in the order of errors.md,
// section 7: of two faults on one line the first of the list is reported.
type ordered struct {
	name   string
	stage  string
	prefix string
	parts  map[string]string // the rest of a line without a fault, by its parts
	faults []placed
}

// placed is a fault: what stands in place of the parts that it spoils. The part
// "world" is no text, but the name of a condition.
type placed struct {
	code  schema.Code
	parts map[string]string
}

// conditions of the world.
var conditions = map[string]func(*world){
	"linked storage": linkedStorage,
	"another place":  inAnotherWorktree,
	"no record":      garbage,
	"bad record":     garbageLater,
	"bad index":      badIndex,
}

func in(code schema.Code, pairs ...string) placed {
	p := placed{code, map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		p.parts[pairs[i]] = pairs[i+1]
	}
	return p
}

// nowhere is a root without a worktree.
const nowhere = "--root /nowhere/at/all"

// onRun are the faults of every operation that changes a Run, after its input
// was read, up to the lock.
func onRun() []placed {
	return []placed{
		in(schema.CodeRunstoreUnavailable, "world", "linked storage"),
		in(schema.CodeRuntimeError, "run", "unknown"),
		in(schema.CodeRuntimeError, "world", "no record"),
		in(schema.CodeWorkspaceIdentityMismatch, "world", "another place"),
		in(schema.CodeMutationNotCommitted, "world", "bad record"),
	}
}

// spelled puts the flag of the Run before it.
func spelled(flag string, faults []placed) []placed {
	for _, f := range faults {
		if value, ok := f.parts["run"]; ok {
			f.parts["run"] = flag + value
		}
	}
	return faults
}

func orders() []ordered {
	ids := []placed{
		in(schema.CodeInvalidUsage, "extra", "--nope"),
		in(schema.CodeInvalidUsage, "word", "superfluous"),
		in(schema.CodeRunIDRequired, "run", "--run ∅"),
		in(schema.CodeInvalidRunID, "run", "--run a/b"),
		in(schema.CodeActionIDRequired, "action", ""),
	}
	noRoot := in(schema.CodeGitRepositoryRequired, "root", nowhere)
	return []ordered{
		{name: "run", stage: "nothing", prefix: "run", parts: map[string]string{"goal": "--goal-file $TMP/goal"}, faults: []placed{
			in(schema.CodeInvalidUsage, "extra", "--nope"),
			in(schema.CodeGoalRequired, "goal", ""),
			in(schema.CodeGoalModeConflict, "goal", "--goal-stdin --goal-file ∅"),
			in(schema.CodeGoalFileRequired, "goal", "--goal-file ∅"),
			in(schema.CodeGoalUnavailable, "goal", "--goal-file none"),
			in(schema.CodeActionTooLarge, "goal", "--goal-file $TMP/long"),
			in(schema.CodeGoalRequired, "goal", "--goal-file $TMP/blank"),
			in(schema.CodeInvalidGoal, "goal", "--goal-file $TMP/control"),
			in(schema.CodeActionTooLarge, "goal", "--goal-file $TMP/literal"),
			in(schema.CodeInvalidBudget, "budget", "--budget 1001"),
			in(schema.CodeSourceFileRequired, "source", "--source-file ∅"),
			noRoot,
			in(schema.CodeInvalidSource, "source", "--source-file none"),
			in(schema.CodeInvalidSource, "source", "--source-file $TMP/blank"),
			in(schema.CodeRunstoreUnavailable, "world", "linked storage"),
			in(schema.CodeGitObservationFailed, "world", "bad index"),
			in(schema.CodeActionTooLarge, "goal", "--goal-file $TMP/full"),
		}},
		{name: "status", stage: "active", prefix: "status", parts: map[string]string{"run": "$RUN"}, faults: []placed{
			in(schema.CodeInvalidUsage, "extra", "--nope"),
			in(schema.CodeInvalidRunID, "run", "a/b"),
			in(schema.CodeRunIDRequired, "run", "", "section", "--section ∅"),
			in(schema.CodeMaterialSectionRequired, "section", "--section ∅"),
			noRoot,
			in(schema.CodeRunstoreUnavailable, "world", "linked storage"),
			in(schema.CodeMaterialSectionInvalid, "section", "--section X"),
			in(schema.CodeRunNotFound, "run", "unknown"),
			in(schema.CodeRunJournalInvalid, "world", "no record"),
			in(schema.CodeWorkspaceIdentityMismatch, "world", "another place"),
			in(schema.CodeRunJournalInvalid, "world", "bad record"),
			in(schema.CodeMaterialUnavailable, "section", "--section x"),
		}},
		{name: "material", stage: "reported", prefix: "protocol material",
			parts: map[string]string{"run": "--run $RUN", "action": "--action $A", "section": "--section x"}, faults: []placed{
				in(schema.CodeInvalidUsage, "extra", "--nope"),
				in(schema.CodeRunIDRequired, "run", ""),
				in(schema.CodeInvalidRunID, "run", "--run a/b"),
				in(schema.CodeActionIDRequired, "action", ""),
				in(schema.CodeMaterialSectionRequired, "section", ""),
				noRoot,
				in(schema.CodeRunstoreUnavailable, "world", "linked storage"),
				in(schema.CodeMaterialSectionInvalid, "section", "--section X"),
				in(schema.CodeRunNotFound, "run", "--run unknown"),
				in(schema.CodeRuntimeError, "world", "no record"),
				in(schema.CodeWorkspaceIdentityMismatch, "world", "another place"),
				in(schema.CodeRuntimeError, "world", "bad record"),
				in(schema.CodeMaterialActionNotFound, "action", "--action other"),
				in(schema.CodeMaterialActionStale, "action", "--action $BEFORE"),
				in(schema.CodeMaterialUnavailable),
			}},
		{name: "submit", stage: "reported", prefix: "protocol submit",
			parts: map[string]string{"run": "--run $RUN", "action": "--action $A", "outcome": "--outcome-file $TMP/outcome.json"}, faults: slices.Concat(ids, []placed{
				in(schema.CodeOutcomeModeRequired, "outcome", ""),
				in(schema.CodeOutcomeFileRequired, "outcome", "--outcome-file ∅"),
				noRoot,
				in(schema.CodeOutcomeUnavailable, "outcome", "--outcome-file none"),
				in(schema.CodeInvalidOutcome, "outcome", "--outcome-file $TMP/blank"),
				in(schema.CodeContractVersionMismatch, "outcome", "--outcome-file $TMP/empty.json"),
				in(schema.CodeInvalidOutcome, "outcome", "--outcome-file $TMP/version.json"),
			}, spelled("--run ", onRun()), []placed{
				in(schema.CodeOutcomeConflict, "action", "--action $BEFORE"),
				in(schema.CodeStaleAction, "action", "--action other"),
				in(schema.CodeInvalidOutcome, "outcome", "--outcome-file $TMP/review.json"),
			})},
		{name: "answer", stage: "asked", prefix: "protocol answer",
			parts: map[string]string{"run": "--run $RUN", "action": "--action $A", "text": "--text x"}, faults: slices.Concat(ids, []placed{
				in(schema.CodeAnswerModeConflict, "text", "--text x --text-stdin"),
				in(schema.CodeAnswerFileRequired, "text", "--text-file ∅"),
				in(schema.CodeAnswerUnavailable, "text", "--text-file none"),
				in(schema.CodeAnswerTooLarge, "text", "--text-file $TMP/long"),
				in(schema.CodeInvalidAnswer, "text", "--text-file $TMP/latin"),
				in(schema.CodeAnswerTooLarge, "text", "--text-file $TMP/literal"),
				in(schema.CodeDestructiveConfirmationPairRequired, "scope", "--confirm-destructive"),
				noRoot,
			}, spelled("--run ", onRun()), []placed{
				in(schema.CodeStaleAction, "action", "--action other"),
				in(schema.CodeDestructiveConfirmationNotExpected, "scope", "--confirm-destructive --scope-sha256 x"),
				in(schema.CodeAnswerRequired, "text", ""),
			})},
		{name: "skip", stage: "active", prefix: "protocol skip", parts: map[string]string{"run": "--run $RUN", "action": "--action $A"},
			faults: slices.Concat(ids, []placed{noRoot}, spelled("--run ", onRun()), []placed{in(schema.CodeStaleAction, "action", "--action other")})},
		{name: "stop", stage: "ended", prefix: "stop", parts: map[string]string{"run": "$RUN"}, faults: slices.Concat([]placed{
			in(schema.CodeInvalidUsage, "extra", "--nope"),
			in(schema.CodeInvalidRunID, "run", "a/b"),
			noRoot,
			in(schema.CodeRunstoreUnavailable, "world", "linked storage"),
			in(schema.CodeRunIDRequired, "run", ""),
		}, onRun()[1:], []placed{in(schema.CodeRunAlreadyEnded)})},
		{name: "resume", stage: "active", prefix: "protocol resume", parts: map[string]string{"run": "$RUN"}, faults: slices.Concat([]placed{
			in(schema.CodeInvalidUsage, "extra", "--nope"),
			in(schema.CodeInvalidUsage, "word", "superfluous"),
			in(schema.CodeRunIDRequired, "run", "∅"),
			in(schema.CodeInvalidRunID, "run", "a/b"),
			in(schema.CodeInvalidBudget, "budget", "--budget 0"),
			in(schema.CodeSourceFileRequired, "source", "--source-file ∅"),
			in(schema.CodeSourceChoiceRequiresCandidate, "choice", "--source-choice x"),
			in(schema.CodeInvalidSourceChoice, "choice", "--source-choice x --candidate c"),
			in(schema.CodeSourceModeConflict, "choice", "--source-choice pinned --candidate c", "pinned", "--use-pinned-source"),
			in(schema.CodeSourceModeConflict, "pinned", "--use-pinned-source", "source", "--source-file none"),
			noRoot,
			in(schema.CodeInvalidSourceCandidate, "source", "--source-file none"),
			in(schema.CodeInvalidSourceCandidate, "source", "--source-file $TMP/blank"),
		}, onRun(), []placed{in(schema.CodeRunNotResumable)})},
	}
}

// TestTheFirstFaultWins puts any two faults that can be together on one line.
func TestTheFirstFaultWins(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t, "SLIPWAY_DAEMON=require")
	for _, command := range orders() {
		t.Run(command.name, func(t *testing.T) {
			t.Parallel()
			places := map[string]*world{} // by their condition; no fault changes anything
			for i, first := range command.faults {
				for _, second := range append(command.faults[i+1:], placed{}) {
					both, ok := together(first, second)
					if !ok {
						continue
					}
					condition := both["world"]
					if places[condition] == nil {
						places[condition] = shared.precedenceWorld(t, command.stage, condition)
					}
					places[condition].check(command, first.code, both)
				}
			}
		})
	}
}

// together are two faults at once; false where they spoil the same part.
func together(a, b placed) (map[string]string, bool) {
	both := maps.Clone(a.parts)
	for part, text := range b.parts {
		if _, taken := both[part]; taken {
			return nil, false
		}
		both[part] = text
	}
	return both, true
}

// precedenceWorld has all the files that the faults name.
func (w *worlds) precedenceWorld(t *testing.T, stage, condition string) *world {
	x := w.world(t)
	x.reach(stage)
	for name, content := range map[string]string{
		"goal": "tidy", "blank": "\u2003\n", "control": "a\x00", "latin": "a\xff", "long": strings.Repeat("x", 262_145),
		"literal": strings.Repeat("\\", 200_000), "full": strings.Repeat("x", 262_100), "empty.json": "{}",
		"version.json": `{"contract_version":2}`,
	} {
		x.file(name, []byte(content))
	}
	x.file("outcome.json", x.outcome(nil))
	x.vars["KIND"] = "review"
	x.file("review.json", x.outcome(nil))
	if condition != "" {
		conditions[condition](x)
	}
	return x
}

// check runs a line with faults.
func (w *world) check(command ordered, want schema.Code, faults map[string]string) {
	w.t.Helper()
	parts := maps.Clone(command.parts)
	maps.Copy(parts, faults)
	delete(parts, "world")
	line := command.prefix
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		line += " " + parts[part]
	}
	failure, err := w.run(w.env, "", w.argv(line)...).failed()
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	if got := schema.Code(fmt.Sprint(failure["code"])); got != want {
		w.t.Errorf("%s (%s): got %s, want %s: %v", line, faults["world"], got, want, failure["message"])
	}
}
