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
			{"slipway run 'tidy the notes'", "start a Run by hand"},
			{"slipway run --goal-file goal.txt --json", "as a host does it: the goal stays out of the process list"},
			{"slipway run --budget 3 --no-review -- '--help is unreadable'", "a goal that begins with a dash"},
			{"slipway run --goal-file goal.txt --source-file issue.json --json", "with requirements from an Issue"},
		},
		"status": {
			{"slipway status", "list all Runs of the repository"},
			{"slipway status $RUN", "show one Run, and what can be done now"},
			{"slipway status $RUN --section constraints", "read one section of its requirements"},
			{"slipway status --json --root ../other", "for a program, about another worktree"},
		},
		"stop": {
			{"slipway stop", "stop the only active or paused Run of this worktree"},
			{"slipway stop $RUN --json", "stop this Run, and answer in JSON"},
		},
		"log": {
			{"slipway log $RUN", "show what happened so far"},
			{"slipway log $RUN --follow", "go on with what happens from now on"},
		},
		"watch":     {{"slipway watch", "show a live table of all Runs; the key q ends it"}},
		"list":      {{"slipway list", "show all hosts"}, {"slipway list --json", "for a program"}},
		"doctor":    {{"slipway doctor", "is everything in order here, and if not, what to do?"}, {"slipway doctor --json --root ../other", "for a program, about another worktree"}},
		"install":   {{"slipway install", "install into the hosts that are found here"}, {"slipway install --tool claude,codex", "install into these two"}, {"slipway install --refresh", "bring what is installed up to this version of slipway"}},
		"uninstall": {{"slipway uninstall", "remove everything that install has put there"}, {"slipway uninstall --tool codex", "remove it from one host"}},
		"protocol submit": {
			{"slipway protocol submit --run $RUN --action $ACTION --outcome-file outcome.json", "report what a file says, as the next of an answer offers it"},
			{"slipway protocol submit --run $RUN --action $ACTION --outcome-stdin < outcome.json", "report what comes from another program or file"},
		},
		"protocol answer": {
			{"slipway protocol answer --run $RUN --action $ACTION --text-file answer.txt", "answer a question"},
			{"slipway protocol answer --run $RUN --action $ACTION --confirm-destructive --scope-sha256 $DIGEST", "allow a destructive operation; the digest says which"},
		},
		"protocol skip": {{"slipway protocol skip --run $RUN --action $ACTION", "go on without the current Action"}},
		"protocol resume": {
			{"slipway protocol resume $RUN", "go on after a stop or a pause"},
			{"slipway protocol resume $RUN --budget 5", "go on with a budget of five Actions"},
			{"slipway protocol resume $RUN --source-file issue.json", "go on with the Issue as it is now"},
			{"slipway protocol resume $RUN --source-choice adopt --candidate $CANDIDATE", "take over new requirements that wait for a choice"},
		},
		"protocol material": {{"slipway protocol material --run $RUN --action $ACTION --section constraints", "read one section of the requirements"}},
		"journal verify":    {{"slipway journal verify --all", "check all Runs of the repository"}, {"slipway journal verify $RUN", "show one Run, record by record"}},
		"journal export":    {{"slipway journal export $RUN --output run.tar.gz", "save a Run, to keep or to send to somebody"}},
		"journal prune":     {{"slipway journal prune --all --older-than 720h", "list the Runs that are over and 30 days old"}, {"slipway journal prune --all --older-than 720h --remove", "remove them for good"}},
		"daemon start":      {{"slipway daemon start", "start it now instead of with the next command"}},
		"daemon stop":       {{"slipway daemon stop", "stop it; the next command starts a fresh one"}},
		"daemon restart":    {{"slipway daemon restart", "run the version that is installed now"}},
		"daemon status": {
			{"slipway daemon status", "see whether it runs and whether anything is wrong"},
			{"slipway daemon status --prometheus", "the same figures for a monitoring system"},
		},
		"daemon install":   {{"slipway daemon install", "start it with every session, through the system's service manager"}},
		"daemon uninstall": {{"slipway daemon uninstall", "go back to starting it on demand"}},
		"daemon logs":      {{"slipway daemon logs --lines 200", "show the last 200 lines"}},
		"completion": {
			{"source <(slipway completion bash)", "bash: for this shell; put it into ~/.bashrc for every one"},
			{"slipway completion zsh > \"${fpath[1]}/_slipway\"", "zsh: for every new shell"},
			{"slipway completion fish > ~/.config/fish/completions/slipway.fish", "fish: for every new shell"},
			{"slipway completion powershell | Out-String | Invoke-Expression", "PowerShell: for this shell; put it into $PROFILE for every one"},
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
