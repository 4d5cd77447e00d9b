package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// What a person may have meant who mistyped something. Hosts take their command
// lines from a next and never read this.

const (
	// mistypes is how many characters may be wrong, missing or too many.
	mistypes = 2
	// maxSuggestions is how many are worth reading.
	maxSuggestions = 3
)

// didYouMean is a question to put behind a message, with a blank before it; empty
// where nothing comes to mind.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(names[:min(len(names), maxSuggestions)], " or ") + "?"
}

// similar are those of names that typed may stand for. Cobra has the measure, for
// names of commands.
func similar(typed string, names []string) []string {
	if typed == "" || strings.HasPrefix(typed, "-") {
		return nil
	}
	all := &cobra.Command{SuggestionsMinimumDistance: mistypes}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(typed)
}

// similarCommands are the commands that a first word may stand for: also those
// whose group was left out.
func similarCommands(typed string) []string {
	var first, whole []string
	for _, c := range commands {
		group, operation, inGroup := strings.Cut(c.name, " ")
		if !slices.Contains(first, group) {
			first = append(first, group)
		}
		if inGroup && operation == typed {
			whole = append(whole, c.name)
		}
	}
	return append(whole, similar(typed, first)...)
}

// similarFlags are the flags of a command that one may stand for.
func similarFlags(arg string, kinds flagKinds) []string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	var flags []string
	for _, flag := range similar(name, append(slices.Sorted(maps.Keys(kinds)), "help")) {
		flags = append(flags, "--"+flag)
	}
	return flags
}

func unknownCommand(name string) usageFault {
	if name == "help" || name == "version" {
		return usageFault{fmt.Sprintf("unknown command %q: it is a flag, slipway --%s", name, name)}
	}
	return usageFault{fmt.Sprintf("unknown command %q.%s slipway --help shows the commands", name, didYouMean(similarCommands(name)))}
}
