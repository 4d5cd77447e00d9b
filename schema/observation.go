package schema

// Observation is what Slipway saw in a worktree at one moment
// (git-observation.md, section 1). It holds digests and bounded metadata, never
// the content of a file, and says nothing about who changed what.
type Observation struct {
	Version                    int               `json:"version"`
	Head                       string            `json:"head"`
	IndexFingerprint           Digest            `json:"index_fingerprint"`
	StatusFingerprint          Digest            `json:"status_fingerprint"`
	SnapshotHash               Digest            `json:"snapshot_hash"`
	PathCount                  int               `json:"path_count"`
	PathFingerprint            Digest            `json:"path_fingerprint"`
	DetailsTruncated           bool              `json:"details_truncated"`
	ContentObservationComplete bool              `json:"content_observation_complete"`
	ContentBytesHashed         int64             `json:"content_bytes_hashed"`
	ContentByteLimit           int64             `json:"content_byte_limit"`
	ContentByteLimitExceeded   bool              `json:"content_byte_limit_exceeded"`
	ContentDeadlineExceeded    bool              `json:"content_deadline_exceeded"`
	DirtyFiles                 []string          `json:"dirty_files"`
	PathObservations           []PathObservation `json:"path_observations"`
}

// UnbornHead is the Head of a branch without a commit.
const UnbornHead = "unborn"

// PathObservation is one dirty path (git-observation.md, sections 1 and 4).
type PathObservation struct {
	Path                   string   `json:"path"`
	Category               string   `json:"category"`
	State                  string   `json:"state"`
	Observation            PathKind `json:"observation"`
	Size                   *int64   `json:"size,omitempty"`
	ModifiedUnixNano       *int64   `json:"modified_unix_nano,omitempty"`
	ContentSHA256          Digest   `json:"content_sha256,omitempty"`
	ContentFingerprintKind string   `json:"content_fingerprint_kind,omitempty"`
}

// PathKind is what stood at a dirty path.
type PathKind string

// The kinds of a dirty path (git-observation.md, 4.1).
const (
	PathMissing           PathKind = "missing"
	PathUnreadable        PathKind = "unreadable"
	PathSymlink           PathKind = "symlink"
	PathNonRegular        PathKind = "non_regular"
	PathRegular           PathKind = "regular"
	PathOversizeSampled   PathKind = "oversize_sampled"
	PathContentUnobserved PathKind = "content_unobserved"
)

// The ways in which content becomes a digest (git-observation.md, section 1).
const (
	FullContent    = "full_sha256"
	OversizeSample = "oversize_samples_v1"
	SymlinkTarget  = "symlink_target_sha256"
)
