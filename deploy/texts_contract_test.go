package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
	"slipway/source"
)

// block is a fenced block of a text, with the nearest heading above it.
type block struct {
	heading, language, content string
}

var openingFence = regexp.MustCompile("^( *)(`{3,})([a-z]*)$")

// blocksOf takes a text apart. A text whose fences do not pair gives an error.
func blocksOf(text string) (blocks []block, err error) {
	var heading string
	var open *block
	var indent, fence string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch match := openingFence.FindStringSubmatch(line); {
		case open != nil && line == indent+fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.content += strings.TrimPrefix(line, indent) + "\n"
		case match != nil:
			indent, fence = match[1], match[2]
			open = &block{heading: heading, language: match[3]}
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimLeft(line, "# ")
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block below %q is not closed", open.heading)
	}
	return blocks, nil
}

func blocksIn(t *testing.T, text, language string) (found []block) {
	t.Helper()
	blocks, err := blocksOf(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.language == language {
			found = append(found, b)
		}
	}
	return found
}

// The grammar of cli.md, sections 6 to 10, written down once more: for each
// command its flags, with "!" behind the booleans, and the number of arguments.
var grammar = map[string]struct {
	flags     string
	arguments int
}{
	"run":               {"--root --budget --no-review! --source-file --json! --goal-file --goal-stdin!", 0},
	"status":            {"--section --root --json!", 1},
	"stop":              {"--root --json!", 1},
	"list":              {"--root --json!", 0},
	"protocol submit":   {"--root --run --action --outcome-file --outcome-stdin!", 0},
	"protocol answer":   {"--root --run --action --text-file --text-stdin! --confirm-destructive! --scope-sha256", 0},
	"protocol skip":     {"--root --run --action", 0},
	"protocol resume":   {"--root --budget --source-file --use-pinned-source! --source-choice --candidate", 1},
	"protocol material": {"--root --run --action --section", 0},
}

// placeholders are the words that a host replaces, and the flags they may follow;
// RUN may stand alone.
var placeholders = map[string]string{
	"ABSOLUTE_ROOT": "--root", "RUN": "--run", "ACTION": "--action", "N": "--budget", "GOAL_FILE": "--goal-file", "SOURCE_FILE": "--source-file",
	"OUTCOME_FILE": "--outcome-file", "TEXT_FILE": "--text-file", "SCOPE_SHA256": "--scope-sha256", "CANDIDATE": "--candidate", "KEY": "--section",
}

// commandFault says what is wrong with a command of a text. partial is a command
// quoted in a sentence, which may leave out its root.
func commandFault(line string, partial bool) error {
	words := strings.Split(line, " ")
	if len(words) < 2 || words[0] != "slipway" {
		return fmt.Errorf("%q is no command of slipway", line)
	}
	name, rest := words[1], words[2:]
	if name == "protocol" && len(rest) > 0 {
		name, rest = name+" "+rest[0], rest[1:]
	}
	rule, known := grammar[name]
	if !known {
		return fmt.Errorf("%q: there is no command %q", line, name)
	}
	arguments, given := 0, map[string]bool{}
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		switch flags := strings.Fields(rule.flags); {
		case !strings.HasPrefix(word, "--"):
			if arguments++; word != "RUN" || arguments > rule.arguments {
				return fmt.Errorf("%q: the argument %q is too much", line, word)
			}
			continue
		case given[word]:
			return fmt.Errorf("%q: %s stands twice", line, word)
		case slices.Contains(flags, word+"!"):
		case !slices.Contains(flags, word):
			return fmt.Errorf("%q: %s has no flag %q", line, name, word)
		case i+1 == len(rest):
			return fmt.Errorf("%q: %s has no value", line, word)
		default:
			if i++; placeholders[rest[i]] != word && !(word == "--source-choice" && (rest[i] == "pinned" || rest[i] == "adopt")) {
				return fmt.Errorf("%q: %q is no value for %s", line, rest[i], word)
			}
		}
		given[word] = true
	}
	if !partial && !given["--root"] {
		return fmt.Errorf("%q names no root", line)
	}
	return nil
}

