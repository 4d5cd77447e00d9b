package schema_test

import (
	"strings"
	"testing"

	"slipway/schema"
)

// destructiveRequest is the example of wire.md, 3.4.
func destructiveRequest() schema.DestructiveRequest {
	return schema.DestructiveRequest{
		RequestID: "7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", Impact: "line one\nline two é", ScopeSHA256: scope,
		Targets: []schema.Target{{Kind: schema.TargetGitRef, Value: "refs/heads/old"}, {Kind: schema.TargetPath, Value: `build/"a"`}},
	}
}

// withScope corrects the digest after a change.
func withScope(r schema.DestructiveRequest) *schema.DestructiveRequest {
	r.ScopeSHA256 = schema.ScopeDigest(r.RequestID, r.Impact, r.Targets)
	return &r
}

func report(kind schema.Kind, status schema.OutcomeStatus) *schema.Outcome {
	return &schema.Outcome{
		ContractVersion: 2, ActionID: actionID, ActionKind: kind, Status: status, Summary: "done",
		Observations: []string{}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{},
	}
}

func implemented(status schema.OutcomeStatus, result schema.ImplementationResult) *schema.Outcome {
	o := report(schema.Implement, status)
	o.Implementation = &schema.Implementation{
		Result: result, FilesChanged: []string{"a.go", "a.go", ""}, Uncertainties: []string{""}, Attempts: 1,
		Activities: []schema.Activity{{Kind: schema.ActivityBuild, Command: "make", ExitCode: -9, Summary: "killed"}},
	}
	return o
}

func reviewed(status schema.OutcomeStatus, result schema.ReviewResult) *schema.Outcome {
	o := report(schema.Review, status)
	o.Review = &schema.ReviewReport{Result: result, Findings: []schema.Finding{}, Uncertainties: []string{}}
	if result != schema.ReviewNoFindings {
		o.Review.Findings = []schema.Finding{{Location: "a.go:1", Summary: "off by one", Detail: "twice\n"}}
	}
	return o
}

func asking(kind schema.Kind, reason schema.PauseReason) *schema.Outcome {
	o := report(kind, schema.NeedsInput)
	o.Pause = &schema.Pause{Reason: reason, Question: "which?"}
	if reason == schema.DestructiveConfirmationRequired {
		request := destructiveRequest()
		o.Pause.DestructiveRequest = &request
	}
	return o
}

// TestOutcomeCombinations tries every kind, status, branch result, pause reason
// and number of suggestions against the table of wire.md, 3.7, written here once
// more as the spec has it.
func TestOutcomeCombinations(t *testing.T) {
	legal := map[string]bool{}
	allow := func(kind, statuses, implementation, review, pause, suggestions string) {
		for status := range strings.SplitSeq(statuses, " ") {
			for i := range strings.SplitSeq(implementation, " ") {
				for r := range strings.SplitSeq(review, " ") {
					for p := range strings.SplitSeq(pause, " ") {
						for s := range strings.SplitSeq(suggestions, " ") {
							legal[strings.Join([]string{kind, status, i, r, p, s}, " ")] = true
						}
					}
				}
			}
		}
	}
	const ordinary = "decision_required environment_unavailable"
	allow("orient", "completed partial error", "-", "-", "-", "0 1")
	allow("orient", "needs_input", "-", "-", ordinary, "0")
	allow("clarify", "completed error", "-", "-", "-", "0 1")
	allow("clarify", "needs_input", "-", "-", ordinary, "0")
	allow("implement", "completed", "applied not_needed", "-", "-", "0")
	allow("implement", "partial", "partial", "-", "-", "0")
	allow("implement", "error", "unable", "-", "-", "0")
	allow("implement", "needs_input", "-", "-", ordinary+" destructive_confirmation_required", "0")
	allow("review", "completed", "-", "no_findings_reported findings_reported", "-", "0")
	allow("review", "partial", "-", "inconclusive", "-", "0")
	allow("review", "error", "-", "error", "-", "0")
	allow("summarize", "completed error", "-", "-", "-", "0")

	tried := 0
	for kind := range strings.SplitSeq("orient clarify implement review summarize other", " ") {
		for status := range strings.SplitSeq("completed needs_input partial error skipped", " ") {
			for i := range strings.SplitSeq("- applied partial not_needed unable done", " ") {
				for r := range strings.SplitSeq("- no_findings_reported findings_reported inconclusive error not_run", " ") {
					for p := range strings.SplitSeq("- decision_required environment_unavailable destructive_confirmation_required budget_exhausted", " ") {
						for s := range strings.SplitSeq("0 1 2", " ") {
							o := combine(kind, status, i, r, p, s)
							err := o.Validate(actionID, o.ActionKind)
							name := strings.Join([]string{kind, status, i, r, p, s}, " ")
							if (err == nil) != legal[name] {
								t.Errorf("%s: %v", name, err)
							}
							tried++
						}
					}
				}
			}
		}
	}
	if tried < 10_000 || len(legal) != 27 {
		t.Errorf("%d tried, %d legal", tried, len(legal))
	}
}

