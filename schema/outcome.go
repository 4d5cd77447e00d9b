package schema

// MaxOutcomeBytes bounds the Outcome document, white space included
// (wire.md, section 11).
const MaxOutcomeBytes = 1_048_576

// Outcome is what a host reports about one Action (wire.md, 3.1).
type Outcome struct {
	ContractVersion  int             `json:"contract_version"`
	ActionID         string          `json:"action_id"`
	ActionKind       Kind            `json:"action_kind"`
	Status           OutcomeStatus   `json:"status"`
	Summary          string          `json:"summary"`
	Observations     []string        `json:"observations"`
	KnownIssues      []string        `json:"known_issues"`
	SuggestedActions []Suggestion    `json:"suggested_actions"`
	Pause            *Pause          `json:"pause"`
	Implementation   *Implementation `json:"implementation"`
	Review           *ReviewReport   `json:"review"`
}

// OutcomeStatus says how an Action went.
type OutcomeStatus string

// The statuses of an Outcome. There is none for "skipped": skipping is an
// operation of its own.
const (
	Completed  OutcomeStatus = "completed"
	NeedsInput OutcomeStatus = "needs_input"
	Partial    OutcomeStatus = "partial"
	Failed     OutcomeStatus = "error"
)

// Suggestion is an Action that an Orient or Clarify proposes (wire.md, 3.2).
type Suggestion struct {
	Kind  Kind   `json:"kind"`
	Brief string `json:"brief"`
}

// Pause is the question of a needs_input Outcome (wire.md, 3.3).
type Pause struct {
	Reason                   PauseReason         `json:"reason"`
	Question                 string              `json:"question"`
	DestructiveRequest       *DestructiveRequest `json:"destructive_request"`
	SupersedesAnswerActionID *string             `json:"supersedes_answer_action_id,omitempty"`
}

// DestructiveRequest asks for permission to do what can not be undone
// (wire.md, 3.4; run.md, 10.1).
type DestructiveRequest struct {
	RequestID   string   `json:"request_id"`
	Targets     []Target `json:"targets"`
	Impact      string   `json:"impact"`
	ScopeSHA256 Digest   `json:"scope_sha256"`
}

// Target is one thing that a destructive request would touch.
type Target struct {
	Kind  TargetKind `json:"kind"`
	Value string     `json:"value"`
}

// TargetKind is the kind of a Target.
type TargetKind string

// The kinds of Target.
const (
	TargetPath             TargetKind = "path"
	TargetGitRef           TargetKind = "git_ref"
	TargetExternalResource TargetKind = "external_resource"
	TargetDataDomain       TargetKind = "data_domain"
)

// Implementation is the branch of an Outcome that Implement alone has
// (wire.md, 3.5).
type Implementation struct {
	Result        ImplementationResult `json:"result"`
	FilesChanged  []string             `json:"files_changed"`
	Activities    []Activity           `json:"activities"`
	Uncertainties []string             `json:"uncertainties"`
	Attempts      int64                `json:"attempts"`
}

// ImplementationResult is the host's own word on what an Implement did.
type ImplementationResult string

// The results of an Implement.
const (
	ResultApplied   ImplementationResult = "applied"
	ResultPartial   ImplementationResult = "partial"
	ResultNotNeeded ImplementationResult = "not_needed"
	ResultUnable    ImplementationResult = "unable"
)

// Activity is a check that the host ran.
type Activity struct {
	Kind     ActivityKind `json:"kind"`
	Command  string       `json:"command"`
	ExitCode int64        `json:"exit_code"`
	Summary  string       `json:"summary"`
}

// ActivityKind is the kind of an Activity.
type ActivityKind string

// The kinds of Activity.
const (
	ActivityTest      ActivityKind = "test"
	ActivityTypecheck ActivityKind = "typecheck"
	ActivityBuild     ActivityKind = "build"
	ActivityLint      ActivityKind = "lint"
)

// ReviewReport is the branch of an Outcome that Review alone has (wire.md,
// 3.6), and the projection of a skipped Review.
type ReviewReport struct {
	Result        ReviewResult `json:"result"`
	Findings      []Finding    `json:"findings"`
	Uncertainties []string     `json:"uncertainties"`
}

// ReviewResult is the result of a Review.
type ReviewResult string

// The results of a Review. ReviewNotRun is Slipway's own mark of a skipped one.
const (
	ReviewNoFindings   ReviewResult = "no_findings_reported"
	ReviewFindings     ReviewResult = "findings_reported"
	ReviewInconclusive ReviewResult = "inconclusive"
	ReviewError        ReviewResult = "error"
	ReviewNotRun       ReviewResult = "not_run"
)

// Finding is one point of a Review.
type Finding struct {
	Location string `json:"location"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
}
