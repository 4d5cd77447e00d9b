package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// drifts are what an Issue is made of beside its requirements, one change after the
// other, with what a refresh observes and the former URLs after it (source.md, 11.3
// and 11.4). What is changed stays so.
var drifts = []struct {
	name, observed string
	change         func(*drifted)
	former         string // names of repositories; those of the line before where it is "="
}{
	{"nothing", "source_refreshed_unchanged", func(*drifted) {}, ""},
	{"labels", "source_refreshed_unchanged", func(d *drifted) { d.labels = []string{"bug", "bug"} }, "="},
	{"times of the Issue", "source_refreshed_unchanged", func(d *drifted) { d.at = "2026-02-01T00:00:00.5+01:00" }, "="},
	{"times of the comments", "source_refreshed_unchanged", func(d *drifted) { d.commentAt = "2026-02-01T00:00:00Z" }, "="},
	{"authors", "source_refreshed_unchanged", func(d *drifted) { d.author = "U_ghost" }, "="},
	{"order of the comments", "source_refreshed_unchanged", func(d *drifted) { d.backwards = true }, "="},
	{"text after the manifest", "source_refreshed_unchanged", func(d *drifted) { d.tail = "Thanks to all.\n" }, "="},
	{"title", "source_refreshed_non_material", func(d *drifted) { d.title = "Gadgets" }, "="},
	{"nothing after the title", "source_refreshed_unchanged", func(*drifted) {}, "="},
	{"repository id", "source_refreshed_non_material", func(d *drifted) { d.repositoryID = "R_2" }, "="},
	{"parent", "source_projection_drift", func(d *drifted) { d.parent = []string{"R_9", "I_9", "plan"} }, "="},
	{"the same parent", "source_refreshed_unchanged", func(*drifted) {}, "="},
	{"repository of the parent", "source_projection_drift", func(d *drifted) { d.parent[0] = "R_10" }, "="},
	{"Issue of the parent", "source_projection_drift", func(d *drifted) { d.parent[1] = "I_10" }, "="},
	{"URL of the parent", "source_projection_drift", func(d *drifted) { d.parent[2] = "plans" }, "="},
	{"no parent", "source_projection_drift", func(d *drifted) { d.parent = nil }, "="},
	{"title and parent", "source_refreshed_non_material", func(d *drifted) { d.title, d.parent = "Things", []string{"R_9", "I_9", "plan"} }, "="},
	{"number", "source_projection_drift", func(d *drifted) { d.number = 8 }, "widgets/7"},
	{"number back", "source_projection_drift", func(d *drifted) { d.number = 7 }, "widgets/8"},
	{"repository", "source_projection_drift", func(d *drifted) { d.repository = "b" }, "widgets/8 widgets/7"},
	{"another repository", "source_projection_drift", func(d *drifted) { d.repository = "c" }, "widgets/8 widgets/7 b/7"},
	{"and back to the first", "source_projection_drift", func(d *drifted) { d.repository = "widgets" }, "widgets/8 b/7 c/7"},
	{"letter case", "source_projection_drift", func(d *drifted) { d.repository = "Widgets" }, "widgets/8 b/7 c/7 widgets/7"},
	{"all at once", "source_refreshed_non_material", func(d *drifted) {
		d.title, d.repositoryID, d.repository, d.number, d.parent = "All", "R_3", "b", 7, nil
	}, "widgets/8 c/7 widgets/7 Widgets/7"},
}

type drifted struct {
	title, repositoryID, repository, author, at, commentAt, tail string
	number                                                       int
	labels, parent                                               []string // parent: repository id, Issue id, repository
	backwards                                                    bool
}

func driftURL(name string) string {
	repository, number, _ := strings.Cut(name, "/")
	return "https://github.com/example-org/" + repository + "/issues/" + number
}