func combine(kind, status, i, r, p, s string) *schema.Outcome {
	o := report(schema.Kind(kind), schema.OutcomeStatus(status))
	if i != "-" {
		o.Implementation = implemented(schema.Completed, schema.ImplementationResult(i)).Implementation
	}
	if r != "-" {
		o.Review = reviewed(schema.Completed, schema.ReviewResult(r)).Review
	}
	if p != "-" {
		o.Pause = asking(schema.Implement, schema.PauseReason(p)).Pause
	}
	for range int(s[0] - '0') {
		o.SuggestedActions = append(o.SuggestedActions, schema.Suggestion{Kind: schema.Clarify, Brief: "ask"})
	}
	return o
}

func TestOutcomeAnswersItsAction(t *testing.T) {
	o := report(schema.Orient, schema.Completed)
	if err := o.Validate(actionID, schema.Orient); err != nil {
		t.Error(err)
	}
	if o.Validate(strings.ToUpper(actionID), schema.Orient) == nil {
		t.Error("another Action: accepted")
	}
	if o.Validate(actionID, schema.Clarify) == nil {
		t.Error("another kind: accepted")
	}
}

func TestOutcomeTextRules(t *testing.T) {
	const blank, control, lines = "\u3000\n", "a\x1b", "a\nb"
	superseded := func(o *schema.Outcome, s string) { o.Pause.SupersedesAnswerActionID = &s }
	for _, test := range []struct {
		name   string
		from   *schema.Outcome
		set    func(o *schema.Outcome, s string)
		blank  bool // blank is legal
		breaks bool // line breaks are legal
	}{
		{"summary", report(schema.Orient, schema.Completed), func(o *schema.Outcome, s string) { o.Summary = s }, false, true},
		{"observation", report(schema.Orient, schema.Completed), func(o *schema.Outcome, s string) { o.Observations = []string{"", s} }, true, true},
		{"known issue", report(schema.Orient, schema.Completed), func(o *schema.Outcome, s string) { o.KnownIssues = []string{s} }, true, true},
		{"brief", report(schema.Orient, schema.Completed), func(o *schema.Outcome, s string) {
			o.SuggestedActions = []schema.Suggestion{{Kind: schema.Summarize, Brief: s}}
		}, false, true},
		{"question", asking(schema.Orient, schema.DecisionRequired), func(o *schema.Outcome, s string) { o.Pause.Question = s }, false, true},
		{"superseded answer", asking(schema.Clarify, schema.DecisionRequired), superseded, false, false},
		{"impact", asking(schema.Implement, schema.DestructiveConfirmationRequired), func(o *schema.Outcome, s string) {
			request := destructiveRequest()
			request.Impact = s
			o.Pause.DestructiveRequest = withScope(request)
		}, false, true},
		{"target", asking(schema.Implement, schema.DestructiveConfirmationRequired), func(o *schema.Outcome, s string) {
			request := destructiveRequest()
			request.Targets[1].Value = s
			o.Pause.DestructiveRequest = withScope(request)
		}, false, false},
		{"changed file", implemented(schema.Completed, schema.ResultApplied), func(o *schema.Outcome, s string) { o.Implementation.FilesChanged[0] = s }, true, false},
		{"uncertainty", implemented(schema.Completed, schema.ResultApplied), func(o *schema.Outcome, s string) { o.Implementation.Uncertainties[0] = s }, true, true},
		{"command", implemented(schema.Completed, schema.ResultApplied), func(o *schema.Outcome, s string) { o.Implementation.Activities[0].Command = s }, false, true},
		{"summary of activity", implemented(schema.Completed, schema.ResultApplied), func(o *schema.Outcome, s string) { o.Implementation.Activities[0].Summary = s }, false, true},
		{"location", reviewed(schema.Partial, schema.ReviewInconclusive), func(o *schema.Outcome, s string) { o.Review.Findings[0].Location = s }, false, false},
		{"summary of finding", reviewed(schema.Partial, schema.ReviewInconclusive), func(o *schema.Outcome, s string) { o.Review.Findings[0].Summary = s }, false, true},
		{"detail", reviewed(schema.Partial, schema.ReviewInconclusive), func(o *schema.Outcome, s string) { o.Review.Findings[0].Detail = s }, false, true},
		{"uncertainty of Review", reviewed(schema.Partial, schema.ReviewInconclusive), func(o *schema.Outcome, s string) { o.Review.Uncertainties = []string{s} }, true, true},
	} {
		// In plain text even a blank line break is a control character.
		for s, legal := range map[string]bool{
			"word": true, "\u200b": true, "": test.blank, "\u3000": test.blank, blank: test.blank && test.breaks, control: false, lines: test.breaks,
		} {
			test.set(test.from, s)
			if err := test.from.Validate(actionID, test.from.ActionKind); (err == nil) != legal {
				t.Errorf("%s %q: %v", test.name, s, err)
			}
		}
	}
}