// TestCommandsInTexts: a host can take the commands from the text, one for each
// heading, and replace the words in capitals.
func TestCommandsInTexts(t *testing.T) {
	quoted := regexp.MustCompile("`(slipway [^`]+)`")
	flag := regexp.MustCompile(`--[a-z][a-z0-9-]*`)
	flags := map[string]bool{"--help": true, "--version": true} // of other programs
	for _, rule := range grammar {
		for _, name := range strings.Fields(rule.flags) {
			flags[strings.TrimSuffix(name, "!")] = true
		}
	}
	for _, c := range capabilities() {
		headings := map[string]string{}
		for _, b := range blocksIn(t, c.text, "sh") {
			command := strings.TrimSuffix(b.content, "\n")
			if err := commandFault(command, false); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if other, taken := headings[b.heading]; taken {
				t.Errorf("%s: the heading %q has two commands, %q and %q", c.name, b.heading, other, command)
			}
			headings[b.heading] = command
		}
		for _, match := range quoted.FindAllStringSubmatch(c.text, -1) {
			if err := commandFault(match[1], true); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		for _, name := range flag.FindAllString(c.text, -1) {
			if !flags[name] {
				t.Errorf("%s: no command has the flag %s", c.name, name)
			}
		}
	}
}

// TestVariantsInTexts: what the text of a Run shows below a variant's id is what
// that variant resolves to (next.md, section 4).
func TestVariantsInTexts(t *testing.T) {
	digest := schema.PayloadDigest(nil)
	place := schema.UnavailablePlace(t.TempDir())
	resume := func(r schema.Resumption) schema.Next { return schema.NextResume(place, "RUN", r, "ACTION") }
	values := map[string]string{"outcome_file": "OUTCOME_FILE", "text_file": "TEXT_FILE", "source_file": "SOURCE_FILE"}
	want := map[string]string{}
	for _, next := range []schema.Next{
		schema.NextAction(place, "RUN", "ACTION"), schema.NextDecision(place, "RUN", "ACTION"), schema.NextDestructive(place, "RUN", "ACTION", digest),
		resume(schema.Resumption{}), resume(schema.Resumption{Source: true}), resume(schema.Resumption{Source: true, Candidate: "CANDIDATE", Adoptable: true}),
	} {
		for _, v := range next.Variants {
			given := map[string]string{}
			for _, input := range v.Inputs {
				if input.Required {
					given[input.Name] = values[input.Name]
				}
			}
			argv, err := v.Resolve(given)
			if err != nil {
				t.Fatal(err)
			}
			want[v.ID] = strings.NewReplacer(place.Root, "ABSOLUTE_ROOT", string(digest), "SCOPE_SHA256").Replace(strings.Join(argv, " "))
		}
	}
	if len(want) != 11 {
		t.Fatalf("there are %d variants: %q", len(want), slices.Sorted(maps.Keys(want)))
	}
	id := regexp.MustCompile("`([a-z-]+)`$")
	for _, c := range capabilities() {
		shown := map[string]bool{}
		for _, b := range blocksIn(t, c.text, "sh") {
			if match := id.FindStringSubmatch(b.heading); match != nil {
				shown[match[1]] = true
				if got := strings.TrimSuffix(b.content, "\n"); got != want[match[1]] {
					t.Errorf("%s: %s is shown as %q, want %q", c.name, match[1], got, want[match[1]])
				}
			}
		}
		for name := range want {
			if c.name == "slipway-run" && !shown[name] {
				t.Errorf("the text of a Run does not show %s", name)
			}
		}
	}
	reader := `slipway protocol material --root ABSOLUTE_ROOT --run RUN --action ACTION --section KEY`
	for _, name := range strings.Fields(sharedBy["action-protocol"]) {
		if !strings.Contains(textOf(t, name), "\n"+reader+"\n") {
			t.Errorf("%s does not show the reader of wire.md, 4.2", name)
		}
	}
}

// TestOutcomesInTexts: every Outcome that a text shows is one.
func TestOutcomesInTexts(t *testing.T) {
	shown := map[string][]schema.Kind{
		"run":     {schema.Summarize, schema.Orient, schema.Clarify, schema.Implement, schema.Implement, schema.Review},
		"clarify": {schema.Orient, schema.Clarify}, "implement": {schema.Implement, schema.Implement, schema.Orient, schema.Clarify},
		"review": {schema.Review, schema.Orient, schema.Clarify},
	}
	for _, c := range capabilities() {
		var kinds []schema.Kind
		for _, b := range blocksIn(t, c.text, "json") {
			if b.heading == "The envelope" {
				continue
			}
			outcome, fault := schema.DecodeOutcome([]byte(b.content))
			if fault != nil {
				t.Errorf("%s: the Outcome below %q: %v", c.name, b.heading, fault)
				continue
			}
			if err := outcome.Validate("ACTION", outcome.ActionKind); err != nil {
				t.Errorf("%s: the Outcome below %q: %v", c.name, b.heading, err)
			}
			kinds = append(kinds, outcome.ActionKind)
		}
		if want := shown[strings.TrimPrefix(c.name, "slipway-")]; !slices.Equal(kinds, want) {
			t.Errorf("%s shows Outcomes of %q, want %q", c.name, kinds, want)
		}
	}
}

// TestCombinationsInTexts holds the table of legal Outcomes against the rules: of
// all combinations that could be written, those in the table pass and no other.
func TestCombinationsInTexts(t *testing.T) {
	legal := map[string]bool{}
	rows := regexp.MustCompile("(?m)^\\| `(orient|clarify|implement|review|summarize)` \\|((?:[^|]*\\|){4}[^|]*)\\|$").FindAllStringSubmatch(shared("action-protocol"), -1)
	if len(rows) != 12 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(row[2], "|")
		suggestions := []string{"-"}
		if strings.TrimSpace(cells[4]) == "none or one" {
			suggestions = []string{"-", "one"}
		}
		eachOf([][]string{{row[1]}, words(cells[0]), words(cells[1]), words(cells[2]), words(cells[3]), suggestions}, func(c []string) {
			legal[strings.Join(c, " ")] = true
		})
	}
	tried := 0
	eachOf([][]string{
		{"orient", "clarify", "implement", "review", "summarize"}, {"completed", "needs_input", "partial", "error"},
		{"-", "applied", "partial", "not_needed", "unable"}, {"-", "no_findings_reported", "findings_reported", "inconclusive", "error", "not_run"},
		{"-", "decision_required", "environment_unavailable", "destructive_confirmation_required", "budget_exhausted"}, {"-", "one"},
	}, func(c []string) {
		tried++
		outcome, fault := schema.DecodeOutcome(outcomeOf(c))
		accepted := fault == nil && outcome.Validate("ACTION", schema.Kind(c[0])) == nil
		if name := strings.Join(c, " "); accepted != legal[name] {
			t.Errorf("%s: accepted %t, in the table %t", name, accepted, legal[name])
		}
	})
	if tried != 5*4*5*6*5*2 {
		t.Errorf("%d combinations were tried", tried)
	}
}

