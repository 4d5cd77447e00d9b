package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// refreshing is an envelope and what comes of it: the code of a refusal, "valid",
// "unchanged", or the classification of a head that can not be used.
type refreshing struct {
	name, verdict string
	edit          func(*world, *issue) // of the Issue as the Run began with it
}

// amends makes the head an amendment of the pinned revision.
func amends(edit func(*issue)) func(*world, *issue) {
	return func(w *world, i *issue) {
		i.parent = w.vars["REQUIREMENTS"]
		edit(i)
	}
}

// forks edits a head that names no revision.
func forks(edit func(*issue)) func(*world, *issue) {
	return func(_ *world, i *issue) { edit(i) }
}

func rewrite(i *issue) { i.comments[0].text = "Another text.\n" }
func reissue(i *issue) { i.comments[0].id = 2001 }
func swap(i *issue)    { i.comments[0], i.comments[1] = i.comments[1], i.comments[0] }
func spoil(i *issue)   { i.body = unusable().body }
func leave(i *issue)   { i.id = "I_8" }
func nothingElse(*issue) {
	// The parent line alone is another manifest.
}

// hide minimizes a comment, which makes a head unusable whose manifest is not.
func hide(i *issue) {
	i.change = func(envelope map[string]any) { envelope["comments"].([]map[string]any)[0]["is_minimized"] = true }
}

func away(i *issue) { i.url = elsewhere("the-last") }

func both(edits ...func(*issue)) func(*issue) {
	return func(i *issue) {
		for _, edit := range edits {
			edit(i)
		}
	}
}

const (
	inPlace         = string(schema.CodeSourceHistoryInPlaceEdit)
	fork            = string(schema.CodeSourceHistoryFork)
	otherIssue      = string(schema.CodeSourceIssueMismatch)
	movedTooOften   = string(schema.CodeSourceAliasLimit)
	foreignRevision = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
)