func TestOutcomeValueRules(t *testing.T) {
	for name, test := range map[string]struct {
		from   *schema.Outcome
		change func(*schema.Outcome)
	}{
		"suggested Review": {report(schema.Orient, schema.Completed), func(o *schema.Outcome) {
			o.SuggestedActions = []schema.Suggestion{{Kind: schema.Review, Brief: "x"}}
		}},
		"brief of 8193 bytes": {report(schema.Orient, schema.Completed), func(o *schema.Outcome) {
			o.SuggestedActions = []schema.Suggestion{{Kind: schema.Clarify, Brief: strings.Repeat("é", 4096) + "x"}}
		}},
		"no attempts":         {implemented(schema.Completed, schema.ResultApplied), func(o *schema.Outcome) { o.Implementation.Attempts = 0 }},
		"kind of activity":    {implemented(schema.Completed, schema.ResultApplied), func(o *schema.Outcome) { o.Implementation.Activities[0].Kind = "deploy" }},
		"findings after none": {reviewed(schema.Completed, schema.ReviewNoFindings), func(o *schema.Outcome) { o.Review.Findings = make([]schema.Finding, 1) }},
		"no findings":         {reviewed(schema.Completed, schema.ReviewFindings), func(o *schema.Outcome) { o.Review.Findings = nil }},
		"request with a decision": {asking(schema.Implement, schema.DecisionRequired), func(o *schema.Outcome) {
			request := destructiveRequest()
			o.Pause.DestructiveRequest = &request
		}},
		"no request": {asking(schema.Implement, schema.DestructiveConfirmationRequired), func(o *schema.Outcome) { o.Pause.DestructiveRequest = nil }},
		"superseded answer elsewhere": {asking(schema.Implement, schema.EnvironmentUnavailable), func(o *schema.Outcome) {
			id := "a"
			o.Pause.SupersedesAnswerActionID = &id
		}},
	} {
		if err := test.from.Validate(actionID, test.from.ActionKind); err != nil {
			t.Errorf("%s, before: %v", name, err)
		}
		test.change(test.from)
		if test.from.Validate(actionID, test.from.ActionKind) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	o := report(schema.Orient, schema.Completed)
	o.SuggestedActions = []schema.Suggestion{{Kind: schema.Clarify, Brief: strings.Repeat("é", 4096)}}
	if err := o.Validate(actionID, schema.Orient); err != nil {
		t.Errorf("brief of 8192 bytes: %v", err)
	}
}

func TestDestructiveRequestRules(t *testing.T) {
	good := destructiveRequest()
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	target := func(kind schema.TargetKind, value string) schema.Target {
		return schema.Target{Kind: kind, Value: value}
	}
	for name, test := range map[string]struct {
		change func(*schema.DestructiveRequest)
		legal  bool
	}{
		"version 7 id":       {func(r *schema.DestructiveRequest) { r.RequestID = "01890a5d-ac96-774b-bcce-b302099a8057" }, true},
		"version 0 id":       {func(r *schema.DestructiveRequest) { r.RequestID = "00000000-0000-0000-8000-000000000000" }, true},
		"nil id":             {func(r *schema.DestructiveRequest) { r.RequestID = "00000000-0000-0000-0000-000000000000" }, false},
		"other variant":      {func(r *schema.DestructiveRequest) { r.RequestID = "7d1f2a52-3c44-4a0e-cb7e-5f0f5d9a6c21" }, false},
		"upper-case id":      {func(r *schema.DestructiveRequest) { r.RequestID = strings.ToUpper(r.RequestID) }, false},
		"id in braces":       {func(r *schema.DestructiveRequest) { r.RequestID = "{" + r.RequestID + "}" }, false},
		"id with line break": {func(r *schema.DestructiveRequest) { r.RequestID += "\n" }, false},
		"id without dashes":  {func(r *schema.DestructiveRequest) { r.RequestID = strings.ReplaceAll(r.RequestID, "-", "") }, false},
		"no targets":         {func(r *schema.DestructiveRequest) { r.Targets = nil }, false},
		"one target":         {func(r *schema.DestructiveRequest) { r.Targets = r.Targets[:1] }, true},
		"kind of target":     {func(r *schema.DestructiveRequest) { r.Targets = []schema.Target{target("file", "a")} }, false},
		"every kind in order": {func(r *schema.DestructiveRequest) {
			r.Targets = []schema.Target{target("data_domain", "z"), target("external_resource", "y"), target("git_ref", "x"), target("path", "w")}
		}, true},
		"kinds out of order": {func(r *schema.DestructiveRequest) {
			r.Targets = []schema.Target{target("path", "a"), target("git_ref", "a")}
		}, false},
		"values in order": {func(r *schema.DestructiveRequest) {
			r.Targets = []schema.Target{target("path", "Z"), target("path", "a"), target("path", "é")}
		}, true},
		"values out of order": {func(r *schema.DestructiveRequest) {
			r.Targets = []schema.Target{target("path", "a"), target("path", "B")}
		}, false},
		"same target twice": {func(r *schema.DestructiveRequest) {
			r.Targets = []schema.Target{target("path", "a"), target("path", "a")}
		}, false},
		"bytes, not UTF-16 units": {func(r *schema.DestructiveRequest) {
			r.Targets = []schema.Target{target("path", "\uffee"), target("path", "𝄞")}
		}, true},
	} {
		r := destructiveRequest()
		test.change(&r)
		if err := withScope(r).Validate(); (err == nil) != test.legal {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, digest := range []schema.Digest{"", emptySHA, schema.Digest(strings.ToUpper(string(scope)))} {
		good.ScopeSHA256 = digest
		if good.Validate() == nil {
			t.Errorf("digest %q: accepted", digest)
		}
	}
}
