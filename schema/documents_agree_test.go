package schema_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slipway/schema"
)

// beyondSchema are the rules of an Outcome that JSON Schema can not say, by the
// words of their refusal.
var beyondSchema = []string{
	"action_id is not the current Action",
	"action_kind is not that of the current Action",
	"the brief of a suggested Action has more than 8192 bytes",
	"targets must be in ascending order",
	"scope_sha256 is not the digest of the scope",
	"a number is no integer without fraction and exponent", // where it is spelled 2.0 or 2e0
}

func isBeyondSchema(reason string) bool {
	for _, rule := range beyondSchema {
		if strings.Contains(reason, rule) {
			return true
		}
	}
	return false
}

// goVerdict is what decoding and validating says.
func goVerdict(document []byte, kind schema.Kind) error {
	outcome, fault := schema.DecodeOutcome(document)
	if fault != nil {
		return fault
	}
	return outcome.Validate(actionID, kind)
}

// Each check of rapid compares this many documents, so that its usual hundred
// checks make the ten thousand that are wanted.
const comparedPerCheck = 100

// TestSchemaAndGoAgreeOnOutcomes compares the two descriptions of an Outcome on
// valid documents and on valid ones with up to three changes.
func TestSchemaAndGoAgreeOnOutcomes(t *testing.T) {
	described := compile(t, schema.MessagesSchema(), "#/$defs/outcome")
	accepted, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range comparedPerCheck {
			outcome := drawOutcome(rt)
			document := mustMarshal(t, outcome)
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				document = spoil(rt, document)
			}
			byGo, bySchema := goVerdict(document, outcome.ActionKind), verdict(t, described, document)
			switch {
			case byGo == nil && bySchema != nil:
				rt.Fatalf("only the schema refuses: %v: %s", bySchema, document)
			case byGo != nil && bySchema == nil && !isBeyondSchema(byGo.Error()):
				rt.Fatalf("only Go refuses: %v: %s", byGo, document)
			case byGo == nil:
				accepted++
			default:
				refused++
			}
		}
	})
	if total := accepted + refused; accepted < total/10 || refused < total/10 {
		t.Errorf("a lopsided comparison: %d documents are accepted, %d refused", accepted, refused)
	}
}

// TestDrawnOutcomesAreValid: what the comparison begins with is nothing to refuse.
func TestDrawnOutcomesAreValid(t *testing.T) {
	described := compile(t, schema.MessagesSchema(), "#/$defs/outcome")
	rapid.Check(t, func(rt *rapid.T) {
		outcome := drawOutcome(rt)
		document := mustMarshal(t, outcome)
		if err := goVerdict(document, outcome.ActionKind); err != nil {
			rt.Fatalf("%v: %s", err, document)
		}
		if err := verdict(t, described, document); err != nil {
			rt.Fatalf("%v: %s", err, document)
		}
	})
}

// TestRulesBeyondTheSchema shows that each named rule is needed: Go refuses, the
// schema does not.
func TestRulesBeyondTheSchema(t *testing.T) {
	described := compile(t, schema.MessagesSchema(), "#/$defs/outcome")
	seen := map[string]bool{}
	request := destructiveRequest()
	request.Targets[0], request.Targets[1] = request.Targets[1], request.Targets[0]
	unsorted := asking(schema.Implement, schema.DestructiveConfirmationRequired)
	unsorted.Pause.DestructiveRequest = withScope(request)
	undigested := asking(schema.Implement, schema.DestructiveConfirmationRequired)
	undigested.Pause.DestructiveRequest.ScopeSHA256 = emptySHA
	long := report(schema.Orient, schema.Completed)
	long.SuggestedActions = []schema.Suggestion{{Kind: schema.Clarify, Brief: strings.Repeat("é", 5000)}}
	other := report(schema.Orient, schema.Completed)
	other.ActionID = "another"
	for _, test := range []struct {
		document string
		kind     schema.Kind
	}{
		{string(mustMarshal(t, unsorted)), schema.Implement},
		{string(mustMarshal(t, undigested)), schema.Implement},
		{string(mustMarshal(t, long)), schema.Orient},
		{string(mustMarshal(t, other)), schema.Orient},
		{orientDocument, schema.Clarify},
		{replaced(t, `"contract_version":2`, `"contract_version":2.0`), schema.Orient},
	} {
		byGo := goVerdict([]byte(test.document), test.kind)
		if byGo == nil || !isBeyondSchema(byGo.Error()) {
			t.Errorf("Go says %v: %s", byGo, test.document)
			continue
		}
		if err := verdict(t, described, []byte(test.document)); err != nil {
			t.Errorf("%v: the schema says %v", byGo, err)
		}
		seen[byGo.Error()] = true
	}
	if len(seen) != len(beyondSchema) {
		t.Errorf("%d rules are shown, %d are named", len(seen), len(beyondSchema))
	}
}

