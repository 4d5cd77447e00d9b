package engine

import "slipway/schema"

// ArgumentFault is what is wrong with the arguments of an operation, found before
// any repository is looked at (run.md, 6.1, stage 1).
type ArgumentFault struct {
	Code    schema.Code
	Message string
	Next    func(schema.Place) schema.Next
}

// At gives the usage error for the place that the call was about.
func (f *ArgumentFault) At(p schema.Place) *schema.Error {
	return schema.Usage(f.Code, f.Next(p), "%s", f.Message)
}

func fault(code schema.Code, message string, next func(schema.Place) schema.Next) *ArgumentFault {
	return &ArgumentFault{Code: code, Message: message, Next: next}
}

func inspectRun(run string) func(schema.Place) schema.Next {
	return func(p schema.Place) schema.Next { return schema.NextInspectRun(p, run) }
}

// runIDFault checks a Run id that must be given.
func runIDFault(run string) *ArgumentFault {
	if run == "" {
		return fault(schema.CodeRunIDRequired, "name the Run", schema.NextNone)
	}
	return runIDFormFault(run)
}

func runIDFormFault(run string) *ArgumentFault {
	if !schema.ValidRunID(run) {
		return fault(schema.CodeInvalidRunID, "a Run id has 1 to 128 characters of A-Z a-z 0-9 - _", schema.NextInspectRuns)
	}
	return nil
}

func actionFaultOf(run, action string) *ArgumentFault {
	if f := runIDFault(run); f != nil {
		return f
	}
	if action == "" {
		return fault(schema.CodeActionIDRequired, "name the Action", inspectRun(run))
	}
	return nil
}

// ArgumentFault checks the values of a start. A goal that came from a file or
// stdin has been checked by then.
func (q StartRequest) ArgumentFault() *ArgumentFault {
	if code, reason := schema.GoalFault([]byte(q.Goal)); code != "" {
		return fault(code, reason, schema.NextNone)
	}
	if !schema.ValidBudget(q.Budget) {
		return fault(schema.CodeInvalidBudget, budgetRange, schema.NextNone)
	}
	return nil
}

const budgetRange = "a budget is a number from 1 to 1000"

// ArgumentFault checks the ids.
func (q SubmitRequest) ArgumentFault() *ArgumentFault { return actionFaultOf(q.Run, q.Action) }

// ArgumentFault checks the ids.
func (q SkipRequest) ArgumentFault() *ArgumentFault { return actionFaultOf(q.Run, q.Action) }

// ArgumentFault checks the ids, the text, and that confirmation and scope come
// together.
func (q AnswerRequest) ArgumentFault() *ArgumentFault {
	if f := actionFaultOf(q.Run, q.Action); f != nil {
		return f
	}
	if code, reason := schema.AnswerTextFault([]byte(q.Text)); code != "" {
		return fault(code, reason, inspectRun(q.Run))
	}
	return q.PairFault()
}

// PairFault checks that confirmation and scope come together.
func (q AnswerRequest) PairFault() *ArgumentFault {
	if q.ConfirmDestructive == schema.IsBlank(q.ScopeSHA256) {
		return fault(schema.CodeDestructiveConfirmationPairRequired,
			"a destructive confirmation needs both the flag and the digest of the scope", inspectRun(q.Run))
	}
	return nil
}

// ArgumentFault checks the id, where one was given.
func (q StopRequest) ArgumentFault() *ArgumentFault {
	if q.Any {
		return nil
	}
	return runIDFormFault(q.Run)
}

// ArgumentFault checks id, budget and the combination of source options.
func (q ResumeRequest) ArgumentFault() *ArgumentFault {
	if f := q.BudgetFault(); f != nil {
		return f
	}
	return q.SourceOptionFault()
}

// BudgetFault checks the id and the budget.
func (q ResumeRequest) BudgetFault() *ArgumentFault {
	if f := runIDFault(q.Run); f != nil {
		return f
	}
	if q.Budget != nil && !schema.ValidBudget(*q.Budget) {
		return fault(schema.CodeInvalidBudget, budgetRange, inspectRun(q.Run))
	}
	return nil
}

// SourceOptionFault checks how the options about a source are combined
// (source.md, 11.1).
func (q ResumeRequest) SourceOptionFault() *ArgumentFault {
	at := inspectRun(q.Run)
	choice, candidate := q.SourceChoice != nil, q.Candidate != nil
	switch {
	case choice != candidate, candidate && *q.Candidate == "":
		return fault(schema.CodeSourceChoiceRequiresCandidate, "a source choice and the candidate that it is about belong together: give both", at)
	case choice && *q.SourceChoice != "pinned" && *q.SourceChoice != "adopt":
		return fault(schema.CodeInvalidSourceChoice, "a source choice is pinned or adopt", at)
	case q.sourceModes() > 1:
		return fault(schema.CodeSourceModeConflict, "give one of source file, pinned source and source choice", at)
	}
	return nil
}

// sourceModes counts the ways in which the request says something about a source.
func (q ResumeRequest) sourceModes() int {
	n := 0
	for _, given := range []bool{q.HasSource, q.UsePinnedSource, q.SourceChoice != nil} {
		if given {
			n++
		}
	}
	return n
}
