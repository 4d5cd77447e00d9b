package source

import (
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// The classification codes of a head (source.md, 8.2). The reserved
// invalid_change_body is none of them: version 2 never says it.
const (
	ValidChange          = "valid_change"
	ObjectiveMarker      = "objective_marker"
	UnsupportedMarker    = "unsupported_marker"
	ChangeMarkerRequired = "change_marker_required"
	ManifestInvalid      = "source_manifest_invalid"
	SectionMissing       = "source_section_missing"
	SectionInvalid       = "source_section_invalid"
	SectionMinimized     = "source_section_minimized"
	SectionHashMismatch  = "source_section_hash_mismatch"
	SectionTooLarge      = "source_section_too_large"
	BundleTooLarge       = "source_bundle_too_large"
	SectionUnexpected    = "source_section_unexpected"
)

// Issue is what a head says about its Issue, usable or not.
type Issue struct {
	RepositoryID string
	IssueID      string
	IssueNumber  int64
	CanonicalURL string
	Parent       *schema.ParentIssue // nil where the envelope has none
}

// Head is the body and the comments of one envelope, judged together. It keeps
// nothing of the envelope but what a Run may store (source.md, section 10).
type Head struct {
	Issue Issue
	// Code is ValidChange for a usable head, else what is wrong with it.
	Code string
	// Reason says the same to people: non-blank plain, at most MaxReasonBytes.
	// It is empty for a usable head.
	Reason string
	// Observation is the observation digest of a head that is not usable.
	Observation schema.Digest
	// Source is the pinned source that a usable head becomes, without former URLs.
	Source *schema.PinnedSource
	// Materials are the payloads of a usable head, each once, in manifest order.
	Materials []Material
}

// Material is the payload of a section, stored under its digest.
type Material struct {
	Digest  schema.Digest
	Content []byte
}

// Usable reports whether the head can be pinned.
func (h *Head) Usable() bool { return h.Source != nil }

// MaxReasonBytes is the most bytes of a classification_error.
const MaxReasonBytes = 1_024

// headFault is a check of source.md, 8.2 that fails.
type headFault struct {
	code   string
	reason string
}

// Judge holds the head of an envelope that [DecodeEnvelope] accepted against the
// checks of source.md, 8.2; the first one that fails decides.
func Judge(e *Envelope) Head {
	h := Head{Issue: Issue{
		RepositoryID: e.RepositoryID,
		IssueID:      e.IssueID,
		IssueNumber:  e.IssueNumber,
		CanonicalURL: e.CanonicalURL,
		Parent:       cloneParent(e.Parent),
	}}
	body := normalise(e.Body)
	comments := readComments(e.Comments)
	m, b, fault := judge(body, comments)
	if fault != nil {
		h.Code, h.Reason = fault.code, cut(fault.reason, MaxReasonBytes)
		h.Observation = observationDigest(e, body, comments)
		return h
	}
	h.Code = ValidChange
	h.Source = catalog(e, m, b.sections)
	h.Materials = b.materials
	return h
}

func judge(body string, comments []readComment) (*manifest, *bundle, *headFault) {
	text, fault := manifestText(body)
	if fault != nil {
		return nil, nil, fault
	}
	m, fault := decodeManifest(text)
	if fault != nil {
		return nil, nil, fault
	}
	b, fault := readSections(m, comments)
	if fault != nil {
		return nil, nil, fault
	}
	return m, b, nil
}

// ParserVersion is the version of the rules that make a pinned source of an
// envelope.
const ParserVersion = 2

// catalog is the pinned source of a usable head (source.md, section 9).
func catalog(e *Envelope, m *manifest, sections []schema.PinnedSection) *schema.PinnedSource {
	p := &schema.PinnedSource{
		SourceVersion:              Version,
		ParserVersion:              ParserVersion,
		ManifestVersion:            ManifestVersion,
		Profile:                    Profile,
		Provider:                   Provider,
		Host:                       Host,
		RepositoryID:               e.RepositoryID,
		IssueID:                    e.IssueID,
		IssueNumber:                e.IssueNumber,
		CanonicalURL:               e.CanonicalURL,
		URLAliases:                 []string{},
		ManifestRevision:           manifestRevision(m),
		RequirementsRevision:       requirementsRevision(sections),
		ParentRequirementsRevision: m.ParentRequirementsRevision,
		Title:                      e.Title,
		Parent:                     cloneParent(e.Parent),
		Sections:                   sections,
	}
	p.SourceRevision = sourceRevision(p)
	return p
}

func cloneParent(p *schema.ParentIssue) *schema.ParentIssue {
	if p == nil {
		return nil
	}
	clone := *p
	return &clone
}

// cut shortens a reason to its limit without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.Clone(s[:limit])
}
