package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slipway/schema"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func boardOf(t *testing.T) *board {
	t.Helper()
	started := noon.Add(-90 * time.Minute)
	run := func(id string, state schema.State, changed time.Duration, goal string) schema.ListedRun {
		return schema.ListedRun{Status: &schema.RunStatus{
			ID: id, State: state, Goal: goal, Workspace: "/w", InitialBudget: 8, RemainingBudget: 5, CreatedAt: started, UpdatedAt: noon.Add(-changed),
			CurrentAction: &schema.Action{ActionID: "a", Kind: schema.Implement},
		}}
	}
	paused := run("paused-run", schema.Paused, 3*time.Second, "ask\tfirst")
	paused.Status.PauseReason = schema.DecisionRequired
	paused.Status.Actions = []schema.ActionRecord{{
		Action: *paused.Status.CurrentAction, Outcome: &schema.Outcome{Pause: &schema.Pause{Question: "red or \x1b[31mblue?"}},
	}}
	b := &board{root: "/w"}
	b.show(&schema.StatusList{
		Runs: []schema.ListedRun{
			run("ended-run", schema.Ended, time.Hour, "done"),
			run("active-run", schema.Active, time.Minute, "日本語"+strings.Repeat(" and more", 20)),
			paused,
			run("stopped-run", schema.Stopped, 50*time.Hour, "later"),
			{Stub: &schema.RunStub{ID: "foreign-run", Goal: "theirs", Workspace: "/v", CreatedAt: started}},
		},
		UnavailableRuns: []schema.UnavailableRun{{ID: "broken-run", Code: schema.CodeRunJournalInvalid, Detail: "torn"}},
	})
	return b
}

func TestBoard(t *testing.T) {
	for width, want := range map[int][]string{
		80: {
			"/w                                                                6 Runs, 2 live",
			"RUN         STATE   ACTION    BUDGET    AGE  LAST GOAL",
			"paused-run  paused  implement 5/8       1h   3s   ask first",
			"            decision_required: red or \\u001b[31mblue?",
			"active-run  active  implement 5/8       1h   1m   日本語 and more and more and …",
			"stopped-run stopped           5/8       1h   2d   later",
			"ended-run   ended             5/8       1h   1h   done",
			"foreign-run foreign                     1h   1h   /v: theirs",
			"broken-run  error                                 run_journal_invalid: torn",
		},
		50: {
			"/w                                  6 Runs, 2 live",
			"RUN",
			"  STATE   ACTION    BUDGET    AGE  LAST GOAL",
			"paused-run",
			"  paused  implement 5/8       1h   3s   ask first",
			"  decision_required: red or \\u001b[31mblue?",
			"active-run",
			"  active  implement 5/8       1h   1m   日本語 …",
			"stopped-run",
			"  stopped           5/8       1h   2d   later",
			"ended-run",
			"  ended             5/8       1h   1h   done",
			"foreign-run",
			"  foreign                     1h   1h   /v: theirs",
			"broken-run",
			"  error                                 run_journ…",
		},
	} {
		head, body := painter{width: width}.lines(boardOf(t), noon)
		if got := append(head, body...); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the board is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestBoardShowsIDsThatCommandsTake: whole ones, on every line that has room.
func TestBoardShowsIDsThatCommandsTake(t *testing.T) {
	const id = "4d505b52-a1be-4efb-be74-6b00327f2b1a"
	b := &board{root: "/w"}
	b.show(&schema.StatusList{Runs: []schema.ListedRun{{Status: &schema.RunStatus{ID: id, State: schema.Stopped}}}})
	for width := len(id); width < 140; width++ {
		_, body := painter{width: width}.lines(b, noon)
		if !strings.HasPrefix(body[0], id) {
			t.Fatalf("%d cells: %q", width, body)
		}
	}
}

// TestWhatARunWaitsFor: a question of a host, or the choice between requirements.
func TestWhatARunWaitsFor(t *testing.T) {
	for want, run := range map[string]*schema.RunStatus{
		"":                 {State: schema.Active, SourceCandidate: &schema.SourceCandidate{}},
		"budget_exhausted": {State: schema.Paused, PauseReason: schema.BudgetExhausted},
		"decision_required: the Issue has changed, a choice is due": {
			State: schema.Paused, PauseReason: schema.DecisionRequired, SourceCandidate: &schema.SourceCandidate{},
		},
	} {
		if got := entryOf(run).waits; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBoardFitsAnyWidth(t *testing.T) {
	for width := range 100 {
		head, body := painter{width: width}.lines(boardOf(t), noon)
		for _, line := range append(head, body...) {
			if cellsOf(line) > width {
				t.Fatalf("%d cells of %d: %q", cellsOf(line), width, line)
			}
		}
	}
}

func TestFrameFillsTheScreen(t *testing.T) {
	b := boardOf(t)
	for height := 1; height < 12; height++ {
		s := &screen{}
		for range 20 {
			frame := s.frame(painter{width: 40}, b, noon, height)
			if len(frame) != height {
				t.Fatalf("%d lines on a screen of %d", len(frame), height)
			}
			s.press("j")
		}
		if frame := s.frame(painter{width: 40}, b, noon, height); height > 4 && !strings.HasPrefix(frame[height-2], "  error") {
			t.Errorf("scrolled down, a screen of %d ends with %q", height, frame[height-2])
		}
	}
}

func TestKeys(t *testing.T) {
	for key, quits := range map[string]bool{
		"q": true, "Q": true, "\x03": true, "\x1b": true, "jq": true, "j": false, "\x1b[A": false, "\x1b[Z": false, "x": false,
	} {
		if got := new(screen).press(key); got != quits {
			t.Errorf("%q quits: %v", key, got)
		}
	}
}

func TestColour(t *testing.T) {
	for colour, want := range map[bool]int{true: 8, false: 0} {
		head, body := painter{80, colour}.lines(boardOf(t), noon)
		if got := strings.Count(strings.Join(append(head, body...), ""), plainStyle); got != want && !(colour && got > 0) {
			t.Errorf("colour %v: %d styles", colour, got)
		}
	}
}

func TestAges(t *testing.T) {
	for age, want := range map[time.Duration]string{
		-time.Hour: "0s", 59 * time.Second: "59s", 59 * time.Minute: "59m", 47 * time.Hour: "47h", 49 * time.Hour: "2d", 1 << 62: "999d",
	} {
		if got := since(noon.Add(-age), noon); got != want {
			t.Errorf("%v is shown as %s", age, got)
		}
	}
}

func TestCells(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "🚢": 2, "ｱ": 1, "Ａ": 2} {
		if got := cellsOf(text); got != want {
			t.Errorf("%q has %d cells", text, got)
		}
		for n := range 6 {
			if got := fit(text, n); cellsOf(got) != n {
				t.Errorf("%q in %d cells is %q", text, n, got)
			}
		}
	}
	for n, want := range map[int]string{20: "tidy the notes", 13: "tidy the …", 9: "tidy the…", 7: "tidy …", 0: "", 3: "ti…"} {
		if got := cutWords("tidy the notes", n); got != want {
			t.Errorf("%d cells, whole words: %q, want %q", n, got, want)
		}
	}
	if got := fmt.Sprintf("%s|%s", cut("日本語", 4), cut("abcdef", 3)); got != "日…|ab…" {
		t.Errorf("cut texts are %s", got)
	}
}
