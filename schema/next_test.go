package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slipway/schema"
)

var demo = schema.NewWorkspaceIdentity(absolute("/srv/demo"), absolute("/srv/demo/.git"), absolute("/srv/demo/.git")).Place()

const scope = schema.Digest("sha256:a39f06064b3048ed52f52c58a67631e733a9fb052afbc63705b05fd906615d8f")

// shape writes a Next as one line per variant: id, argv with the root as ROOT,
// and the inputs as next.md writes them.
func shape(n schema.Next) string {
	lines := []string{string(n.Operation)}
	for _, v := range n.Variants {
		line := v.ID + ": " + strings.ReplaceAll(strings.Join(v.BaseArgv, " "), demo.Root, "ROOT")
		for _, input := range v.Inputs {
			line += " | " + input.Name + " " + string(input.Type) + " " + input.Flag
			if !input.Required {
				line += " opt."
			}
			if input.Choices != nil {
				line += " " + strings.Join(input.Choices, ",")
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestNextOfEveryConstructor(t *testing.T) {
	const (
		submit      = "slipway protocol submit --run RUN --action ACT --root ROOT"
		answer      = "slipway protocol answer --run RUN --action ACT --root ROOT"
		resume      = "slipway protocol resume RUN --root ROOT"
		skip        = "\nskip-action: slipway protocol skip --run RUN --action ACT --root ROOT"
		start       = "slipway run --budget 12 --json --root ROOT"
		budgetInput = " | budget string --budget opt."
		file        = "submit-outcome-file: " + submit + " | outcome_file path --outcome-file"
		stdin       = "submit-outcome-stdin: " + submit + " --outcome-stdin"
		adHoc       = "resume\nresume-ad-hoc: " + resume + budgetInput
		sourced     = "resume\nrefresh-source: " + resume + " | source_file path --source-file" + budgetInput +
			"\nuse-pinned-source: " + resume + " --use-pinned-source" + budgetInput
		keep  = "resume\nkeep-pinned: " + resume + " --source-choice pinned --candidate CAND" + budgetInput
		adopt = "\nadopt: " + resume + " --source-choice adopt --candidate CAND" + budgetInput
	)
	twelve := 12
	candidate := schema.Resumption{Source: true, Candidate: "CAND"}
	adoptable := schema.Resumption{Source: true, Candidate: "CAND", Adoptable: true}
	for _, test := range []struct {
		next schema.Next
		want string
	}{
		{schema.NextNone(demo), "none"},
		{schema.NextInspectRun(demo, "RUN"), "command\ninspect-run: slipway status RUN --root ROOT"},
		{schema.NextInspectRuns(demo), "command\ninspect-runs: slipway status --root ROOT"},
		{schema.NextListRuns(demo), "command\nlist-runs: slipway status --root ROOT"},
		{schema.NextInspectInWorkspace(demo), "command\ninspect-run-in-its-workspace: slipway status --root ROOT"},
		{schema.NextStubInWorkspace(demo, "RUN"), "command\ninspect-run-in-its-workspace: slipway status RUN --root ROOT"},
		{schema.NextRunDoctor(demo), "command\nrun-doctor: slipway doctor --root ROOT"},
		{schema.NextRetryDoctor(demo), "command\nretry-doctor: slipway doctor --root ROOT"},
		{schema.NextRetryDoctorJSON(demo), "command\nretry-doctor: slipway doctor --root ROOT --json"},
		{schema.NextRetryList(demo), "command\nretry-list: slipway list --root ROOT"},
		{schema.NextRefreshAdapters(demo), "command\nrefresh-adapters: slipway install --refresh --root ROOT"},
		{schema.NextListHostAdapters(demo), "command\nlist-host-adapters: slipway list --root ROOT"},
		{schema.NextInspectHostAdapters(demo), "command\ninspect-host-adapters: slipway list --root ROOT"},
		{schema.NextInstallKiro(demo), "command\ninstall-kiro: slipway install --root ROOT --tool kiro | surface enum --surface ide,cli"},
		{schema.NextStart(demo, 12, true, false), "start\nretry-run: " + start + " | goal_file path --goal-file"},
		{schema.NextStart(demo, 12, false, false), "start\nretry-run: " + start + " --no-review | goal_file path --goal-file"},
		{schema.NextStart(demo, 12, true, true), "start\nstart-with-source: " + start + " | goal_file path --goal-file | source_file path --source-file"},
		{schema.NextStart(demo, 12, false, true), "start\nstart-with-source: " + start + " --no-review | goal_file path --goal-file | source_file path --source-file"},
		{schema.NextSubmitRetry(demo, "RUN", "ACT", false), "action\n" + file},
		{schema.NextSubmitRetry(demo, "RUN", "ACT", true), "action\n" + stdin},
		{schema.NextAction(demo, "RUN", "ACT"), "action\n" + file + "\n" + stdin + skip},
		{schema.NextDecision(demo, "RUN", "ACT"), "answer\nanswer-decision: " + answer + " | text_file path --text-file" + skip},
		{schema.NextDestructive(demo, "RUN", "ACT", scope), "answer\nconfirm-destructive: " + answer + " --confirm-destructive --scope-sha256 " + string(scope) +
			" | text_file path --text-file opt.\ndecline-or-feedback: " + answer + " | text_file path --text-file" + skip},
		{schema.NextRefreshStatic(demo, "RUN", nil), "resume\nrefresh-source: " + resume + " | source_file path --source-file" + budgetInput},
		{schema.NextRefreshStatic(demo, "RUN", &twelve), "resume\nrefresh-source: " + resume + " --budget 12 | source_file path --source-file"},
		{schema.NextResume(demo, "RUN", schema.Resumption{}, ""), adHoc},
		{schema.NextResume(demo, "RUN", schema.Resumption{}, "ACT"), adHoc + skip},
		{schema.NextResume(demo, "RUN", schema.Resumption{Source: true}, ""), sourced},
		{schema.NextResume(demo, "RUN", schema.Resumption{Source: true}, "ACT"), sourced + skip},
		{schema.NextResume(demo, "RUN", candidate, ""), keep},
		{schema.NextResume(demo, "RUN", adoptable, ""), keep + adopt},
		{schema.NextResume(demo, "RUN", adoptable, "ACT"), keep + adopt},
	} {
		if got := shape(test.next); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if err := test.next.Validate(); err != nil {
			t.Errorf("%s: %v", test.want, err)
		}
		if test.next.WorkspaceIdentity != demo.Identity {
			t.Errorf("%s: identity %s", test.want, test.next.WorkspaceIdentity)
		}
	}
}

func TestNextFallsBackToNone(t *testing.T) {
	tooMuch := 1001
	elsewhere := schema.Place{Root: "relative", Identity: demo.Identity}
	broken := schema.Place{Root: demo.Root + "\xff", Identity: demo.Identity}
	for name, next := range map[string]schema.Next{
		"placeholder FILE":           schema.NextInspectRun(demo, "FILE"),
		"placeholder in a stub":      schema.NextStubInWorkspace(demo, "FILE"),
		"quoted placeholder":         schema.NextAction(demo, "r", ` "FILE" `),
		"placeholder in brackets":    schema.NextAction(demo, "r", "<action>"),
		"bracketed, white and quote": schema.NextSubmitRetry(demo, "r", "\u3000'<a b>'\n", true),
		"empty brackets":             schema.NextDecision(demo, "r", "<>"),
		"empty id":                   schema.NextAction(demo, "r", ""),
		"not UTF-8":                  schema.NextSubmitRetry(demo, "r", "a\xff", false),
		"NUL":                        schema.NextSubmitRetry(demo, "r", "a\x00", false),
		"Action like a flag":         schema.NextSubmitRetry(demo, "r", "--x", false),
		"Run like a flag":            schema.NextSubmitRetry(demo, "--x", "a", false),
		"Run like a flag, resume":    schema.NextResume(demo, "--x", schema.Resumption{}, ""),
		"Run like a flag, refresh":   schema.NextRefreshStatic(demo, "--", nil),
		"Run like a flag, answer":    schema.NextDecision(demo, "--x", "a"),
		"skipped Action like a flag": schema.NextResume(demo, "r", schema.Resumption{}, "--x"),
		"candidate placeholder":      schema.NextResume(demo, "r", schema.Resumption{Candidate: "<c>"}, ""),
		"second root":                schema.NextInspectRun(demo, "--root"),
		"end of flags":               schema.NextInspectRun(demo, "--"),
		"no scope":                   schema.NextDestructive(demo, "r", "a", ""),
		"no budget":                  schema.NextStart(demo, 0, true, false),
		"too large a budget":         schema.NextRefreshStatic(demo, "r", &tooMuch),
		"relative root":              schema.NextInspectRuns(elsewhere),
		"root that is not UTF-8":     schema.NextRunDoctor(broken),
	} {
		if !reflect.DeepEqual(next, schema.NextNone(demo)) {
			t.Errorf("%s: %s", name, shape(next))
		}
	}
}

func TestNextKeepsUnusualIDs(t *testing.T) {
	for name, next := range map[string]schema.Next{
		"Run like a flag in a command": schema.NextInspectRun(demo, "--json"),
		"single dash":                  schema.NextAction(demo, "-r", "-a"),
		"Action of several words":      schema.NextAction(demo, "r", "an action"),
		"placeholder as a part":        schema.NextAction(demo, "r", "FILE <a>"),
		"lower-case placeholder":       schema.NextAction(demo, "r", "file"),
		"bracket that stays open":      schema.NextAction(demo, "r", "<a"),
	} {
		if next.Operation == schema.OperationNone {
			t.Errorf("%s: none", name)
		}
	}
}

func TestEveryNextIsSound(t *testing.T) {
	value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"FILE", "<x>", "--root", "--", "--json", " 'FILE'", "a"}))
	rapid.Check(t, func(t *rapid.T) {
		run, action, candidate := value.Draw(t, "run"), value.Draw(t, "action"), value.Draw(t, "candidate")
		budget := rapid.IntRange(-1, 1002).Draw(t, "budget")
		resumption := schema.Resumption{Source: rapid.Bool().Draw(t, "source"), Candidate: candidate, Adoptable: rapid.Bool().Draw(t, "adoptable")}
		for _, next := range []schema.Next{
			schema.NextInspectRun(demo, run), schema.NextStubInWorkspace(demo, run),
			schema.NextSubmitRetry(demo, run, action, resumption.Source), schema.NextAction(demo, run, action),
			schema.NextDecision(demo, run, action), schema.NextDestructive(demo, run, action, schema.Digest(candidate)),
			schema.NextResume(demo, run, resumption, action), schema.NextRefreshStatic(demo, run, &budget),
			schema.NextStart(demo, budget, resumption.Source, resumption.Adoptable),
		} {
			if err := next.Validate(); err != nil {
				t.Fatal(err)
			}
			for _, v := range next.Variants {
				roots := 0
				for _, element := range v.BaseArgv {
					if element == "--root" {
						roots++
					}
				}
				if v.BaseArgv[0] != "slipway" || roots != 1 {
					t.Fatalf("%q", v.BaseArgv)
				}
			}
		}
	})
}

func TestNextValidateRefuses(t *testing.T) {
	for name, change := range map[string]func(*schema.Next){
		"no digest":             func(n *schema.Next) { n.WorkspaceIdentity = "sha256:" },
		"unknown operation":     func(n *schema.Next) { n.Operation = "ask" },
		"other operation":       func(n *schema.Next) { n.Operation = schema.OperationAnswer },
		"none with variants":    func(n *schema.Next) { n.Operation = schema.OperationNone },
		"no variants":           func(n *schema.Next) { n.Variants = nil },
		"other order":           func(n *schema.Next) { n.Variants[0], n.Variants[1] = n.Variants[1], n.Variants[0] },
		"one twice":             func(n *schema.Next) { n.Variants[1] = n.Variants[0] },
		"unknown id":            func(n *schema.Next) { n.Variants[0].ID = "submit" },
		"other program":         func(n *schema.Next) { n.Variants[0].BaseArgv[0] = "sh" },
		"one element more":      func(n *schema.Next) { n.Variants[0].BaseArgv = append(n.Variants[0].BaseArgv, "--json") },
		"input lost":            func(n *schema.Next) { n.Variants[0].Inputs = nil },
		"input optional":        func(n *schema.Next) { n.Variants[0].Inputs[0].Required = false },
		"two roots":             func(n *schema.Next) { n.Variants[0].BaseArgv[8] = absolute("/srv/other") },
		"relative root":         func(n *schema.Next) { n.Variants[0].BaseArgv[8] = "demo" },
		"placeholder as root":   func(n *schema.Next) { n.Variants[0].BaseArgv[8] = "<root>" },
		"empty Action":          func(n *schema.Next) { n.Variants[0].BaseArgv[6] = "" },
		"Action like a flag":    func(n *schema.Next) { n.Variants[0].BaseArgv[6] = "--stdin" },
		"flag in another place": func(n *schema.Next) { n.Variants[0].BaseArgv[5] = "--Action" },
	} {
		next := schema.NextAction(demo, "r", "a")
		change(&next)
		if next.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The inputs of a form must not be shared between the values that are made of it.
func TestNextsShareNothing(t *testing.T) {
	first := schema.NextInstallKiro(demo)
	first.Variants[0].Inputs[0].Required = false
	first.Variants[0].BaseArgv[0] = "other"
	if err := schema.NextInstallKiro(demo).Validate(); err != nil {
		t.Error(err)
	}
}

func TestEmptyListsOfANextAreArrays(t *testing.T) {
	got := mustMarshal(t, schema.Next{Operation: schema.OperationNone})
	if want := `{"operation":"none","workspace_identity":"","variants":[]}`; string(got) != want {
		t.Errorf("got %s", got)
	}
	if got := mustMarshal(t, schema.Variant{}); string(got) != `{"id":"","base_argv":[],"inputs":[]}` {
		t.Errorf("got %s", got)
	}
	var back schema.Next
	if err := json.Unmarshal(mustMarshal(t, schema.NextAction(demo, "r", "a")), &back); err != nil || back.Validate() != nil {
		t.Errorf("%+v, %v", back, err)
	}
}

// The example is that of next.md, section 2.
func TestResolveExample(t *testing.T) {
	refresh := schema.NextResume(demo, "RUN", schema.Resumption{Source: true}, "").Variants[0]
	got, err := refresh.Resolve(map[string]string{"budget": "12", "source_file": "/private/e.json"})
	want := []string{"slipway", "protocol", "resume", "RUN", "--root", demo.Root, "--source-file", "/private/e.json", "--budget", "12"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestResolveLeavesOptionalInputsAndTheVariantAlone(t *testing.T) {
	confirm := schema.NextDestructive(demo, "r", "a", scope).Variants[0]
	length := len(confirm.BaseArgv)
	got, err := confirm.Resolve(nil)
	if err != nil || !reflect.DeepEqual(got, confirm.BaseArgv) || len(confirm.BaseArgv) != length {
		t.Errorf("%q, %v", got, err)
	}
}

func TestResolveAddsBeforeTheEndOfFlags(t *testing.T) {
	v := schema.Variant{ID: "x", BaseArgv: []string{"slipway", "--", "a", "--"}, Inputs: []schema.Input{{Name: "d", Type: schema.InputDigest, Flag: "--d"}}}
	got, err := v.Resolve(map[string]string{"d": string(scope)})
	if want := []string{"slipway", "--d", string(scope), "--", "a", "--"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestResolveRefuses(t *testing.T) {
	refresh := schema.NextResume(demo, "RUN", schema.Resumption{Source: true}, "").Variants[0]
	kiro := schema.NextInstallKiro(demo).Variants[0]
	digest := schema.Variant{Inputs: []schema.Input{{Name: "d", Type: schema.InputDigest, Flag: "--d"}}}
	for name, test := range map[string]struct {
		variant schema.Variant
		values  map[string]string
	}{
		"required input missing": {refresh, nil},
		"unknown input":          {refresh, map[string]string{"source_file": "/e", "goal_file": "/g"}},
		"empty value":            {refresh, map[string]string{"source_file": ""}},
		"empty optional value":   {refresh, map[string]string{"source_file": "/e", "budget": ""}},
		"NUL":                    {refresh, map[string]string{"source_file": "/e\x00"}},
		"not UTF-8":              {refresh, map[string]string{"source_file": "/e\xff"}},
		"budget 0":               {refresh, map[string]string{"source_file": "/e", "budget": "0"}},
		"budget 1001":            {refresh, map[string]string{"source_file": "/e", "budget": "1001"}},
		"budget with zero":       {refresh, map[string]string{"source_file": "/e", "budget": "012"}},
		"budget with sign":       {refresh, map[string]string{"source_file": "/e", "budget": "+12"}},
		"budget with blank":      {refresh, map[string]string{"source_file": "/e", "budget": "12 "}},
		"no choice":              {kiro, map[string]string{"surface": "IDE"}},
		"no digest":              {digest, map[string]string{"d": strings.ToUpper(string(scope))}},
	} {
		if got, err := test.variant.Resolve(test.values); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
