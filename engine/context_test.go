package engine_test

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slipway/engine"
	"slipway/schema"
)

// TestContextIsTheReference compares the engine, which renders only what can
// fit, with the reference, which renders everything for every trial: histories
// whose items fill the context to both of its limits and beyond.
func TestContextIsTheReference(t *testing.T) {
	setFlag(t, "rapid.checks", contextChecks)
	cuts, refusals := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := contextWalk{t: t}
		w.h = startWith(t, clean, withGoal(w.goal()), withBudget(1000))
		for range 1 + dice[10].Draw(t, "operations") {
			if !w.step() {
				refusals++
			}
			if w.h.run.State() != schema.Active {
				break
			}
			if w.compare() {
				cuts++
			}
		}
		if got, want := statusJSON(t, w.h.replayed()), statusJSON(t, w.h.run); got != want {
			t.Fatalf("the contexts of a replayed Run differ")
		}
	})
	t.Logf("%d contexts were cut, %d Actions were too large", cuts, refusals)
	if cuts == 0 {
		t.Error("the limits were never met")
	}
}

type contextWalk struct {
	t *rapid.T
	h *history
}

var contextUnits = []string{"x", "\"", "\n", "\\", "\u2028", "é", "日", "🙂", "ab\r\n", "\r", "\t", "a\"\u2029b🙂\n"}

// goal leaves more or less room for the context, sometimes hardly any.
func (w *contextWalk) goal() string {
	most := schema.MaxEncodedActionBytes - startWith(w.t, clean, withGoal("g"), withBudget(1000)).action().EncodedSize() + 1
	goal := w.text("goal", w.size("goal", []int{10, 10, 60_000, 130_000, 200_000, 250_000}, 500))
	if dice[4].Draw(w.t, "hardly any room") == 0 {
		goal = strings.Repeat("g", most-dice[128].Draw(w.t, "room"))
	}
	if schema.EncodedSize(goal)-2 > most {
		return "short"
	}
	return goal
}

// size is near one of the sizes, or exactly it.
func (w *contextWalk) size(label string, near []int, spread int) int {
	n := near[dice[len(near)].Draw(w.t, label)]
	return max(1, n+rapid.IntRange(-spread, spread).Draw(w.t, "off by"))
}

// text has about n bytes and is not blank.
func (w *contextWalk) text(label string, n int) string {
	unit := contextUnits[dice[len(contextUnits)].Draw(w.t, label)]
	return "." + strings.Repeat(unit, n/len(unit))
}

var itemSizes = []int{20, 300, 5_000, 40_000, 65_000, 128_000, 130_500, 131_072}

// step adds a decision or an Outcome; false where the next Action is too large.
func (w *contextWalk) step() bool {
	h := w.h
	if dice[3].Draw(w.t, "decision") > 0 {
		o := h.outcome(summarizing(w.text("summary", w.size("size", itemSizes, 300))), suggesting(schema.Clarify, "go on"))
		if dice[2].Draw(w.t, "issues") == 1 {
			o.KnownIssues = []string{w.text("issue", w.size("size", itemSizes[:4], 10)), ""}
		}
		return w.try(submitted(w.t, o))
	}
	h.submit(asking(schema.DecisionRequired))
	return w.try(replying(h, w.text("answer", w.size("size", itemSizes, 300))))
}

func (w *contextWalk) try(c engine.Command) bool {
	before := *w.h.status()
	_, refusal := w.h.try(c, seen(clean))
	if refusal == nil {
		return true
	}
	if refusal.Code != schema.CodeActionTooLarge {
		w.t.Fatalf("refused: %v", refusal)
	}
	// The Run is as it was. What it would have become says whether that is right.
	if !reflect.DeepEqual(before, *w.h.status()) {
		w.t.Fatalf("a refused operation changed the Run")
	}
	bare := before.Actions[len(before.Actions)-1].Action
	bare.Context, bare.Brief = "", "go on"
	if room := schema.MaxEncodedActionBytes - bare.EncodedSize(); room > 2_000 {
		w.t.Fatalf("too large with room for a context of %d bytes", room)
	}
	return false
}

// compare holds the current Action against the reference; true where something
// was left out.
func (w *contextWalk) compare() bool {
	s := w.h.status()
	a := *s.CurrentAction
	want, fits := referenceContext(s, withoutContext(a))
	switch {
	case !fits:
		w.t.Fatalf("the Action should have been refused")
	case a.Context != want:
		at := firstDifference(a.Context, want)
		w.t.Fatalf("of %d bytes, want %d, the context differs at %d: %.100q, want %.100q", len(a.Context), len(want), at, a.Context[at:], want[at:])
	case len(a.Context) > schema.MaxContextBytes || a.EncodedSize() > schema.MaxEncodedActionBytes:
		w.t.Fatalf("%d bytes, the Action %d", len(a.Context), a.EncodedSize())
	}
	return strings.Contains(want, "...[truncated ") || strings.Contains(want, "\n[omitted ")
}

