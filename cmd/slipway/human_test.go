package main

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"slipway/engine"
	"slipway/schema"
)

func TestStatusText(t *testing.T) {
	demo := schema.NewWorkspaceIdentity("/srv/demo", "/srv/demo/.git", "/srv/demo/.git").Place()
	action := schema.Action{ActionID: "a-1", Kind: schema.Orient, Brief: "look around"}
	asked := func(question string) *schema.RunStatus {
		return &schema.RunStatus{
			ID: "r-1", State: schema.Paused, PauseReason: schema.DecisionRequired, Goal: "tidy\n\tthe notes", RemainingBudget: 3, CurrentAction: &action,
			Actions: []schema.ActionRecord{{Action: action, Outcome: &schema.Outcome{Pause: &schema.Pause{Question: question}}}},
			Next:    schema.NextDecision(demo, "r-1", "a-1"),
		}
	}
	withSource := asked("which?")
	withSource.PinnedSource = &schema.PinnedSource{CanonicalURL: "https://github.com/o/n/issues/1", IssueID: "I_1", SourceRevision: "sha256:aa", RequirementsRevision: "sha256:bb"}
	withSource.SourceCandidate = &schema.SourceCandidate{CandidateID: "c-1", Classification: "invalid", ClassificationCode: "objective_marker", ClassificationError: "it is an objective"}
	working := asked("which?")
	working.State, working.PauseReason = schema.Active, ""
	stopped := asked("which?")
	stopped.State, stopped.PauseReason = schema.Stopped, ""
	answered := asked("which?")
	answered.Actions[0].Voided, answered.Answers = true, []schema.Answer{{ActionID: "a-1"}}
	skipped := asked("which?")
	skipped.Actions[0].Skipped, skipped.Answers = true, []schema.Answer{{ActionID: "another"}}
	withdrawn := asked("which?")
	withdrawn.Actions[0].Voided, withdrawn.Answers = true, []schema.Answer{{ActionID: "another"}}
	confirmed := asked("which?")
	confirmed.Answers = []schema.Answer{{ActionID: "a-1", ConfirmDestructive: true, At: noon.Add(-time.Minute)}}
	confirmed.Actions[0].Outcome.Pause.DestructiveRequest = &schema.DestructiveRequest{
		Impact: "the branch is gone", Targets: []schema.Target{{Kind: schema.TargetGitRef, Value: "refs/heads/old"}, {Kind: schema.TargetPath, Value: "cache"}},
	}
	confirmed.State, confirmed.PauseReason = schema.Ended, ""
	declined := asked("which?")
	declined.Answers, declined.Actions[0].Outcome = []schema.Answer{{ActionID: "a-1"}}, confirmed.Actions[0].Outcome
	ended := &schema.RunStatus{ID: "r-1", State: schema.Ended, Summary: "first\nsecond", Next: schema.NextNone(demo)}

	for _, test := range []struct {
		name       string
		run        *schema.RunStatus
		want, none []string
	}{
		{"a question", asked("which  one\nof these?"),
			[]string{"r-1", "paused (decision_required)", "tidy\n", "    the notes", "3", "which one of these?", "orient a-1",
				"- answer-decision: requires text_file (path via --text-file)", "- skip-action: slipway protocol skip --run r-1 --action a-1 --root /srv/demo\n"}, nil},
		{"200 characters", asked(strings.Repeat("é", 200)), []string{strings.Repeat("é", 200)}, []string{"…"}},
		{"201 characters", asked(strings.Repeat("é", 201)), []string{strings.Repeat("é", 199) + "…"}, []string{strings.Repeat("é", 200)}},
		{"a source", withSource, []string{"https://github.com/o/n/issues/1", "I_1", "sha256:aa", "sha256:bb", "c-1", "invalid (objective_marker)", "it is an objective"}, nil},
		{"an Action", working, []string{"orient a-1\n", "What to do        look around\n"}, nil},
		{"a pause", asked("which?"), nil, []string{"What to do", "look around"}},
		{"an answer", answered, []string{"1 orient     answered\n"}, []string{"voided"}},
		{"a confirmation", confirmed, []string{
			"1 orient     confirmed\n", "1m ago\n                  the branch is gone\n                  - git_ref refs/heads/old\n                  - path cache\n",
		}, []string{"answered"}},
		{"a refusal", declined, []string{"1 orient     answered\n"}, []string{"the branch is gone", "onfirmed"}},
		{"a skip", skipped, []string{"1 orient     skipped\n"}, nil},
		{"withdrawn", withdrawn, []string{"1 orient     voided\n"}, nil},
		{"stopped", stopped, []string{"stopped"}, []string{"a-1\n", "which"}},
		{"ended", ended, []string{"ended", "first\n", "second\n"}, []string{"Next choices"}},
	} {
		got := paper{now: noon}.status(test.run)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: lacks %q:\n%s", test.name, want, got)
			}
		}
		for _, none := range test.none {
			if strings.Contains(got, none) {
				t.Errorf("%s: has %q:\n%s", test.name, none, got)
			}
		}
	}
}

