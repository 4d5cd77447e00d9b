package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slipway/rpc"
)

func TestParse(t *testing.T) {
	text := func(s string) *string { return &s }
	number := func(n int) *int { return &n }
	status := func(root string, run *string, json bool) *statusCommand {
		return &statusCommand{place: place{root, patience{rpc.DefaultTimeout}}, format: format{json}, Run: run}
	}
	resume := func(run string, set func(*resumeCommand)) *resumeCommand {
		c := &resumeCommand{place: place{patience: patience{rpc.DefaultTimeout}}, Run: run}
		set(c)
		return c
	}
	for _, test := range []struct {
		line string // words separated by blanks; ∅ is an empty one
		want runner
	}{
		{"status", status("", nil, false)},
		{"--root D status", status("D", nil, false)},
		{"status R --root D", status("D", text("R"), false)},
		{"status --root A R --root=B --json", status("B", text("R"), true)},
		{"status --root --json", status("--json", nil, false)},
		{"status --root -- R", status("--", text("R"), false)},
		{"status --root=∅", status("", nil, false)},
		{"status --root=a=b", status("a=b", nil, false)},
		{"status --json --json=false", status("", nil, false)},
		{"status --json=T", status("", nil, true)},
		{"status -", status("", text("-"), false)},
		{"status -- --json", status("", text("--json"), false)},
		{"status -- --", status("", text("--"), false)},
		{"status ∅", status("", text(""), false)},
		{"--root D protocol --root E resume R", resume("R", func(c *resumeCommand) { c.Root = "E" })},
		{"protocol resume --candidate ∅ R", resume("R", func(c *resumeCommand) { c.Candidate = text("") })},
		{"protocol resume R --budget 010", resume("R", func(c *resumeCommand) { c.Budget = number(8) })},
		{"protocol resume R --budget -0x1F", resume("R", func(c *resumeCommand) { c.Budget = number(-31) })},
		{"protocol resume R --budget 1_000 --budget=+2", resume("R", func(c *resumeCommand) { c.Budget = number(2) })},
	} {
		got, err := parse(words(test.line))
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
		} else if diff := cmp.Diff(test.want, got.command, cmp.AllowUnexported(statusCommand{}, resumeCommand{}, place{})); diff != "" {
			t.Errorf("%s: %s", test.line, diff)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, line := range []string{
		"nothing", "Status", "stat", "-", "nothing --help", "--json status", "--nope", "--root", "-x", "-json",
		"status --nope", "status -json", "status --roo D", "status --root", "status --json=yes", "status --json=",
		"status a b", "status --json false x", "status --version", "status -v", "status -h --nope", "status --help=2",
		"protocol nothing", "protocol --json", "protocol --json submit", "protocol --run R submit", "protocol -- submit",
		"protocol submit x", "protocol submit --json", "protocol resume", "protocol resume a b", "protocol resume -- -- x",
		"run --budget many x", "run --budget 1.0 x", "run --budget 1__0 x", "run --budget ∅ x", "run --budget 9223372036854775808 x",
		"daemon", "daemon nothing", "daemon status x", "-- status", "--version=maybe",
	} {
		_, err := parse(words(line))
		if fault, ok := err.(usageFault); !ok || fault.reason == "" {
			t.Errorf("%s: got %v, want a usage fault", line, err)
		}
	}
}

func TestFaultOfATimeSaysHowToWriteOne(t *testing.T) {
	for _, line := range []string{"status --timeout 5", "status --timeout=5x", "daemon stop --timeout ∅", "journal prune --all --older-than 30d"} {
		_, err := parse(words(line))
		if fault, ok := err.(usageFault); !ok || !strings.Contains(fault.reason, " needs a time with its unit, as in 30s, 2m or 1h30m, not ") {
			t.Errorf("%s: %v", line, err)
		}
	}
	for line, want := range map[string]time.Duration{"status --timeout 1m30s": 90 * time.Second, "status --timeout=.5h": 30 * time.Minute} {
		got, err := parse(words(line))
		if c, ok := got.command.(*statusCommand); !ok || c.Timeout != want {
			t.Errorf("%s: %+v, %v", line, got.command, err)
		}
	}
}

// TestHelpMarksWhatIsRequired: what no flag leaves out is known from the help alone.
func TestHelpMarksWhatIsRequired(t *testing.T) {
	for name, want := range map[string][]string{
		"submit": {"Run (required)", "Action (required)", "(this or --outcome-stdin is required)"},
		"answer": {"Run (required)", "Action (required)"},
		"skip":   {"Run (required)", "Action (required)"},
	} {
		got, err := parse([]string{"protocol", name, "--help"})
		text := strings.Join(strings.Fields(got.help), " ")
		for _, mark := range want {
			if err != nil || !strings.Contains(text, mark) {
				t.Errorf("%s: no %q in %s (%v)", name, mark, got.help, err)
			}
		}
	}
}

func TestFirstFaultIsReported(t *testing.T) {
	_, err := parse([]string{"run", "--budget", "x", "--nope"})
	if err == nil || !strings.Contains(err.Error(), "--budget") {
		t.Errorf("got %v, want the fault of --budget", err)
	}
}

func TestOperationRequired(t *testing.T) {
	for _, line := range []string{"protocol", "protocol --root D", "--root D protocol", "protocol --help=false"} {
		if _, err := parse(words(line)); err != (operationRequired{"protocol"}) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "slipway COMMAND",
		"-h":                         "slipway COMMAND",
		"--help":                     "slipway COMMAND",
		"-h status":                  "slipway COMMAND",
		"--root D -h":                "slipway COMMAND",
		"--version --help":           "slipway COMMAND",
		"status -h a b":              "slipway status",
		"run --help --budget 0":      "slipway run",
		"protocol -h":                "slipway protocol OPERATION",
		"protocol nothing --help":    "slipway protocol OPERATION",
		"protocol --help submit":     "slipway protocol submit",
		"protocol submit -h --run R": "slipway protocol submit",
		"daemon --help":              "slipway daemon OPERATION",
	} {
		got, err := parse(words(line))
		if err != nil || !strings.HasPrefix(got.help, "Usage: "+want+" ") {
			t.Errorf("%q: %v, %.60q, want the help of %s", line, err, got.help, want)
		}
	}
	for _, line := range []string{"--version", "-v", "--root D --version", "--version=1"} {
		if got, err := parse(words(line)); err != nil || !got.version {
			t.Errorf("%s: %v, %v, want the version", line, got, err)
		}
	}
}

// helpCells is how long the lines of help may be.
const helpCells = 80

func TestHelpNamesEverything(t *testing.T) {
	top := topHelp()
	for _, c := range commands {
		if !strings.Contains(top, "  "+c.name+" ") {
			t.Errorf("the help does not name %s", c.name)
		}
		got, err := parse(append(strings.Fields(c.name), "--help"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.help, c.brief) || !withoutRoot(c.name) && !strings.Contains(got.help, "--root=PATH") {
			t.Errorf("%s: the help lacks its line or a flag:\n%s", c.name, got.help)
		}
		for line := range strings.SplitSeq(top+got.help, "\n") {
			if len(line) > helpCells && !strings.HasPrefix(line, "  slipway ") { // an example is there to be copied
				t.Errorf("%s: a line of %d cells: %s", c.name, len(line), line)
			}
		}
	}
}

// withoutRoot are the commands that are about no worktree.
func withoutRoot(name string) bool {
	return strings.HasPrefix(name, "daemon ") || name == "completion"
}

// What a shell takes off an example.
var (
	quoted       = regexp.MustCompile(`'[^']*'`)
	redirections = regexp.MustCompile(` [<>|] .*|\)$`)
)

// TestExamples: every command has some, and each is a line that the grammar takes.
func TestExamples(t *testing.T) {
	known := examples()
	for _, c := range commands {
		if len(known[c.name]) == 0 {
			t.Errorf("%s has no example", c.name)
		}
		for _, e := range known[c.name] {
			line := redirections.ReplaceAllString(quoted.ReplaceAllString(e.line, "x"), "")
			_, line, _ = strings.Cut(line, "slipway ")
			got, err := parse(strings.Fields(line))
			if err != nil || reflect.TypeOf(got.command) != reflect.TypeOf(c.model()) {
				t.Errorf("%s: %T, %v", e.line, got.command, err)
			}
		}
		delete(known, c.name)
	}
	for name := range known {
		t.Errorf("examples of %q, which is no command", name)
	}
}

func TestLastRoot(t *testing.T) {
	for line, want := range map[string]string{
		"status":                        "",
		"status --root A":               "A",
		"status --root A --root=B":      "B",
		"status --root A -- --root B":   "A",
		"status --root":                 "",
		"status --root A --root":        "A",
		"status --root --root X --nope": "--root",
		"status --root=A --root=":       "",
	} {
		if got := lastRoot(words(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Whatever a value looks like, it arrives as it was given, in either spelling
// and wherever the flag stands.
func TestValuesArriveUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		root, run := text.Draw(t, "root"), text.Draw(t, "run")
		args := [][]string{{"--root", root}, {"--root=" + root}}[rapid.IntRange(0, 1).Draw(t, "spelling")]
		args = slices.Insert(args, rapid.SampledFrom([]int{0, len(args)}).Draw(t, "place"), "status")
		args = append(args, "--", run)
		got, err := parse(args)
		if err != nil {
			t.Fatal(err)
		}
		c := got.command.(*statusCommand)
		if c.Root != root || *c.Run != run {
			t.Fatalf("got root %q and Run %q", c.Root, *c.Run)
		}
	})
}

// No line is beyond the grammar: it is a command, a text, or a fault.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"", "status --root D", "protocol submit --run R", "run -- -x", "-h", "--version", "protocol --help"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := parse(strings.Split(line, "\n"))
		if err == nil && got.command == nil && got.help == "" && !got.version {
			t.Errorf("%q is nothing", line)
		}
	})
}

// words splits a line at its blanks; ∅ stands for an empty word or an empty
// value.
func words(line string) []string {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], "∅", "")
	}
	return fields
}
