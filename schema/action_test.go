package schema_test

import (
	"strings"
	"testing"
	"time"

	"slipway/schema"
)

func soundAction() schema.Action {
	return schema.Action{
		ContractVersion: 2, RunID: "r", ActionID: actionID, Kind: schema.Orient, Goal: "build\nit", Brief: "look", Context: "Decisions:\n(none)\n",
		RemainingBudget: 7,
	}
}

func authorized() schema.Action {
	a := soundAction()
	request := destructiveRequest()
	a.Kind = schema.Implement
	a.DestructiveAuthorization = &schema.Authorization{
		RequestID: request.RequestID, OriginatingActionID: "a0", ScopeVersion: 1, ScopeSHA256: request.ScopeSHA256,
		Targets: request.Targets, Impact: request.Impact, ConfirmedAt: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
	}
	return a
}

func sourced(a schema.Action) schema.Action {
	a.Source = &schema.ActionSource{
		Kind: schema.SourceKind, CanonicalURL: "https://github.com/o-1/n_a.me/issues/5", IssueID: "I_5",
		SourceRevision: emptySHA, ManifestRevision: helloSHA, RequirementsRevision: scope,
	}
	section := func(key, role string) schema.RequirementSection {
		return schema.RequirementSection{Key: key, Role: role, Title: "A title", SectionRevision: emptySHA, MaterialSHA256: helloSHA, Bytes: 5}
	}
	keys := []string{"outcome", "non-goals.v2"}
	a.Requirements = &schema.Requirements{
		RequirementsRevision: scope, RequiredForAction: keys,
		Sections: []schema.RequirementSection{section(keys[0], "outcome"), section(keys[1], "non_goals")},
		Reader:   schema.NewReader(demo, a.RunID, a.ActionID, keys),
	}
	return a
}

func TestActionAcceptsItsSixForms(t *testing.T) {
	implement := soundAction()
	implement.Kind = schema.Implement
	for _, a := range []schema.Action{soundAction(), implement, authorized()} {
		if err := a.Validate(); err != nil {
			t.Error(err)
		}
		withSource := sourced(a)
		if err := withSource.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestActionRefuses(t *testing.T) {
	const invalid, large = schema.CodeInvalidAction, schema.CodeActionTooLarge
	for name, test := range map[string]struct {
		change func(*schema.Action)
		want   schema.Code
	}{
		"version":                      {func(a *schema.Action) { a.ContractVersion = 1 }, invalid},
		"Run id":                       {func(a *schema.Action) { a.RunID = " " }, invalid},
		"Action id":                    {func(a *schema.Action) { a.ActionID = "a\n" }, invalid},
		"kind":                         {func(a *schema.Action) { a.Kind = "skip" }, invalid},
		"blank goal":                   {func(a *schema.Action) { a.Goal = "\n" }, invalid},
		"blank brief":                  {func(a *schema.Action) { a.Brief = "" }, invalid},
		"control character in context": {func(a *schema.Action) { a.Context = "Decisions:\n\x1b" }, invalid},
		"negative budget":              {func(a *schema.Action) { a.RemainingBudget = -1 }, invalid},
		"source alone":                 {func(a *schema.Action) { a.Requirements = nil }, invalid},
		"requirements alone":           {func(a *schema.Action) { a.Source = nil }, invalid},
		"authorized Review":            {func(a *schema.Action) { a.Kind = schema.Review }, invalid},
		"authorization of other scope": {func(a *schema.Action) { a.DestructiveAuthorization.Impact = "more" }, invalid},
		"authorization version":        {func(a *schema.Action) { a.DestructiveAuthorization.ScopeVersion = 2 }, invalid},
		"authorization without time":   {func(a *schema.Action) { a.DestructiveAuthorization.ConfirmedAt = time.Time{} }, invalid},
		"authorization without origin": {func(a *schema.Action) { a.DestructiveAuthorization.OriginatingActionID = "" }, invalid},
		"kind of source":               {func(a *schema.Action) { a.Source.Kind = "issue" }, invalid},
		"URL of source":                {func(a *schema.Action) { a.Source.CanonicalURL = "https://github.com/o/n/pull/5" }, invalid},
		"revision of source":           {func(a *schema.Action) { a.Source.SourceRevision = "" }, invalid},
		"other requirements revision":  {func(a *schema.Action) { a.Requirements.RequirementsRevision = emptySHA }, invalid},
		"no sections":                  {func(a *schema.Action) { a.Requirements.Sections = nil }, invalid},
		"section key":                  {func(a *schema.Action) { a.Requirements.Sections[0].Key = "-x" }, invalid},
		"section role":                 {func(a *schema.Action) { a.Requirements.Sections[0].Role = "goal" }, invalid},
		"section title":                {func(a *schema.Action) { a.Requirements.Sections[0].Title = strings.Repeat("é", 257) }, invalid},
		"section size":                 {func(a *schema.Action) { a.Requirements.Sections[0].Bytes = 0 }, invalid},
		"section not required":         {func(a *schema.Action) { a.Requirements.RequiredForAction = []string{"outcome"} }, invalid},
		"reader operation":             {func(a *schema.Action) { a.Requirements.Reader.Operation = "read" }, invalid},
		"reader argv":                  {func(a *schema.Action) { a.Requirements.Reader.BaseArgv = nil }, invalid},
		"reader of another Action":     {func(a *schema.Action) { a.Requirements.Reader.BaseArgv[8] = "a2" }, invalid},
		"reader input":                 {func(a *schema.Action) { a.Requirements.Reader.Input.Required = false }, invalid},
		"brief too large":              {func(a *schema.Action) { a.Brief = strings.Repeat("x", schema.MaxBriefBytes+1) }, large},
		"context too large":            {func(a *schema.Action) { a.Context = strings.Repeat("x", schema.MaxContextBytes+1) }, large},
		"all too large":                {func(a *schema.Action) { a.Goal = strings.Repeat("x", 262_000) }, large},
		"too large and a control character": {func(a *schema.Action) {
			a.Goal, a.Context = strings.Repeat("x", 262_000), "\x00"
		}, invalid},
	} {
		a := sourced(authorized())
		test.change(&a)
		fault, ok := a.Validate().(*schema.ActionFault)
		if !ok || fault.Code != test.want || fault.Error() == "" {
			t.Errorf("%s: %v", name, fault)
		}
	}
}

func TestActionLimitsAreReached(t *testing.T) {
	a := soundAction()
	a.Brief = strings.Repeat("é", schema.MaxBriefBytes/2)
	a.Context = strings.Repeat("x", schema.MaxContextBytes)
	a.Goal = strings.Repeat("x", schema.MaxEncodedActionBytes-a.EncodedSize()+len(a.Goal)+1)
	if got := a.EncodedSize(); got != schema.MaxEncodedActionBytes {
		t.Fatalf("%d bytes", got)
	}
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
	a.Goal += "x"
	if a.Validate() == nil {
		t.Error("one byte more: accepted")
	}
}

func TestActionSectionForms(t *testing.T) {
	for key, want := range map[string]bool{
		"a": true, "0": true, "a.b_c-9": true, strings.Repeat("a", 64): true,
		"": false, ".a": false, "_a": false, "-a": false, "A": false, "é": false, "a b": false, "a\n": false, strings.Repeat("a", 65): false,
	} {
		if schema.ValidSectionKey(key) != want {
			t.Errorf("key %q: %v", key, !want)
		}
	}
	if !schema.ValidSectionRole("acceptance_examples") || schema.ValidSectionRole("acceptance-examples") {
		t.Error("roles")
	}
}
