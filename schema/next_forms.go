package schema

import (
	"slices"
	"strings"
)

// variantForm is one row of the table of variants (next.md, section 4). The
// words in capitals in argv stand for values.
type variantForm struct {
	operations []Operation
	id         string
	argv       []string
	inputs     []Input
}

// variantValues are the values of one command by the words of its form: ROOT,
// RUN, ACTION, DIGEST, CANDIDATE and N, a budget.
type variantValues map[string]string

var placeholders = map[string]bool{"ROOT": true, "RUN": true, "ACTION": true, "DIGEST": true, "CANDIDATE": true, "N": true}

const (
	submitForm = "slipway protocol submit --run RUN --action ACTION --root ROOT"
	answerForm = "slipway protocol answer --run RUN --action ACTION --root ROOT"
	skipForm   = "slipway protocol skip --run RUN --action ACTION --root ROOT"
	resumeForm = "slipway protocol resume RUN --root ROOT"
	startForm  = "slipway run --budget N --json --root ROOT"
)

var (
	outcomeFileInput  = Input{Name: "outcome_file", Type: InputPath, Flag: "--outcome-file", Required: true}
	textFileInput     = Input{Name: "text_file", Type: InputPath, Flag: "--text-file", Required: true}
	noteFileInput     = Input{Name: "text_file", Type: InputPath, Flag: "--text-file"}
	budgetInput       = Input{Name: "budget", Type: InputString, Flag: "--budget"}
	sourceFileInput   = Input{Name: "source_file", Type: InputPath, Flag: "--source-file", Required: true}
	goalFileInput     = Input{Name: "goal_file", Type: InputPath, Flag: "--goal-file", Required: true}
	kiroSurfaceInput  = Input{Name: "surface", Type: InputEnum, Flag: "--surface", Required: true, Choices: []string{"ide", "cli"}}
	onlyAction        = []Operation{OperationAction}
	onlyAnswer        = []Operation{OperationAnswer}
	onlyResume        = []Operation{OperationResume}
	onlyStart         = []Operation{OperationStart}
	onlyCommand       = []Operation{OperationCommand}
	skippingOperation = []Operation{OperationAction, OperationAnswer, OperationResume}
)

// The forms, named for their variant where one variant has several.
var (
	formSubmitFile      = newForm(onlyAction, "submit-outcome-file", submitForm, outcomeFileInput)
	formSubmitStdin     = newForm(onlyAction, "submit-outcome-stdin", submitForm+" --outcome-stdin")
	formSkip            = newForm(skippingOperation, "skip-action", skipForm)
	formDecision        = newForm(onlyAnswer, "answer-decision", answerForm, textFileInput)
	formConfirm         = newForm(onlyAnswer, "confirm-destructive", answerForm+" --confirm-destructive --scope-sha256 DIGEST", noteFileInput)
	formDecline         = newForm(onlyAnswer, "decline-or-feedback", answerForm, textFileInput)
	formAdHoc           = newForm(onlyResume, "resume-ad-hoc", resumeForm, budgetInput)
	formRefresh         = newForm(onlyResume, "refresh-source", resumeForm, sourceFileInput, budgetInput)
	formRefreshBudget   = newForm(onlyResume, "refresh-source", resumeForm+" --budget N", sourceFileInput)
	formPinned          = newForm(onlyResume, "use-pinned-source", resumeForm+" --use-pinned-source", budgetInput)
	formKeep            = newForm(onlyResume, "keep-pinned", resumeForm+" --source-choice pinned --candidate CANDIDATE", budgetInput)
	formAdopt           = newForm(onlyResume, "adopt", resumeForm+" --source-choice adopt --candidate CANDIDATE", budgetInput)
	formRetry           = newForm(onlyStart, "retry-run", startForm, goalFileInput)
	formRetryPlain      = newForm(onlyStart, "retry-run", startForm+" --no-review", goalFileInput)
	formSource          = newForm(onlyStart, "start-with-source", startForm, goalFileInput, sourceFileInput)
	formSourcePlain     = newForm(onlyStart, "start-with-source", startForm+" --no-review", goalFileInput, sourceFileInput)
	formInspectRun      = newForm(onlyCommand, "inspect-run", "slipway status RUN --root ROOT")
	formInspectRuns     = newForm(onlyCommand, "inspect-runs", "slipway status --root ROOT")
	formListRuns        = newForm(onlyCommand, "list-runs", "slipway status --root ROOT")
	formElsewhereRun    = newForm(onlyCommand, "inspect-run-in-its-workspace", "slipway status RUN --root ROOT")
	formElsewhere       = newForm(onlyCommand, "inspect-run-in-its-workspace", "slipway status --root ROOT")
	formRunDoctor       = newForm(onlyCommand, "run-doctor", "slipway doctor --root ROOT")
	formRetryDoctor     = newForm(onlyCommand, "retry-doctor", "slipway doctor --root ROOT")
	formRetryDoctorJSON = newForm(onlyCommand, "retry-doctor", "slipway doctor --root ROOT --json")
	formRetryList       = newForm(onlyCommand, "retry-list", "slipway list --root ROOT")
	formRefreshHosts    = newForm(onlyCommand, "refresh-adapters", "slipway install --refresh --root ROOT")
	formListHosts       = newForm(onlyCommand, "list-host-adapters", "slipway list --root ROOT")
	formInspectHosts    = newForm(onlyCommand, "inspect-host-adapters", "slipway list --root ROOT")
	formInstallKiro     = newForm(onlyCommand, "install-kiro", "slipway install --root ROOT --tool kiro", kiroSurfaceInput)
)

