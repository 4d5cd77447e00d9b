package source

import (
	"slices"

	"slipway/schema"
)

// MaxURLAliases is the most former URLs of an Issue that a Run keeps.
const MaxURLAliases = 64

// What a resume with a source appends to the observations of its Run (source.md,
// 11.3). The first five belong to a [Comparison].
const (
	RefreshedNonMaterial = "source_refreshed_non_material"
	ProjectionDrift      = "source_projection_drift"
	RefreshedUnchanged   = "source_refreshed_unchanged"
	CandidateInvalid     = "source_candidate_invalid"
	AmendmentCandidate   = "source_amendment_candidate"
	RefreshSkipped       = "source_refresh_skipped"
	ChoicePinned         = "source_pinned"
	ChoiceAmended        = "source_amended"
)

// Verdict is the row of source.md, 11.2 that decides about a refreshed head.
type Verdict int

// The verdicts in the order in which they are looked for.
const (
	OtherIssue       Verdict = iota + 1 // refused: another Issue
	AliasLimit                          // refused: one former URL too many
	InvalidCandidate                    // the head is not usable
	InPlaceEdit                         // refused: an accepted comment changed
	Fork                                // refused: the amendment is of another revision
	ValidCandidate                      // an amendment that can be adopted
	Refreshed                           // the same manifest
)

// Comparison is what a refreshed head means for a Run.
type Comparison struct {
	Verdict Verdict
	// Reason says to people why the head is refused; it is empty otherwise.
	Reason string
	// Observation is the word for the observations of the Run; it is empty where
	// the head is refused.
	Observation string
	// Snapshot is the pinned source that the head became (Refreshed) or would
	// become (ValidCandidate), former URLs merged. It is nil otherwise.
	Snapshot *schema.PinnedSource
	// Materials are the texts of Snapshot, to be stored before it is recorded.
	Materials []Material

	head    *Head
	aliases []string
}

// Refusal is the error code of a verdict that refuses the head. It is empty for
// InvalidCandidate, ValidCandidate and Refreshed.
func (c *Comparison) Refusal() schema.Code {
	switch c.Verdict {
	case OtherIssue:
		return schema.CodeSourceIssueMismatch
	case AliasLimit:
		return schema.CodeSourceAliasLimit
	case InPlaceEdit:
		return schema.CodeSourceHistoryInPlaceEdit
	case Fork:
		return schema.CodeSourceHistoryFork
	}
	return ""
}

// Refresh holds a head against what a Run has pinned and accepted (source.md,
// 11.2, 11.3, 11.4 and 13). It changes none of its arguments.
func Refresh(pinned *schema.PinnedSource, accepted Accepted, h *Head) Comparison {
	if h.Issue.IssueID != pinned.IssueID {
		return Comparison{Verdict: OtherIssue, Reason: "the envelope is of another Issue than the source of the Run"}
	}
	aliases := mergeAliases(pinned, h.Issue.CanonicalURL)
	if len(aliases) > MaxURLAliases {
		return Comparison{Verdict: AliasLimit, Reason: "the Issue has moved too often: its former URLs are more than a Run keeps"}
	}
	if !h.Usable() {
		return Comparison{Verdict: InvalidCandidate, Observation: CandidateInvalid, head: h, aliases: aliases}
	}
	if reason := accepted.editFault(h.Source); reason != "" {
		return Comparison{Verdict: InPlaceEdit, Reason: reason}
	}
	c := Comparison{head: h, aliases: aliases, Snapshot: clonePinned(h.Source), Materials: h.Materials}
	c.Snapshot.URLAliases = slices.Clone(aliases)
	switch {
	case h.Source.ManifestRevision == pinned.ManifestRevision:
		c.Verdict, c.Observation = Refreshed, drift(pinned, h.Source)
	case h.Source.ParentRequirementsRevision == pinned.RequirementsRevision:
		c.Verdict, c.Observation = ValidCandidate, AmendmentCandidate
	default:
		return Comparison{Verdict: Fork, Reason: "the manifest is an amendment of another requirements revision than the pinned one"}
	}
	return c
}

// drift names what changed under the same manifest (source.md, 11.3).
func drift(before, now *schema.PinnedSource) string {
	switch {
	case now.SourceRevision != before.SourceRevision:
		return RefreshedNonMaterial
	case now.IssueNumber != before.IssueNumber, now.CanonicalURL != before.CanonicalURL, !sameParent(now.Parent, before.Parent):
		return ProjectionDrift
	}
	return RefreshedUnchanged
}

func sameParent(a, b *schema.ParentIssue) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// mergeAliases returns the former URLs once the Issue is at url (source.md, 11.4).
func mergeAliases(pinned *schema.PinnedSource, url string) []string {
	aliases := append([]string{}, pinned.URLAliases...)
	if url == pinned.CanonicalURL {
		return aliases
	}
	if !slices.Contains(aliases, pinned.CanonicalURL) {
		aliases = append(aliases, pinned.CanonicalURL)
	}
	return slices.DeleteFunc(aliases, func(alias string) bool { return alias == url })
}

func clonePinned(p *schema.PinnedSource) *schema.PinnedSource {
	clone := *p
	clone.URLAliases = append([]string{}, p.URLAliases...)
	clone.Parent = cloneParent(p.Parent)
	clone.Sections = slices.Clone(p.Sections)
	return &clone
}
