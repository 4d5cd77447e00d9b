package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wordsOfLines are what a line can be made of: every word and flag of the table,
// and values that are good, bad and strange.
func wordsOfLines(t *testing.T) []string {
	words := []string{
		"", "-", "--", "---", "-h", "--help", "-v", "--version", "-x", "--nope", "--root", "--root=", "--root=/", "--json=maybe", "--budget", "--budget=0x10",
		"--=", "--=x", "x", "ä", "a\xff", "\u202e", "\x01", "..", "/dev/null", "none.json", "README.md", "1", "0", "-1", "9999999999999999999",
		"00000000-0000-4000-8000-000000000000", "FILE", "<a>", "sha256:" + strings.Repeat("0", 64), "claude", `"`, "a,b", "pinned", "adopt", "bash", "5s", "protocol", "daemon",
	}
	for _, c := range commands {
		words = append(words, strings.Fields(c.name)...)
		parser, err := c.parser(c.model())
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range parser.Model.Flags {
			words = append(words, "--"+flag.Name, "--"+flag.Name+"=x")
		}
	}
	return words
}

// TestAnyLine: whatever is typed, the program answers or refuses, on the stream
// that is right for it, and with the exit status that says which.
func TestAnyLine(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, "SLIPWAY_DAEMON=off").world(t)
	pool := wordsOfLines(t)
	leads := []string{""}
	for _, c := range commands {
		leads = append(leads, c.name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		args := strings.Fields(rapid.SampledFrom(leads).Draw(rt, "command"))
		args = append(args, rapid.SliceOfN(rapid.SampledFrom(pool), 0, 6).Draw(rt, "words")...)
		if slices.Contains(args, "daemon") && (slices.Contains(args, "install") || slices.Contains(args, "uninstall")) {
			rt.Skip("would talk to the service manager of whoever tests")
		}
		r := w.run(w.env, "", args...)
		if r.exit == 0 {
			if len(r.stderr) > 0 {
				rt.Fatalf("%q: exit 0 with stderr %s", args, r.stderr)
			}
			return
		}
		if _, err := r.failed(); err != nil || r.exit != 2 && r.exit != 3 {
			rt.Fatalf("%q: exit %d, %v\n%s%s", args, r.exit, err, r.stdout, r.stderr)
		}
	})
}
