package schema

// The two kinds of material messages (wire.md, 8.5).
const (
	ActionMaterialType = "action_material"
	PinnedMaterialType = "pinned_material"
)

// ActionMaterial is the text of a section that an Action must follow (wire.md,
// 8.5).
type ActionMaterial struct {
	ContractVersion      int             `json:"contract_version"`
	MessageType          string          `json:"message_type"`
	RunID                string          `json:"run_id"`
	ActionID             string          `json:"action_id"`
	RequirementsRevision Digest          `json:"requirements_revision"`
	Section              MaterialSection `json:"section"`
}

// PinnedMaterial is the text of a section of the pinned source, for inspection
// alone: it authorizes nothing (wire.md, 8.5).
type PinnedMaterial struct {
	ContractVersion      int             `json:"contract_version"`
	MessageType          string          `json:"message_type"`
	RunID                string          `json:"run_id"`
	RunState             State           `json:"run_state"`
	SourceRevision       Digest          `json:"source_revision"`
	RequirementsRevision Digest          `json:"requirements_revision"`
	Section              MaterialSection `json:"section"`
}

// MaterialSection is a section with its text: the pinned bytes exactly.
type MaterialSection struct {
	Key             string `json:"key"`
	Role            string `json:"role"`
	Title           string `json:"title"`
	SectionRevision Digest `json:"section_revision"`
	Markdown        string `json:"markdown"`
}
