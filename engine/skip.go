package engine

import "slipway/schema"

// Skip gives up the current Action (run.md, 6.5).
type Skip struct{ ActionID string }

func (cmd Skip) decide(r *Run, f Facts) (Decision, error) {
	switch {
	case !r.Live():
		return Decision{}, r.refuse(schema.CodeRunNotSkippable, "the Run is %s; there is nothing to skip", r.state)
	case !r.isCurrent(cmd.ActionID):
		return Decision{}, r.refuse(schema.CodeStaleAction, "the Action is not the current one of the Run")
	}
	kind := r.currentStep().kind
	c := Change{Skipped: cmd.ActionID, State: schema.Active, RemainingBudget: r.remainingBudget}
	if kind != schema.Review {
		if f.Git == nil {
			return Decision{}, ErrObservationNeeded
		}
		c.Observed = r.observed(f.Git)
	}
	switch {
	case kind == schema.Summarize:
		r.end(&c, f.Git, (*Run).skippedSummary)
		r.with(&c).stateDropped(&c, r.queue, "the Action before it was skipped")
	case kind == schema.Review:
		r.with(&c).stateDropped(&c, r.queue, "the Action before it was skipped")
		r.issueAfterSkip(&c, f)
	case c.Observed == nil:
		r.failObservation(&c, f.Git)
		r.with(&c).stateDropped(&c, r.queue, "the Action before it was skipped")
	default:
		mid := r.with(&c)
		mid.stateObservation(&c)
		mid.stateDropped(&c, r.queue, "the Action before it was skipped")
		r.issueAfterSkip(&c, f)
	}
	return r.record(ActionSkipped, c, f)
}

func (r *Run) issueAfterSkip(c *Change, f Facts) {
	mid := r.with(c)
	kind := schema.Summarize
	if mid.reviewPending {
		kind = schema.Review
	}
	c.issue(f, kind, mid.attributed(kind, briefAfterSkip+defaultBrief(kind)))
}
