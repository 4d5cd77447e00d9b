package schema

import (
	"cmp"
	"fmt"
	"strings"
)

// Choices returns the lines that show a Next to people (next.md, section 8):
// none where there is nothing to choose. shells are those that the commands are
// meant for.
func (n Next) Choices(shells Shells) []string {
	if len(n.Variants) == 0 {
		return nil
	}
	lines := []string{"Next choices:"}
	for _, v := range n.Variants {
		choice := requirements(v.Inputs)
		if choice == "" {
			choice = Render(v.BaseArgv, shells)
		}
		lines = append(lines, "- "+v.ID+": "+choice)
	}
	return lines
}

// requirements lists what must still be given; it is empty where nothing must.
func requirements(inputs []Input) string {
	var required []string
	for _, input := range inputs {
		if !input.Required {
			continue
		}
		item := fmt.Sprintf("%s (%s via %s)", input.Name, input.Type, input.Flag)
		if input.Type == InputEnum {
			item += " choices=" + strings.Join(input.Choices, "|")
		}
		required = append(required, item)
	}
	if required == nil {
		return ""
	}
	return "requires " + strings.Join(required, ", ")
}

// Shells are those that a command is written for.
type Shells int

const (
	// POSIXShells read what is stored or piped: the text is that of next.md, 8.1.
	POSIXShells Shells = iota
	// POSIXTerminal is POSIX shells again, but the text passes a terminal on its way.
	// What that would obey instead of showing it is written as its bytes, which
	// printf makes of it again.
	POSIXTerminal
	// WindowsShells are cmd.exe and PowerShell (next.md, 8.2).
	WindowsShells
)

// Render writes a command so that it can be pasted into any of the shells. There
// the process gets exactly argv, which must not be empty and hold no NUL.
func Render(argv []string, shells Shells) string {
	quote := quotePOSIX
	switch shells {
	case WindowsShells:
		return renderWindows(argv)
	case POSIXTerminal:
		quote = quoteForTerminal
	}
	quoted := make([]string, len(argv))
	for i, element := range argv {
		quoted[i] = quote(element)
	}
	return strings.Join(quoted, " ")
}

// posixSpecial are the characters that an element may not have if it is to stand
// bare (next.md, 8.1).
const posixSpecial = " \t\r\n\"'\\$`;&|<>()[]{}*?!#~"

func quotePOSIX(element string) string {
	if element != "" && !strings.ContainsAny(element, posixSpecial) {
		return element
	}
	return "'" + strings.ReplaceAll(element, "'", `'"'"'`) + "'"
}

// quoteForTerminal quotes what can be seen like [quotePOSIX]. No LF is among the
// rest: a substitution would lose it at its end.
func quoteForTerminal(element string) string {
	var b strings.Builder
	for rest := element; rest != ""; {
		end := strings.IndexFunc(rest, unseen)
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			b.WriteString(quotePOSIX(rest[:end]))
		}
		hidden := rest[end:]
		rest = strings.TrimLeftFunc(hidden, unseen)
		if octal := asOctal(hidden[:len(hidden)-len(rest)]); octal != "" {
			b.WriteString(`"$(printf '` + octal + `')"`)
		}
	}
	return cmp.Or(b.String(), quotePOSIX(""))
}

func asOctal(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}