// everyRefresh are the rows of source.md, 11.2 and 13, each alone and before the
// ones that it precedes, by the state that the Run is in.
func everyRefresh() map[string][]refreshing {
	return map[string][]refreshing{
		"source,stopped": {
			{"other Issue", otherIssue, forks(leave)},
			{"other Issue, unusable", otherIssue, forks(both(leave, spoil))},
			{"other Issue, edited", otherIssue, amends(both(leave, rewrite))},
			{"other Issue, fork", otherIssue, forks(both(leave, reissue))},
			{"other Issue, amended", otherIssue, amends(both(leave, reissue))},
			{"other Issue, moved", otherIssue, forks(both(leave, away))},
			{"unusable", "objective_marker", forks(spoil)},
			{"unusable, edited", "source_section_minimized", forks(both(hide, rewrite))},
			{"unusable, fork", "source_section_minimized", forks(both(hide, reissue))},
			{"unusable, amended", "source_section_minimized", amends(both(hide, reissue))},
			{"unusable, the same", "source_section_minimized", forks(hide)},
			{"edited text", inPlace, amends(rewrite)},
			{"edited text in a fork", inPlace, forks(rewrite)},
			{"edited key", inPlace, amends(func(i *issue) { i.comments[0].key = "result" })},
			{"edited title", inPlace, amends(func(i *issue) { i.comments[0].title = "Result" })},
			{"edited role", inPlace, amends(func(i *issue) {
				i.comments[0].role = "requirements"
				i.comments = append(i.comments, issueComment{key: "more", role: "outcome", text: "More.\n", id: 2001})
			})},
			{"text of another role's comment", inPlace, amends(func(i *issue) {
				i.comments[0].text, i.comments[1].text = i.comments[1].text, i.comments[0].text
			})},
			{"node id rebound", inPlace, amends(func(i *issue) { i.comments[0].node, i.comments[0].id = "IC_1001", 2001 })},
			{"database id rebound", inPlace, amends(func(i *issue) { i.comments[0].node = "IC_2001" })},
			{"database id of another comment", inPlace, amends(func(i *issue) {
				i.comments[0].node, i.comments[0].id, i.comments[1].id = "IC_2001", 1002, 2002
			})},
			{"no parent", fork, forks(reissue)},
			{"foreignRevision parent", fork, func(_ *world, i *issue) { i.parent = foreignRevision; reissue(i) }},
			{"only the parent, foreignRevision", fork, func(_ *world, i *issue) { i.parent = foreignRevision }},
			{"order, no parent", fork, forks(swap)},
			{"only the parent", "valid", amends(nothingElse)},
			{"order", "valid", amends(swap)},
			{"reissued comment", "valid", amends(reissue)},
			{"new text in a new comment", "valid", amends(both(reissue, rewrite))},
			{"the same", "unchanged", forks(nothingElse)},
			{"other line ends", "unchanged", forks(func(i *issue) {
				i.change = func(envelope map[string]any) {
					comment := envelope["comments"].([]map[string]any)[0]
					comment["body"] = strings.ReplaceAll(comment["body"].(string), "\n", "\r\n")
				}
			})},
		},
		"kept,stopped": {
			{"edited draft", "valid", amends(both(reissue, rewrite))},
			{"draft under other ids", "valid", amends(func(i *issue) { i.comments[0].node, i.comments[0].id = "IC_2001", 2002 })},
			{"amendment of the draft", fork, func(w *world, i *issue) { i.parent = w.vars["DRAFT"]; reissue(i) }},
			{"the first source again", "unchanged", forks(nothingElse)},
		},
		"adopted,stopped": {
			{"retired comment comes back", "valid", amends(nothingElse)},
			{"retired comment comes back edited", inPlace, amends(rewrite)},
			{"retired number under another node id", inPlace, amends(func(i *issue) { i.comments[0].node = "IC_2002" })},
			{"adopted draft edited", inPlace, amends(both(reissue, rewrite))},
			{"amendment of the first source", fork, func(w *world, i *issue) { i.parent = w.vars["FIRST"]; reissue(i); i.comments[0].id = 2002 }},
			{"the first source again", fork, forks(nothingElse)},
			{"what was adopted", "unchanged", func(w *world, i *issue) {
				adopted := w.amended()
				adopted.parent = w.vars["FIRST"]
				*i = *adopted
			}},
		},
		"source,stopped,moved": {
			{"once more", movedTooOften, forks(away)},
			{"once more, another Issue", otherIssue, forks(both(away, leave))},
			{"once more, unusable", movedTooOften, forks(both(away, spoil))},
			{"once more, edited", movedTooOften, amends(both(away, rewrite))},
			{"once more, fork", movedTooOften, forks(both(away, reissue))},
			{"once more, amended", movedTooOften, amends(both(away, reissue))},
			{"stays, unusable", "objective_marker", forks(func(i *issue) { i.url = elsewhere("widgets-63"); spoil(i) })},
			{"stays, amended", "valid", amends(func(i *issue) { i.url = elsewhere("widgets-63"); reissue(i) })},
			{"back, unusable", "objective_marker", forks(func(i *issue) { i.url = elsewhere("widgets-7"); spoil(i) })},
			{"and from there, once more", movedTooOften, forks(away)},
		},
	}
}

// TestEveryRefresh gives a Run one envelope after the other. What would change the
// requirements is not taken, so that each one meets the same Run.
func TestEveryRefresh(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t)
	for state, cases := range everyRefresh() {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			w := shared.world(t)
			steps, moved := strings.CutSuffix(state, ",moved")
			w.bring(steps)
			if moved {
				w.move(64)
			}
			for n, c := range cases {
				head := newIssue()
				c.edit(w, head)
				w.file("head", head.envelope(t))
				w.meets(c, []string{"SLIPWAY_DAEMON=require", "SLIPWAY_DAEMON=off"}[n%2])
			}
		})
	}
}

