package main

import (
	"strings"
	"testing"
)

// TestMistypedLines: a person is told what may have been meant or what to do.
func TestMistypedLines(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"statsu", `unknown command "statsu". Did you mean status?`},
		{"STATUS", "Did you mean status?"},
		{"help run", "it is a flag, slipway --help"},
		{"version", "it is a flag, slipway --version"},
		{"stat", "Did you mean status or stop?"},
		{"submit --run r", "Did you mean protocol submit?"},
		{"logs", "Did you mean daemon logs or log?"},
		{"protocl submit", "Did you mean protocol?"},
		{"protocol sbmit", "Did you mean submit?"},
		{"daemon stat", "Did you mean start or stop or status?"},
		{"status --jsno", "Did you mean --json?"},
		{"status -json", "Did you mean --json?"},
		{"run --goal x", "Did you mean --goal-file or --goal-stdin?"},
		{"run --buget=3 x", "Did you mean --budget?"},
		{"list --hlep", "Did you mean --help?"},
		{"run mend the roof", `unexpected argument "the": put quotes around`},
		{"run --goal-file f mend the", `unexpected argument "the": put quotes around`},
		{"status one two", `unexpected argument "two"; slipway status --help`},
		{"protocol skip word", `unexpected argument "word"; slipway protocol skip --help`},
		{"log", "slipway log needs an argument <run>"},
		{"protocol resume", "slipway protocol resume needs an argument <run>"},
		{"completion", "slipway completion needs an argument <shell>"},
		{"status --timeout 0s", "--timeout needs a time above 0"},
		{"daemon stop --timeout -1m", "--timeout needs a time above 0"},
		{"completion tcsh", `"powershell" but got "tcsh"`},
	} {
		_, err := parse(strings.Fields(test.line))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.line, err, test.want)
		}
	}
	for _, line := range []string{"xyzzy", "-", "status --xyzzy", "status -x", "status ---", "protocol xyzzy"} {
		if _, err := parse(strings.Fields(line)); err == nil || strings.Contains(err.Error(), "Did you mean") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
