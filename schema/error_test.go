package schema_test

import (
	"encoding/json"
	"errors"
	"testing"

	"slipway/schema"
)

func TestUsageHasNoDetails(t *testing.T) {
	err := schema.Usage(schema.CodeInvalidRunID, schema.NextInspectRuns(demo), "no id: %q", "a b")
	got, fault := schema.Marshal(err)
	if fault != nil {
		t.Fatal(fault)
	}
	want := `{"contract_version":2,"code":"invalid_run_id","message":"no id: \"a b\"","next":{"operation":"command","workspace_identity":"` +
		string(demo.Identity) + `","variants":[{"id":"inspect-runs","base_argv":["slipway","status","--root","` + string(mustMarshal(t, demo.Root))[1:len(mustMarshal(t, demo.Root))-1] +
		`"],"inputs":[]}]},"exit_code":2}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func mustMarshal(t testing.TB, v any) []byte {
	t.Helper()
	encoded, err := schema.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestDetailsOfEachForm(t *testing.T) {
	identity := schema.NewWorkspaceIdentity(absolute("/srv/demo"), absolute("/srv/demo/.git"), absolute("/srv/demo/.git"))
	identityJSON := string(mustMarshal(t, identity.ID))
	for _, test := range []struct {
		details schema.Details
		want    string
	}{
		{schema.RunDetails{RunID: "r", State: schema.Paused}, `{"run_id":"r","state":"paused"}`},
		{schema.IssueDetails{RunID: "r", State: schema.Active, PinnedIssueID: "I_1", RefreshedIssueID: "I_2"},
			`{"pinned_issue_id":"I_1","refreshed_issue_id":"I_2","run_id":"r","state":"active"}`},
		{schema.WorkspaceDetails{ExpectedWorkspaceIdentity: identity.ID, DiscoveryError: "gone"},
			`{"discovery_error":"gone","expected_workspace_identity":` + identityJSON + `}`},
		{schema.WorkspaceDetails{ExpectedWorkspaceIdentity: identity.ID, ObservedWorkspaceIdentity: identity.ID},
			`{"expected_workspace_identity":` + identityJSON + `,"observed_workspace_identity":` + identityJSON + `}`},
		{schema.MutationDetails{Phase: "journal_write", Ambiguous: true},
			`{"ambiguous":true,"committed":false,"namespace_detached":false,"phase":"journal_write","projection_stale":false}`},
		{schema.RecordDetails{Context: "event", Size: 3, Limit: 2}, `{"context":"event","limit":2,"size":3}`},
		{schema.AdapterDetails{TransactionOutcome: "rolled_back", Report: map[string]int{"x": 1}},
			`{"report":{"x":1},"transaction_outcome":"rolled_back"}`},
		{schema.DaemonDetails{LogTail: []string{"line"}}, `{"log_tail":["line"]}`},
	} {
		var shown struct {
			Details json.RawMessage `json:"details"`
		}
		encoded := mustMarshal(t, schema.Runtime(schema.CodeRuntimeError, schema.NextNone(demo), test.details, "failed"))
		if err := json.Unmarshal(encoded, &shown); err != nil || string(shown.Details) != test.want {
			t.Errorf("got %s, want %s (%v)", shown.Details, test.want, err)
		}
	}
}

func TestErrorIsAnErrorWithAMessage(t *testing.T) {
	var err error = schema.Runtime(schema.CodeRunBusy, schema.NextNone(demo), nil, "")
	var got *schema.Error
	if !errors.As(err, &got) || got.ExitCode != schema.ExitRuntime || got.Message == "" {
		t.Errorf("%+v", got)
	}
	if err.Error() != "run_busy: run_busy" {
		t.Errorf("%q", err.Error())
	}
}
