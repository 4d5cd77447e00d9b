package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"slipway/schema"
)

// hostile is text that the contract allows and that no person should meet raw.
const hostile = "$(touch pwned) `touch pwned`; touch pwned \u202e\u2066gpj\u2069\u200f\ufeff <!-- slipway-level: change/v2 --> </script> %s \\x1b[2J"

// sequences are what the program itself writes to a terminal.
var sequences = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// unseen finds a character that does something else than to be seen.
func unseen(text string) (rune, bool) {
	for _, r := range sequences.ReplaceAllString(text, "") {
		if r != '\n' && r != '\r' && r != '\t' && !unicode.IsGraphic(r) {
			return r, true
		}
	}
	return 0, false
}

// TestHostileEnvelopesChangeNothing: they are refused, or data and nothing else.
func TestHostileEnvelopesChangeNothing(t *testing.T) {
	t.Parallel()
	plain := string(newIssue().envelope(t))
	with := func(old, text string) string {
		if strings.Count(plain, old) == 0 {
			t.Fatalf("no %s in the envelope", old)
		}
		return strings.Replace(plain, old, text, 1)
	}
	inBothModes(t, func(t *testing.T, w *world) {
		before := tree(t, w.vars["ROOT"])
		for name, envelope := range map[string]string{
			"deep arrays":         with(`"labels":[]`, `"labels":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)),
			"deep objects":        with(`"labels":[]`, `"parent":`+strings.Repeat(`{"a":`, 10_000)+"1"+strings.Repeat("}", 10_000)),
			"only brackets":       strings.Repeat("[", 1_000_000),
			"raw NUL":             with(`"Widgets"`, "\"Wid\x00gets\""),
			"escaped NUL":         with(`"Widgets"`, `"Wid\u0000gets"`),
			"NUL behind":          plain + "\x00",
			"escape sequence":     with(`"Widgets"`, `"\u001b[2J\u001b]0;owned\u0007"`),
			"C1 in a label":       with(`"labels":[]`, `"labels":["\u009b2J"]`),
			"C1 in a comment":     with("About outcome.", `\u009b2J`),
			"escape in the body":  with(`"body":"`, `"body":"\u001b[31m`),
			"huge number":         with(`"issue_number":7`, `"issue_number":`+strings.Repeat("9", 100_000)),
			"huge exponent":       with(`"issue_number":7`, `"issue_number":7e999999999`),
			"2^63":                with(`"issue_number":7`, `"issue_number":9223372036854775808`),
			"negative zero":       with(`"source_version":2`, `"source_version":-0`),
			"key twice":           with(`"title":"Widgets"`, `"title":"Widgets","title":"Widgets"`),
			"key twice, escaped":  with(`"title":"Widgets"`, `"title":"Widgets","t\u0069tle":"Widgets"`),
			"key twice, deep":     with(`"is_minimized":false`, `"is_minimized":false,"is_minimized":true`),
			"hostile key":         with(`"title":`, `"\u001b[2J\u202e":1,"title":`),
			"not UTF-8":           with(`"Widgets"`, "\"Wid\xffgets\""),
			"lone surrogate, raw": with(`"Widgets"`, "\"\xed\xa0\x80\""),
			"comment changed":     with("About outcome.", `\ud800`),
			"marker in a comment": with("<!-- slipway-section:v1 key=outcome -->", "<!-- x --><!-- slipway-section:v1 key=outcome -->"),
			"marker before":       with("<!-- slipway-level: change/v2 -->", "<!-- slipway-level: change/v2 --><!-- -->"),
			"second manifest":     with("```\\n\"", "```\\n```slipway-manifest\\n{}\\n```\\n\""),
		} {
			path := w.file("envelope.json", []byte(envelope))
			answer := w.run(w.env, "", "run", "--source-file", path, "tidy")
			failure, err := answer.failed()
			if err != nil || failure["code"] != string(schema.CodeInvalidSource) || answer.exit != 2 {
				t.Errorf("%s: %v %v", name, failure, err)
			}
			text, _ := w.inTerminal(w.env, "run", "--source-file", path, "tidy")
			if r, found := unseen(text); found {
				t.Errorf("%s: the terminal gets %U: %q", name, r, text)
			}
			if after := tree(t, w.vars["ROOT"]); after != before {
				t.Fatalf("%s changed the repository:\n%s\nwas\n%s", name, after, before)
			}
		}
		for _, envelope := range []string{with(`"Widgets"`, `"\ud800"`), with(`"Widgets"`, `"\udc00\ud800"`)} {
			answer := w.run(w.env, "", "run", "--json", "--source-file", w.file("envelope.json", []byte(envelope)), "tidy")
			if !strings.Contains(string(answer.stdout), `"title":"`+"\ufffd") {
				t.Errorf("a lone surrogate is not U+FFFD: %s%s", answer.stdout, answer.stderr)
			}
		}
	})
}

// hostileRun starts a Run all of whose texts are hostile, and asks a question.
func hostileRun(t *testing.T, w *world) (run string) {
	t.Helper()
	chapters := someChapters(rand.New(rand.NewPCG(1, 2)))[:5]
	for i := range chapters {
		c := &chapters[i]
		c.title, c.payload = hostile, hostile+"\n\u2028\u202d"
		c.role = []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"}[i]
		c.body = "<!-- slipway-section:v1 key=" + c.key + " -->\n" + c.payload
	}
	path := w.file("envelope.json", envelopeOf(t, hostile, "```\n"+hostile+"\n```\n", chapters, nil))
	answer := w.run(w.env, "", "run", "--json", "--source-file", path, hostile)
	var state schema.ProtocolState
	if err := json.Unmarshal(answer.stdout, &state); err != nil {
		t.Fatalf("%s: %v", answer.stderr, err)
	}
	w.vars["A"], w.vars["KIND"], w.vars["KEY"] = state.Action.ActionID, string(state.Action.Kind), chapters[0].key
	outcome := w.file("outcome.json", w.outcome(func(o *schema.Outcome) {
		asks(schema.DecisionRequired, hostile)(o)
		o.Summary, o.Observations, o.KnownIssues = hostile, []string{hostile}, []string{hostile}
	}))
	if r := w.run(w.env, "", "protocol", "submit", "--run", state.RunID, "--action", w.vars["A"], "--outcome-file", outcome); r.exit != 0 {
		t.Fatalf("%s", r.stderr)
	}
	return state.RunID
}

// TestPeopleSeeHostileTextsHarmless: on a terminal nothing of them acts.
func TestPeopleSeeHostileTextsHarmless(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	run := hostileRun(t, w)
	for _, args := range [][]string{
		{"status"}, {"status", run}, {"status", run, "--section", w.vars["KEY"]}, {"log", run}, {"journal", "verify", run},
		{"journal", "export", run}, {"journal", "prune", "--all"}, {"stop", run},
		{"status", "\x1b[2J\u202e"}, {"\x1b]0;x\a"}, {"status", "--\u202e"}, {"status", run, "--section", "\x1b[2J"}, {"run", "--goal-file", "\x1b[2J\u202e"},
	} {
		text, _ := w.inTerminal(append(w.env, "NO_COLOR=1"), args...)
		if r, found := unseen(text); found || strings.Contains(text, "\x1b[2J") {
			t.Errorf("%q: the terminal gets %U: %q", args, r, text)
		}
	}
	if r, found := unseen(transcriptIn(t, filepath.Join(w.vars["ROOT"], "slipway-"+run+".tar.gz"))); found {
		t.Errorf("the transcript has %U", r)
	}
	if _, err := os.Lstat(filepath.Join(w.vars["ROOT"], "pwned")); err == nil {
		t.Error("a text was run")
	}
}

// TestSectionWhereTheTerminalHasNoWidth: what decides is that it is a terminal.
// Anything else gets the chapter byte for byte (cli.md, 5.3).
func TestSectionWhereTheTerminalHasNoWidth(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, "SLIPWAY_DAEMON=off").world(t)
	run := hostileRun(t, w)
	piped := w.run(w.env, "", "status", run, "--section", w.vars["KEY"])
	if !strings.HasSuffix(string(piped.stdout), "\n\n"+hostile+"\n\u2028\u202d\n") {
		t.Errorf("a pipe gets %q", piped.stdout)
	}
	text, _ := w.shown(inTerminalOf(t, 0, 0, w.env, w.vars["ROOT"], "status", run, "--section", w.vars["KEY"]))
	if r, found := unseen(text); found || !strings.Contains(text, `\u202e`) {
		t.Errorf("the terminal gets %U: %q", r, text)
	}
}

// transcriptIn reads the transcript of an archive.
func transcriptIn(t *testing.T, archive string) string {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(entry.Name, "transcript.md") {
			text, err := io.ReadAll(entries)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
}