var variantForms = []variantForm{
	formSubmitFile, formSubmitStdin, formSkip, formDecision, formConfirm, formDecline,
	formAdHoc, formRefresh, formRefreshBudget, formPinned, formKeep, formAdopt,
	formRetry, formRetryPlain, formSource, formSourcePlain,
	formInspectRun, formInspectRuns, formListRuns, formElsewhereRun, formElsewhere,
	formRunDoctor, formRetryDoctor, formRetryDoctorJSON, formRetryList,
	formRefreshHosts, formListHosts, formInspectHosts, formInstallKiro,
}

// variantLists are the lists of variant ids that an operation can have (next.md,
// sections 3 and 6).
var variantLists = map[Operation][]string{
	OperationNone: {""},
	OperationAction: {
		"submit-outcome-file submit-outcome-stdin skip-action",
		"submit-outcome-file",
		"submit-outcome-stdin",
	},
	OperationAnswer: {
		"answer-decision skip-action",
		"confirm-destructive decline-or-feedback skip-action",
	},
	OperationResume: {
		"resume-ad-hoc", "resume-ad-hoc skip-action",
		"refresh-source use-pinned-source", "refresh-source use-pinned-source skip-action",
		"refresh-source",
		"keep-pinned", "keep-pinned adopt",
	},
	OperationStart: {"retry-run", "start-with-source"},
	OperationCommand: {
		"inspect-run", "inspect-runs", "list-runs", "inspect-run-in-its-workspace",
		"run-doctor", "retry-doctor", "retry-list",
		"refresh-adapters", "list-host-adapters", "inspect-host-adapters", "install-kiro",
	},
}

func newForm(operations []Operation, id, argv string, inputs ...Input) variantForm {
	return variantForm{operations: operations, id: id, argv: strings.Fields(argv), inputs: present(inputs)}
}

// fill makes the variant with the given values.
func (f variantForm) fill(values variantValues) Variant {
	argv := make([]string, len(f.argv))
	for i, word := range f.argv {
		argv[i] = word
		if placeholders[word] {
			argv[i] = values[word]
		}
	}
	inputs := make([]Input, len(f.inputs))
	copy(inputs, f.inputs)
	return Variant{ID: f.id, BaseArgv: argv, Inputs: inputs}
}

// match reads the values out of a variant that has this form.
func (f variantForm) match(v Variant) (variantValues, bool) {
	if f.id != v.ID || len(f.argv) != len(v.BaseArgv) || !equalInputs(f.inputs, v.Inputs) {
		return nil, false
	}
	values := variantValues{}
	for i, word := range f.argv {
		switch {
		case placeholders[word]:
			values[word] = v.BaseArgv[i]
		case word != v.BaseArgv[i]:
			return nil, false
		}
	}
	return values, true
}

func equalInputs(a, b []Input) bool {
	return slices.EqualFunc(a, b, func(a, b Input) bool {
		return a.Name == b.Name && a.Type == b.Type && a.Flag == b.Flag && a.Required == b.Required &&
			slices.Equal(a.Choices, b.Choices)
	})
}