// words are the alternatives in a cell.
func words(cell string) []string {
	return strings.Split(strings.NewReplacer("`", "", " ", "").Replace(cell), ",")
}

// eachOf calls do with every choice of one element of each list.
func eachOf(lists [][]string, do func([]string)) {
	var choose func(chosen []string)
	choose = func(chosen []string) {
		if len(chosen) == len(lists) {
			do(chosen)
			return
		}
		for _, s := range lists[len(chosen)] {
			choose(append(chosen[:len(chosen):len(chosen)], s))
		}
	}
	choose(nil)
}

// outcomeOf writes the Outcome of a combination: kind, status, implementation,
// review, pause and suggestion, "-" for what is absent.
func outcomeOf(c []string) []byte {
	outcome := map[string]any{
		"contract_version": 2, "action_id": "ACTION", "action_kind": c[0], "status": c[1], "summary": "Said.",
		"observations": []string{}, "known_issues": []string{}, "suggested_actions": []any{},
		"pause": nil, "implementation": nil, "review": nil,
	}
	if c[2] != "-" {
		outcome["implementation"] = map[string]any{
			"result": c[2], "files_changed": []string{}, "activities": []any{}, "uncertainties": []string{}, "attempts": 1}
	}
	if c[3] != "-" {
		findings := []any{}
		if c[3] == "findings_reported" {
			findings = append(findings, map[string]any{"location": "a", "summary": "b", "detail": "c"})
		}
		outcome["review"] = map[string]any{"result": c[3], "findings": findings, "uncertainties": []string{}}
	}
	if c[4] != "-" {
		pause := map[string]any{"reason": c[4], "question": "What?", "destructive_request": nil}
		if c[4] == string(schema.DestructiveConfirmationRequired) {
			id, targets := "7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", []schema.Target{{Kind: schema.TargetPath, Value: "a"}}
			pause["destructive_request"] = map[string]any{
				"request_id": id, "targets": targets, "impact": "gone", "scope_sha256": schema.ScopeDigest(id, "gone", targets)}
		}
		outcome["pause"] = pause
	}
	if c[5] != "-" {
		outcome["suggested_actions"] = []any{map[string]any{"kind": "summarize", "brief": "Report."}}
	}
	data, err := json.Marshal(outcome)
	if err != nil {
		panic(err)
	}
	return data
}

