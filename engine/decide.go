package engine

import (
	"errors"
	"time"

	"slipway/schema"
	"slipway/source"
)

// Facts are what a decision needs from outside. Nothing in them is asked for by
// the decision itself: the caller brings them.
type Facts struct {
	Now      time.Time // the instant of the event
	ActionID string    // identity of the Action, or source candidate, that may come of it
	Git      *GitFact  // nil until it was asked for
}

// GitFact is an attempt to observe the worktree: the observation, or why there
// is none.
type GitFact struct {
	Observation *schema.Observation
	Failure     string
}

// Decision is what becomes of a command.
type Decision struct {
	// Event to record; nil when an exact repeat changes nothing.
	Event *Event
	// Run after the event.
	Run *Run
	// Refusal is told to the caller although the event is recorded: the one case
	// is a confirmation that finds no budget (run.md, 10.3).
	Refusal *schema.Error
	// Resumed is what a resume did, also the one that an exact repeat repeats.
	Resumed *schema.ResumeResult
	// Materials must be durable before the event is recorded.
	Materials []source.Material
}

// ErrObservationNeeded asks the caller to decide again with Facts.Git: the
// transition depends on the worktree.
var ErrObservationNeeded = errors.New("the transition needs an observation of the worktree")

// Command is an operation on a Run: [Submit], [Reply], [Skip], [Stop] or
// [Resume].
//
// An error is [ErrObservationNeeded] or a *[schema.Error]; then nothing is to be
// recorded.
type Command interface {
	decide(r *Run, f Facts) (Decision, error)
}

// Decide says what becomes of a command. It is a pure function.
func Decide(r *Run, c Command, f Facts) (Decision, error) { return c.decide(r, f) }

// record closes a change into a decision: the event, and the Run after it.
func (r *Run) record(eventType EventType, c Change, f Facts) (Decision, error) {
	e := Event{Type: eventType, At: f.Now, Change: c}
	after, err := r.Apply(e)
	if err == nil {
		err = after.checkIssued(&c)
	}
	if err != nil {
		return Decision{}, r.actionRefusal(err)
	}
	return Decision{Event: &e, Run: after}, nil
}

// checkIssued refuses an Action that a host could not be given (run.md, section
// 5).
func (r *Run) checkIssued(c *Change) error {
	if c.Issued == nil {
		return nil
	}
	action, err := r.action(r.currentStep())
	if err != nil {
		return err
	}
	return action.Validate()
}

// with gives the Run as it is with a change that is still being computed. Only
// what the rest of the computation reads is applied; no rule is checked.
func (r *Run) with(c *Change) *Run {
	mid := r.clone()
	mid.sequence++
	for _, effect := range []func(*Change) error{mid.applyOutcome, mid.applySkip, mid.applyVoid, mid.applyObservation, mid.applyLists} {
		if err := effect(c); err != nil {
			// The change was computed from r a moment ago: it can not contradict it.
			panic("engine: " + err.Error())
		}
	}
	return mid
}

// observed turns the fact into what an event holds of it.
func (r *Run) observed(git *GitFact) *Observed {
	if git.Observation == nil {
		return nil
	}
	if r.currentGit != nil && r.currentGit.SnapshotHash == git.Observation.SnapshotHash {
		return &Observed{}
	}
	return &Observed{Git: git.Observation}
}

// pause puts the change into a pause.
func (c *Change) pause(reason schema.PauseReason) {
	c.State, c.PauseReason = schema.Paused, reason
}

// issue adds the next Action to the change, or the pause for the budget where
// none is left (run.md, sections 4 and 5). brief is complete.
func (c *Change) issue(f Facts, kind schema.Kind, brief string) {
	if c.RemainingBudget == 0 {
		c.pause(schema.BudgetExhausted)
		return
	}
	c.State, c.PauseReason = schema.Active, ""
	c.RemainingBudget--
	c.Issued = &Issued{ActionID: f.ActionID, Kind: kind, Brief: brief}
}
