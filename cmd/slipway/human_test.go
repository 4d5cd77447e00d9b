package main

import (
	"strings"
	"testing"

	"slipway/schema"
)

func TestStatusText(t *testing.T) {
	demo := schema.NewWorkspaceIdentity("/srv/demo", "/srv/demo/.git", "/srv/demo/.git").Place()
	action := schema.Action{ActionID: "a-1", Kind: schema.Orient}
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
	stopped := asked("which?")
	stopped.State, stopped.PauseReason = schema.Stopped, ""
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
		{"stopped", stopped, []string{"stopped"}, []string{"a-1\n", "which"}},
		{"ended", ended, []string{"ended", "first\n", "second\n"}, []string{"Next choices"}},
	} {
		got := statusText(test.run)
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
	got := sectionText(&schema.PinnedMaterial{
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

func TestListText(t *testing.T) {
	got := listText(&schema.StatusList{
		Runs: []schema.ListedRun{
			{Status: &schema.RunStatus{ID: "r-1", State: schema.Active, RemainingBudget: 3, Goal: "tidy\nthe notes"}},
			{Stub: &schema.RunStub{ID: "r-2", State: schema.Active, Workspace: "/srv/other", Goal: "water the plants"}},
		},
		UnavailableRuns: []schema.UnavailableRun{{ID: "r-3", Code: schema.CodeRunBusy, Detail: "in use"}},
	})
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	for i, want := range [][]string{
		{"r-1", "active", "budget 3", "tidy the notes"},
		{"r-2", "active", "foreign", "/srv/other", "water the plants"},
		{"r-3", "unavailable", "run_busy", "in use"},
	} {
		for _, part := range want {
			if i >= len(lines) || !strings.Contains(lines[i], part) {
				t.Errorf("entry %d lacks %q:\n%s", i, part, got)
			}
		}
	}
	if got := listText(&schema.StatusList{}); strings.TrimSpace(got) == "" {
		t.Error("nothing at all is said where there is no Run")
	}
}
