package schema_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

var noon = time.Date(2024, 5, 6, 12, 0, 0, 120_000_000, time.UTC)

func demoIdentity() schema.WorkspaceIdentity {
	return schema.NewWorkspaceIdentity(absolute("/srv/demo"), absolute("/srv/demo/.git"), absolute("/srv/demo/.git"))
}

// activeRun is the status of a Run that has just been started.
func activeRun() schema.RunStatus {
	action := soundAction()
	git := observe()
	return schema.RunStatus{
		ContractVersion: 2, ID: "r", Goal: action.Goal, Workspace: demo.Root, WorkspaceIdentity: demoIdentity(),
		State: schema.Active, ReviewEnabled: true, InitialBudget: 8, RemainingBudget: 7, InitialGit: git, CurrentGit: git,
		CurrentAction: &action, Actions: []schema.ActionRecord{{Action: action}},
		CreatedAt: noon, UpdatedAt: noon, Next: schema.NextAction(demo, "r", action.ActionID),
	}
}

func foreignRun() schema.RunStub {
	return schema.RunStub{
		ContractVersion: 2, CreatedAt: noon, Goal: "build", ID: "s", Next: schema.NextStubInWorkspace(demo, "s"),
		State: schema.Active, Workspace: demo.Root, WorkspaceForeign: true, WorkspaceIdentity: demoIdentity(),
	}
}

func TestStatusListGoesThereAndBack(t *testing.T) {
	status, stub := activeRun(), foreignRun()
	list := schema.StatusList{
		ContractVersion: 2, Runs: []schema.ListedRun{{Status: &status}, {Stub: &stub}},
		UnavailableRuns: []schema.UnavailableRun{{ID: "x", Code: schema.CodeRunBusy, Detail: "locked"}},
	}
	encoded := mustMarshal(t, list)
	var back schema.StatusList
	if err := json.Unmarshal(encoded, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, back); diff != "" {
		t.Error(diff)
	}
	var strict schema.StatusList
	if err := schema.DecodeStrict(encoded, len(encoded), &strict); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, strict); diff != "" {
		t.Error(diff)
	}
}

func TestStubHasNineKeys(t *testing.T) {
	var keys map[string]any
	stub := foreignRun()
	if err := json.Unmarshal(mustMarshal(t, schema.ListedRun{Stub: &stub}), &keys); err != nil || len(keys) != 9 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

func TestListedRunIsOneOfTwo(t *testing.T) {
	status, stub := activeRun(), foreignRun()
	for _, listed := range []schema.ListedRun{{}, {Status: &status, Stub: &stub}} {
		if encoded, err := schema.Marshal(listed); err == nil {
			t.Errorf("encoded as %s", encoded)
		}
	}
	var listed schema.ListedRun
	if err := json.Unmarshal([]byte(`{"workspace_foreign":1}`), &listed); err == nil {
		t.Error("a malformed stub was decoded")
	}
}

func TestAbsentListsAreEmptyArrays(t *testing.T) {
	for _, test := range []struct {
		value any
		want  []string
	}{
		{schema.StatusList{}, []string{`"runs":[]`, `"unavailable_runs":[]`}},
		{schema.ReviewReport{}, []string{`"findings":[]`, `"uncertainties":[]`}},
		{schema.PinnedSource{}, []string{`"url_aliases":[]`, `"sections":[]`}},
		{schema.SourceCandidate{}, []string{`"url_aliases":[]`}},
	} {
		encoded := string(mustMarshal(t, test.value))
		for _, want := range test.want {
			if !strings.Contains(encoded, want) {
				t.Errorf("%s is not in %s", want, encoded)
			}
		}
	}
}

func TestStatusWritesNoNullAndNoEmptyOptionalKey(t *testing.T) {
	encoded := string(mustMarshal(t, activeRun()))
	for _, key := range []string{"null", "pause_reason", "pinned_source", "answers", "pending_actions", "summary", "destructive_grant", "voided", "skipped", "outcome\""} {
		if strings.Contains(encoded, key) {
			t.Errorf("%s is in %s", key, encoded)
		}
	}
	if !strings.Contains(encoded, `"created_at":"2024-05-06T12:00:00.12Z"`) {
		t.Errorf("instant: %s", encoded)
	}
}
