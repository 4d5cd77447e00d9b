package engine

import (
	"slipway/schema"
)

// Reply answers the question of an Action (run.md, 6.4 and 10.3).
type Reply struct {
	ActionID           string
	Text               string
	ConfirmDestructive bool
	Scope              string
}

func (cmd Reply) digest() schema.Digest {
	return schema.AnswerDigest(cmd.ActionID, cmd.ConfirmDestructive, cmd.Scope, cmd.Text)
}

func (cmd Reply) decide(r *Run, f Facts) (Decision, error) {
	if i := r.answerTo(cmd.ActionID); i != none {
		return Decision{Run: r}, cmd.checkRepeat(r, r.answers[i])
	}
	if err := cmd.checkState(r); err != nil {
		return Decision{}, err
	}
	if r.pauseReason == schema.DecisionRequired {
		if err := cmd.checkDecision(r); err != nil {
			return Decision{}, err
		}
		return cmd.decideWith(r, f, briefDecision)
	}
	if !cmd.ConfirmDestructive {
		if err := cmd.checkFeedback(r); err != nil {
			return Decision{}, err
		}
		return cmd.decideWith(r, f, briefDeclined)
	}
	if err := cmd.checkConfirmation(r); err != nil {
		return Decision{}, err
	}
	return cmd.confirm(r, f)
}

// checkRepeat holds an answer against the one that was recorded (rules 1 and 2).
func (cmd Reply) checkRepeat(r *Run, recorded *answer) error {
	if recorded.PayloadSHA256 != cmd.digest() {
		return r.refuse(schema.CodeAnswerConflict, "another answer was recorded for this Action; a recorded answer never changes")
	}
	if recorded.ConfirmDestructive && r.pauseReason == schema.BudgetExhausted && r.remainingBudget == 0 {
		return r.refuseBudget()
	}
	return nil
}

// checkState: rules 3 to 6.
func (cmd Reply) checkState(r *Run) error {
	switch {
	case r.state != schema.Paused:
		return r.refuse(schema.CodeAnswerNotExpected, "the Run is %s; no question waits for an answer", r.state)
	case r.pauseReason == schema.EnvironmentUnavailable:
		return r.refuseToResume(schema.CodeAnswerNotAllowed, "the Run waits for its environment, not for an answer; resume it when the environment is back")
	case r.pauseReason == schema.BudgetExhausted:
		return r.refuse(schema.CodeAnswerNotExpected, "the Run waits for a budget, not for an answer")
	case !r.isCurrent(cmd.ActionID):
		return r.refuse(schema.CodeStaleAction, "the Action is not the current one of the Run")
	}
	return nil
}

// checkDecision: rules 7 to 9.
func (cmd Reply) checkDecision(r *Run) error {
	by := r.currentStep().outcome.Pause.SupersedesAnswerActionID
	switch {
	case cmd.ConfirmDestructive || cmd.Scope != "":
		return r.refuse(schema.CodeDestructiveConfirmationNotExpected, "the question asks for a decision, not for a destructive confirmation")
	case schema.IsBlank(cmd.Text):
		return r.refuse(schema.CodeAnswerRequired, "a decision needs a text")
	case by != nil && !r.supersedable(*by):
		return r.refuse(schema.CodeInvalidDecisionSupersession, "the answer to be superseded is not active any more")
	}
	return nil
}

// checkFeedback: rules 8 and 9 of 10.3.
func (cmd Reply) checkFeedback(r *Run) error {
	switch {
	case cmd.Scope != "":
		return r.refuse(schema.CodeDestructiveConfirmationFlagRequired, "a scope alone confirms nothing; the confirmation flag is missing")
	case schema.IsBlank(cmd.Text):
		return r.refuse(schema.CodeAnswerRequired, "without a confirmation the answer needs a text")
	}
	return nil
}

// checkConfirmation: rules 11 and 12 of 10.3.
func (cmd Reply) checkConfirmation(r *Run) error {
	scope := schema.Digest(cmd.Scope)
	switch {
	case !scope.Valid():
		return r.refuse(schema.CodeDestructiveScopeRequired, "a confirmation needs the digest of the scope: sha256: and 64 lower-case hex digits")
	case scope != r.pendingRequest.ScopeSHA256:
		return r.refuse(schema.CodeDestructiveScopeMismatch, "the confirmed scope is not the one that is pending")
	}
	return nil
}

func (cmd Reply) answered() *Answered {
	return &Answered{
		ActionID: cmd.ActionID, Text: cmd.Text, ConfirmDestructive: cmd.ConfirmDestructive,
		ScopeSHA256: schema.Digest(cmd.Scope), PayloadSHA256: cmd.digest(),
	}
}

// decideWith records a decision, and an Orient follows.
func (cmd Reply) decideWith(r *Run, f Facts, brief string) (Decision, error) {
	c := Change{Answered: cmd.answered(), Voided: cmd.ActionID, RemainingBudget: r.remainingBudget}
	c.issue(f, schema.Orient, brief)
	return r.record(AnswerRecorded, c, f)
}

// confirm records a confirmation: an Implement with the grant, or, without
// budget, a pause that the caller is told as an error.
func (cmd Reply) confirm(r *Run, f Facts) (Decision, error) {
	c := Change{Answered: cmd.answered(), RemainingBudget: r.remainingBudget}
	r.stateDropped(&c, r.queue, "a destructive confirmation takes precedence")
	if r.remainingBudget == 0 {
		c.Voided = cmd.ActionID
	}
	c.issue(f, schema.Implement, briefConfirmed)
	d, err := r.record(AnswerRecorded, c, f)
	if err == nil && c.Issued == nil {
		d.Refusal = d.Run.refuseBudget()
	}
	return d, err
}
