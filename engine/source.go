package engine

import (
	"errors"
	"strings"

	"slipway/schema"
	"slipway/source"
)

// sourced is what an issue-backed Run has beyond an ad-hoc one (source.md). All
// of it is empty in an ad-hoc Run.
type sourced struct {
	pinned    *schema.PinnedSource
	candidate *schema.SourceCandidate // waits for a choice; nil while none does
	accepted  source.Accepted         // the comments of every source that was pinned
	choices   []resolved              // in order
}

// resolved is a candidate for which a choice was made. It is remembered for good,
// so that the choice can be repeated (source.md, 12.3).
type resolved struct {
	schema.SourceChoice
	operation schema.ResumeOperation
}

// The choices for a candidate.
const (
	choosePinned = "pinned"
	chooseAdopt  = "adopt"
)

// resumeOperations names the operation that each kind of resume reports.
var resumeOperations = map[EventType]schema.ResumeOperation{
	RunResumed:             schema.AdHocResumed,
	SourceRefreshed:        schema.SourceRefreshed,
	SourceCandidateCreated: schema.SourceCandidateCreated,
	SourceRefreshSkipped:   schema.SourceRefreshSkipped,
	SourceAmended:          schema.SourceAmended,
	SourcePinned:           schema.SourcePinned,
}

// requirementsOf is the requirements revision of a source; empty without one.
func requirementsOf(p *schema.PinnedSource) schema.Digest {
	if p == nil {
		return ""
	}
	return p.RequirementsRevision
}

// revisions are those of the pinned source; empty in an ad-hoc Run.
func (r *Run) revisions() (sourceRevision, requirementsRevision schema.Digest) {
	if r.pinned == nil {
		return "", ""
	}
	return r.pinned.SourceRevision, r.pinned.RequirementsRevision
}

// pin takes a source whose comments are accepted from then on.
func (r *Run) pin(p *schema.PinnedSource) {
	r.pinned = p
	r.accepted = r.accepted.With(p)
}

// applySource carries out what a resume did to the source of the Run.
func (r *Run) applySource(c *Change, e Event) error {
	switch e.Type {
	case SourceRefreshed, SourceCandidateCreated, SourceRefreshSkipped:
		if r.pinned == nil || r.candidate != nil {
			return errors.New("a source was looked at where there is none, or while a candidate waits")
		}
	case RunResumed:
		if r.pinned != nil {
			return errors.New("an issue-backed Run was resumed without a word about its source")
		}
	}
	switch e.Type {
	case SourceRefreshed:
		if err := source.CheckRefreshed(r.pinned, r.accepted, c.Refreshed, strings.Join(c.Observations, "\n")); err != nil {
			return err
		}
		r.pinned = c.Refreshed
	case SourceCandidateCreated:
		return r.applyCandidate(c, e)
	case SourcePinned:
		return r.applyChoice(c, e, choosePinned)
	case SourceAmended:
		return r.applyChoice(c, e, chooseAdopt)
	}
	return nil
}

// applyCandidate takes a candidate that waits from then on.
func (r *Run) applyCandidate(c *Change, e Event) error {
	switch {
	case c.Candidate.CandidateID != c.Resumed.CandidateID, r.choiceOf(c.Candidate.CandidateID) != nil:
		return errors.New("a candidate has two names, or the name of another one")
	case !c.Candidate.CreatedAt.Equal(e.At):
		return errors.New("a candidate was not made when it was recorded")
	}
	r.candidate = c.Candidate
	return source.CheckCandidate(r.pinned, r.accepted, c.Candidate, strings.Join(c.Observations, "\n"))
}

// applyChoice resolves the candidate that waits (source.md, 12.2).
func (r *Run) applyChoice(c *Change, e Event, choice string) error {
	candidate := r.candidate
	switch {
	case candidate == nil || candidate.CandidateID != c.Resumed.CandidateID:
		return errors.New("a choice about a candidate that does not wait")
	case choice == chooseAdopt && !candidate.Valid:
		return errors.New("an unusable candidate was adopted")
	case c.Issued == nil:
		return errors.New("a choice without an Action")
	}
	if choice == choosePinned {
		r.pinned = source.KeepPinned(r.pinned, candidate)
	} else {
		r.adopt(source.Adopt(candidate))
	}
	r.candidate = nil
	r.choices = append(r.choices, resolved{
		SourceChoice: schema.SourceChoice{
			CandidateID: candidate.CandidateID, Choice: choice, ResultingActionID: c.Issued.ActionID, At: e.At,
		},
		operation: c.Resumed.Operation,
	})
	return nil
}

// adopt pins an amendment. Answers that were given under other requirements do
// not count any more (source.md, section 15).
func (r *Run) adopt(p *schema.PinnedSource) {
	if p.RequirementsRevision != r.pinned.RequirementsRevision {
		for i, a := range r.answers {
			if a.Active {
				r.supersede(i, "requirements:"+string(p.RequirementsRevision))
			}
		}
	}
	r.pin(p)
}

// choiceOf finds what was chosen for a candidate; nil where nothing was.
func (r *Run) choiceOf(candidateID string) *resolved {
	for i := range r.choices {
		if r.choices[i].CandidateID == candidateID {
			return &r.choices[i]
		}
	}
	return nil
}

// lastChoice is the latest resolved candidate; nil where there is none.
func (r *Run) lastChoice() *schema.SourceChoice {
	if n := len(r.choices); n > 0 {
		return &r.choices[n-1].SourceChoice
	}
	return nil
}
