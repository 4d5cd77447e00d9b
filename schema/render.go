package schema

import (
	"fmt"
	"strings"
)

// Choices returns the lines that show a Next to people (next.md, section 8):
// none where there is nothing to choose. windows selects the shells that the
// commands are meant for.
func (n Next) Choices(windows bool) []string {
	if len(n.Variants) == 0 {
		return nil
	}
	lines := []string{"Next choices:"}
	for _, v := range n.Variants {
		choice := requirements(v.Inputs)
		if choice == "" {
			choice = Render(v.BaseArgv, windows)
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

// Render writes a command so that it can be pasted into a shell: POSIX shells, or
// with windows both cmd.exe and PowerShell. There the process gets exactly argv.
// argv must not be empty and hold no NUL.
func Render(argv []string, windows bool) string {
	if windows {
		return renderWindows(argv)
	}
	quoted := make([]string, len(argv))
	for i, element := range argv {
		quoted[i] = quotePOSIX(element)
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