func TestSectionText(t *testing.T) {
	got := paper{}.section(&schema.PinnedMaterial{
		RunID: "r-1", RunState: schema.Paused, RequirementsRevision: "sha256:bb",
		Section: schema.MaterialSection{Key: "scope", Role: "requirements", Title: "The scope", SectionRevision: "sha256:aa", Markdown: "# One\n\n\ttext"},
	})
	for _, want := range []string{"r-1", "paused", "scope", "requirements", "sha256:aa", "sha256:bb", "inspection", "no work", "The scope\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if !strings.HasSuffix(got, "\n\n# One\n\n\ttext\n") {
		t.Errorf("the chapter is not at the end as it is:\n%s", got)
	}
}

func listed(goal string) *schema.StatusList {
	run := func(id string, state schema.State, reason schema.PauseReason, budget int, changed time.Duration, goal string) schema.ListedRun {
		return schema.ListedRun{Status: &schema.RunStatus{
			ID: id, State: state, PauseReason: reason, RemainingBudget: budget, Goal: goal, UpdatedAt: noon.Add(-changed),
		}}
	}
	asking := run("r-3", schema.Paused, schema.DecisionRequired, 1000, 50*time.Hour, goal)
	asking.Status.CurrentAction = &schema.Action{ActionID: "a-1"}
	asking.Status.Actions = []schema.ActionRecord{{
		Action: *asking.Status.CurrentAction, Outcome: &schema.Outcome{Pause: &schema.Pause{Question: "which  one\nof these?"}},
	}}
	return &schema.StatusList{
		Runs: []schema.ListedRun{
			run("r-1", schema.Active, "", 3, time.Minute, "tidy\nthe notes"),
			{Stub: &schema.RunStub{ID: "r-2", State: schema.Active, Workspace: "/srv/other", Goal: "water the plants"}},
			asking,
		},
		UnavailableRuns: []schema.UnavailableRun{{ID: "r-4", Code: schema.CodeRunBusy, Detail: "in use"}},
	}
}

func TestListText(t *testing.T) {
	const rest = `
Runs of other worktrees, as they were at their start:
RUN  STATE             WORKTREE    GOAL
r-2  active (foreign)  /srv/other  water the plants

Runs that can not be read:
r-4  run_busy  in use
`
	for width, want := range map[int]string{
		0: `RUN  STATE                       BUDGET  CHANGED  GOAL
r-1  active                      3       1m ago   tidy the notes
r-3  paused (decision_required)  1000    2d ago   日本語 and everything that has to be said about it
` + rest,
		80: `RUN  STATE   BUDGET  CHANGED  GOAL
r-1  active  3       1m ago   tidy the notes
r-3  paused  1000    2d ago   日本語 and everything that has to be said about it
     decision_required: which one of these?
` + rest,
		62: `RUN  STATE   BUDGET  CHANGED  GOAL
r-1  active  3       1m ago   tidy the notes
r-3  paused  1000    2d ago   日本語 and everything that has …
     decision_required: which one of these?
` + rest,
		40: `r-1  active, budget 3, changed 1m ago
  tidy the notes
r-3  paused, budget 1000, changed 2d ago
  日本語 and everything that has to be …
  decision_required: which one of these?

Runs of other worktrees, as they were at their start:
r-2  active (foreign), of /srv/other
  water the plants

Runs that can not be read:
r-4  run_busy  in use
`,
		24: `r-1
  active, budget 3, changed 1m ago
  tidy the notes
r-3
  paused, budget 1000, changed 2d ago
  日本語 and everything…
  decision_required: …

Runs of other worktrees, as they were at their start:
r-2
  active (foreign), of /srv/other
  water the plants

Runs that can not be read:
r-4  run_busy  in use
`,
	} {
		got := paper{now: noon, width: width}.list(listed("日本語 and everything that has to be said about it"))
		if got != want {
			t.Errorf("%d cells: %s", width, cmp.Diff(want, got))
		}
	}
	if got := (paper{}).list(&schema.StatusList{}); strings.TrimSpace(got) == "" {
		t.Error("nothing at all is said where there is no Run")
	}
}

func TestColoursAreOnlyForThoseWhoWantThem(t *testing.T) {
	if got := (paper{now: noon}).list(listed("x")); strings.Contains(got, "\x1b") {
		t.Errorf("without colours: %q", got)
	}
	for _, want := range []string{"\x1b[1mRUN", "\x1b[32mr-1", "\x1b[33mr-3", "\x1b[31mr-4"} {
		if got := (paper{now: noon, colour: true}).list(listed("x")); !strings.Contains(got, want) {
			t.Errorf("with colours: no %q in %q", want, got)
		}
	}
}

