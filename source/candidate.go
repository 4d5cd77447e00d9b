package source

import (
	"slices"
	"time"

	"slipway/schema"
)

// The classifications of a candidate (source.md, 12.1).
const (
	ClassifiedValid   = "valid"
	ClassifiedInvalid = "invalid"
)

// Candidate makes the candidate of a comparison whose verdict is ValidCandidate
// or InvalidCandidate (source.md, 12.1); it panics for any other. id is new and
// at is the time of the record that makes it.
func (c *Comparison) Candidate(id string, at time.Time) *schema.SourceCandidate {
	if c.Verdict != ValidCandidate && c.Verdict != InvalidCandidate {
		panic("source: this verdict makes no candidate")
	}
	issue := &c.head.Issue
	candidate := &schema.SourceCandidate{
		CandidateID:        id,
		Classification:     ClassifiedInvalid,
		ClassificationCode: c.head.Code,
		SourceVersion:      Version,
		ParserVersion:      ParserVersion,
		Provider:           Provider,
		Host:               Host,
		RepositoryID:       issue.RepositoryID,
		IssueID:            issue.IssueID,
		IssueNumber:        issue.IssueNumber,
		CanonicalURL:       issue.CanonicalURL,
		URLAliases:         slices.Clone(c.aliases),
		Parent:             cloneParent(issue.Parent),
		CreatedAt:          at,
	}
	if c.Verdict == InvalidCandidate {
		candidate.ClassificationError = c.head.Reason
		candidate.ObservationSHA256 = c.head.Observation
		return candidate
	}
	candidate.Valid = true
	candidate.Classification = ClassifiedValid
	candidate.SourceRevision = c.Snapshot.SourceRevision
	candidate.RequirementsRevision = c.Snapshot.RequirementsRevision
	candidate.Title = c.Snapshot.Title
	candidate.Snapshot = clonePinned(c.Snapshot)
	return candidate
}

// KeepPinned is the pinned source after the choice "pinned" (source.md, 12.2):
// what was accepted stays, and the Issue is where the candidate found it, also an
// invalid one.
func KeepPinned(pinned *schema.PinnedSource, candidate *schema.SourceCandidate) *schema.PinnedSource {
	kept := clonePinned(pinned)
	kept.RepositoryID = candidate.RepositoryID
	kept.IssueNumber = candidate.IssueNumber
	kept.CanonicalURL = candidate.CanonicalURL
	kept.URLAliases = append([]string{}, candidate.URLAliases...)
	kept.Parent = cloneParent(candidate.Parent)
	kept.SourceRevision = sourceRevision(kept)
	return kept
}

// Adopt is the pinned source after the choice "adopt" of a valid candidate
// (source.md, 12.2). It panics for an invalid one, which has nothing to adopt.
// The comments of the result are accepted from then on ([Accepted.With]).
func Adopt(candidate *schema.SourceCandidate) *schema.PinnedSource {
	if candidate.Snapshot == nil {
		panic("source: an invalid candidate can not be adopted")
	}
	return clonePinned(candidate.Snapshot)
}