// head is the Issue as it is now.
func (d *drifted) head() *issue {
	i := newIssue()
	i.url = driftURL(fmt.Sprintf("%s/%d", d.repository, d.number))
	i.change = func(envelope map[string]any) {
		envelope["title"], envelope["repository_id"], envelope["issue_number"], envelope["labels"] = d.title, d.repositoryID, d.number, d.labels
		envelope["updated_at"], envelope["fetched_at"], envelope["body"] = d.at, d.at, envelope["body"].(string)+d.tail
		comments := envelope["comments"].([]map[string]any)
		for n := range comments {
			comments[n]["updated_at"], comments[n]["author_id"] = d.commentAt, d.author
		}
		if d.backwards {
			comments[0], comments[4] = comments[4], comments[0]
		}
		if d.parent != nil {
			envelope["parent"] = map[string]any{"repository_id": d.parent[0], "issue_id": d.parent[1], "canonical_url": driftURL(d.parent[2] + "/1")}
		}
	}
	return i
}

// facts are what a pinned source says of the Issue, in short.
func (d *drifted) facts(former []any) map[string]any {
	facts := map[string]any{
		"title": d.title, "repository_id": d.repositoryID, "issue_id": "I_7", "issue_number": json.Number(fmt.Sprint(d.number)),
		"canonical_url": d.head().url, "url_aliases": former,
		"provenance": map[string]any{
			"comment_node_id": "IC_1001", "comment_database_id": json.Number("1001"), "url": d.head().url + "#issuecomment-1001",
			"author_id": d.author, "observed_updated_at": d.commentAt,
		},
	}
	if d.parent != nil {
		facts["parent"] = map[string]any{"repository_id": d.parent[0], "issue_id": d.parent[1], "canonical_url": driftURL(d.parent[2] + "/1")}
	}
	return facts
}

// factsOf are the same of a pinned source as it was answered.
func factsOf(pinned map[string]any) map[string]any {
	facts := map[string]any{"provenance": pinned["sections"].([]any)[0].(map[string]any)["provenance"]}
	for _, key := range []string{"title", "repository_id", "issue_id", "issue_number", "canonical_url", "url_aliases", "parent"} {
		if value, ok := pinned[key]; ok {
			facts[key] = value
		}
	}
	return facts
}

// TestDriftUnderTheSameManifest refreshes one Run again and again.
func TestDriftUnderTheSameManifest(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, w *world) {
		const at = "2026-01-05T08:00:00Z"
		d := &drifted{title: "Widgets", repositoryID: "R_1", repository: "widgets", author: "U_1", at: at, commentAt: at, number: 7, labels: []string{}}
		started := w.json("run --json --budget 100 --source-file " + w.file("head", d.head().envelope(t)) + " tidy")
		w.vars["RUN"] = fmt.Sprint(started["run_id"])
		former := []any{}
		for n, drift := range drifts {
			drift.change(d)
			w.file("head", d.head().envelope(t))
			w.json("stop --json $RUN")
			answer := w.json("protocol resume $RUN --source-file $TMP/head")
			if drift.former != "=" {
				former = []any{}
				for _, name := range strings.Fields(drift.former) {
					former = append(former, driftURL(name))
				}
			}
			if diff := gocmp.Diff(d.facts(former), factsOf(answer["pinned_source"].(map[string]any))); diff != "" {
				t.Errorf("%s: pinned source (-want +got):\n%s", drift.name, diff)
			}
			if answer["resume_operation"] != "source_refreshed" || answer["source_candidate"] != nil {
				t.Errorf("%s: %v", drift.name, answer["resume_operation"])
			}
			source := answer["action"].(map[string]any)["source"].(map[string]any)
			if source["canonical_url"] != d.head().url || source["source_revision"] != answer["pinned_source"].(map[string]any)["source_revision"] {
				t.Errorf("%s: the Action is about another source: %v", drift.name, source)
			}
			observed := observations(w.json("status --json $RUN"))
			if len(observed) != n+1 || observed[n] != drift.observed {
				t.Fatalf("%s: observed %v, not %s", drift.name, observed[n:], drift.observed)
			}
		}
	})
}
