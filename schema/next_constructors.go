package schema

import "strconv"

// newNext fills the forms and falls back to none where the result would break a
// guarantee of next.md, section 1.
func newNext(p Place, operation Operation, values variantValues, forms ...variantForm) Next {
	values["ROOT"] = p.Root
	n := Next{Operation: operation, WorkspaceIdentity: p.Identity}
	for _, form := range forms {
		n.Variants = append(n.Variants, form.fill(values))
	}
	if n.Validate() != nil {
		return NextNone(p)
	}
	return n
}

func newCommand(p Place, run string, form variantForm) Next {
	return newNext(p, OperationCommand, variantValues{"RUN": run}, form)
}

// NextNone offers nothing.
func NextNone(p Place) Next {
	return Next{Operation: OperationNone, WorkspaceIdentity: p.Identity, Variants: []Variant{}}
}

// NextInspectRun offers to look at a Run.
func NextInspectRun(p Place, run string) Next { return newCommand(p, run, formInspectRun) }

// NextInspectRuns offers to look at all Runs, after a wrong invocation or a
// failed start.
func NextInspectRuns(p Place) Next { return newCommand(p, "", formInspectRuns) }

// NextListRuns offers to look at all Runs, where one was not found or is to be
// chosen.
func NextListRuns(p Place) Next { return newCommand(p, "", formListRuns) }

// NextInspectInWorkspace offers, in an error, to look at the Runs of the
// worktree that owns the Run.
func NextInspectInWorkspace(owner Place) Next { return newCommand(owner, "", formElsewhere) }

// NextStubInWorkspace offers, in a [RunStub], to look at the Run in the worktree
// that owns it.
func NextStubInWorkspace(owner Place, run string) Next {
	return newCommand(owner, run, formElsewhereRun)
}

// NextRunDoctor offers doctor after Run storage failed.
func NextRunDoctor(p Place) Next { return newCommand(p, "", formRunDoctor) }

// NextRetryDoctor offers doctor once more.
func NextRetryDoctor(p Place) Next { return newCommand(p, "", formRetryDoctor) }

// NextRetryDoctorJSON offers doctor after Git gave no answer.
func NextRetryDoctorJSON(p Place) Next { return newCommand(p, "", formRetryDoctorJSON) }

// NextRetryList offers list once more.
func NextRetryList(p Place) Next { return newCommand(p, "", formRetryList) }

// NextRefreshAdapters offers to bring the adapters to this build's version.
func NextRefreshAdapters(p Place) Next { return newCommand(p, "", formRefreshHosts) }

// NextListHostAdapters offers the list of hosts to choose from.
func NextListHostAdapters(p Place) Next { return newCommand(p, "", formListHosts) }

// NextInspectHostAdapters offers the list of hosts after an install or uninstall
// failed.
func NextInspectHostAdapters(p Place) Next { return newCommand(p, "", formInspectHosts) }

// NextInstallKiro offers to install Kiro with a surface.
func NextInstallKiro(p Place) Next { return newCommand(p, "", formInstallKiro) }

// NextStart offers a start with this budget and Review setting; with source also
// an input for the source file.
func NextStart(p Place, budget int, review, source bool) Next {
	form := formRetry
	switch {
	case source && review:
		form = formSource
	case source:
		form = formSourcePlain
	case !review:
		form = formRetryPlain
	}
	return newNext(p, OperationStart, variantValues{"N": strconv.Itoa(budget)}, form)
}

// NextSubmitRetry offers the way of submitting that was used, with the Run and
// Action that the caller gave.
func NextSubmitRetry(p Place, run, action string, stdin bool) Next {
	form := formSubmitFile
	if stdin {
		form = formSubmitStdin
	}
	return newNext(p, OperationAction, variantValues{"RUN": run, "ACTION": action}, form)
}

// NextRefreshStatic offers a resume with a source file for a Run that could not
// be read; budget is that of the failed call, or nil (next.md, 6.3).
func NextRefreshStatic(p Place, run string, budget *int) Next {
	if budget == nil {
		return newNext(p, OperationResume, variantValues{"RUN": run}, formRefresh)
	}
	values := variantValues{"RUN": run, "N": strconv.Itoa(*budget)}
	return newNext(p, OperationResume, values, formRefreshBudget)
}

// NextAction offers what an active Run waits for (next.md, section 3, row 3).
func NextAction(p Place, run, action string) Next {
	values := variantValues{"RUN": run, "ACTION": action}
	return newNext(p, OperationAction, values, formSubmitFile, formSubmitStdin, formSkip)
}

// NextDecision offers to answer a decision (row 4).
func NextDecision(p Place, run, action string) Next {
	values := variantValues{"RUN": run, "ACTION": action}
	return newNext(p, OperationAnswer, values, formDecision, formSkip)
}

// NextDestructive offers to confirm or decline a destructive request whose scope
// is given (row 5).
func NextDestructive(p Place, run, action string, scope Digest) Next {
	values := variantValues{"RUN": run, "ACTION": action, "DIGEST": string(scope)}
	return newNext(p, OperationAnswer, values, formConfirm, formDecline, formSkip)
}

// Resumption says by which variants a Run can be put back to work. The zero value
// is that of an ad-hoc Run.
type Resumption struct {
	Source    bool   // the Run is issue-backed
	Candidate string // the id of the source candidate that waits, or empty
	Adoptable bool   // that candidate is valid
}

// NextResume offers the resume variants (rows 2, 6 and 7; the resume choices
// only, where skipAction is empty). skipAction is the current Action that may be
// skipped instead.
func NextResume(p Place, run string, resume Resumption, skipAction string) Next {
	values := variantValues{"RUN": run, "ACTION": skipAction, "CANDIDATE": resume.Candidate}
	var forms []variantForm
	switch {
	case resume.Candidate != "" && resume.Adoptable:
		forms = []variantForm{formKeep, formAdopt}
	case resume.Candidate != "":
		forms = []variantForm{formKeep}
	case resume.Source:
		forms = []variantForm{formRefresh, formPinned}
	default:
		forms = []variantForm{formAdHoc}
	}
	if skipAction != "" && resume.Candidate == "" {
		forms = append(forms, formSkip)
	}
	return newNext(p, OperationResume, values, forms...)
}
