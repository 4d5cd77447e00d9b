package engine

import (
	"fmt"
	"slices"

	"slipway/schema"
)

// Statements are what Slipway itself adds to the lists of a Run (run.md,
// section 8). Each begins with the prefix that a machine may read.
const (
	incompleteStatement = "git_content_observation_incomplete: not all content of the dirty paths could be looked at; " +
		"a difference inside it may be missed"
	changedStatement = "observed_since_start: the worktree differs from its state at the start of the Run"
	sharedStatement  = "attribution_uncertainty: the difference may have been caused by others than this Run; " +
		"Slipway sees that the worktree changed, not who changed it"
)

// shownObservations bounds the observations in the record of a Run (run.md,
// section 15).
const shownObservations = 128

// recent are the observations that the record shows.
func recent(observations []string) []string {
	return observations[max(len(observations)-shownObservations, 0):]
}

// stateObservation adds what the observation says to the change. r is the Run as it is
// with everything that came before in the same operation.
func (r *Run) stateObservation(c *Change) {
	if !r.currentGit.ContentObservationComplete {
		r.addUncertainty(c, incompleteStatement)
	}
	if r.changedSinceStart() {
		r.addObservation(c, changedStatement)
		r.addUncertainty(c, sharedStatement)
	}
}

// stateDiscrepancy compares what an Implement reports with what was seen.
func (r *Run) stateDiscrepancy(c *Change, o *schema.Outcome) {
	if o.Implementation == nil {
		return
	}
	result, changed := o.Implementation.Result, r.changedSinceStart()
	claims := result == schema.ResultApplied || result == schema.ResultPartial
	switch {
	case claims && !changed:
		r.addObservation(c, fmt.Sprintf("report_discrepancy: Implement reported %s, but the worktree does not differ from the start of the Run", result))
	case !claims && changed:
		r.addObservation(c, fmt.Sprintf("report_discrepancy: Implement reported %s, but the worktree differs from the start of the Run", result))
	}
}

// stateDropped records suggestions that will not be issued.
func (r *Run) stateDropped(c *Change, queue []schema.Suggestion, why string) {
	for _, s := range queue {
		r.addUncertainty(c, fmt.Sprintf("unresolved_suggestion: %s was not issued, because %s; its brief: %s", s.Kind, why, s.Brief))
	}
}

// addObservation looks for the text among those that the record would show now:
// one that is out of sight is stated again.
func (r *Run) addObservation(c *Change, text string) {
	if !slices.Contains(recent(slices.Concat(r.observations, c.Observations)), text) {
		c.Observations = append(c.Observations, text)
	}
}

func (r *Run) addUncertainty(c *Change, text string) {
	if !slices.Contains(r.uncertainties, text) && !slices.Contains(c.Uncertainties, text) {
		c.Uncertainties = append(c.Uncertainties, text)
	}
}
