package source_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
	"slipway/source"
)

// pinnedPage is a Run that started from page.
func pinnedPage(t testing.TB) (*schema.PinnedSource, source.Accepted) {
	p := page().head(t).Source
	return p, source.Accepted{}.With(p)
}

var somewhere = &schema.ParentIssue{RepositoryID: "R_o", IssueID: "I_o", CanonicalURL: "https://github.com/example-org/plan/issues/1"}

// The rows of source.md, 11.2 and 11.3.
func TestRefresh(t *testing.T) {
	tests := []struct {
		name        string
		edit        func(c *change)
		verdict     source.Verdict
		refusal     schema.Code
		observation string
	}{
		{"the same", func(*change) {}, source.Refreshed, "", source.RefreshedUnchanged},
		{"other title", func(c *change) { c.title = "Print two" }, source.Refreshed, "", source.RefreshedNonMaterial},
		{"other repository", func(c *change) { c.repositoryID = "R_x" }, source.Refreshed, "", source.RefreshedNonMaterial},
		{"other repository and number", func(c *change) { c.repositoryID, c.number = "R_x", 6 }, source.Refreshed, "", source.RefreshedNonMaterial},
		{"other number", func(c *change) { c.number = 6 }, source.Refreshed, "", source.ProjectionDrift},
		{"other URL", func(c *change) { c.repository = "example-org/pages" }, source.Refreshed, "", source.ProjectionDrift},
		{"a parent", func(c *change) { c.issueParent = somewhere }, source.Refreshed, "", source.ProjectionDrift},
		{"other issue", func(c *change) { c.issueID = "I_other" }, source.OtherIssue, schema.CodeSourceIssueMismatch, ""},
		{"amendment", func(c *change) { *c = amended() }, source.ValidCandidate, "", source.AmendmentCandidate},
		{"amendment without parent", func(c *change) { *c = amended(); c.parent = "" }, source.Fork, schema.CodeSourceHistoryFork, ""},
		{"amendment of another", func(c *change) { *c = amended(); c.parent = framed("x") }, source.Fork, schema.CodeSourceHistoryFork, ""},
		{"only a parent line, and the right one", func(c *change) { c.parent = firstRevision }, source.ValidCandidate, "", source.AmendmentCandidate},
		{"only a parent line, and a wrong one", func(c *change) { c.parent = framed("x") }, source.Fork, schema.CodeSourceHistoryFork, ""},
		{"only another order", func(c *change) {
			c.sections[0], c.sections[1] = c.sections[1], c.sections[0]
		}, source.Fork, schema.CodeSourceHistoryFork, ""},
		{"reissued comment", func(c *change) {
			c.sections[0].node, c.sections[0].number, c.parent = "IC_99", 99, firstRevision
		}, source.ValidCandidate, "", source.AmendmentCandidate},
		{"edited payload", func(c *change) { c.sections[0].payload, c.parent = "Two.\n", firstRevision }, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"edited payload in a fork", func(c *change) { c.sections[0].payload = "Two.\n" }, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"edited title", func(c *change) { c.sections[0].title, c.parent = "Out", firstRevision }, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"edited key", func(c *change) { c.sections[0].key, c.parent = "out", firstRevision }, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"edited role", func(c *change) {
			c.sections = append(c.sections, section{"more", "constraints", "More", "More.\n", "IC_16", 16})
			c.sections[3].role, c.parent = "outcome", firstRevision
		}, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"node id with another number", func(c *change) { c.sections[0].number, c.parent = 99, firstRevision }, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"number with another node id", func(c *change) { c.sections[0].node, c.parent = "IC_99", firstRevision }, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"number of a dropped comment with new text", func(c *change) {
			c.sections[0].node, c.sections[0].payload, c.parent = "IC_99", "New.\n", firstRevision
		}, source.InPlaceEdit, schema.CodeSourceHistoryInPlaceEdit, ""},
		{"other issue, edited and forked", func(c *change) {
			c.issueID, c.sections[0].payload = "I_other", "Two.\n"
		}, source.OtherIssue, schema.CodeSourceIssueMismatch, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pinned, accepted := pinnedPage(t)
			before := encode(pinned)
			c := page()
			test.edit(&c)
			h := c.head(t)
			got := source.Refresh(pinned, accepted, h)
			if got.Verdict != test.verdict || got.Refusal() != test.refusal || got.Observation != test.observation {
				t.Fatalf("verdict %d, refusal %q (%s), observation %q", got.Verdict, got.Refusal(), got.Reason, got.Observation)
			}
			if (got.Reason != "") != (test.refusal != "") || !schema.IsPlain(got.Reason) {
				t.Errorf("reason %q", got.Reason)
			}
			if keeps := got.Snapshot != nil; keeps != (test.refusal == "") {
				t.Errorf("has a snapshot: %t", keeps)
			} else if keeps {
				checkSnapshot(t, pinned, h, &got)
			}
			if encode(pinned) != before {
				t.Error("the pinned source changed")
			}
		})
	}
}

func checkSnapshot(t *testing.T, pinned *schema.PinnedSource, h *source.Head, c *source.Comparison) {
	t.Helper()
	want := *h.Source
	if h.Issue.CanonicalURL != pinned.CanonicalURL {
		want.URLAliases = []string{pinned.CanonicalURL}
	}
	if diff := cmp.Diff(&want, c.Snapshot); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(h.Materials, c.Materials); diff != "" {
		t.Errorf("materials (-want +got):\n%s", diff)
	}
}

