package engine

import (
	"slices"
	"time"

	"slipway/schema"
)

// Run is one Run as its events made it (run.md, section 2). A Run is an
// immutable value: applying an event gives another Run, so that a reader may keep
// an old one while a writer goes on.
//
// The context of an Action is a function of what was known when the Action was
// issued (run.md, section 12). It is rendered when somebody asks for it and kept
// for the current Action only: a Run of a thousand Actions would hold tens of
// megabytes of it otherwise.
type Run struct {
	id        string
	goal      string
	workspace schema.WorkspaceIdentity
	createdAt time.Time
	updatedAt time.Time
	sequence  int64 // events applied so far

	state         schema.State
	pauseReason   schema.PauseReason
	reviewEnabled bool
	reviewPending bool

	initialBudget   int
	remainingBudget int

	initialGit       *schema.Observation
	currentGit       *schema.Observation
	finalGitObserved bool

	steps   []*step
	current int // index into steps, or none
	queue   []schema.Suggestion
	answers []*answer

	observations  []string // all of them; the record shows the last ones
	knownIssues   []string
	uncertainties []string
	activities    []schema.Activity
	summary       string

	pendingRequest *schema.DestructiveRequest
	grant          *schema.Authorization
	lastResume     *schema.ResumeResult

	sourced
}

const none = -1

// step is an issued Action and what became of it. Each mark remembers the event
// that set it, so that the context of a later or earlier Action can be told.
type step struct {
	actionID  string
	kind      schema.Kind
	brief     string
	remaining int
	issuedAt  int64

	authorization *schema.Authorization
	pinned        *schema.PinnedSource // when it was issued; nil in an ad-hoc Run

	outcome   *schema.Outcome
	payload   schema.Digest
	outcomeAt int64
	told      item // the Outcome as later contexts tell it

	voidedAt  int64 // 0 unless voided
	skippedAt int64 // 0 unless skipped

	context string // rendered, for the current Action only
}

func (s *step) voided() bool  { return s.voidedAt != 0 }
func (s *step) skipped() bool { return s.skippedAt != 0 }

// answer is a recorded answer with the events that recorded and superseded it.
type answer struct {
	schema.Answer
	recordedAt   int64
	supersededAt int64 // 0 while nothing superseded it
}

// ID of the Run.
func (r *Run) ID() string { return r.id }

// State of the Run.
func (r *Run) State() schema.State { return r.state }

// Workspace that the Run belongs to.
func (r *Run) Workspace() schema.WorkspaceIdentity { return r.workspace }

// Sequence is the number of events that made the Run.
func (r *Run) Sequence() int64 { return r.sequence }

// Live says whether a stop without an id may mean this Run (run.md, 6.6).
func (r *Run) Live() bool { return r.state == schema.Active || r.state == schema.Paused }

// clone gives a Run that can be changed without touching r. Lists that only grow
// are shared, but clipped: what is appended to the clone goes elsewhere.
func (r *Run) clone() *Run {
	c := *r
	c.steps = slices.Clone(r.steps)
	c.answers = slices.Clone(r.answers)
	c.observations = slices.Clip(r.observations)
	c.knownIssues = slices.Clip(r.knownIssues)
	c.uncertainties = slices.Clip(r.uncertainties)
	c.activities = slices.Clip(r.activities)
	c.choices = slices.Clip(r.choices)
	return &c
}

// currentStep is the Action that waits, or nil.
func (r *Run) currentStep() *step {
	if r.current == none {
		return nil
	}
	return r.steps[r.current]
}

// stepOf finds the step of an Action, or none. The newest come first: that is
// what nearly every call asks for.
func (r *Run) stepOf(actionID string) int {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].actionID == actionID {
			return i
		}
	}
	return none
}

// answerTo finds the answer to an Action, or none.
func (r *Run) answerTo(actionID string) int {
	for i := len(r.answers) - 1; i >= 0; i-- {
		if r.answers[i].ActionID == actionID {
			return i
		}
	}
	return none
}

// isCurrent says whether the Action is the one that waits.
func (r *Run) isCurrent(actionID string) bool {
	s := r.currentStep()
	return s != nil && s.actionID == actionID
}

// changedSinceStart says whether the worktree was last seen in another state
// than at the start (git-observation.md, section 6).
func (r *Run) changedSinceStart() bool { return schema.Changed(r.initialGit, r.currentGit) }

// looksAtWorktree says whether the worktree is observed after an Action of this
// kind, and whether a change then leads to Review (run.md, section 8).
func looksAtWorktree(kind schema.Kind) bool {
	return kind == schema.Orient || kind == schema.Clarify || kind == schema.Implement
}
