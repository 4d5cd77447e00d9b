package engine

import (
	"errors"
	"fmt"

	"slipway/schema"
)

// checkFields holds the rules between the fields of a Run (storage.md, 3.3).
func (r *Run) checkFields() error {
	for _, rule := range []func() error{r.checkState, r.checkCurrent, r.checkRequest, r.checkGrant} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) checkState() error {
	switch r.state {
	case schema.Active, schema.Stopped, schema.Ended:
		if r.pauseReason != "" {
			return fmt.Errorf("a pause reason in state %s", r.state)
		}
	case schema.Paused:
		switch r.pauseReason {
		case schema.DecisionRequired, schema.DestructiveConfirmationRequired,
			schema.EnvironmentUnavailable, schema.BudgetExhausted:
		default:
			return fmt.Errorf("unknown pause reason %q", r.pauseReason)
		}
	default:
		return fmt.Errorf("unknown state %q", r.state)
	}
	if r.reviewPending && !r.reviewEnabled {
		return errors.New("a Review is pending though Review is off")
	}
	if (r.state == schema.Ended) != (r.summary != "") {
		return errors.New("the summary belongs to the end of a Run")
	}
	return nil
}

// checkCurrent: the current Action is the open record of the history that the
// state demands.
func (r *Run) checkCurrent() error {
	s := r.currentStep()
	asking := r.pauseReason == schema.DecisionRequired || r.pauseReason == schema.DestructiveConfirmationRequired
	switch {
	case r.candidate != nil && s != nil:
		return errors.New("an Action waits beside a source candidate")
	case r.candidate != nil && r.state == schema.Active:
		return errors.New("a Run with a source candidate is active")
	case (r.state == schema.Active || asking && r.candidate == nil) && s == nil:
		return errors.New("no Action waits though the state demands one")
	case (r.state == schema.Stopped || r.state == schema.Ended || r.pauseReason == schema.BudgetExhausted) && s != nil:
		return errors.New("an Action waits though the state allows none")
	case s == nil:
		return nil
	case s.voided() || s.skipped():
		return errors.New("the current Action is closed")
	case (s.outcome != nil) != (r.state == schema.Paused):
		return errors.New("the current Action and its Outcome do not fit the state")
	case s.outcome != nil && s.outcome.Status != schema.NeedsInput:
		return errors.New("the current Action is finished")
	case asking && s.outcome.Pause.Reason != r.pauseReason:
		return errors.New("the Run waits for another answer than the Action asked for")
	}
	return nil
}

func (r *Run) checkRequest() error {
	waiting := r.pauseReason == schema.DestructiveConfirmationRequired
	switch {
	case waiting && (r.pendingRequest == nil || r.grant != nil):
		return errors.New("a destructive pause needs its request and no grant")
	case waiting && r.currentStep().outcome.Pause.DestructiveRequest.ScopeSHA256 != r.pendingRequest.ScopeSHA256:
		return errors.New("the pending request is not the one that was asked")
	case !waiting && r.pendingRequest != nil && r.grant == nil:
		return errors.New("a destructive request outside its pause")
	}
	return nil
}

func (r *Run) checkGrant() error {
	if r.grant == nil {
		return nil
	}
	s := r.currentStep()
	switch {
	case r.pendingRequest == nil || r.pendingRequest.ScopeSHA256 != r.grant.ScopeSHA256:
		return errors.New("a grant without its request")
	case r.state != schema.Active || s == nil || s.kind != schema.Implement || s.authorization != r.grant:
		return errors.New("a grant without the Implement that carries it")
	}
	return nil
}