func TestUnusableHeadOnRefresh(t *testing.T) {
	pinned, accepted := pinnedPage(t)
	e := page().envelope()
	e.Body, e.Comments = "# Nothing yet", []source.Comment{}
	h := source.Judge(decoded(t, e))
	if c := source.Refresh(pinned, accepted, &h); c.Verdict != source.InvalidCandidate || c.Observation != source.CandidateInvalid || c.Snapshot != nil {
		t.Errorf("verdict %d, observation %q", c.Verdict, c.Observation)
	}
	e.IssueID = "I_other"
	h = source.Judge(decoded(t, e))
	if c := source.Refresh(pinned, accepted, &h); c.Verdict != source.OtherIssue {
		t.Errorf("of another Issue: verdict %d", c.Verdict)
	}
}

// The worked rules of source.md, 11.4.
func TestFormerURLs(t *testing.T) {
	at := func(n int64) string { return fmt.Sprintf("https://github.com/example-org/page/issues/%d", n) }
	many := func(from, to int64) []string {
		all := []string{}
		for n := from; n <= to; n++ {
			all = append(all, at(n))
		}
		return all
	}
	tests := []struct {
		name    string
		aliases []string
		to      int64
		want    []string // nil: one too many
	}{
		{"stays", []string{}, 5, []string{}},
		{"stays, with others", []string{at(1)}, 5, []string{at(1)}},
		{"moves", []string{}, 6, []string{at(5)}},
		{"moves on", []string{at(4)}, 6, []string{at(4), at(5)}},
		{"moves back", []string{at(4)}, 4, []string{at(5)}},
		{"moves back between", []string{at(3), at(4), at(2)}, 4, []string{at(3), at(2), at(5)}},
		{"moves from a former URL", []string{at(5), at(4)}, 6, []string{at(5), at(4)}},
		{"fills", many(100, 162), 6, append(many(100, 162), at(5))},
		{"one too many", many(100, 163), 6, nil},
		{"full and stays", many(100, 163), 5, many(100, 163)},
		{"full and moves back", many(100, 163), 100, append(many(101, 163), at(5))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pinned, accepted := pinnedPage(t)
			pinned.URLAliases = test.aliases
			c := page()
			c.number = test.to
			got := source.Refresh(pinned, accepted, c.head(t))
			e := c.envelope()
			e.Body = ""
			h := source.Judge(decoded(t, e))
			unusable := source.Refresh(pinned, accepted, &h)
			if test.want == nil {
				if got.Verdict != source.AliasLimit || got.Refusal() != schema.CodeSourceAliasLimit || got.Reason == "" || unusable.Verdict != source.AliasLimit {
					t.Errorf("verdicts %d and %d", got.Verdict, unusable.Verdict)
				}
				return
			}
			if diff := cmp.Diff(test.want, got.Snapshot.URLAliases); diff != "" {
				t.Errorf("refreshed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, unusable.Candidate("id", time.Time{}).URLAliases); diff != "" {
				t.Errorf("invalid candidate (-want +got):\n%s", diff)
			}
		})
	}
}

// A Run remembers what it pinned, retired comments included, and nothing of a
// candidate that it did not adopt (source.md, 13.2).
func TestAcceptedComments(t *testing.T) {
	first, accepted := pinnedPage(t)
	second := amended().head(t).Source
	both := accepted.With(second)

	back := page() // the retired comment comes back unchanged
	back.parent = second.RequirementsRevision
	if c := source.Refresh(second, both, back.head(t)); c.Verdict != source.ValidCandidate {
		t.Errorf("a retired comment that comes back: verdict %d (%s)", c.Verdict, c.Reason)
	}
	back.sections[1].payload = "- Print it thrice.\n"
	if c := source.Refresh(second, both, back.head(t)); c.Verdict != source.InPlaceEdit {
		t.Errorf("a retired comment that comes back changed: verdict %d", c.Verdict)
	}
	draft := amended()
	draft.sections[1].payload = "- Print it thrice.\n"
	if c := source.Refresh(first, accepted, draft.head(t)); c.Verdict != source.ValidCandidate {
		t.Errorf("a draft that is edited: verdict %d (%s)", c.Verdict, c.Reason)
	}
	if c := source.Refresh(second, both, draft.head(t)); c.Verdict != source.InPlaceEdit {
		t.Errorf("an adopted draft that is edited: verdict %d", c.Verdict)
	}
	swapped := page()
	swapped.parent = second.RequirementsRevision
	swapped.sections[1].node = "IC_1001" // with the number of the retired comment
	swapped.sections[1].payload = "- Print it twice.\n"
	if c := source.Refresh(second, both, swapped.head(t)); c.Verdict != source.InPlaceEdit {
		t.Errorf("ids of two accepted comments mixed: verdict %d", c.Verdict)
	}
}

func TestCommentTimesAuthorsMayChange(t *testing.T) {
	pinned, accepted := pinnedPage(t)
	e := page().envelope()
	e.Labels, e.FetchedAt = []string{}, "2026-02-01T00:00:00Z"
	e.Comments[0].AuthorID, e.Comments[0].UpdatedAt = "U_ghost", "2026-02-01T00:00:00.5+01:00"
	h := source.Judge(decoded(t, e))
	c := source.Refresh(pinned, accepted, &h)
	if c.Verdict != source.Refreshed || c.Observation != source.RefreshedUnchanged {
		t.Fatalf("verdict %d, observation %q", c.Verdict, c.Observation)
	}
	if got := c.Snapshot.Sections[0].Provenance; got.AuthorID != "U_ghost" || got.ObservedUpdatedAt != "2026-02-01T00:00:00.5+01:00" {
		t.Errorf("provenance %+v", got)
	}
}