// Whatever hosts and people write, a terminal shows it and does nothing else.
func TestTextIsHarmless(t *testing.T) {
	const hostile = "\x1b[2J\x9b1m\r\b\u202emirrored\u2066\u200b\ufeff\u2028\U000e0041"
	failure := schema.Runtime(schema.CodeRuntimeError, schema.NextNone(schema.Place{}), nil, "%s", hostile)
	ask := &schema.RunStatus{
		State: schema.Paused, Goal: hostile, CurrentAction: &schema.Action{ActionID: "a"},
		Actions:                   []schema.ActionRecord{{Action: schema.Action{ActionID: "a"}, Outcome: &schema.Outcome{Summary: hostile, Pause: &schema.Pause{Question: hostile}}}},
		PendingDestructiveRequest: &schema.DestructiveRequest{Impact: hostile, Targets: []schema.Target{{Kind: "path", Value: hostile}}},
		SourceCandidate:           &schema.SourceCandidate{ClassificationError: hostile}, Summary: hostile,
	}
	chapter := &schema.PinnedMaterial{Section: schema.MaterialSection{Title: hostile, Markdown: hostile}}
	for width := range 90 {
		p := paper{now: noon, terminal: true, width: width + 1}
		for name, text := range map[string]string{
			"list": p.list(listed(hostile)), "status": p.status(ask), "section": p.section(chapter), "failure": p.failure(failure),
		} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }); i >= 0 {
				t.Fatalf("%s, %d cells: %q", name, p.width, text[i:])
			}
			if name != "list" && !strings.Contains(text, `\u202emirrored`) {
				t.Fatalf("%s, %d cells: the text is lost: %s", name, p.width, text)
			}
		}
	}
}

func TestFailureText(t *testing.T) {
	demo := schema.NewWorkspaceIdentity("/srv/demo", "/srv/demo/.git", "/srv/demo/.git").Place()
	failure := schema.Runtime(schema.CodeDaemonUnavailable, schema.NextListRuns(demo),
		schema.DaemonDetails{Socket: "/run/d1.sock", LogTail: []string{"one", "two"}}, "the daemon could not be started, and nobody knows why it should be so")
	const want = `slipway: the daemon could not be started, and
         nobody knows why it should be so
         (daemon_unavailable)
  log_tail  one
            two
  socket    /run/d1.sock

Next choices:
- list-runs: slipway status --root /srv/demo
`
	if got := (paper{width: 45}).failure(failure); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// TestStepsKeepTheirColumns: what a report has too much of stands below the report.
func TestStepsKeepTheirColumns(t *testing.T) {
	run := &schema.RunStatus{ID: "r-1"}
	for range 10 {
		run.Actions = append(run.Actions, schema.ActionRecord{
			Action: schema.Action{Kind: schema.Implement}, Outcome: &schema.Outcome{Status: "completed", Summary: "wrote the notes and left the rest as it was"},
		})
	}
	for width, want := range map[int]string{
		80: `
                   9 implement  completed    wrote the notes and left the rest
                                             as it was
                  10 implement  completed    wrote the notes and left the rest
                                             as it was
`,
		60: `
                   9 implement  completed    wrote the notes
                  and left the rest as it was
                  10 implement  completed    wrote the notes
                  and left the rest as it was
`,
	} {
		if got := (paper{now: noon, width: width}).status(run); !strings.Contains(got, want) {
			t.Errorf("%d cells: lacks %s\nin\n%s", width, want, got)
		}
	}
}

func TestEventText(t *testing.T) {
	e := engine.LoggedEvent{Sequence: 3, At: noon, State: schema.Paused, Summary: "implement reported needs_input; paused: destructive_confirmation_required"}
	at := noon.Local().Format(time.DateTime)
	for width, want := range map[int]string{
		0: "   3  " + at + "  paused   " + e.Summary + "\n",
		80: "   3  " + at + "  paused   implement reported needs_input; paused:\n" +
			strings.Repeat(" ", 36) + "destructive_confirmation_required\n",
	} {
		if got := (paper{width: width}).event(e); got != want {
			t.Errorf("%d cells: %s", width, cmp.Diff(want, got))
		}
	}
	if got, want := (paper{colour: true}).event(e), "  \x1b[33mpaused\x1b[0m   implement reported"; !strings.Contains(got, want) {
		t.Errorf("with colours: no %q in %q", want, got)
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 20, "short"},
		{"one two three four five six", 20, "one two three four|five six"},
		{"one two three four five six", 19, "one two three four five six"}, // too narrow to be worth it
		{"    one two three four five", 20, "    one two three|    four five"},
		{"/a/path/that/is/longer/than/a/line and more", 20, "/a/path/that/is/longer/than/a/line|and more"},
		{"日本語日本語日本 語日本語", 20, "日本語日本語日本|語日本語"},
		{"- one two three four five", 20, "- one two three four|  five"},
		{"  - one two three four five", 20, "  - one two three|    four five"},
		{"- /a/path/that/is/longer/than/a/line and more", 20, "- /a/path/that/is/longer/than/a/line|  and more"},
	} {
		if got := strings.Join(wrap(test.text, test.n), "|"); got != test.want {
			t.Errorf("%q in %d cells: %q, want %q", test.text, test.n, got, test.want)
		}
	}
}
