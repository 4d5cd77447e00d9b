package schema

import "time"

// State is the state of a Run (run.md, section 3).
type State string

// The states of a Run. A Run never leaves Ended.
const (
	Active  State = "active"
	Paused  State = "paused"
	Stopped State = "stopped"
	Ended   State = "ended"
)

// PauseReason says why a Run is paused (run.md, 3.2).
type PauseReason string

// The reasons of a pause. BudgetExhausted is Slipway's own.
const (
	DecisionRequired                PauseReason = "decision_required"
	DestructiveConfirmationRequired PauseReason = "destructive_confirmation_required"
	EnvironmentUnavailable          PauseReason = "environment_unavailable"
	BudgetExhausted                 PauseReason = "budget_exhausted"
)

// ResumeOperation names what a resume did (wire.md, 8.3).
type ResumeOperation string

// The operations of a resume.
const (
	AdHocResumed           ResumeOperation = "ad_hoc_resumed"
	SourceRefreshed        ResumeOperation = "source_refreshed"
	SourceRefreshSkipped   ResumeOperation = "source_refresh_skipped"
	SourceCandidateCreated ResumeOperation = "source_candidate_created"
	SourceAmended          ResumeOperation = "source_amended"
	SourcePinned           ResumeOperation = "source_pinned"
)

// ProtocolState is the answer of every operation that moves a Run (wire.md,
// section 5).
type ProtocolState struct {
	ContractVersion int              `json:"contract_version"`
	RunID           string           `json:"run_id"`
	State           State            `json:"state"`
	PauseReason     PauseReason      `json:"pause_reason,omitempty"`
	Summary         string           `json:"summary,omitempty"`
	Action          *Action          `json:"action,omitempty"`
	Next            Next             `json:"next"`
	PinnedSource    *PinnedSource    `json:"pinned_source,omitempty"`
	SourceCandidate *SourceCandidate `json:"source_candidate,omitempty"`
	ResumeOperation ResumeOperation  `json:"resume_operation,omitempty"`
	BudgetApplied   *bool            `json:"budget_applied,omitempty"`
}

// RunStatus is the whole record of a Run with its next (wire.md, section 6;
// run.md, section 2).
type RunStatus struct {
	ContractVersion           int                 `json:"contract_version"`
	ID                        string              `json:"id"`
	Goal                      string              `json:"goal"`
	Workspace                 string              `json:"workspace"`
	WorkspaceIdentity         WorkspaceIdentity   `json:"workspace_identity"`
	State                     State               `json:"state"`
	PauseReason               PauseReason         `json:"pause_reason,omitempty"`
	ReviewEnabled             bool                `json:"review_enabled"`
	ReviewPending             bool                `json:"review_pending"`
	InitialBudget             int                 `json:"initial_budget"`
	RemainingBudget           int                 `json:"remaining_budget"`
	InitialGit                Observation         `json:"initial_git"`
	CurrentGit                Observation         `json:"current_git"`
	FinalGitObserved          bool                `json:"final_git_observed"`
	PinnedSource              *PinnedSource       `json:"pinned_source,omitempty"`
	SourceCandidate           *SourceCandidate    `json:"source_candidate,omitempty"`
	LastSourceChoice          *SourceChoice       `json:"last_source_choice,omitempty"`
	LastResumeResult          *ResumeResult       `json:"last_resume_result,omitempty"`
	CurrentAction             *Action             `json:"current_action,omitempty"`
	Actions                   []ActionRecord      `json:"actions"`
	PendingActions            []Suggestion        `json:"pending_actions,omitempty"`
	Answers                   []Answer            `json:"answers,omitempty"`
	Observations              []string            `json:"observations,omitempty"`
	KnownIssues               []string            `json:"known_issues,omitempty"`
	Uncertainties             []string            `json:"uncertainties,omitempty"`
	Activities                []Activity          `json:"activities,omitempty"`
	Summary                   string              `json:"summary,omitempty"`
	PendingDestructiveRequest *DestructiveRequest `json:"pending_destructive_request,omitempty"`
	DestructiveGrant          *Authorization      `json:"destructive_grant,omitempty"`
	CreatedAt                 time.Time           `json:"created_at"`
	UpdatedAt                 time.Time           `json:"updated_at"`
	Next                      Next                `json:"next"`
}

// ActionRecord is an issued Action and what became of it (wire.md, 6.2).
type ActionRecord struct {
	Action               Action        `json:"action"`
	Outcome              *Outcome      `json:"outcome,omitempty"`
	OutcomePayloadSHA256 Digest        `json:"outcome_payload_sha256,omitempty"`
	ReviewProjection     *ReviewReport `json:"review_projection,omitempty"`
	Voided               bool          `json:"voided,omitempty"`
	Skipped              bool          `json:"skipped,omitempty"`
}

// Answer is a recorded answer to the question of an Action (wire.md, 6.3).
type Answer struct {
	ActionID             string    `json:"action_id"`
	Text                 string    `json:"text"`
	ConfirmDestructive   bool      `json:"confirm_destructive"`
	ScopeSHA256          Digest    `json:"scope_sha256,omitempty"`
	PayloadSHA256        Digest    `json:"payload_sha256"`
	SourceRevision       Digest    `json:"source_revision,omitempty"`
	RequirementsRevision Digest    `json:"requirements_revision,omitempty"`
	Active               bool      `json:"active"`
	SupersededBy         string    `json:"superseded_by,omitempty"`
	At                   time.Time `json:"at"`
}

// ResumeResult is what the last resume did (wire.md, 8.3).
type ResumeResult struct {
	Operation     ResumeOperation `json:"operation"`
	BudgetApplied bool            `json:"budget_applied"`
	CandidateID   string          `json:"candidate_id,omitempty"`
}

// RunStub is what a list shows of a Run of another worktree (wire.md, section 7).
type RunStub struct {
	ContractVersion   int               `json:"contract_version"`
	CreatedAt         time.Time         `json:"created_at"`
	Goal              string            `json:"goal"`
	ID                string            `json:"id"`
	Next              Next              `json:"next"`
	State             State             `json:"state"`
	Workspace         string            `json:"workspace"`
	WorkspaceForeign  bool              `json:"workspace_foreign"`
	WorkspaceIdentity WorkspaceIdentity `json:"workspace_identity"`
}

// ListedRun is one entry of a status list: exactly one of the two is set.
type ListedRun struct {
	Status *RunStatus
	Stub   *RunStub
}

// UnavailableRun is a Run directory that could not be read as a Run (wire.md,
// section 7; storage.md, section 10).
type UnavailableRun struct {
	ID     string `json:"id"`
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
}

// StatusList is the answer of a status without a Run id (wire.md, section 7).
type StatusList struct {
	ContractVersion int              `json:"contract_version"`
	Runs            []ListedRun      `json:"runs"`
	UnavailableRuns []UnavailableRun `json:"unavailable_runs"`
}

// CreatedAt is when the Run was started.
func (l ListedRun) CreatedAt() time.Time {
	if l.Stub != nil {
		return l.Stub.CreatedAt
	}
	return l.Status.CreatedAt
}

// RunID is the id of the Run.
func (l ListedRun) RunID() string {
	if l.Stub != nil {
		return l.Stub.ID
	}
	return l.Status.ID
}
