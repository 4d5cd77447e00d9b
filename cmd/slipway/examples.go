package main

import (
	"fmt"
	"strings"
)

// example is a command line and what it is for.
type example struct{ line, purpose string }

// examples are those of the help, by the name of the command. $RUN, $ACTION and
// the like stand for what an answer of Slipway says.
func examples() map[string][]example {
	return map[string][]example{
		"run": {
			{"slipway run 'tidy the notes'", "start by hand"},
			{"slipway run --goal-file goal.txt --json", "the way of a host: the goal stays out of the process list"},
			{"slipway run --budget 3 --no-review -- '--help is unreadable'", "a goal that begins with a dash"},
			{"slipway run --goal-file goal.txt --source-file issue.json --json", "requirements from an Issue"},
		},
		"status": {
			{"slipway status", "all Runs of the repository"},
			{"slipway status $RUN", "one Run, and what can be done now"},
			{"slipway status $RUN --section constraints", "a chapter of its requirements"},
			{"slipway status --json --root ../other", "for a program, of another worktree"},
		},
		"stop": {
			{"slipway stop", "the only live Run of this worktree"},
			{"slipway stop $RUN --json", "a certain one"},
		},
		"log": {
			{"slipway log $RUN", "what happened so far"},
			{"slipway log $RUN --follow", "and what happens from now on"},
		},
		"watch":     {{"slipway watch", "q ends it"}},
		"list":      {{"slipway list", "every host"}, {"slipway list --json", "for a program"}},
		"doctor":    {{"slipway doctor", "is everything in order here?"}, {"slipway doctor --json --root ../other", "for a program, of another worktree"}},
		"install":   {{"slipway install", "the hosts that are found here"}, {"slipway install --tool claude,codex", "these two"}, {"slipway install --refresh", "bring what is installed up to this version"}},
		"uninstall": {{"slipway uninstall", "everything"}, {"slipway uninstall --tool codex", "one host"}},
		"protocol submit": {
			{"slipway protocol submit --run $RUN --action $ACTION --outcome-file outcome.json", "as next offers it"},
			{"slipway protocol submit --run $RUN --action $ACTION --outcome-stdin < outcome.json", "without a file of one's own"},
		},
		"protocol answer": {
			{"slipway protocol answer --run $RUN --action $ACTION --text-file answer.txt", "a decision"},
			{"slipway protocol answer --run $RUN --action $ACTION --confirm-destructive --scope-sha256 $DIGEST", "a destructive confirmation: the digest says of what"},
		},
		"protocol skip": {{"slipway protocol skip --run $RUN --action $ACTION", "go on without it"}},
		"protocol resume": {
			{"slipway protocol resume $RUN", "after a stop, or with a new budget"},
			{"slipway protocol resume $RUN --budget 5", "with five more Actions"},
			{"slipway protocol resume $RUN --source-file issue.json", "with the Issue as it is now"},
			{"slipway protocol resume $RUN --source-choice adopt --candidate $CANDIDATE", "follow the new requirements"},
		},
		"protocol material": {{"slipway protocol material --run $RUN --action $ACTION --section constraints", "one chapter"}},
		"journal verify":    {{"slipway journal verify --all", "is everything that is stored sound?"}, {"slipway journal verify $RUN", "one Run, record by record"}},
		"journal export":    {{"slipway journal export $RUN --output run.tar.gz", "to keep, or to send to somebody"}},
		"journal prune":     {{"slipway journal prune --all --older-than 720h", "what would go"}, {"slipway journal prune --all --older-than 720h --remove", "let it go"}},
		"daemon start":      {{"slipway daemon start", "normally nobody has to: the first command starts it"}},
		"daemon stop":       {{"slipway daemon stop", "the next command starts a fresh one"}},
		"daemon restart":    {{"slipway daemon restart", "with the program that is installed now"}},
		"daemon status": {
			{"slipway daemon status", "for people"},
			{"slipway daemon status --prometheus", "for a monitoring system"},
		},
		"daemon install":   {{"slipway daemon install", "it starts with the session"}},
		"daemon uninstall": {{"slipway daemon uninstall", "it starts on demand again"}},
		"daemon logs":      {{"slipway daemon logs --lines 200", "more of it"}},
		"completion": {
			{"source <(slipway completion bash)", "for this shell (needs the package bash-completion); in ~/.bashrc for every one"},
			{"slipway completion zsh > \"${fpath[1]}/_slipway\"", "zsh"},
			{"slipway completion fish > ~/.config/fish/completions/slipway.fish", "fish"},
			{"slipway completion powershell | Out-String | Invoke-Expression", "PowerShell; in $PROFILE for every one"},
		},
	}

}

// examplesOf is the part of a command's help with its examples.
func examplesOf(name string) string {
	list := examples()[name]
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nExamples:\n")
	for _, e := range list {
		fmt.Fprintf(&b, "  %s\n      %s\n", e.line, e.purpose)
	}
	return b.String()
}
