package engine

import (
	"fmt"
	"time"

	"slipway/schema"
)

// EventType names what happened, in the past tense (storage.md, 3.1).
type EventType string

// The events of a Run. The last five are the ways to resume an issue-backed one.
const (
	RunStarted       EventType = "run_started"
	OutcomeSubmitted EventType = "outcome_submitted"
	AnswerRecorded   EventType = "answer_recorded"
	ActionSkipped    EventType = "action_skipped"
	RunStopped       EventType = "run_stopped"
	RunResumed       EventType = "run_resumed"

	SourceRefreshed        EventType = "source_refreshed"
	SourceCandidateCreated EventType = "source_candidate_created"
	SourceRefreshSkipped   EventType = "source_refresh_skipped"
	SourceAmended          EventType = "source_amended"
	SourcePinned           EventType = "source_pinned"
)

// Event is one recorded fact about a Run: one operation with all its effects.
type Event struct {
	Type   EventType
	At     time.Time
	Change Change
}

// Change is what an event changed and nothing else, so that a journal grows with
// what was submitted. Lists hold only what Slipway itself added: what the host
// reported is in the Outcome.
type Change struct {
	Started   *Started   `json:"started,omitempty"`
	Submitted *Submitted `json:"submitted,omitempty"`
	Answered  *Answered  `json:"answered,omitempty"`
	Skipped   string     `json:"skipped,omitempty"` // Action id
	Voided    string     `json:"voided,omitempty"`  // Action id
	Observed  *Observed  `json:"observed,omitempty"`
	Issued    *Issued    `json:"issued,omitempty"`

	State           schema.State            `json:"state"`
	PauseReason     schema.PauseReason      `json:"pause_reason,omitempty"`
	RemainingBudget int                     `json:"remaining_budget"`
	PendingActions  []schema.Suggestion     `json:"pending_actions,omitempty"` // the whole queue afterwards
	Observations    []string                `json:"observations,omitempty"`
	KnownIssues     []string                `json:"known_issues,omitempty"`
	Uncertainties   []string                `json:"uncertainties,omitempty"`
	Resumed         *schema.ResumeResult    `json:"resumed,omitempty"`
	Refreshed       *schema.PinnedSource    `json:"refreshed,omitempty"` // the source under the same manifest
	Candidate       *schema.SourceCandidate `json:"candidate,omitempty"` // made by this event
	Summary         string                  `json:"summary,omitempty"`
}

// Started is what a Run was started with.
type Started struct {
	RunID             string                   `json:"run_id"`
	Goal              string                   `json:"goal"`
	WorkspaceIdentity schema.WorkspaceIdentity `json:"workspace_identity"`
	ReviewEnabled     bool                     `json:"review_enabled"`
	InitialBudget     int                      `json:"initial_budget"`
	Source            *schema.PinnedSource     `json:"source,omitempty"`
}

// Submitted is an accepted Outcome.
type Submitted struct {
	Outcome       schema.Outcome `json:"outcome"`
	PayloadSHA256 schema.Digest  `json:"payload_sha256"`
}

// Answered is a recorded answer.
type Answered struct {
	ActionID           string        `json:"action_id"`
	Text               string        `json:"text"`
	ConfirmDestructive bool          `json:"confirm_destructive,omitempty"`
	ScopeSHA256        schema.Digest `json:"scope_sha256,omitempty"`
	PayloadSHA256      schema.Digest `json:"payload_sha256"`
}

// Observed is a successful observation. The worktree stands in it only when it
// differs from what the Run already knew.
type Observed struct {
	Git *schema.Observation `json:"git,omitempty"`
}

// Issued is the Action that an operation issued. Goal, context and budget follow
// from the Run.
type Issued struct {
	ActionID string      `json:"action_id"`
	Kind     schema.Kind `json:"kind"`
	Brief    string      `json:"brief"`
}

// Encode gives the bytes of the change as they stand in the journal.
func (e Event) Encode() ([]byte, error) { return schema.Marshal(e.Change) }

// maxChangeBytes is beyond what the journal lets through (storage.md, 3.2).
const maxChangeBytes = 4 << 20

// DecodeEvent reads an event back, strictly (storage.md, 3.3).
func DecodeEvent(eventType string, at time.Time, data []byte) (Event, error) {
	e := Event{Type: EventType(eventType), At: at}
	if err := schema.DecodeStrict(data, maxChangeBytes, &e.Change); err != nil {
		return Event{}, fmt.Errorf("%s: %w", eventType, err)
	}
	if s := e.Change.Submitted; s != nil && !whole(&s.Outcome) {
		return Event{}, fmt.Errorf("%s: the Outcome is not whole", eventType)
	}
	return e, nil
}

// whole says whether the Outcome has what every accepted one has and
// [schema.Outcome.Validate] takes for granted.
func whole(o *schema.Outcome) bool {
	i := o.Implementation
	return o.ContractVersion == schema.ContractVersion &&
		o.Observations != nil && o.KnownIssues != nil && o.SuggestedActions != nil &&
		(i == nil || i.FilesChanged != nil && i.Activities != nil && i.Uncertainties != nil)
}