var (
	anyText   = rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\té\u2028𝄞<\"\\")), 0, 8, -1)
	solidText = rapid.Map(anyText, func(s string) string { return "x" + s })
	anyPlain  = rapid.StringOfN(rapid.RuneFrom([]rune("ab é\u3000𝄞")), 0, 8, -1)
	anyName   = rapid.Map(anyPlain, func(s string) string { return s + "x" })
)

// drawOutcome draws a valid Outcome of any kind.
func drawOutcome(t *rapid.T) *schema.Outcome {
	o := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) *schema.Outcome {
			kind := rapid.SampledFrom([]schema.Kind{schema.Orient, schema.Clarify}).Draw(t, "kind")
			o := report(kind, rapid.SampledFrom([]schema.OutcomeStatus{schema.Completed, schema.Failed}).Draw(t, "status"))
			if rapid.Bool().Draw(t, "suggests") {
				suggested := rapid.SampledFrom([]schema.Kind{schema.Clarify, schema.Implement, schema.Summarize}).Draw(t, "suggested")
				o.SuggestedActions = []schema.Suggestion{{Kind: suggested, Brief: solidText.Draw(t, "brief")}}
			}
			return o
		}),
		rapid.Custom(func(t *rapid.T) *schema.Outcome {
			return report(schema.Summarize, rapid.SampledFrom([]schema.OutcomeStatus{schema.Completed, schema.Failed}).Draw(t, "status"))
		}),
		rapid.Custom(drawPause),
		rapid.Custom(drawImplementation),
		rapid.Custom(drawReview),
	).Draw(t, "outcome")
	o.Summary = solidText.Draw(t, "summary")
	o.Observations = rapid.SliceOfN(anyText, 0, 2).Draw(t, "observations")
	o.KnownIssues = rapid.SliceOfN(anyText, 0, 2).Draw(t, "known issues")
	return o
}

func drawPause(t *rapid.T) *schema.Outcome {
	kind := rapid.SampledFrom([]schema.Kind{schema.Orient, schema.Clarify, schema.Implement}).Draw(t, "kind")
	reasons := []schema.PauseReason{schema.DecisionRequired, schema.EnvironmentUnavailable}
	if kind == schema.Implement {
		reasons = append(reasons, schema.DestructiveConfirmationRequired)
	}
	o := asking(kind, rapid.SampledFrom(reasons).Draw(t, "reason"))
	o.Pause.Question = solidText.Draw(t, "question")
	if o.Pause.Reason == schema.DecisionRequired && rapid.Bool().Draw(t, "supersedes") {
		id := anyName.Draw(t, "superseded")
		o.Pause.SupersedesAnswerActionID = &id
	}
	if o.Pause.DestructiveRequest != nil {
		request := destructiveRequest()
		request.Impact = solidText.Draw(t, "impact")
		request.Targets[0].Value = anyName.Draw(t, "target")
		o.Pause.DestructiveRequest = withScope(request)
	}
	return o
}

func drawImplementation(t *rapid.T) *schema.Outcome {
	o := rapid.SampledFrom([]*schema.Outcome{
		implemented(schema.Completed, schema.ResultApplied), implemented(schema.Completed, schema.ResultNotNeeded),
		implemented(schema.Partial, schema.ResultPartial), implemented(schema.Failed, schema.ResultUnable),
	}).Draw(t, "implemented")
	fresh := implemented(o.Status, o.Implementation.Result)
	fresh.Implementation.FilesChanged = rapid.SliceOfN(anyPlain, 0, 2).Draw(t, "files")
	fresh.Implementation.Attempts = rapid.Int64Min(1).Draw(t, "attempts")
	fresh.Implementation.Activities[0].ExitCode = rapid.Int64().Draw(t, "exit code")
	return fresh
}

