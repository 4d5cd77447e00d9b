package source

import (
	"errors"
	"fmt"
	"reflect"

	"slipway/schema"
)

// The functions of this file hold what a journal says about a source against the
// rules that made it (storage.md, 3.3). Nothing that Judge and Refresh make is
// refused.

// CheckStart checks the source that a Run was started with.
func CheckStart(p *schema.PinnedSource) error {
	if p.URLAliases == nil || len(p.URLAliases) > 0 {
		return errors.New("a source has former URLs at the start")
	}
	return checkCatalog(p)
}

// CheckRefreshed checks the source that a refresh under the same manifest put in
// the place of pinned, and the word that it left in the observations.
func CheckRefreshed(pinned *schema.PinnedSource, accepted Accepted, now *schema.PinnedSource, observation string) error {
	if err := checkCatalog(now); err != nil {
		return err
	}
	c := Refresh(pinned, accepted, usableHead(now))
	switch {
	case c.Verdict != Refreshed:
		return errors.New("the refreshed source does not follow on the pinned one")
	case !reflect.DeepEqual(c.Snapshot, now):
		return errors.New("the former URLs of the refreshed source are not those of the Run")
	case c.Observation != observation:
		return errors.New("the refresh is observed to be another one")
	}
	return nil
}

// CheckCandidate checks a candidate that a refresh made while pinned was pinned,
// and the word that it left in the observations.
func CheckCandidate(pinned *schema.PinnedSource, accepted Accepted, candidate *schema.SourceCandidate, observation string) error {
	head, verdict := unusableHead(candidate), InvalidCandidate
	if candidate.Valid {
		if candidate.Snapshot == nil {
			return errors.New("a valid candidate without its source")
		}
		head, verdict = usableHead(candidate.Snapshot), ValidCandidate
		if err := checkCatalog(candidate.Snapshot); err != nil {
			return err
		}
	} else if reason := unusableFault(head); reason != "" {
		return errors.New(reason)
	}
	c := Refresh(pinned, accepted, head)
	switch {
	case !isName(candidate.CandidateID):
		return errors.New("a candidate without an id")
	case c.Verdict != verdict:
		return errors.New("the candidate does not follow on the pinned source")
	case !reflect.DeepEqual(c.Candidate(candidate.CandidateID, candidate.CreatedAt), candidate):
		return errors.New("the parts of the candidate contradict each other")
	case c.Observation != observation:
		return errors.New("the candidate is observed to be another one")
	}
	return nil
}

// usableHead is the head that became p.
func usableHead(p *schema.PinnedSource) *Head {
	judged := clonePinned(p)
	judged.URLAliases = []string{}
	return &Head{
		Issue:  Issue{p.RepositoryID, p.IssueID, p.IssueNumber, p.CanonicalURL, p.Parent},
		Code:   ValidChange,
		Source: judged,
	}
}

// unusableHead is the head that became an invalid candidate.
func unusableHead(c *schema.SourceCandidate) *Head {
	return &Head{
		Issue:       Issue{c.RepositoryID, c.IssueID, c.IssueNumber, c.CanonicalURL, c.Parent},
		Code:        c.ClassificationCode,
		Reason:      c.ClassificationError,
		Observation: c.ObservationSHA256,
	}
}

func unusableFault(h *Head) string {
	switch h.Code {
	case ObjectiveMarker, UnsupportedMarker, ChangeMarkerRequired, ManifestInvalid,
		SectionMissing, SectionInvalid, SectionMinimized, SectionHashMismatch,
		SectionTooLarge, BundleTooLarge, SectionUnexpected:
	default:
		return "an invalid candidate with an unknown code"
	}
	switch {
	case !isName(h.Reason) || len(h.Reason) > MaxReasonBytes:
		return "an invalid candidate without a reason"
	case !h.Observation.Valid():
		return "an invalid candidate without the digest of its observation"
	}
	return h.Issue.fault()
}

func (i *Issue) fault() string {
	switch {
	case !isIssueNodeID(i.RepositoryID), !isIssueNodeID(i.IssueID):
		return "an Issue without its node ids"
	case i.IssueNumber < 1, issueURLNumber(i.CanonicalURL) != uint64(i.IssueNumber):
		return "an Issue without its URL"
	case i.Parent != nil && !soundParent(i.Parent):
		return "the parent of an Issue is none"
	}
	return ""
}

// checkCatalog checks a pinned source as a head left it (source.md, section 9).
func checkCatalog(p *schema.PinnedSource) error {
	m := manifestOf(p)
	reason := usableHead(p).Issue.fault()
	switch {
	case reason != "":
		return errors.New(reason)
	case p.SourceVersion != Version, p.ParserVersion != ParserVersion, p.Provider != Provider, p.Host != Host:
		return errors.New("a source of another version or provider")
	case !isName(p.Title):
		return errors.New("a source without a title")
	case m.fault() != "":
		return errors.New(m.fault())
	}
	if err := checkSections(p); err != nil {
		return err
	}
	switch {
	case p.ManifestRevision != manifestRevision(m),
		p.RequirementsRevision != requirementsRevision(p.Sections),
		p.SourceRevision != sourceRevision(p):
		return errors.New("a revision is not that of the source")
	}
	return nil
}

// manifestOf is the manifest that names the sections of p.
func manifestOf(p *schema.PinnedSource) *manifest {
	m := &manifest{
		ManifestVersion:            int64(p.ManifestVersion),
		Profile:                    p.Profile,
		ParentRequirementsRevision: p.ParentRequirementsRevision,
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		m.Sections = append(m.Sections, manifestSection{
			Key: s.Key, Role: s.Role, Title: s.Title, BodySHA256: s.BodySHA256,
			CommentNodeID: s.Provenance.CommentNodeID, CommentDatabaseID: s.Provenance.CommentDatabaseID,
		})
	}
	return m
}

func checkSections(p *schema.PinnedSource) error {
	sum := 0
	for i := range p.Sections {
		s := &p.Sections[i]
		sum += s.Bytes
		switch {
		case s.Bytes < 1 || s.Bytes > schema.MaxSectionBytes || sum > MaxBundleBytes:
			return fmt.Errorf("the section %q has an impossible size", s.Key)
		case !s.SectionRevision.Valid() || !s.MaterialSHA256.Valid():
			return fmt.Errorf("the section %q has a malformed digest", s.Key)
		case !soundProvenance(&s.Provenance, p.CanonicalURL):
			return fmt.Errorf("the section %q does not say which comment it came from", s.Key)
		}
	}
	return nil
}

// soundProvenance looks at what a manifest does not say of a comment.
func soundProvenance(o *schema.Provenance, issueURL string) bool {
	return isNodeID(o.AuthorID) && isTime(o.ObservedUpdatedAt) && o.URL == commentURL(issueURL, o.CommentDatabaseID)
}
