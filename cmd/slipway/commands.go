package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"slipway/rpc"
)

// runner is a command with its flags filled in.
type runner interface {
	run(*session) error
}

// command is an entry of the table: the model of one command. Only the model
// of the command that the line names is ever built.
type command struct {
	name  string // the words that name it
	brief string // one line of help
	model func() runner
}

// commands in the order of the help.
var commands = []command{
	{"run", "Start a Run, which works towards a goal.", func() runner { return new(runCommand) }},
	{"status", "Show every Run of this repository, or one in detail.", func() runner { return new(statusCommand) }},
	{"stop", "Stop a Run; protocol resume puts it back to work.", func() runner { return new(stopCommand) }},
	{"log", "Show what happened to a Run; --follow shows it live.", func() runner { return new(logCommand) }},
	{"watch", "Watch all Runs of this repository live.", func() runner { return new(watchCommand) }},
	{"list", "Show the hosts (AI coding tools) and what they have.", func() runner { return new(listCommand) }},
	{"doctor", "Check repository, hosts, storage and daemon.", func() runner { return new(doctorCommand) }},
	{"install", "Install Slipway's capabilities into hosts.", func() runner { return new(installCommand) }},
	{"uninstall", "Remove Slipway's capabilities from hosts.", func() runner { return new(uninstallCommand) }},
	{"completion", "Print a script that completes commands in your shell.", func() runner { return new(completionCommand) }},
	{"protocol submit", "Report the Outcome of the current Action.", func() runner { return new(submitCommand) }},
	{"protocol answer", "Answer the question that a paused Run waits for.", func() runner { return new(answerCommand) }},
	{"protocol skip", "Skip the current Action.", func() runner { return new(skipCommand) }},
	{"protocol resume", "Put a paused or stopped Run back to work.", func() runner { return new(resumeCommand) }},
	{"protocol material", "Read a section that the current Action must follow.", func() runner { return new(materialCommand) }},
	{"journal verify", "Check whether what is stored of Runs is sound.", func() runner { return new(journalVerifyCommand) }},
	{"journal export", "Save a Run, with a transcript, to an archive file.", func() runner { return new(journalExportCommand) }},
	{"journal prune", "List stopped and ended Runs, and remove them if told.", func() runner { return new(journalPruneCommand) }},
	{"daemon start", "Start the daemon; commands do so by themselves.", func() runner { return new(daemonStartCommand) }},
	{"daemon stop", "Stop the daemon, once what it works on is finished.", func() runner { return new(daemonStopCommand) }},
	{"daemon restart", "Stop the daemon and start it again.", func() runner { return new(daemonRestartCommand) }},
	{"daemon status", "Show how the daemon is, and how commands reach it here.", func() runner { return new(daemonStatusCommand) }},
	{"daemon install", "Let the system's service manager run the daemon.", func() runner { return new(daemonInstallCommand) }},
	{"daemon uninstall", "Take the daemon away from the service manager.", func() runner { return new(daemonUninstallCommand) }},
	{"daemon logs", "Show the end of the daemon's log.", func() runner { return new(daemonLogsCommand) }},
}

// groups are the first words of commands that have two, with a line of help.
var groups = []struct{ name, brief string }{
	{"protocol", "The operations of a host that works on a Run; they answer JSON."},
	{"journal", "Check, save and remove what is stored of Runs."},
	{"daemon", "Operate the daemon that keeps the Runs."},
}

// place is what every command on a worktree takes.
type place struct {
	Root string `placeholder:"PATH" help:"A folder or file inside the worktree (default: the working directory)."`
	patience
}

// patience is what every command takes that talks to the daemon.
type patience struct {
	Timeout time.Duration `placeholder:"DURATION" default:"${timeout}" help:"How long to wait for the daemon, as in 30s, 2m or 1h30m (default: ${timeout})."`
}

// format is what the commands take that answer people as well as programs.
type format struct {
	JSON bool `name:"json" help:"Answer with one line of JSON, for programs."`
}

// patienceFault is a time that nobody can wait.
func (p patience) patienceFault() error {
	if p.Timeout <= 0 {
		return usageFault{"--timeout needs a time above 0, as in 30s, 2m or 1h30m"}
	}
	return nil
}

func (f format) wantsJSON() bool { return f.JSON }