// TestSourceInTexts builds the source that the text describes, from the text:
// its envelope, its body, its payloads, and the digests it gives.
func TestSourceInTexts(t *testing.T) {
	text := shared("source-bundle")
	envelope, body := blocksIn(t, text, "json"), blocksIn(t, text, "markdown")
	if len(envelope) != 1 || len(body) != 1 {
		t.Fatalf("%d envelopes and %d bodies are shown", len(envelope), len(body))
	}
	e, err := source.DecodeEnvelope([]byte(envelope[0].content))
	if err != nil {
		t.Fatal(err)
	}
	e.Body = body[0].content
	payloads := regexp.MustCompile("`([^`]+[.])` \\(([a-z-]+)\\)").FindAllStringSubmatch(text, -1)
	if len(payloads) != 5 {
		t.Fatalf("%d payloads are shown", len(payloads))
	}
	first := e.Comments[0]
	for i, p := range payloads {
		comment := first
		comment.DatabaseID += int64(i)
		comment.NodeID = fmt.Sprint("IC_", comment.DatabaseID)
		comment.URL = fmt.Sprint(e.CanonicalURL, "#issuecomment-", comment.DatabaseID)
		comment.Body = "<!-- slipway-section:v1 key=" + p[2] + " -->\n" + p[1] + "\n"
		if i == 0 && comment != first {
			t.Errorf("the comment of the envelope is %+v, want %+v", first, comment)
		}
		e.Comments = append(e.Comments[:i], comment)
	}
	head := source.Judge(e)
	if !head.Usable() {
		t.Fatalf("the example is no valid Change: %+v", head)
	}
	for name, digest := range map[string]schema.Digest{
		"section_revision": head.Source.Sections[0].SectionRevision, "manifest_revision": head.Source.ManifestRevision,
		"requirements_revision": head.Source.RequirementsRevision, "source_revision": head.Source.SourceRevision,
	} {
		if !regexp.MustCompile("\\| `" + name + "`[^|]*\\| `" + string(digest) + "` \\|").MatchString(text) {
			t.Errorf("the %s of the example is %s, which the text does not say", name, digest)
		}
	}
}