// meets refreshes a stopped Run with the envelope in head, and stops it again.
func (w *world) meets(c refreshing, mode string) {
	w.t.Helper()
	status, files := w.statusOf(w.vars["RUN"]), w.stored(w.vars["RUN"])
	const line = "protocol resume $RUN --source-file $TMP/head --budget 5"
	if strings.HasPrefix(c.verdict, "source_history") || c.verdict == otherIssue || c.verdict == movedTooOften {
		w.refusesHead(c, line, status)
		if diff := gocmp.Diff(files, w.stored(w.vars["RUN"])); diff != "" {
			w.t.Errorf("%s: changes what is stored:\n%s", c.name, diff)
		}
		if diff := gocmp.Diff(status, w.statusOf(w.vars["RUN"])); diff != "" {
			w.t.Errorf("%s: changes the status:\n%s", c.name, diff)
		}
		return
	}
	answer := w.answerOf(mode, line)
	after := w.statusOf(w.vars["RUN"])
	candidate, _ := answer["source_candidate"].(map[string]any)
	want := fmt.Sprint("source_candidate_created false source_candidate_invalid ", c.verdict)
	switch c.verdict {
	case "valid":
		want = "source_candidate_created false source_amendment_candidate valid_change"
	case "unchanged":
		want = "source_refreshed true source_refreshed_unchanged <nil>"
	}
	seen := observations(after)
	got := fmt.Sprint(answer["resume_operation"], " ", answer["budget_applied"], " ", seen[len(seen)-1], " ", candidate["classification_code"])
	if got != want || len(seen) != len(observations(status))+1 {
		w.t.Errorf("%s (%s): %s, not %s", c.name, mode, got, want)
	}
	if candidate == nil {
		w.stop()
		return
	}
	w.vars["CANDIDATE"] = fmt.Sprint(candidate["candidate_id"])
	w.checkCandidate(c, candidate, files)
	if diff := gocmp.Diff(status["pinned_source"], after["pinned_source"]); diff != "" {
		w.t.Errorf("%s: the pinned source changes before the choice:\n%s", c.name, diff)
	}
	w.choose("pinned")
	w.stop()
}

// refusesHead holds the refusal of a head against the last lines of source.md, 11.2.
func (w *world) refusesHead(c refreshing, line string, status map[string]any) {
	w.t.Helper()
	expected := wrong{code: schema.Code(c.verdict), exit: 3, line: line, next: "start start-with-source", details: runDetails}
	details := map[string]any{"run_id": w.vars["RUN"], "state": "stopped"}
	switch c.verdict {
	case otherIssue:
		expected.details = "pinned_issue_id refreshed_issue_id run_id state"
		details["pinned_issue_id"], details["refreshed_issue_id"] = "I_7", "I_8"
	case inPlace:
		expected.next = sourceNext
	}
	failure := w.onTheLine(expected)
	if diff := gocmp.Diff(details, failure["details"]); diff != "" {
		w.t.Errorf("%s: details (-want +got):\n%s", c.name, diff)
	}
	if c.verdict == inPlace {
		return
	}
	variant := failure["next"].(map[string]any)["variants"].([]any)[0].(map[string]any)
	argv := fmt.Sprintf("[slipway run --budget %v --json --root %s --no-review]", status["initial_budget"], w.vars["ROOT"])
	if got := fmt.Sprint(variant["base_argv"]); got != argv {
		w.t.Errorf("%s: next is %s, not %s", c.name, got, argv)
	}
}

// The keys of a candidate (source.md, 12.1); parent only where the Issue has one.
const (
	candidateKeys = "candidate_id canonical_url classification classification_code created_at host issue_id issue_number parser_version " +
		"provider repository_id source_version url_aliases valid"
	validKeys   = candidateKeys + " requirements_revision snapshot source_revision title"
	invalidKeys = candidateKeys + " classification_error observation_sha256"
)

// checkCandidate looks at what a candidate says, and at what is stored for it.
func (w *world) checkCandidate(c refreshing, candidate map[string]any, files map[string]string) {
	w.t.Helper()
	keys, brief := invalidKeys, "false invalid"
	if c.verdict == "valid" {
		keys, brief = validKeys, "true valid"
	}
	want := map[string]bool{}
	for _, key := range strings.Fields(keys) {
		want[key] = true
	}
	got := map[string]bool{}
	for key := range maps.Keys(candidate) {
		got[key] = true
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s: keys of the candidate (-want +got):\n%s", c.name, diff)
	}
	if shown := fmt.Sprint(candidate["valid"], " ", candidate["classification"]); shown != brief {
		w.t.Errorf("%s: %s, not %s", c.name, shown, brief)
	}
	if c.verdict == "valid" {
		if diff := gocmp.Diff(candidate["url_aliases"], candidate["snapshot"].(map[string]any)["url_aliases"]); diff != "" {
			w.t.Errorf("%s: two lists of former URLs:\n%s", c.name, diff)
		}
		return
	}
	for path := range w.stored(w.vars["RUN"]) {
		if _, before := files[path]; !before {
			w.t.Errorf("%s: %s is stored", c.name, path)
		}
	}
}
