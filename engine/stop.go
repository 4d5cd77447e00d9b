package engine

import "slipway/schema"

// Stop withdraws the current Action and stops the Run (run.md, 6.6).
type Stop struct{}

func (Stop) decide(r *Run, f Facts) (Decision, error) {
	if r.state == schema.Ended {
		return Decision{}, r.refuse(schema.CodeRunAlreadyEnded, "the Run has ended; there is nothing to stop")
	}
	c := Change{State: schema.Stopped, RemainingBudget: r.remainingBudget, PendingActions: r.queue}
	if s := r.currentStep(); s != nil {
		c.Voided = s.actionID
	}
	return r.record(RunStopped, c, f)
}