// invocation is what a command line comes to: a runner, or a text for stdout.
type invocation struct {
	command runner
	help    string // help to print instead of running anything
	version bool   // print the version instead
	people  bool   // a person asked, not a program
}

// usageFault is a line that the grammar refuses: invalid_usage.
type usageFault struct{ reason string }

func (f usageFault) Error() string { return f.reason }

// operationRequired is a group named without an operation.
type operationRequired struct{ group string }

func (f operationRequired) Error() string {
	return fmt.Sprintf("name an operation of %s: %s", f.group, strings.Join(operations(f.group), ", "))
}

// parse finds the command of a line and decodes its flags and arguments. The
// order of the checks is that of cli.md, 2.5.
func parse(args []string) (invocation, error) {
	at := -1
	if len(args) > 0 && args[0] != "-h" && args[0] != "--help" {
		at = nextWord(args, 0)
	}
	if at < 0 {
		return parseTop(args)
	}
	name, rest := args[at], without(args, at)
	if c := find(name); c != nil {
		return c.parse(rest)
	}
	if len(operations(name)) == 0 {
		return invocation{}, unknownCommand(name)
	}
	if next := nextOperation(rest, at); next >= 0 {
		if c := find(name + " " + rest[next]); c != nil {
			return c.parse(without(rest, next))
		}
	}
	return parseGroup(name, rest)
}

// parseTop is a line without a command: help, the version, or a fault.
func parseTop(args []string) (invocation, error) {
	l, err := normalise(args, flagKinds{"root": textFlag, "version": switchFlag})
	switch {
	case err != nil:
		return invocation{}, usageFault{err.Error()}
	case l.version && !l.help:
		return invocation{version: true}, nil
	case len(l.words) > 0 && !(l.help && known(l.words[0])):
		return invocation{}, unknownCommand(l.words[0])
	}
	return invocation{help: topHelp()}, nil
}

// parseGroup is a line that names a group, but no operation of it.
func parseGroup(name string, args []string) (invocation, error) {
	l, err := normalise(args, flagKinds{"root": textFlag})
	switch {
	case err != nil:
		return invocation{}, usageFault{err.Error()}
	case l.help:
		return invocation{help: groupHelp(name)}, nil
	case len(l.words) > 0:
		all := operations(name)
		return invocation{}, usageFault{fmt.Sprintf("%s has no operation %q.%s It has %s", name, l.words[0], didYouMean(similar(l.words[0], all)), strings.Join(all, ", "))}
	}
	if name != "protocol" { // the contract has a code for that group alone
		return invocation{}, usageFault{operationRequired{name}.Error()}
	}
	return invocation{}, operationRequired{name}
}

// parse decodes the words of a line that belong to the command.
func (c *command) parse(args []string) (invocation, error) {
	model := c.model()
	parser, err := c.parser(model)
	if err != nil {
		return invocation{}, err
	}
	l, err := normalise(args, kindsOf(parser.Model))
	if err != nil {
		return invocation{}, usageFault{err.Error()}
	}
	if l.help {
		text, err := commandHelp(parser, c.name)
		return invocation{help: text}, err
	}
	if err := c.countArguments(l.words, parser.Model.Positional); err != nil {
		return invocation{}, err
	}
	if _, err := parser.Parse(l.canonical()); err != nil {
		return invocation{}, usageFault{err.Error()}
	}
	if waits, ok := model.(interface{ patienceFault() error }); ok {
		if err := waits.patienceFault(); err != nil {
			return invocation{}, err
		}
	}
	return invocation{command: model, people: c.forPeople(model)}, nil
}

// countArguments says in plain words what a wrong number of arguments is about.
func (c *command) countArguments(words []string, arguments []*kong.Positional) error {
	for _, missing := range arguments[min(len(words), len(arguments)):] {
		if missing.Required {
			return usageFault{fmt.Sprintf("slipway %s needs an argument <%s>; slipway %s --help says more", c.name, missing.Name, c.name)}
		}
	}
	switch {
	case len(words) <= len(arguments):
		return nil
	case c.name == "run":
		return usageFault{fmt.Sprintf("unexpected argument %q: put quotes around a goal of several words, as in slipway run \"mend the roof\"", words[len(arguments)])}
	}
	return usageFault{fmt.Sprintf("unexpected argument %q; slipway %s --help shows what the command takes", words[len(arguments)], c.name)}
}

