package schema

import "time"

// ContractVersion is the only version of the contract that this package speaks
// (wire.md, 1.3).
const ContractVersion = 2

// Limits of an Action, in bytes (wire.md, section 4).
const (
	MaxGoalBytes          = 262_144
	MaxBriefBytes         = 8_192
	MaxContextBytes       = 131_072
	MaxEncodedActionBytes = 262_144
)

// Kind is what an Action asks for.
type Kind string

// The five kinds of Action (wire.md, section 4).
const (
	Orient    Kind = "orient"
	Clarify   Kind = "clarify"
	Implement Kind = "implement"
	Review    Kind = "review"
	Summarize Kind = "summarize"
)

// Action is one step of a Run as it was issued to the host (wire.md, section 4).
// It never changes after that.
type Action struct {
	ContractVersion          int            `json:"contract_version"`
	RunID                    string         `json:"run_id"`
	ActionID                 string         `json:"action_id"`
	Kind                     Kind           `json:"kind"`
	Goal                     string         `json:"goal"`
	Brief                    string         `json:"brief"`
	Context                  string         `json:"context"`
	Source                   *ActionSource  `json:"source,omitempty"`
	Requirements             *Requirements  `json:"requirements,omitempty"`
	DestructiveAuthorization *Authorization `json:"destructive_authorization,omitempty"`
	RemainingBudget          int            `json:"remaining_budget"`
}

// ActionSource names the pinned source that an Action of an issue-backed Run
// follows (wire.md, 4.1).
type ActionSource struct {
	Kind                 string `json:"kind"`
	CanonicalURL         string `json:"canonical_url"`
	IssueID              string `json:"issue_id"`
	SourceRevision       Digest `json:"source_revision"`
	ManifestRevision     Digest `json:"manifest_revision"`
	RequirementsRevision Digest `json:"requirements_revision"`
}

// Requirements is the catalog of the sections that an Action must follow, and
// the command that reads one of them (wire.md, 4.2).
type Requirements struct {
	RequirementsRevision Digest               `json:"requirements_revision"`
	Sections             []RequirementSection `json:"sections"`
	RequiredForAction    []string             `json:"required_for_action"`
	Reader               Reader               `json:"reader"`
}

// RequirementSection is one entry of the catalog in an Action.
type RequirementSection struct {
	Key             string `json:"key"`
	Role            string `json:"role"`
	Title           string `json:"title"`
	SectionRevision Digest `json:"section_revision"`
	MaterialSHA256  Digest `json:"material_sha256"`
	Bytes           int    `json:"bytes"`
}

// Reader is the command that reads one section; the host appends the flag of
// its single input and a key.
type Reader struct {
	Operation string   `json:"operation"`
	BaseArgv  []string `json:"base_argv"`
	Input     Input    `json:"input"`
}

// Authorization allows one destructive scope for one Action (wire.md, 4.3;
// run.md, 10.4). As the Run's destructive_grant it is the same value.
type Authorization struct {
	RequestID           string    `json:"request_id"`
	OriginatingActionID string    `json:"originating_action_id"`
	ScopeVersion        int       `json:"scope_version"`
	ScopeSHA256         Digest    `json:"scope_sha256"`
	Targets             []Target  `json:"targets"`
	Impact              string    `json:"impact"`
	ConfirmedAt         time.Time `json:"confirmed_at"`
}