func withoutContext(a schema.Action) schema.Action { a.Context = ""; return a }

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// run.md, 12.1.
func TestContextLayout(t *testing.T) {
	const empty = "Decisions:\n(none)\nRecent outcome:\n(none)\nEarlier outcomes:\n(none)\n"
	h := startWith(t, clean)
	wantContext(t, h, empty)
	one := h.action().ActionID
	h.submit(suggesting(schema.Clarify, "ask"), func(o *schema.Outcome) {
		o.Summary, o.Observations = "first\r\nsecond\rthird", []string{"never in a context"}
		o.KnownIssues = []string{"one line", "two\r\nlines\rand three", "", "open end\n"}
	})
	first := "- orient action " + one + ": first\nsecond\nthird\n  Known issues:\n" +
		"  - one line\n  - two\n    lines\n    and three\n  - \n  - open end\n    \n"
	wantContext(t, h, "Decisions:\n(none)\nRecent outcome:\n"+first+"Earlier outcomes:\n(none)\n")
	two := h.action().ActionID
	h.submit(asking(schema.DecisionRequired))
	wantContext(t, h, "Decisions:\n(none)\nRecent outcome:\n"+first+"Earlier outcomes:\n(none)\n")
	h.must(replying(h, " go\r\n\rleft \n"))
	decision := "- action " + two + " decision:\n   go\n  \n  left \n  \n"
	// The question was answered, so its Action is voided and not told.
	wantContext(t, h, "Decisions:\n"+decision+"Recent outcome:\n"+first+"Earlier outcomes:\n(none)\n")
	three := h.action().ActionID
	h.submit(asking(schema.EnvironmentUnavailable)).must(engine.Skip{ActionID: three})
	skipped := "- orient action " + three + ": did orient\n"
	wantContext(t, h, "Decisions:\n"+decision+"Recent outcome:\n"+skipped+"Earlier outcomes:\n"+first)
	// Stopped without an Outcome: nothing to tell.
	h.must(stop).must(resume)
	wantContext(t, h, "Decisions:\n"+decision+"Recent outcome:\n"+skipped+"Earlier outcomes:\n"+first)
}

func wantContext(t *testing.T, h *history, want string) {
	t.Helper()
	if got := h.action().Context; got != want {
		t.Errorf("context:\n%q\nwant\n%q", got, want)
	}
}

// Decisions stand in order of acceptance, superseded ones and confirmations not
// at all.
func TestContextDecisions(t *testing.T) {
	h := startWith(t, clean)
	answer := func(text string, edits ...func(*schema.Outcome)) string {
		id := h.action().ActionID
		h.submit(append([]func(*schema.Outcome){asking(schema.DecisionRequired)}, edits...)...)
		h.must(replying(h, text))
		return id
	}
	a, b := answer("A"), answer("B")
	wantInOrder(t, h.action().Context, a+" decision:\n  A\n", b+" decision:\n  B\n")
	c := answer("C", superseding(a))
	wantInOrder(t, h.action().Context, "Decisions:\n- action "+b+" decision:\n  B\n- action "+c+" decision:\n  C\nRecent")
	earlier := h.status().Actions[2].Action.Context
	if !strings.Contains(earlier, "  A\n") {
		t.Error("the context of an earlier Action was rewritten")
	}
	h.toImplement().submit(asking(schema.DestructiveConfirmationRequired))
	asked := h.action().ActionID
	confirm := confirming(h)
	confirm.Text = "a note"
	h.must(confirm)
	if text := h.action().Context; strings.Contains(text, "a note") || !strings.Contains(text, "Recent outcome:\n- implement action "+asked) {
		t.Errorf("a confirmation in the context:\n%s", text)
	}
}

// The mark of a cut item describes the whole item (run.md, 12.2).
func TestContextTruncation(t *testing.T) {
	h := startWith(t, clean)
	id := h.action().ActionID
	summary := strings.Repeat("é", 100_000)
	h.submit(suggesting(schema.Clarify, "go on"), summarizing(summary))
	item := fmt.Sprintf("- orient action %s: %s\n", id, summary)
	mark := fmt.Sprintf("...[truncated original_bytes=%d sha256=%x]\n", len(item), sha256.Sum256([]byte(item)))
	text := h.action().Context
	if len(text) < schema.MaxContextBytes-1 || len(text) > schema.MaxContextBytes {
		t.Errorf("%d bytes", len(text))
	}
	if !strings.HasSuffix(text, "é"+mark+"Earlier outcomes:\n(none)\n") {
		t.Errorf("ends with %q", text[len(text)-200:])
	}
	h.submit(suggesting(schema.Clarify, "go on"))
	if text = h.action().Context; !strings.Contains(text, "Recent outcome:\n- clarify") || !strings.HasSuffix(text, mark) {
		t.Errorf("the older item gives way: %q", text[len(text)-200:])
	}
	h.submit(suggesting(schema.Clarify, "go on"), summarizing(summary))
	if text = h.action().Context; !strings.HasSuffix(text, "Earlier outcomes:\n[omitted earlier outcomes: 2]\n") {
		t.Errorf("what is left out is counted: %q", text[len(text)-200:])
	}
	h.submit(asking(schema.DecisionRequired)).must(replying(h, summary))
	wantInOrder(t, h.action().Context, "...[truncated ", "Recent outcome:\n[omitted recent outcomes: 1]\n", "[omitted earlier outcomes: 2]\n")
	h.submit(asking(schema.DecisionRequired)).must(replying(h, summary))
	wantInOrder(t, h.action().Context, "Decisions:\n- action ", "...[truncated ", "[omitted decisions: 1]\nRecent outcome:\n")
}

// Where goal and brief leave no room for the headings no Action can be issued,
// and nothing is recorded (run.md, section 5).
func TestContextWithoutRoom(t *testing.T) {
	a := *startWith(t, clean, withGoal("g")).action()
	room := schema.MaxEncodedActionBytes - a.EncodedSize()
	for _, spare := range []int{0, 150, 300, 500} {
		h := startWith(t, clean, withoutReview, withGoal(strings.Repeat("g", room+1-spare)))
		c := submitted(t, h.outcome(suggesting(schema.Clarify, repeated("b", 8192))))
		refusalCase{history: h, command: c, code: schema.CodeActionTooLarge, bare: true}.run(t)
	}
}
