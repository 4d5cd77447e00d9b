// Slipway is the thin client: it reads a command line and the input files that
// it names, makes one call to the daemon, prints the answer and exits with the
// answer's status. What a Run is, and every rule about one, is decided on the
// other side of that call.
//
//	slipway run --goal-file goal.txt --json
//	slipway protocol submit --run RUN --action ACTION --outcome-file outcome.json
//	slipway status RUN
//
// # How a line becomes a command
//
// grammar.go tells flags from words exactly as cli.md, section 2, wants it;
// commands.go holds the table of commands and lets kong decode the one that
// the line names. Each command is a struct with its flags and a run method, in
// the file of its name.
//
// # What goes in and out
//
// input.go opens what the caller names, bounded and never through a link.
// output.go prints one line of JSON, or the text of human.go; a failure is one
// JSON object on stderr and exit status 2 or 3, whatever the mode.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"slipway/rpc"
)

func main() { os.Exit(guarded(func() int { return run(os.Args[1:]) })) }

// guarded keeps a defect from ending the program with the exit status 2 of Go's
// runtime, which would tell a host that nothing has happened.
func guarded(program func() int) (exit int) {
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(os.Stderr, "slipway has a defect: %v\n%s", defect, debug.Stack())
			exit = exitNoError
		}
	}()
	return program()
}

// run is the whole program but for the exit.
func run(args []string) int {
	s := &session{}
	defer s.close()
	if asksForCompletion(args) {
		return complete(s, args)
	}
	invocation, err := parse(args)
	if err != nil {
		s.setRoot(lastRoot(args))
		s.people = typedByPerson(args)
		return s.fail(err)
	}
	s.people = invocation.people || invocation.version
	switch {
	case invocation.help != "":
		// Help is not worth an error where nobody reads it.
		_, _ = os.Stdout.WriteString(invocation.help)
		return 0
	case invocation.version:
		s.setRoot(lastRoot(args))
		err = s.printAnswer([]byte(rpc.Version().String()))
	default:
		err = invocation.command.run(s)
	}
	if err != nil {
		return s.fail(err)
	}
	return 0
}
