package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// The grammar of cli.md, section 2. kong knows the commands and decodes their
// values, but what counts as a flag, a value or a positional argument is fixed
// for hosts and decided here: every line reaches kong as `--name=VALUE …  --
// ARGUMENT …`, which leaves it nothing to interpret.

// flagKind says what may stand behind a flag.
type flagKind int

const (
	textFlag     flagKind = iota // any value, in the same word or the next
	switchFlag                   // a boolean: no value, or one behind "="
	integerFlag                  // a number that fits 64 bits
	durationFlag                 // a number with a unit of time, or several
)

// flagKinds are the flags of one command by name, without the help that every
// command has.
type flagKinds map[string]flagKind

// kindsOf reads the flags from a command's model.
func kindsOf(model *kong.Application) flagKinds {
	kinds := flagKinds{}
	for _, flag := range model.Flags {
		target := flag.Target.Type()
		if target.Kind() == reflect.Pointer {
			target = target.Elem()
		}
		switch {
		case flag.IsBool():
			kinds[flag.Name] = switchFlag
		case target == reflect.TypeFor[time.Duration]():
			kinds[flag.Name] = durationFlag
		case target.Kind() == reflect.Int:
			kinds[flag.Name] = integerFlag
		default:
			kinds[flag.Name] = textFlag
		}
	}
	return kinds
}

// line is a command line whose flags have been told from its words.
type line struct {
	flags   []string // "--name=value", in argv order, values in kong's spelling
	words   []string // positional arguments
	help    bool
	version bool // only where the flags include one
}

// canonical is the line as kong reads it.
func (l line) canonical() []string {
	return append(append(l.flags[:len(l.flags):len(l.flags)], "--"), l.words...)
}

// normalise takes args apart. The error is the first fault in argv order.
func normalise(args []string, kinds flagKinds) (line, error) {
	var l line
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			l.words = append(l.words, args[i+1:]...)
			break
		}
		if !isFlag(args[i]) {
			l.words = append(l.words, args[i])
			continue
		}
		name, value, joined := cutFlag(args[i])
		kind, known := kinds[name]
		if name == "help" {
			kind, known = switchFlag, true
		}
		switch {
		case !known:
			return l, fmt.Errorf("unknown flag %s.%s --help shows the flags of the command", flagText(args[i]), didYouMean(similarFlags(args[i], kinds)))
		case kind != switchFlag && !joined && i+1 == len(args):
			return l, fmt.Errorf("flag --%s needs a value", name)
		case kind != switchFlag && !joined:
			i++
			value = args[i]
		case kind == switchFlag && !joined:
			value = "true"
		}
		spelled, err := spell(name, value, kind)
		if err != nil {
			return l, err
		}
		l.take(name, spelled)
	}
	return l, nil
}

// take adds a flag to the line; the last of a repeated one counts.
func (l *line) take(name, value string) {
	switch name {
	case "help":
		l.help = value == "true"
	case "version":
		l.version = value == "true"
	default:
		l.flags = append(l.flags, "--"+name+"="+value)
	}
}

// spell checks a value against its kind and gives the one spelling that kong
// reads the same way.
func spell(name, value string, kind flagKind) (string, error) {
	switch kind {
	case switchFlag:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return "", fmt.Errorf("flag --%s is true or false, not %q", name, value)
		}
		return strconv.FormatBool(on), nil
	case integerFlag:
		n, err := strconv.ParseInt(value, 0, 64)
		if err != nil {
			return "", fmt.Errorf("flag --%s needs a whole number, not %q", name, value)
		}
		return strconv.FormatInt(n, 10), nil
	case durationFlag:
		d, err := time.ParseDuration(value)
		if err != nil {
			return "", fmt.Errorf("flag --%s needs a time with its unit, as in 30s, 2m or 1h30m, not %q", name, value)
		}
		return d.String(), nil
	default:
		return value, nil
	}
}

// isFlag tells a flag from a word; a single dash is a word.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// cutFlag gives the name of a flag and the value that is joined to it. Short
// forms get the name of the long one, or a name that no flag has.
func cutFlag(arg string) (name, value string, joined bool) {
	switch arg {
	case "-h":
		return "help", "", false
	case "-v":
		return "version", "", false
	}
	long, ok := strings.CutPrefix(arg, "--")
	if !ok {
		return "", "", false
	}
	return strings.Cut(long, "=")
}

// flagText is a flag as a message shows it, without its value.
func flagText(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	return strconv.Quote(name)
}

// nextWord is the index of the first word at or after from that is neither a
// flag nor the value of one; -1 if there is none before a "--". A flag without
// "=" is taken to have a value, because no command is known yet that could say
// otherwise (cli.md, 2.1).
func nextWord(args []string, from int) int {
	for i := from; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return -1
		case !isFlag(args[i]):
			return i
		case !strings.Contains(args[i], "="):
			i++
		}
	}
	return -1
}

// nextOperation is nextWord behind the name of a group, where nothing but
// --root and help may stand; at any other flag it gives up, and parsing the
// line as the group's own then finds the fault.
func nextOperation(args []string, from int) int {
	for i := from; i < len(args); i++ {
		if args[i] == "--" {
			return -1
		}
		if !isFlag(args[i]) {
			return i
		}
		name, _, joined := cutFlag(args[i])
		switch {
		case name == "root" && !joined:
			i++
		case name != "root" && name != "help":
			return -1
		}
	}
	return -1
}

// without is args without the one at index i.
func without(args []string, i int) []string {
	return append(args[:i:i], args[i+1:]...)
}

// lastRoot is the value of the last --root before a "--", read without knowing
// the command: where the next of a fault in the line itself applies (errors.md,
// section 3). It is empty where there is none.
func lastRoot(args []string) string {
	root := ""
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		if value, ok := strings.CutPrefix(args[i], "--root="); ok {
			root = value
		} else if args[i] == "--root" && i+1 < len(args) {
			i++
			root = args[i]
		}
	}
	return root
}
