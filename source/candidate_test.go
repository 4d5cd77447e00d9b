package source_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
	"slipway/source"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// moved is the amendment in another place.
func moved() change {
	c := amended()
	c.repositoryID, c.repository, c.number, c.issueParent, c.title = "R_new", "example-org/new", 77, somewhere, "Print a page twice"
	return c
}

func TestValidCandidate(t *testing.T) {
	pinned, accepted := pinnedPage(t)
	c := source.Refresh(pinned, accepted, moved().head(t))
	got := c.Candidate("the-id", noon)
	snapshot := *moved().head(t).Source
	snapshot.URLAliases = []string{pinned.CanonicalURL}
	want := &schema.SourceCandidate{
		CandidateID: "the-id", Valid: true, Classification: "valid", ClassificationCode: "valid_change",
		SourceVersion: 2, ParserVersion: 2, Provider: "github", Host: "github.com",
		RepositoryID: "R_new", IssueID: "I_page_5", IssueNumber: 77, CanonicalURL: moved().url(),
		URLAliases: []string{pinned.CanonicalURL}, SourceRevision: snapshot.SourceRevision,
		RequirementsRevision: snapshot.RequirementsRevision, Title: "Print a page twice", Parent: somewhere,
		Snapshot: &snapshot, CreatedAt: noon,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("candidate (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&snapshot, source.Adopt(got)); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
}

func invalidHead(t testing.TB) *source.Head {
	e := moved().envelope()
	e.Comments[0].IsMinimized = true
	h := source.Judge(decoded(t, e))
	return &h
}

func TestInvalidCandidate(t *testing.T) {
	pinned, accepted := pinnedPage(t)
	h := invalidHead(t)
	c := source.Refresh(pinned, accepted, h)
	want := &schema.SourceCandidate{
		CandidateID: "the-id", Classification: "invalid", ClassificationCode: "source_section_minimized",
		ClassificationError: h.Reason, SourceVersion: 2, ParserVersion: 2, Provider: "github", Host: "github.com",
		RepositoryID: "R_new", IssueID: "I_page_5", IssueNumber: 77, CanonicalURL: moved().url(),
		URLAliases: []string{pinned.CanonicalURL}, Parent: somewhere, ObservationSHA256: h.Observation, CreatedAt: noon,
	}
	if diff := cmp.Diff(want, c.Candidate("the-id", noon)); diff != "" {
		t.Errorf("candidate (-want +got):\n%s", diff)
	}
}

// Only two verdicts make a candidate, and only a valid one can be adopted.
func TestWrongUsePanics(t *testing.T) {
	pinned, accepted := pinnedPage(t)
	refreshed := source.Refresh(pinned, accepted, page().head(t))
	invalid := source.Refresh(pinned, accepted, invalidHead(t))
	for name, use := range map[string]func(){
		"candidate of a refreshed source": func() { refreshed.Candidate("id", noon) },
		"adopting an invalid candidate":   func() { source.Adopt(invalid.Candidate("id", noon)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			use()
		}()
	}
}

// The left column of source.md, 12.2, for both kinds of candidate.
func TestKeepPinned(t *testing.T) {
	pinned, accepted := pinnedPage(t)
	before := encode(pinned)
	for _, h := range []*source.Head{moved().head(t), invalidHead(t)} {
		c := source.Refresh(pinned, accepted, h)
		want := *pinned
		want.RepositoryID, want.IssueNumber, want.CanonicalURL = "R_new", 77, moved().url()
		want.URLAliases, want.Parent = []string{pinned.CanonicalURL}, somewhere
		want.SourceRevision = framed("slipway-source/v2", "2", "github.com", "R_new", "I_page_5", "Print a page", string(pinned.ManifestRevision))
		if diff := cmp.Diff(&want, source.KeepPinned(pinned, c.Candidate("id", noon))); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	}
	if encode(pinned) != before {
		t.Error("the pinned source changed")
	}
}

func TestKeepPinnedWithoutParent(t *testing.T) {
	c := page()
	c.issueParent = somewhere
	pinned := c.head(t).Source
	compared := source.Refresh(pinned, source.Accepted{}.With(pinned), amended().head(t))
	kept := source.KeepPinned(pinned, compared.Candidate("id", noon))
	if kept.Parent != nil || kept.SourceRevision != pinned.SourceRevision {
		t.Errorf("parent %v, source revision %s", kept.Parent, kept.SourceRevision)
	}
}
