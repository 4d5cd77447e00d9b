package schema

import "time"

// PinnedSource is the catalog of an accepted issue source (wire.md, 8.1).
type PinnedSource struct {
	SourceVersion              int             `json:"source_version"`
	ParserVersion              int             `json:"parser_version"`
	ManifestVersion            int             `json:"manifest_version"`
	Profile                    string          `json:"profile"`
	Provider                   string          `json:"provider"`
	Host                       string          `json:"host"`
	RepositoryID               string          `json:"repository_id"`
	IssueID                    string          `json:"issue_id"`
	IssueNumber                int64           `json:"issue_number"`
	CanonicalURL               string          `json:"canonical_url"`
	URLAliases                 []string        `json:"url_aliases"`
	SourceRevision             Digest          `json:"source_revision"`
	ManifestRevision           Digest          `json:"manifest_revision"`
	RequirementsRevision       Digest          `json:"requirements_revision"`
	ParentRequirementsRevision Digest          `json:"parent_requirements_revision,omitempty"`
	Title                      string          `json:"title"`
	Parent                     *ParentIssue    `json:"parent,omitempty"`
	Sections                   []PinnedSection `json:"sections"`
}

// ParentIssue is the Issue above the one of a source.
type ParentIssue struct {
	RepositoryID string `json:"repository_id"`
	IssueID      string `json:"issue_id"`
	CanonicalURL string `json:"canonical_url"`
}

// PinnedSection is one section of a pinned source (wire.md, 8.1).
type PinnedSection struct {
	Key             string     `json:"key"`
	Role            string     `json:"role"`
	Title           string     `json:"title"`
	BodySHA256      Digest     `json:"body_sha256"`
	SectionRevision Digest     `json:"section_revision"`
	MaterialSHA256  Digest     `json:"material_sha256"`
	Bytes           int        `json:"bytes"`
	Provenance      Provenance `json:"provenance"`
}

// Provenance says which comment a section came from.
type Provenance struct {
	CommentNodeID     string `json:"comment_node_id"`
	CommentDatabaseID int64  `json:"comment_database_id"`
	URL               string `json:"url"`
	AuthorID          string `json:"author_id"`
	ObservedUpdatedAt string `json:"observed_updated_at"`
}

// SourceCandidate is a refreshed head that waits for a choice (wire.md, 8.2).
type SourceCandidate struct {
	CandidateID          string        `json:"candidate_id"`
	Valid                bool          `json:"valid"`
	Classification       string        `json:"classification"`
	ClassificationCode   string        `json:"classification_code"`
	ClassificationError  string        `json:"classification_error,omitempty"`
	SourceVersion        int           `json:"source_version"`
	ParserVersion        int           `json:"parser_version"`
	Provider             string        `json:"provider"`
	Host                 string        `json:"host"`
	RepositoryID         string        `json:"repository_id"`
	IssueID              string        `json:"issue_id"`
	IssueNumber          int64         `json:"issue_number"`
	CanonicalURL         string        `json:"canonical_url"`
	URLAliases           []string      `json:"url_aliases"`
	ObservationSHA256    Digest        `json:"observation_sha256,omitempty"`
	SourceRevision       Digest        `json:"source_revision,omitempty"`
	RequirementsRevision Digest        `json:"requirements_revision,omitempty"`
	Title                string        `json:"title,omitempty"`
	Parent               *ParentIssue  `json:"parent,omitempty"`
	Snapshot             *PinnedSource `json:"snapshot,omitempty"`
	CreatedAt            time.Time     `json:"created_at"`
}

// SourceChoice is the latest resolved candidate (wire.md, 8.4).
type SourceChoice struct {
	CandidateID       string    `json:"candidate_id"`
	Choice            string    `json:"choice"`
	ResultingActionID string    `json:"resulting_action_id"`
	At                time.Time `json:"at"`
}
