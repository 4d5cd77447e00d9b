package main

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// TestBudgetOfAResume: source.md, section 14, for each way of going on. initial is
// the budget at the start; spent Runs have nothing left of it.
func TestBudgetOfAResume(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	for _, budget := range []struct {
		name, option string
		initial      int
		spent        bool
		want         int // what remains after the Orient
	}{
		{"given, some left", "--budget 5", 8, false, 4},
		{"given, nothing left", "--budget 1", 8, true, 0},
		{"given, as much as there is", "--budget 1000", 8, false, 999},
		{"some left", "", 8, false, 6},
		{"nothing left of much", "", 8, true, 7},
		{"nothing left of little", "", 2, true, 2},
		{"nothing left of three", "", 3, true, 2},
		{"one left", "", 2, false, 0},
	} {
		for _, way := range []string{"--source-file $TMP/same", "--use-pinned-source", "pinned", "adopt", "unusable"} {
			w.start(map[string]any{"source": newIssue().envelope(t), "budget": budget.initial})
			w.pinned()
			w.stop()
			if budget.spent {
				w.do("run/resume", map[string]any{"run": w.vars["RUN"], "use_pinned_source": true, "budget": 1})
				w.stop()
			}
			left := map[bool]int{false: budget.initial - 1}[budget.spent]
			w.file("same", newIssue().envelope(t))
			option := way
			switch way {
			case "unusable":
				w.checkUnbudgeted(unusable(), budget.name, left)
				option = "--source-choice pinned --candidate $CANDIDATE"
			case "pinned", "adopt":
				w.checkUnbudgeted(w.amended(), budget.name, left)
				option = "--source-choice " + way + " --candidate $CANDIDATE"
			}
			answer := w.json("protocol resume $RUN " + option + " " + budget.option)
			action, status := answer["action"].(map[string]any), w.statusOf(w.vars["RUN"])
			if got := fmt.Sprintln(action["remaining_budget"], status["remaining_budget"], status["initial_budget"]); got != fmt.Sprintln(budget.want, budget.want, budget.initial) {
				t.Errorf("%s, %s: %s, not %d", budget.name, way, got, budget.want)
			}
		}
	}
}

// checkUnbudgeted makes a candidate: its budget waits for the choice.
func (w *world) checkUnbudgeted(head *issue, name string, left int) {
	w.t.Helper()
	w.file("head", head.envelope(w.t))
	answer := w.json("protocol resume $RUN --source-file $TMP/head --budget 9")
	w.vars["CANDIDATE"] = fmt.Sprint(answer["source_candidate"].(map[string]any)["candidate_id"])
	if status := w.statusOf(w.vars["RUN"]); fmt.Sprintln(status["remaining_budget"], answer["budget_applied"]) != fmt.Sprintln(left, false) {
		w.t.Errorf("%s: %v remain while the candidate waits, not %d", name, status["remaining_budget"], left)
	}
}

// TestAnswersAndTheRequirementsTheyWereGivenUnder follows two answers through the
// rest of a Run (source.md, section 15).
func TestAnswersAndTheRequirementsTheyWereGivenUnder(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.start(map[string]any{"source": newIssue().envelope(t), "budget": 100})
	w.pinned()
	first := w.vars["REQUIREMENTS"]
	w.decide("the left one")
	w.counts("given", "the left one")

	w.stop()
	w.do("run/resume", map[string]any{"run": w.vars["RUN"], "use_pinned_source": true})
	w.counts("skipped", "the left one")
	w.stop()
	renamed := newIssue()
	renamed.change = func(envelope map[string]any) { envelope["title"] = "Gadgets" }
	w.do("run/resume", map[string]any{"run": w.vars["RUN"], "source": renamed.envelope(t)})
	w.counts("refreshed", "the left one")

	w.take(w.amended(), "pinned")
	w.counts("kept", "the left one")
	w.take(unusable(), "pinned")
	w.counts("kept after an unusable head", "the left one")

	reissued := newIssue()
	reissued.parent, reissued.comments[1].id = first, 2002
	w.take(reissued, "adopt")
	if w.vars["REQUIREMENTS"] != first {
		t.Fatalf("a reissued comment changes the requirements: %s", w.vars["REQUIREMENTS"])
	}
	w.counts("adopted with the same requirements", "the left one")

	second := w.amended()
	second.comments[1].id = 2002
	w.take(second, "adopt")
	w.counts("adopted with others", "")
	w.superseded("the left one", "requirements:"+w.vars["REQUIREMENTS"])
	old := w.vars["REQUIREMENTS"]
	w.decide("the right one")
	w.counts("given under the others", "the right one")

	back := newIssue()
	back.parent = old
	w.take(back, "adopt")
	if w.vars["REQUIREMENTS"] != first {
		t.Fatalf("the first texts are other requirements: %s", w.vars["REQUIREMENTS"])
	}
	w.counts("the first requirements again", "")
	w.superseded("the left one", "requirements:"+old)
	w.superseded("the right one", "requirements:"+first)
}

// decide answers a question of the current Action.
func (w *world) decide(text string) {
	w.submit(asks(schema.DecisionRequired, "which one?"))
	w.answer(text)
}

// take stops the Run, refreshes it and makes a choice about the candidate.
func (w *world) take(head *issue, choice string) {
	w.t.Helper()
	w.stop()
	w.refresh(head)
	w.choose(choice)
}

// counts looks which answer is a decision of the Run: active in its status, and in
// the context of the Action; "" for none.
func (w *world) counts(when, text string) {
	w.t.Helper()
	status := w.statusOf(w.vars["RUN"])
	context := fmt.Sprint(status["current_action"].(map[string]any)["context"])
	for _, answer := range []string{"the left one", "the right one"} {
		if strings.Contains(context, answer) != (answer == text) {
			w.t.Errorf("%s: %q in the context: %q", when, answer, context)
		}
	}
	var active []string
	for _, entry := range status["answers"].([]any) {
		if answer := entry.(map[string]any); answer["active"] == true {
			active = append(active, fmt.Sprint(answer["text"]))
		}
	}
	if got := strings.Join(active, ", "); got != text {
		w.t.Errorf("%s: %q counts, not %q", when, got, text)
	}
}

// superseded looks by what an answer is.
func (w *world) superseded(text, by string) {
	w.t.Helper()
	for _, entry := range w.statusOf(w.vars["RUN"])["answers"].([]any) {
		answer := entry.(map[string]any)
		if answer["text"] != text {
			continue
		}
		if diff := gocmp.Diff(map[string]any{"active": false, "by": by}, map[string]any{"active": answer["active"], "by": answer["superseded_by"]}); diff != "" {
			w.t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		return
	}
	w.t.Errorf("no answer %q", text)
}
