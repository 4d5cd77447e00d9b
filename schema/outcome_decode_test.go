package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

const actionID = "4a1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21"

const orientDocument = `{"contract_version":2,"action_id":"` + actionID + `","action_kind":"orient","status":"completed","summary":"seen",` +
	`"observations":["a"],"known_issues":[],"suggested_actions":[{"kind":"implement","brief":"do it"}],"pause":null,"implementation":null,"review":null}`

// replaced is the document with one part exchanged, which must be in it.
func replaced(t testing.TB, old, new string) string {
	t.Helper()
	if !strings.Contains(orientDocument, old) {
		t.Fatalf("%s is not in the document", old)
	}
	return strings.Replace(orientDocument, old, new, 1)
}

func TestDecodeOutcome(t *testing.T) {
	got, fault := schema.DecodeOutcome([]byte(" " + orientDocument + "\r\n"))
	if fault != nil {
		t.Fatal(fault)
	}
	want := &schema.Outcome{
		ContractVersion: 2, ActionID: actionID, ActionKind: schema.Orient, Status: schema.Completed, Summary: "seen",
		Observations: []string{"a"}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{{Kind: schema.Implement, Brief: "do it"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if encoded := mustMarshal(t, got); string(encoded) != orientDocument {
		t.Errorf("encoded again: %s", encoded)
	}
}

func TestDecodeOutcomeFaults(t *testing.T) {
	const invalid, version = schema.CodeInvalidOutcome, schema.CodeContractVersionMismatch
	implementation := `"implementation":{"result":"applied","files_changed":[],"activities":[],"uncertainties":[],"attempts":1}`
	question := `"pause":{"reason":"decision_required","question":"?","destructive_request":null}`
	request := `"pause":{"reason":"decision_required","question":"?","destructive_request":{"request_id":"","targets":[],"impact":"","scope_sha256":""}}`
	for name, test := range map[string]struct {
		doc  string
		want schema.Code
	}{
		"empty object":                          {`{}`, version},
		"version 1":                             {replaced(t, `"contract_version":2`, `"contract_version":1`), version},
		"version 0":                             {`{"contract_version":0}`, version},
		"version missing":                       {replaced(t, `"contract_version":2,`, ``), version},
		"version 3, keys missing":               {`{"contract_version":3,"summary":"a"}`, version},
		"version 3, null arrays":                {`{"contract_version":3,"observations":null}`, version},
		"version 3, null superseded answer":     {`{"contract_version":3,"pause":{"supersedes_answer_action_id":null}}`, version},
		"version 3, unknown key":                {`{"contract_version":3,"extra":1}`, invalid},
		"version 3, same key":                   {`{"contract_version":3,"summary":"a","summary":"a"}`, invalid},
		"version 3, wrong type":                 {`{"contract_version":3,"summary":1}`, invalid},
		"version 3, null summary":               {`{"contract_version":3,"summary":null}`, invalid},
		"version 3, trailing data":              {`{"contract_version":3}1`, invalid},
		"version 2.0":                           {replaced(t, `"contract_version":2`, `"contract_version":2.0`), invalid},
		"version 2e0":                           {replaced(t, `"contract_version":2`, `"contract_version":2e0`), invalid},
		"version as text":                       {replaced(t, `"contract_version":2`, `"contract_version":"2"`), invalid},
		"version beyond 64 bits":                {replaced(t, `"contract_version":2`, `"contract_version":9223372036854775808`), invalid},
		"key missing":                           {replaced(t, `"known_issues":[],`, ``), invalid},
		"nullable key missing":                  {replaced(t, `,"review":null`, ``), invalid},
		"null array":                            {replaced(t, `"known_issues":[]`, `"known_issues":null`), invalid},
		"null suggestions":                      {replaced(t, `"suggested_actions":[{"kind":"implement","brief":"do it"}]`, `"suggested_actions":null`), invalid},
		"null item":                             {replaced(t, `["a"]`, `[null]`), invalid},
		"null suggestion":                       {replaced(t, `{"kind":"implement","brief":"do it"}`, `null`), invalid},
		"null kind":                             {replaced(t, `"orient"`, `null`), invalid},
		"suggestion without brief":              {replaced(t, `,"brief":"do it"`, ``), invalid},
		"key in other case":                     {replaced(t, `"summary"`, `"Summary"`), invalid},
		"branch of another kind, complete":      {replaced(t, `"implementation":null`, implementation), ""},
		"branch of another kind, null array":    {replaced(t, `"implementation":null`, strings.Replace(implementation, `"activities":[]`, `"activities":null`, 1)), invalid},
		"branch of another kind, key missing":   {replaced(t, `"implementation":null`, strings.Replace(implementation, `,"attempts":1`, ``, 1)), invalid},
		"branch of another kind, attempts null": {replaced(t, `"implementation":null`, strings.Replace(implementation, `"attempts":1`, `"attempts":null`, 1)), invalid},
		"pause":                                 {replaced(t, `"pause":null`, question), ""},
		"pause without request":                 {replaced(t, `"pause":null`, strings.Replace(question, `,"destructive_request":null`, ``, 1)), invalid},
		"pause with superseded answer":          {replaced(t, `"pause":null`, strings.Replace(question, `null}`, `null,"supersedes_answer_action_id":"x"}`, 1)), ""},
		"pause with null superseded answer":     {replaced(t, `"pause":null`, strings.Replace(question, `null}`, `null,"supersedes_answer_action_id":null}`, 1)), invalid},
		"empty request":                         {replaced(t, `"pause":null`, request), ""},
		"request with null targets":             {replaced(t, `"pause":null`, strings.Replace(request, `"targets":[]`, `"targets":null`, 1)), invalid},
		"meaning is not looked at":              {replaced(t, `"status":"completed"`, `"status":"skipped"`), ""},
		"byte order mark":                       {"\ufeff" + orientDocument, invalid},
		"nothing":                               {"", invalid},
		"array":                                 {"[" + orientDocument + "]", invalid},
		"at the limit":                          {orientDocument + strings.Repeat(" ", schema.MaxOutcomeBytes-len(orientDocument)), ""},
		"one LF beyond the limit":               {orientDocument + strings.Repeat(" ", schema.MaxOutcomeBytes-len(orientDocument)) + "\n", invalid},
	} {
		outcome, fault := schema.DecodeOutcome([]byte(test.doc))
		switch {
		case test.want == "":
			if fault != nil || outcome == nil {
				t.Errorf("%s: %v", name, fault)
			}
		case fault == nil:
			t.Errorf("%s: accepted", name)
		case fault.Code != test.want || fault.Error() == "" || outcome != nil:
			t.Errorf("%s: %s (%s)", name, fault.Code, fault.Reason)
		}
	}
}

// largeOutcome is a legal document of almost the largest size.
func largeOutcome(t testing.TB) []byte {
	outcome, fault := schema.DecodeOutcome([]byte(orientDocument))
	if fault != nil {
		t.Fatal(fault)
	}
	for size := 0; size < schema.MaxOutcomeBytes-1000; size += 54 {
		outcome.Observations = append(outcome.Observations, "line one\nand \"line\" two, with an é in between")
	}
	encoded := mustMarshal(t, outcome)
	return encoded[:len(encoded):len(encoded)]
}

func BenchmarkDecodeOutcome(b *testing.B) {
	doc := largeOutcome(b)
	if len(doc) > schema.MaxOutcomeBytes {
		b.Fatalf("%d bytes", len(doc))
	}
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, fault := schema.DecodeOutcome(doc); fault != nil {
			b.Fatal(fault)
		}
	}
}

func FuzzDecodeOutcome(f *testing.F) {
	f.Add([]byte(orientDocument))
	f.Add([]byte(`{"contract_version":3}`))
	f.Add([]byte(replaced(f, `"pause":null`, `"pause":{"reason":"decision_required","question":"?","destructive_request":null,"supersedes_answer_action_id":"x"}`)))
	for _, doc := range strictlyRefused {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		outcome, fault := schema.DecodeOutcome(data)
		if fault != nil {
			if fault.Code != schema.CodeInvalidOutcome && fault.Code != schema.CodeContractVersionMismatch {
				t.Fatalf("code %s", fault.Code)
			}
			if fault.Code == schema.CodeContractVersionMismatch && schema.CheckJSON(data, schema.MaxOutcomeBytes) != nil {
				t.Fatal("another version, though it is no JSON")
			}
			return
		}
		if !json.Valid(data) {
			t.Fatal("accepted what is no JSON")
		}
		encoded := mustMarshal(t, outcome)
		again, fault := schema.DecodeOutcome(encoded)
		if fault != nil && len(encoded) <= schema.MaxOutcomeBytes {
			t.Fatalf("not its own output: %v", fault)
		}
		if fault == nil && !bytes.Equal(encoded, mustMarshal(t, again)) {
			t.Fatal("encoding is not stable")
		}
	})
}
