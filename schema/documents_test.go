package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"slipway/schema"
)

// compilers by $id: each reads its document once for all shapes.
var compilers = map[string]*jsonschema.Compiler{}

// compile returns the schema of one shape of a document; "" is the whole.
func compile(t testing.TB, document []byte, shape string) *jsonschema.Schema {
	t.Helper()
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	id := content.(map[string]any)["$id"].(string)
	if compilers[id] == nil {
		compilers[id] = jsonschema.NewCompiler()
		if err := compilers[id].AddResource(id, content); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compilers[id].Compile(id + shape)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// verdict is what the schema says about a JSON text.
func verdict(t testing.TB, s *jsonschema.Schema, document []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return s.Validate(value)
}

// TestDocumentsAreSchemas compiles every definition, so that no reference and no
// pattern of either document is broken.
func TestDocumentsAreSchemas(t *testing.T) {
	for _, document := range [][]byte{schema.MessagesSchema(), schema.SourceSchema()} {
		if err := schema.CheckJSON(document, len(document)); err != nil {
			t.Error(err)
		}
		var shapes struct {
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(document, &shapes); err != nil || len(shapes.Defs) == 0 {
			t.Fatalf("%d definitions, %v", len(shapes.Defs), err)
		}
		compile(t, document, "")
		for name := range shapes.Defs {
			compile(t, document, "#/$defs/"+name)
		}
	}
}

func TestDocumentsAreCopies(t *testing.T) {
	schema.MessagesSchema()[0], schema.SourceSchema()[0] = 'x', 'x'
	if schema.MessagesSchema()[0] != '{' || schema.SourceSchema()[0] != '{' {
		t.Error("a caller changed the document")
	}
}

func pinned() *schema.PinnedSource {
	p := &schema.PinnedSource{
		SourceVersion: 2, ParserVersion: 2, ManifestVersion: 2, Profile: "change/v2", Provider: "github", Host: "github.com",
		RepositoryID: "R_1", IssueID: "I_5", IssueNumber: 5, CanonicalURL: "https://github.com/o-1/n_a.me/issues/5",
		SourceRevision: emptySHA, ManifestRevision: helloSHA, RequirementsRevision: scope, Title: "A page",
		Parent: &schema.ParentIssue{RepositoryID: "R_1", IssueID: "I_1", CanonicalURL: "https://github.com/o/n/issues/1"},
	}
	for _, role := range []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"} {
		p.Sections = append(p.Sections, schema.PinnedSection{
			Key: role, Role: role, Title: "T", BodySHA256: emptySHA, SectionRevision: emptySHA, MaterialSHA256: emptySHA, Bytes: 5,
			Provenance: schema.Provenance{CommentNodeID: "IC_1", CommentDatabaseID: 1, AuthorID: "U_1",
				URL: p.CanonicalURL + "#issuecomment-1", ObservedUpdatedAt: "2024-05-06T12:00:00+02:00"},
		})
	}
	return p
}

func candidate(valid bool) *schema.SourceCandidate {
	p := pinned()
	c := &schema.SourceCandidate{
		CandidateID: "c", Valid: valid, SourceVersion: 2, ParserVersion: 2, Provider: "github", Host: "github.com",
		RepositoryID: p.RepositoryID, IssueID: p.IssueID, IssueNumber: 5, CanonicalURL: p.CanonicalURL, CreatedAt: noon,
	}
	if valid {
		c.Classification, c.ClassificationCode = "valid", "valid_change"
		c.SourceRevision, c.RequirementsRevision, c.Title, c.Snapshot = p.SourceRevision, p.RequirementsRevision, p.Title, p
	} else {
		c.Classification, c.ClassificationCode, c.ClassificationError = "invalid", "objective_marker", "an Objective"
		c.ObservationSHA256 = emptySHA
	}
	return c
}

func protocolState(state schema.State, next schema.Next, change func(*schema.ProtocolState)) schema.ProtocolState {
	p := schema.ProtocolState{ContractVersion: 2, RunID: "r", State: state, Next: next}
	if change != nil {
		change(&p)
	}
	return p
}

// sample is a message and the shape that it has.
type sample struct {
	name, shape string
	message     any
}

func samples() []sample {
	plainAction, grant, withSource := soundAction(), authorized(), sourced(soundAction())
	yes, no := true, false
	paused := func(reason schema.PauseReason, action *schema.Action) func(*schema.ProtocolState) {
		return func(p *schema.ProtocolState) { p.PauseReason, p.Action = reason, action }
	}
	list := []sample{
		{"active", "protocol_state", protocolState(schema.Active, schema.NextAction(demo, "r", actionID), func(p *schema.ProtocolState) { p.Action = &plainAction })},
		{"active with source", "protocol_state", protocolState(schema.Active, schema.NextAction(demo, "r", actionID), func(p *schema.ProtocolState) {
			p.Action, p.PinnedSource, p.ResumeOperation, p.BudgetApplied = &withSource, pinned(), schema.SourceRefreshed, &yes
		})},
		{"decision", "protocol_state", protocolState(schema.Paused, schema.NextDecision(demo, "r", actionID), paused(schema.DecisionRequired, &plainAction))},
		{"destructive", "protocol_state", protocolState(schema.Paused, schema.NextDestructive(demo, "r", actionID, scope), paused(schema.DestructiveConfirmationRequired, &grant))},
		{"environment", "protocol_state", protocolState(schema.Paused, schema.NextResume(demo, "r", schema.Resumption{}, actionID), paused(schema.EnvironmentUnavailable, &plainAction))},
		{"budget", "protocol_state", protocolState(schema.Paused, schema.NextResume(demo, "r", schema.Resumption{}, ""), paused(schema.BudgetExhausted, nil))},
		{"candidate", "protocol_state", protocolState(schema.Paused, schema.NextResume(demo, "r", schema.Resumption{Source: true, Candidate: "c"}, ""), func(p *schema.ProtocolState) {
			p.PauseReason, p.PinnedSource, p.SourceCandidate = schema.DecisionRequired, pinned(), candidate(false)
			p.ResumeOperation, p.BudgetApplied = schema.SourceCandidateCreated, &no
		})},
		{"stopped", "protocol_state", protocolState(schema.Stopped, schema.NextResume(demo, "r", schema.Resumption{Source: true, Candidate: "c", Adoptable: true}, ""), func(p *schema.ProtocolState) {
			p.PinnedSource, p.SourceCandidate = pinned(), candidate(true)
		})},
		{"ended", "protocol_state", protocolState(schema.Ended, schema.NextNone(demo), func(p *schema.ProtocolState) { p.Summary = "done" })},
		{"observation", "observation", observe(regular("a.txt", 6, helloSHA), missing("b"))},
		{"just started", "run_status", activeRun()},
		{"destructive grant", "run_status", grantedRun()},
		{"ended after a skip", "run_status", endedRun()},
	}
	status, stub := activeRun(), foreignRun()
	list = append(list, sample{"list", "status_list", schema.StatusList{ContractVersion: 2, Runs: []schema.ListedRun{{Status: &status}, {Stub: &stub}},
		UnavailableRuns: []schema.UnavailableRun{{ID: "x", Code: schema.CodeRunUnavailable, Detail: "no folder"}}}})
	for _, a := range []schema.Action{plainAction, grant, withSource, sourced(grant)} {
		list = append(list, sample{"action", "action", a})
	}
	list = append(list, reportSamples()...)
	return append(list, errorSamples()...)
}

func reportSamples() []sample {
	section := schema.MaterialSection{Key: "outcome", Role: "outcome", Title: "T", SectionRevision: emptySHA, Markdown: "One page.\n"}
	var hosts []map[string]any
	for id := range strings.SplitSeq("claude codex copilot cursor kilo kiro opencode pi qwen windsurf", " ") {
		hosts = append(hosts, map[string]any{"id": id, "detected": true, "installed": false, "needs_refresh": false, "capabilities": []string{}})
	}
	return []sample{
		{"material", "action_material", schema.ActionMaterial{ContractVersion: 2, MessageType: schema.ActionMaterialType,
			RunID: "r", ActionID: actionID, RequirementsRevision: scope, Section: section}},
		{"pinned material", "pinned_material", schema.PinnedMaterial{ContractVersion: 2, MessageType: schema.PinnedMaterialType,
			RunID: "r", RunState: schema.Ended, SourceRevision: emptySHA, RequirementsRevision: scope, Section: section}},
		{"list", "list_report", map[string]any{"contract_version": 2, "hosts": hosts}},
		{"doctor", "doctor_report", map[string]any{"contract_version": 2, "checks": []map[string]any{
			{"code": "repository_ok", "status": "ok", "host_id": "-", "name": "repository", "detail": demo.Root},
			{"code": "runstore_durability_limited", "status": "warning", "host_id": "-", "name": "runstore durability", "detail": "files only",
				"durability": map[string]any{"level": "file_fsync_only", "file_sync": true, "directory_sync": false, "limitation": "directory_fsync_unsupported"}},
		}}},
		{"change", "change_report", map[string]any{"contract_version": 2, "hosts": []string{"kiro"}, "transaction_outcome": "committed",
			"written": []string{".kiro/a"}, "removed": []string{}, "preserved": []string{}, "recovery_artifacts": []string{}, "warnings": []string{}}},
	}
}

func grantedRun() schema.RunStatus {
	r := activeRun()
	action, request := authorized(), destructiveRequest()
	r.Actions = []schema.ActionRecord{{Action: action, Outcome: asking(schema.Implement, schema.DestructiveConfirmationRequired), OutcomePayloadSHA256: emptySHA}, {Action: action}}
	r.CurrentAction, r.PendingDestructiveRequest, r.DestructiveGrant = &action, &request, action.DestructiveAuthorization
	r.Answers = []schema.Answer{{ActionID: "a0", ConfirmDestructive: true, ScopeSHA256: scope, PayloadSHA256: emptySHA, At: noon}}
	return r
}

func endedRun() schema.RunStatus {
	r := activeRun()
	skipped := soundAction()
	skipped.Kind = schema.Review
	r.State, r.CurrentAction, r.Summary, r.FinalGitObserved, r.Next = schema.Ended, nil, "done", true, schema.NextNone(demo)
	r.Actions = append(r.Actions, schema.ActionRecord{Action: skipped, Skipped: true, ReviewProjection: &schema.ReviewReport{Result: schema.ReviewNotRun}})
	r.LastResumeResult = &schema.ResumeResult{Operation: schema.AdHocResumed, BudgetApplied: true}
	r.Answers = []schema.Answer{{ActionID: "a0", Text: "yes", PayloadSHA256: emptySHA, SupersededBy: "a1", At: noon}}
	r.Observations = []string{"seen"}
	return r
}

func errorSamples() []sample {
	run := schema.RunDetails{RunID: "r", State: schema.Active}
	report := map[string]any{"contract_version": 2, "hosts": []string{"kiro"}, "transaction_outcome": "rolled_back",
		"written": []string{}, "removed": []string{}, "preserved": []string{}, "recovery_artifacts": []string{}, "warnings": []string{"x"}}
	var list []sample
	for _, err := range []*schema.Error{
		schema.Usage(schema.CodeInvalidUsage, schema.NextNone(demo), "no"),
		schema.Usage(schema.CodeInvalidOutcome, schema.NextSubmitRetry(demo, "r", "a", true), "no"),
		schema.Usage(schema.CodeInvalidSource, schema.NextStart(demo, 8, false, true), "no"),
		schema.Usage(schema.CodeInvalidSourceCandidate, schema.NextRefreshStatic(demo, "r", nil), "no"),
		schema.Usage(schema.CodeInvalidAdapterSurface, schema.NextInstallKiro(demo), "no"),
		schema.Usage(schema.CodeActionIDRequired, schema.NextInspectRun(demo, "r"), "no"),
		schema.Runtime(schema.CodeGitRepositoryUnavailable, schema.NextRetryDoctorJSON(demo), nil, "no"),
		schema.Runtime(schema.CodeStaleAction, schema.NextAction(demo, "r", "a"), run, "no"),
		schema.Runtime(schema.CodeSourceModeConflict, schema.NextResume(demo, "r", schema.Resumption{Source: true}, ""), run, "no"),
		schema.Runtime(schema.CodeSourceIssueMismatch, schema.NextStart(demo, 8, true, true),
			schema.IssueDetails{RunID: "r", State: schema.Paused, PinnedIssueID: "I_1", RefreshedIssueID: "I_2"}, "no"),
		schema.Runtime(schema.CodeWorkspaceIdentityMismatch, schema.NextInspectInWorkspace(demo), schema.WorkspaceDetails{ExpectedWorkspaceIdentity: demoIdentity().ID}, "no"),
		schema.Runtime(schema.CodeRunBusy, schema.NextInspectRun(demo, "r"), schema.MutationDetails{Phase: "lock_open"}, "no"),
		schema.Runtime(schema.CodeRunBusy, schema.NextInspectRun(demo, "r"), nil, "no"),
		schema.Runtime(schema.CodeJournalRecordTooLarge, schema.NextInspectRuns(demo), schema.RecordDetails{Context: "event", Size: 2, Limit: 1}, "no"),
		schema.Runtime(schema.CodeInstallFailed, schema.NextInspectHostAdapters(demo), schema.AdapterDetails{TransactionOutcome: "rolled_back", Report: report}, "no"),
		schema.Runtime(schema.CodeDaemonUnavailable, schema.NextNone(demo), schema.DaemonDetails{LogTail: []string{"x"}}, "no"),
		schema.Runtime(schema.CodeContractVersionMismatch, schema.NextRefreshAdapters(demo), nil, "no"),
	} {
		list = append(list, sample{string(err.Code), "cli_error", err})
	}
	return list
}

func TestMessagesFitTheSchema(t *testing.T) {
	document := schema.MessagesSchema()
	whole := compile(t, document, "")
	for _, s := range samples() {
		encoded := mustMarshal(t, s.message)
		if err := verdict(t, compile(t, document, "#/$defs/"+s.shape), encoded); err != nil {
			t.Errorf("%s: %v\n%s", s.name, err, encoded)
		}
		if top := s.shape != "action" && s.shape != "observation"; (verdict(t, whole, encoded) == nil) != top {
			t.Errorf("%s: as one of all messages: %v", s.name, !top)
		}
	}
}

// TestMessagesOfOtherShapeAreRefused changes one key at a time of every sample:
// an unknown key more, or any of its keys of another type, at any depth.
func TestMessagesOfOtherShapeAreRefused(t *testing.T) {
	document := schema.MessagesSchema()
	for _, s := range samples() {
		expected := compile(t, document, "#/$defs/"+s.shape)
		encoded := mustMarshal(t, s.message)
		for _, changed := range spoiled(t, encoded) {
			if err := verdict(t, expected, changed); err == nil {
				t.Errorf("%s: accepted: %s", s.name, changed)
			}
		}
	}
}

// spoiled returns copies of a document that each have one value exchanged for an
// object with an unknown key, or one object with an unknown key more.
func spoiled(t testing.TB, document []byte) (changed [][]byte) {
	var root any
	if err := json.Unmarshal(document, &root); err != nil {
		t.Fatal(err)
	}
	keep := func() { changed = append(changed, mustMarshal(t, root)) }
	var walk func(value any, set func(any))
	walk = func(value any, set func(any)) {
		set(map[string]any{"no_such_key": 1})
		keep()
		set(value)
		switch v := value.(type) {
		case map[string]any:
			v["no_such_key"] = 1
			keep()
			delete(v, "no_such_key")
			for key, item := range v {
				walk(item, func(x any) { v[key] = x })
			}
		case []any:
			for i, item := range v {
				walk(item, func(x any) { v[i] = x })
			}
		}
	}
	walk(root, func(x any) { root = x })
	return changed
}

// TestMessagesThatContradictThemselvesAreRefused names rules between keys.
func TestMessagesThatContradictThemselvesAreRefused(t *testing.T) {
	action := soundAction()
	state := func(change func(*schema.ProtocolState)) schema.ProtocolState {
		return protocolState(schema.Active, schema.NextAction(demo, "r", actionID), func(p *schema.ProtocolState) {
			p.Action = &action
			change(p)
		})
	}
	run := func(from schema.RunStatus, change func(*schema.RunStatus)) schema.RunStatus {
		change(&from)
		return from
	}
	yes := true
	document := schema.MessagesSchema()
	for _, s := range []sample{
		{"active without Action", "protocol_state", state(func(p *schema.ProtocolState) { p.Action = nil })},
		{"active with pause reason", "protocol_state", state(func(p *schema.ProtocolState) { p.PauseReason = schema.DecisionRequired })},
		{"active with summary", "protocol_state", state(func(p *schema.ProtocolState) { p.Summary = "x" })},
		{"active without next", "protocol_state", state(func(p *schema.ProtocolState) { p.Next = schema.NextNone(demo) })},
		{"stopped with Action", "protocol_state", state(func(p *schema.ProtocolState) {
			p.State, p.Next = schema.Stopped, schema.NextResume(demo, "r", schema.Resumption{}, "")
		})},
		{"ended without summary", "protocol_state", state(func(p *schema.ProtocolState) { p.State, p.Action, p.Next = schema.Ended, nil, schema.NextNone(demo) })},
		{"paused without reason", "protocol_state", state(func(p *schema.ProtocolState) { p.State = schema.Paused })},
		{"source without its Action's", "protocol_state", state(func(p *schema.ProtocolState) { p.PinnedSource = pinned() })},
		{"candidate of an active Run", "protocol_state", state(func(p *schema.ProtocolState) { p.SourceCandidate = candidate(true) })},
		{"budget alone", "protocol_state", state(func(p *schema.ProtocolState) { p.BudgetApplied = &yes })},
		{"ad-hoc resume of a source", "protocol_state", protocolState(schema.Active, schema.NextAction(demo, "r", actionID), func(p *schema.ProtocolState) {
			withSource := sourced(action)
			p.Action, p.PinnedSource, p.ResumeOperation, p.BudgetApplied = &withSource, pinned(), schema.AdHocResumed, &yes
		})},
		{"Review pending though off", "run_status", run(activeRun(), func(r *schema.RunStatus) { r.ReviewEnabled, r.ReviewPending = false, true })},
		{"final observation of an active Run", "run_status", run(activeRun(), func(r *schema.RunStatus) { r.FinalGitObserved = true })},
		{"no Actions", "run_status", run(activeRun(), func(r *schema.RunStatus) { r.Actions = []schema.ActionRecord{} })},
		{"grant without request", "run_status", run(grantedRun(), func(r *schema.RunStatus) { r.PendingDestructiveRequest = nil })},
		{"request without grant", "run_status", run(grantedRun(), func(r *schema.RunStatus) { r.DestructiveGrant = nil })},
		{"digest without Outcome", "run_status", run(activeRun(), func(r *schema.RunStatus) { r.Actions[0].OutcomePayloadSHA256 = emptySHA })},
		{"confirmation that is active", "run_status", run(grantedRun(), func(r *schema.RunStatus) { r.Answers[0].Active = true })},
		{"scope without confirmation", "run_status", run(grantedRun(), func(r *schema.RunStatus) { r.Answers[0].ConfirmDestructive = false })},
		{"projection of an Orient", "run_status", run(endedRun(), func(r *schema.RunStatus) { r.Actions[1].Action.Kind = schema.Orient })},
		{"skipped Review without projection", "run_status", run(endedRun(), func(r *schema.RunStatus) { r.Actions[1].ReviewProjection = nil })},
		{"budget not applied", "run_status", run(endedRun(), func(r *schema.RunStatus) { r.LastResumeResult.BudgetApplied = false })},
		{"usage with details", "cli_error", &schema.Error{ContractVersion: 2, Code: schema.CodeInvalidUsage, Message: "x", Next: schema.NextNone(demo), ExitCode: 2, Details: schema.RunDetails{RunID: "r", State: schema.Active}}},
		{"state without details", "cli_error", schema.Runtime(schema.CodeStaleAction, schema.NextNone(demo), nil, "x")},
		{"runtime error with details", "cli_error", schema.Runtime(schema.CodeRuntimeError, schema.NextNone(demo), schema.RunDetails{RunID: "r", State: schema.Active}, "x")},
		{"exit of another code", "cli_error", schema.Usage(schema.CodeRunNotFound, schema.NextNone(demo), "x")},
		{"complete with a missing path", "observation", func() schema.Observation {
			o := observe(missing("b"))
			o.ContentObservationComplete = true
			return o
		}()},
	} {
		encoded := mustMarshal(t, s.message)
		if err := verdict(t, compile(t, document, "#/$defs/"+s.shape), encoded); err == nil {
			t.Errorf("%s: accepted: %s", s.name, encoded)
		}
	}
}

func TestNextOfTheSchemaIsThatOfTheConstructors(t *testing.T) {
	next := compile(t, schema.MessagesSchema(), "#/$defs/next")
	twelve := 12
	good := []schema.Next{
		schema.NextNone(demo), schema.NextInspectRun(demo, "--json"), schema.NextInspectRuns(demo), schema.NextListRuns(demo),
		schema.NextInspectInWorkspace(demo), schema.NextStubInWorkspace(demo, "r"), schema.NextRunDoctor(demo), schema.NextRetryDoctor(demo),
		schema.NextRetryDoctorJSON(demo), schema.NextRetryList(demo), schema.NextRefreshAdapters(demo), schema.NextListHostAdapters(demo),
		schema.NextInspectHostAdapters(demo), schema.NextInstallKiro(demo), schema.NextStart(demo, 1000, true, false), schema.NextStart(demo, 1, false, true),
		schema.NextSubmitRetry(demo, "r", "an action", false), schema.NextRefreshStatic(demo, "r", nil), schema.NextRefreshStatic(demo, "r", &twelve),
		schema.NextAction(demo, "r", "a"), schema.NextDecision(demo, "r", "a"), schema.NextDestructive(demo, "r", "a", scope),
		schema.NextResume(demo, "r", schema.Resumption{}, "a"), schema.NextResume(demo, "r", schema.Resumption{Source: true}, ""),
		schema.NextResume(demo, "r", schema.Resumption{Source: true, Candidate: "c", Adoptable: true}, ""),
	}
	for _, n := range good {
		if err := verdict(t, next, mustMarshal(t, n)); err != nil {
			t.Errorf("%s: %v", shape(n), err)
		}
	}
	for name, change := range map[string]func(v *schema.Variant){
		"placeholder":  func(v *schema.Variant) { v.BaseArgv[6] = " '<action>'" },
		"flag":         func(v *schema.Variant) { v.BaseArgv[6] = "--x" },
		"NUL":          func(v *schema.Variant) { v.BaseArgv[6] = "a\x00" },
		"relative":     func(v *schema.Variant) { v.BaseArgv[8] = "demo" },
		"other word":   func(v *schema.Variant) { v.BaseArgv[2] = "answer" },
		"one more":     func(v *schema.Variant) { v.BaseArgv = append(v.BaseArgv, "--json") },
		"other input":  func(v *schema.Variant) { v.Inputs[0].Required = false },
		"other id":     func(v *schema.Variant) { v.ID = "skip-action" },
		"input is out": func(v *schema.Variant) { v.Inputs = nil },
	} {
		n := schema.NextAction(demo, "r", "a")
		change(&n.Variants[0])
		if verdict(t, next, mustMarshal(t, n)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

const envelopeDocument = `{"source_version":2,"provider":"github","host":"github.com","repository_id":"R_1","issue_id":"I_5","issue_number":5,
"canonical_url":"https://github.com/o/n/issues/5","updated_at":"2024-05-06T12:00:00Z","fetched_at":"2024-05-06T12:00:00.5+02:00","title":"T",
"body":"","labels":["a","a"],"parent":null,"comments":[{"node_id":"IC_1","database_id":1,"url":"https://github.com/o/n/issues/5#issuecomment-1",
"author_id":"U_1","updated_at":"2024-05-06T12:00:00Z","is_minimized":false,"body":""}]}`

func TestSourceSchema(t *testing.T) {
	envelope := compile(t, schema.SourceSchema(), "")
	if err := verdict(t, envelope, []byte(envelopeDocument)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"source_version":2`, `"source_version":1`}, {`"github"`, `"gitlab"`}, {`"R_1"`, `"R 1"`}, {`"R_1"`, `""`}, {`"issue_number":5`, `"issue_number":0`},
		{`issues/5"`, `issues/05"`}, {`issues/5"`, `issues/5/"`}, {`/o/n/issues/5"`, `/o/../issues/5"`}, {`/o/n/issues/5"`, `/o_/n/issues/5"`},
		{`T12:00:00Z`, `t12:00:00Z`}, {`T12:00:00Z`, `T24:00:00Z`}, {`T12:00:00Z`, `T12:00:60Z`}, {`T12:00:00Z`, `T12:00:00`}, {`05-06T`, `13-06T`},
		{`"title":"T"`, `"title":" "`}, {`"title":"T"`, `"title":"a\tb"`}, {`"body":"",`, `"body":"\u0000",`}, {`["a","a"]`, `[""]`}, {`["a","a"]`, `null`},
		{`"parent":null`, `"parent":{}`}, {`#issuecomment-1`, `#issuecomment-01`}, {`"is_minimized":false`, `"is_minimized":null`}, {`"title":"T",`, ``},
		{`"body":"",`, `"extra":1,"body":"",`},
	} {
		changed := strings.Replace(envelopeDocument, change[0], change[1], 1)
		if changed == envelopeDocument || verdict(t, envelope, []byte(changed)) == nil {
			t.Errorf("%s: accepted", change[1])
		}
	}
}

func TestManifestSchema(t *testing.T) {
	manifest := compile(t, schema.SourceSchema(), "#/$defs/manifest")
	type section map[string]any
	document := func(change func(m map[string]any, sections []section)) []byte {
		var sections []section
		for i, role := range []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"} {
			sections = append(sections, section{"key": role, "role": role, "title": "T", "comment_node_id": "IC", "comment_database_id": i + 1, "body_sha256": emptySHA})
		}
		m := map[string]any{"manifest_version": 2, "profile": "change/v2", "sections": sections}
		if change != nil {
			change(m, sections)
		}
		return mustMarshal(t, m)
	}
	for name, change := range map[string]func(m map[string]any, sections []section){
		"first":        nil,
		"amendment":    func(m map[string]any, _ []section) { m["parent_requirements_revision"] = scope },
		"empty parent": func(m map[string]any, _ []section) { m["parent_requirements_revision"] = "" },
	} {
		if err := verdict(t, manifest, document(change)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(m map[string]any, sections []section){
		"version":       func(m map[string]any, _ []section) { m["manifest_version"] = 1 },
		"parent":        func(m map[string]any, _ []section) { m["parent_requirements_revision"] = "x" },
		"null parent":   func(m map[string]any, _ []section) { m["parent_requirements_revision"] = nil },
		"four sections": func(m map[string]any, s []section) { m["sections"] = s[:4] },
		"role missing":  func(_ map[string]any, s []section) { s[4]["role"] = "outcome" },
		"key":           func(_ map[string]any, s []section) { s[0]["key"] = "A" },
		"title":         func(_ map[string]any, s []section) { s[0]["title"] = "\n" },
		"no digest":     func(_ map[string]any, s []section) { delete(s[0], "body_sha256") },
		"unknown key":   func(_ map[string]any, s []section) { s[0]["bytes"] = 1 },
	} {
		if verdict(t, manifest, document(change)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
