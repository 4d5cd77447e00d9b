package engine

import (
	"slipway/schema"
	"slipway/source"
)

// minResumedBudget is what a Run that ran out gets at least (run.md, section 4).
const minResumedBudget = 3

// Resume puts a Run back to work (run.md, 6.7; source.md, section 11). At most one
// of Head, UsePinned and Choice is given.
type Resume struct {
	Budget    *int
	Head      *source.Head // of a fresh envelope
	UsePinned bool
	Choice    string // "pinned" or "adopt", together with Candidate
	Candidate string
}

func (cmd Resume) hasSourceOption() bool {
	return cmd.Head != nil || cmd.UsePinned || cmd.Choice != ""
}

func (cmd Resume) decide(r *Run, f Facts) (Decision, error) {
	if made := r.choiceOf(cmd.Candidate); cmd.Choice != "" && r.candidate == nil && made != nil {
		return cmd.repeat(r, made)
	}
	next := r.Next()
	switch {
	case r.state == schema.Ended:
		return Decision{}, r.refuse(schema.CodeRunAlreadyEnded, "the Run has ended and can not be resumed; start a new one")
	case next.Operation != schema.OperationResume:
		return Decision{}, r.refuse(schema.CodeRunNotResumable, "the Run is not waiting to be resumed; one that was stopped is (`slipway stop %s`)", r.id)
	case r.pinned == nil && cmd.hasSourceOption():
		return Decision{}, r.refuseToResume(schema.CodeSourceModeNotAllowed, "the Run has no issue as its source; resume it without source options")
	case r.pinned == nil:
		return cmd.goOn(r, f, RunResumed, "", nil)
	case r.candidate != nil:
		return cmd.resolve(r, f)
	}
	return cmd.source(r, f)
}

// repeat answers a choice for a candidate that was resolved before (source.md,
// 12.3).
func (cmd Resume) repeat(r *Run, made *resolved) (Decision, error) {
	if made.Choice != cmd.Choice {
		return Decision{}, r.refuseToResume(schema.CodeSourceChoiceConflict, "the other choice was made for this candidate; a choice never changes")
	}
	return Decision{Run: r, Resumed: &schema.ResumeResult{
		Operation: made.operation, BudgetApplied: true, CandidateID: made.CandidateID,
	}}, nil
}

// resolve makes the choice for the candidate that waits (source.md, 11.1, rows 5
// to 9).
func (cmd Resume) resolve(r *Run, f Facts) (Decision, error) {
	switch {
	case cmd.Head != nil || cmd.UsePinned:
		return Decision{}, r.refuseToResume(schema.CodeSourceCandidatePending, "a source candidate waits for a choice; make it first")
	case cmd.Choice == "":
		return Decision{}, r.refuseToResume(schema.CodeSourceChoiceRequired, "a source candidate waits for a choice")
	case cmd.Candidate != r.candidate.CandidateID:
		return Decision{}, r.refuse(schema.CodeStaleSourceCandidate, "another source candidate waits for a choice")
	case cmd.Choice == chooseAdopt && !r.candidate.Valid:
		return Decision{}, r.refuseToResume(schema.CodeInvalidSourceCandidateChoice, "the candidate is not usable and can not be adopted")
	case cmd.Choice == chooseAdopt:
		return cmd.goOn(r, f, SourceAmended, source.ChoiceAmended, nil)
	}
	return cmd.goOn(r, f, SourcePinned, source.ChoicePinned, nil)
}

// source resumes an issue-backed Run for which no candidate waits (source.md,
// 11.1, rows 10 to 13, and 11.2).
func (cmd Resume) source(r *Run, f Facts) (Decision, error) {
	switch {
	case cmd.Choice != "":
		return Decision{}, r.refuse(schema.CodeStaleSourceCandidate, "no source candidate of this id waits for a choice")
	case cmd.UsePinned:
		return cmd.goOn(r, f, SourceRefreshSkipped, source.RefreshSkipped, nil)
	case cmd.Head == nil:
		return Decision{}, r.refuseToResume(schema.CodeSourceModeRequired, "the Run has an issue as its source: refresh it or say that the pinned one is to be used")
	}
	c := source.Refresh(r.pinned, r.accepted, cmd.Head)
	switch {
	case c.Refusal() != "":
		return Decision{}, r.refuseHead(&c, cmd.Head)
	case c.Verdict == source.Refreshed:
		return cmd.goOn(r, f, SourceRefreshed, c.Observation, &c)
	}
	return cmd.wait(r, f, &c)
}

// goOn resumes with a fresh Orient. observation is the word for it, if any;
// refreshed is the comparison of a refresh, else nil.
func (cmd Resume) goOn(r *Run, f Facts, event EventType, observation string, refreshed *source.Comparison) (Decision, error) {
	c := r.withdraw(event, observation)
	c.RemainingBudget = cmd.budget(r)
	c.Resumed.BudgetApplied = true
	if r.candidate != nil {
		c.Resumed.CandidateID = r.candidate.CandidateID
	}
	if refreshed != nil {
		c.Refreshed = refreshed.Snapshot
	}
	c.issue(f, schema.Orient, briefResume)
	d, err := r.record(event, c, f)
	d.Resumed = c.Resumed
	if refreshed != nil {
		d.Materials = refreshed.Materials
	}
	return d, err
}

// wait pauses for the choice about a candidate.
func (cmd Resume) wait(r *Run, f Facts, comparison *source.Comparison) (Decision, error) {
	c := r.withdraw(SourceCandidateCreated, comparison.Observation)
	c.Candidate = comparison.Candidate(f.ActionID, f.Now)
	c.Resumed.CandidateID = c.Candidate.CandidateID
	c.RemainingBudget = r.remainingBudget
	c.pause(schema.DecisionRequired)
	d, err := r.record(SourceCandidateCreated, c, f)
	d.Resumed, d.Materials = c.Resumed, comparison.Materials
	return d, err
}

// withdraw begins the change of a resume: the current Action is voided, the queue
// dropped.
func (r *Run) withdraw(event EventType, observation string) Change {
	c := Change{Resumed: &schema.ResumeResult{Operation: resumeOperations[event]}}
	if s := r.currentStep(); s != nil {
		c.Voided = s.actionID
	}
	if observation != "" {
		c.Observations = []string{observation}
	}
	return c
}

// refuseHead refuses an envelope that this Run can not take.
func (r *Run) refuseHead(c *source.Comparison, h *source.Head) *schema.Error {
	startOver := schema.NextStart(r.workspace.Place(), r.initialBudget, r.reviewEnabled, true)
	switch c.Verdict {
	case source.OtherIssue:
		return schema.Runtime(c.Refusal(), startOver, schema.IssueDetails{
			RunID: r.id, State: r.state, PinnedIssueID: r.pinned.IssueID, RefreshedIssueID: h.Issue.IssueID,
		}, "%s", c.Reason)
	case source.InPlaceEdit:
		return r.refuseToResume(c.Refusal(), "%s", c.Reason)
	}
	return schema.Runtime(c.Refusal(), startOver, r.details(), "%s", c.Reason)
}

// budget is what remains before the Orient takes its Action (source.md, section
// 14).
func (cmd Resume) budget(r *Run) int {
	switch {
	case cmd.Budget != nil:
		return *cmd.Budget
	case r.remainingBudget > 0:
		return r.remainingBudget
	}
	return max(r.initialBudget, minResumedBudget)
}