func drawReview(t *rapid.T) *schema.Outcome {
	o := rapid.SampledFrom([]*schema.Outcome{
		reviewed(schema.Completed, schema.ReviewNoFindings), reviewed(schema.Completed, schema.ReviewFindings),
		reviewed(schema.Partial, schema.ReviewInconclusive), reviewed(schema.Failed, schema.ReviewError),
	}).Draw(t, "reviewed")
	fresh := reviewed(o.Status, o.Review.Result)
	for i := range fresh.Review.Findings {
		fresh.Review.Findings[i] = schema.Finding{Location: anyName.Draw(t, "location"), Summary: solidText.Draw(t, "finding"), Detail: solidText.Draw(t, "detail")}
	}
	return fresh
}

// strangers are values that may be put where they do not belong.
var strangers = []string{
	`null`, `true`, `0`, `1`, `-1`, `2`, `3`, `1.5`, `2.0`, `1e0`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`,
	`""`, `" "`, `"\u3000\n"`, `"a"`, `"a\nb"`, `"a\u0000"`, `"\u007f"`, `"\u0085"`, `"\u200b"`, `"\ud800"`, `[]`, `[null]`, `[""]`, `["a"]`, `{}`,
	`"orient"`, `"clarify"`, `"implement"`, `"review"`, `"summarize"`, `"completed"`, `"needs_input"`, `"partial"`, `"error"`,
	`"applied"`, `"unable"`, `"inconclusive"`, `"not_run"`, `"findings_reported"`, `"no_findings_reported"`,
	`"decision_required"`, `"environment_unavailable"`, `"destructive_confirmation_required"`, `"budget_exhausted"`, `"git_ref"`, `"path"`,
	`"external_resource"`, `"data_domain"`, `"test"`, `"typecheck"`, `"build"`, `"lint"`, `"not_needed"`, `"Path"`,
	`"7d1f2a52-3c44-1a0e-bb7e-5f0f5d9a6c21"`, `"7D1F2A52-3C44-4A0E-9B7E-5F0F5D9A6C21"`, `"7d1f2a52-3c44-4a0e-7b7e-5f0f5d9a6c21"`,
	`"00000000-0000-0000-0000-000000000000"`, `"00000000-0000-0000-8000-000000000000"`, `"7d1f2a523c444a0e9b7e5f0f5d9a6c21"`,
	`"sha256:a39f06064b3048ed52f52c58a67631e733a9fb052afbc63705b05fd906615d8f"`, `"sha256:A39F06064B3048ED52F52C58A67631E733A9FB052AFBC63705B05FD906615D8F"`,
	`"sha256:a39f"`, `"a39f06064b3048ed52f52c58a67631e733a9fb052afbc63705b05fd906615d8f"`, `[{"kind":"path","value":"a"}]`, `{"kind":"path","value":"a"}`,
	`{"kind":"implement","brief":"b"}`, `[{"kind":"implement","brief":"b"}]`, `[{"kind":"review","brief":"b"}]`,
	`{"reason":"decision_required","question":"?","destructive_request":null}`,
	`{"result":"applied","files_changed":[],"activities":[],"uncertainties":[],"attempts":1}`,
	`{"result":"inconclusive","findings":[],"uncertainties":[]}`,
}

// spoil makes one change somewhere in a document: a value is exchanged, a key or
// item is taken out, put in, or doubled.
func spoil(t *rapid.T, document []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	stranger := json.RawMessage(rapid.SampledFrom(strangers).Draw(t, "stranger"))
	var changes []func()
	var walk func(value any, set func(any))
	walk = func(value any, set func(any)) {
		changes = append(changes, func() { set(stranger) })
		switch v := value.(type) {
		case map[string]any:
			for key, item := range sorted(v) {
				changes = append(changes, func() { delete(v, key) })
				walk(item, func(x any) { v[key] = x })
			}
			for _, key := range []string{"extra", "supersedes_answer_action_id", "Summary"} {
				changes = append(changes, func() { v[key] = stranger })
			}
		case []any:
			changes = append(changes, func() { set(append(v, stranger)) })
			for i, item := range v {
				changes = append(changes, func() { set(append(v, item)) }, func() { set(append(v[:i:i], v[i+1:]...)) })
				walk(item, func(x any) { v[i] = x })
			}
		}
	}
	walk(root, func(x any) { root = x })
	changes[rapid.IntRange(0, len(changes)-1).Draw(t, "change")]()
	changed, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// sorted goes over a map in an order that does not change from run to run.
func sorted(m map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