// parser is kong for this command alone.
func (c *command) parser(model runner) (*kong.Kong, error) {
	return kong.New(model, kong.Name("slipway "+c.name), kong.Description(c.brief), kong.NoDefaultHelp(),
		kong.KindMapper(reflect.String, kong.MapperFunc(exactText)), kong.Vars{"timeout": rpc.DefaultTimeout.String()})
}

// forPeople tells a command that answers people from one that answers a program.
func (c *command) forPeople(model runner) bool {
	asked, ok := model.(interface{ wantsJSON() bool })
	return !strings.HasPrefix(c.name, "protocol ") && !(ok && asked.wantsJSON())
}

// typedByPerson guesses the same of a line that is no command.
func typedByPerson(args []string) bool {
	asksJSON := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--json") })
	at := nextWord(args, 0)
	return !asksJSON && (at < 0 || args[at] != "protocol")
}

// exactText takes a value byte for byte; kong's own way replaces what is not
// UTF-8, which would accept a goal that is not, or open another file.
func exactText(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("text")
	if err != nil {
		return err
	}
	target.SetString(token.String())
	return nil
}

// find looks a command up by its full name.
func find(name string) *command {
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &commands[i]
}

// known tells whether a word is a command or a group.
func known(word string) bool { return find(word) != nil || len(operations(word)) > 0 }

// operations of a group, in the order of the help.
func operations(group string) []string {
	var names []string
	for _, c := range commands {
		if operation, ok := strings.CutPrefix(c.name, group+" "); ok {
			names = append(names, operation)
		}
	}
	return names
}

const commonHelp = `
Flags:
  --root PATH    A folder or file inside the worktree (default: the working
                 directory), for every command that is about a worktree.
  -h, --help     Show the help of slipway or of a command.
  -v, --version  Show the version (without a command).

Environment:
  SLIPWAY_DAEMON  auto (the default), require or off: whether commands use the
                  daemon or run the engine themselves.
  SLIPWAY_SOCKET  The daemon's socket, where the usual place will not do.
  SLIPWAYD        The daemon's program, where it is not beside this one.

Words: a Run works towards one goal. It issues Actions, one at a time, to a
host, which does them and reports an Outcome. Slipway itself keeps the record
and does no work.

slipway COMMAND --help shows the flags of a command, with examples.
`

// topHelp lists every command.
func topHelp() string {
	var b strings.Builder
	b.WriteString("Usage: slipway COMMAND [FLAGS] [ARGUMENTS]\n\nSlipway leads an AI coding tool towards a goal and records every step.\n\nCommands:\n")
	for _, c := range commands {
		if !strings.Contains(c.name, " ") {
			row(&b, c.name, c.brief)
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s\n", g.brief)
		for _, c := range commands {
			if strings.HasPrefix(c.name, g.name+" ") {
				row(&b, c.name, c.brief)
			}
		}
	}
	b.WriteString(commonHelp)
	return b.String()
}

// groupHelp lists the operations of a group.
func groupHelp(group string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: slipway %s OPERATION [FLAGS] [ARGUMENTS]\n\nOperations:\n", group)
	for _, operation := range operations(group) {
		row(&b, operation, find(group+" "+operation).brief)
	}
	b.WriteString("\nFlags:\n")
	if group != "daemon" { // which is about the user, not about a worktree
		b.WriteString("  --root PATH  A folder or file inside the worktree (default: here).\n")
	}
	fmt.Fprintf(&b, "  -h, --help   Show this help, or the help of an operation.\n\nslipway %s OPERATION --help shows the flags of an operation.\n", group)
	return b.String()
}

func row(w io.Writer, name, brief string) { fmt.Fprintf(w, "  %-19s%s\n", name, brief) }

// commandHelp is kong's text for the one command that the parser knows, and its
// examples.
func commandHelp(parser *kong.Kong, name string) (string, error) {
	var b strings.Builder
	parser.Stdout = &b
	trace, err := kong.Trace(parser, nil)
	if err != nil {
		return "", err
	}
	err = trace.PrintUsage(false)
	b.WriteString(examplesOf(name) + "\nslipway --help lists all commands.\n")
	return b.String(), err
}
