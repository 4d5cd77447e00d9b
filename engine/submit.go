package engine

import (
	"fmt"
	"slices"

	"slipway/schema"
)

// Submit reports an Outcome that was decoded already (run.md, 6.3).
type Submit struct {
	ActionID string
	Outcome  *schema.Outcome
	Payload  schema.Digest
}

func (cmd Submit) decide(r *Run, f Facts) (Decision, error) {
	if repeat, err := cmd.check(r); err != nil || repeat {
		return Decision{Run: r}, err
	}
	c := Change{
		Submitted:       &Submitted{Outcome: *cmd.Outcome, PayloadSHA256: cmd.Payload},
		State:           schema.Active,
		RemainingBudget: r.remainingBudget,
	}
	kind := r.currentStep().kind
	if looksAtWorktree(kind) || kind == schema.Summarize {
		if f.Git == nil {
			return Decision{}, ErrObservationNeeded
		}
		c.Observed = r.observed(f.Git)
	}
	if cmd.Outcome.Status == schema.NeedsInput {
		return r.ask(c, f)
	}
	return r.settle(c, kind, f)
}

// check applies the state rules of run.md, 6.3 in their order. repeat says that
// this very Outcome was accepted before.
func (cmd Submit) check(r *Run) (repeat bool, err error) {
	var s *step
	if i := r.stepOf(cmd.ActionID); i != none {
		s = r.steps[i]
	}
	switch {
	case s != nil && s.outcome != nil && s.voided():
		return false, r.refuse(schema.CodeStaleAction, "the Action was voided; nothing can be reported about it any more")
	case s != nil && s.outcome != nil && s.payload == cmd.Payload:
		return true, nil
	case s != nil && s.outcome != nil:
		return false, r.refuse(schema.CodeOutcomeConflict, "another Outcome was accepted for this Action; an accepted Outcome never changes")
	case r.state == schema.Stopped || r.state == schema.Ended:
		return false, r.refuse(schema.CodeRunNotActive, "the Run is %s and takes no Outcome", r.state)
	case s != nil && s.voided():
		return false, r.refuse(schema.CodeStaleAction, "the Action was voided; nothing can be reported about it any more")
	case r.state == schema.Paused:
		return false, r.refuse(schema.CodeRunNotActive, "the Run is paused (%s) and takes no Outcome", r.pauseReason)
	case !r.isCurrent(cmd.ActionID):
		return false, r.refuse(schema.CodeStaleAction, "the Action is not the current one of the Run")
	}
	if err := cmd.Outcome.Validate(cmd.ActionID, s.kind); err != nil {
		return false, schema.Runtime(schema.CodeInvalidOutcome, r.Next(), nil, "the Outcome is not legal for this Action: %v", err)
	}
	if p := cmd.Outcome.Pause; p != nil && p.SupersedesAnswerActionID != nil && !r.supersedable(*p.SupersedesAnswerActionID) {
		return false, r.refuse(schema.CodeInvalidDecisionSupersession,
			"the answer to be superseded is unknown, inactive, a confirmation, or of other requirements")
	}
	return false, nil
}

// supersedable says whether a new question may replace the answer to an Action
// (run.md, section 9).
func (r *Run) supersedable(actionID string) bool {
	i := r.answerTo(actionID)
	if i == none {
		return false
	}
	a := r.answers[i]
	return a.Active && !a.ConfirmDestructive && a.RequirementsRevision == requirementsOf(r.pinned)
}

// ask pauses the Run with the question of the Outcome.
func (r *Run) ask(c Change, f Facts) (Decision, error) {
	c.PendingActions = r.queue
	if c.Observed == nil {
		r.failObservation(&c, f.Git)
	} else {
		c.pause(c.Submitted.Outcome.Pause.Reason)
		r.stateOutcome(&c)
	}
	return r.record(OutcomeSubmitted, c, f)
}

// settle closes the Action and routes to the next one (run.md, 7.1).
func (r *Run) settle(c Change, kind schema.Kind, f Facts) (Decision, error) {
	queue := slices.Concat(r.queue, c.Submitted.Outcome.SuggestedActions)
	switch {
	case kind == schema.Summarize:
		r.end(&c, f.Git, (*Run).finalSummary)
	case looksAtWorktree(kind) && c.Observed == nil:
		c.PendingActions = queue
		r.failObservation(&c, f.Git)
	default:
		if looksAtWorktree(kind) {
			r.stateOutcome(&c)
		}
		r.route(&c, kind, queue, f)
	}
	return r.record(OutcomeSubmitted, c, f)
}

// route issues what follows an Orient, Clarify, Implement or Review.
func (r *Run) route(c *Change, kind schema.Kind, queue []schema.Suggestion, f Facts) {
	mid := r.with(c)
	switch {
	case looksAtWorktree(kind) && mid.reviewPending:
		mid.stateDropped(c, queue, "a change was observed and Review takes precedence")
		c.issue(f, schema.Review, mid.attributed(schema.Review, briefReview))
	case len(queue) > 0:
		c.PendingActions = queue[1:]
		c.issue(f, queue[0].Kind, mid.attributed(queue[0].Kind, schema.TrimWhiteSpace(queue[0].Brief)))
	default:
		c.issue(f, schema.Summarize, mid.attributed(schema.Summarize, briefSummarize))
	}
}

// stateOutcome adds Slipway's own statements after an Outcome.
func (r *Run) stateOutcome(c *Change) {
	mid := r.with(c)
	mid.stateObservation(c)
	mid.stateDiscrepancy(c, &c.Submitted.Outcome)
}

// failObservation pauses because Git could not be observed.
func (r *Run) failObservation(c *Change, git *GitFact) {
	c.pause(schema.EnvironmentUnavailable)
	c.KnownIssues = append(c.KnownIssues, failedObservation(git))
}

func failedObservation(git *GitFact) string {
	return fmt.Sprintf("the worktree could not be observed: %s", git.Failure)
}

// end closes the Run with its summary (run.md, 7.4).
func (r *Run) end(c *Change, git *GitFact, summary func(r *Run, finalObserved bool) string) {
	c.State = schema.Ended
	if c.Observed == nil {
		c.Uncertainties = append(c.Uncertainties, failedObservation(git))
	} else {
		r.with(c).stateObservation(c)
	}
	c.Summary = summary(r.with(c), c.Observed != nil)
}
