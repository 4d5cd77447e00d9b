package schema_test

import (
	"encoding/base64"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"slipway/schema"
)

// The example is that of next.md, 8.1.
func TestRenderForPOSIXShells(t *testing.T) {
	for _, test := range []struct {
		argv []string
		want string
	}{
		{[]string{"slipway", "status", "--root", "/srv/it's here"}, `slipway status --root '/srv/it'"'"'s here'`},
		{[]string{"slipway", "", "a=b", "é%@,:+-_/.^"}, `slipway '' a=b é%@,:+-_/.^`},
		{[]string{"~", "#", "!", "$x", "`", `\`, "a;b", "a\nb", "{a}", "[a]", "*", "?"},
			"'~' '#' '!' '$x' '`' '\\' 'a;b' 'a\nb' '{a}' '[a]' '*' '?'"},
	} {
		if got := schema.Render(test.argv, schema.POSIXShells); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestShellReadsBackWhatWasRendered(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a POSIX shell")
	}
	for first := 1; first < 256; first++ {
		argv := []string{"printf", `%s\0`, string(rune(first)), "a" + string(rune(first)) + "b", `'"` + string(rune(first))}
		if first%16 != 0 && first > 127 {
			continue // one of sixteen is enough where no shell has a meaning for it
		}
		script := schema.Render(argv, schema.POSIXShells) + "\n" + schema.Render(argv, schema.POSIXTerminal)
		out, err := exec.Command(shell, "-c", script).Output()
		if err != nil {
			t.Fatalf("%q: %v", argv, err)
		}
		want := append(argv[2:], argv[2:]...)
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !reflect.DeepEqual(got, want) {
			t.Errorf("%q came back as %q", want, got)
		}
	}
}

// What a terminal would obey does not get there, and yet the shell has all of it.
func TestRenderForATerminal(t *testing.T) {
	for _, test := range []struct{ element, want string }{
		{"", "''"},
		{"/srv/it's here", `'/srv/it'"'"'s here'`},
		{"\x1b[2J", `"$(printf '\033')"'[2J'`},
		{"a\u202e\x7fb c", `a"$(printf '\342\200\256\177')"'b c'`},
		{"a\n\tb", "'a\n\tb'"},
		{"a\r\n", `a"$(printf '\015')"'` + "\n'"},
	} {
		if got := schema.Render([]string{test.element}, schema.POSIXTerminal); got != test.want {
			t.Errorf("%q: got %s, want %s", test.element, got, test.want)
		}
	}
}

func TestRenderForWindowsLeavesHarmlessWordsBare(t *testing.T) {
	argv := []string{"slipway", "status", "7d1f2a52-3c44", "--root", `C:\src\demo`}
	if got := schema.Render(argv, schema.WindowsShells); got != `slipway status 7d1f2a52-3c44 --root C:\src\demo` {
		t.Errorf("got %s", got)
	}
}

var (
	trampolineForm = regexp.MustCompile(`^(\S+|"[^"]+") -NoLogo -NoProfile -NonInteractive -EncodedCommand ([A-Za-z0-9+/=]+)$`)
	payloadForm    = regexp.MustCompile(`decode '([A-Za-z0-9+/=]*)'`)
)

// readTrampoline follows the text as Windows would and returns the arguments
// that the started process gets.
func readTrampoline(t rapid.TB, text string) (shell string, argv []string) {
	t.Helper()
	parts := trampolineForm.FindStringSubmatch(text)
	if parts == nil {
		t.Fatalf("no trampoline: %s", text)
	}
	utf16le, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(utf16le)%2 != 0 {
		t.Fatalf("no UTF-16: %v", err)
	}
	units := make([]uint16, len(utf16le)/2)
	for i := range units {
		units[i] = uint16(utf16le[2*i]) | uint16(utf16le[2*i+1])<<8
	}
	payloads := payloadForm.FindAllStringSubmatch(string(utf16.Decode(units)), -1)
	if len(payloads) != 2 {
		t.Fatalf("%d values in %s", len(payloads), string(utf16.Decode(units)))
	}
	program, err := base64.StdEncoding.DecodeString(payloads[0][1])
	if err != nil {
		t.Fatal(err)
	}
	line, err := base64.StdEncoding.DecodeString(payloads[1][1])
	if err != nil {
		t.Fatal(err)
	}
	return parts[1], append([]string{string(program)}, splitCommandLine(string(line))...)
}

// splitCommandLine does what CommandLineToArgvW does after the program's name.
func splitCommandLine(line string) (argv []string) {
	for i := 0; ; {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			return argv
		}
		var argument strings.Builder
		for quoted := false; i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t'); {
			slashes := 0
			for i < len(line) && line[i] == '\\' {
				slashes++
				i++
			}
			if i == len(line) || line[i] != '"' {
				argument.WriteString(strings.Repeat(`\`, slashes))
				if slashes == 0 {
					argument.WriteByte(line[i])
					i++
				}
				continue
			}
			argument.WriteString(strings.Repeat(`\`, slashes/2))
			if slashes%2 == 1 {
				argument.WriteByte('"')
			} else {
				quoted = !quoted
			}
			i++
		}
		argv = append(argv, argument.String())
	}
}

func TestTrampolineGivesTheArgumentsBack(t *testing.T) {
	for _, argument := range []string{
		"", " ", `C:\Program Files\x`, `ends with \`, `two \\ and "quote"`, `\"`, `\\"\\`, "%PATH%", "!x!", "^&|<>()", "$env:X", "`n",
		"'", "it's", "a\tb", "a\nb", "@x", "-foo.bar", "--%", "é𝄞", `"`, `a"b c`,
	} {
		argv := []string{"slipway", "status", argument, "--root", `C:\src`}
		_, got := readTrampoline(t, schema.Render(argv, schema.WindowsShells))
		if !reflect.DeepEqual(got, argv) {
			t.Errorf("%q came back as %q", argv, got)
		}
	}
}

func TestTrampolineGivesAnyArgumentsBack(t *testing.T) {
	awkward := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune(` \"'%!$`+"`\t")), rapid.Rune().Filter(func(r rune) bool { return r != 0 })))
	rapid.Check(t, func(t *rapid.T) {
		argv := append([]string{"slipway", "%"}, rapid.SliceOf(awkward).Draw(t, "argv")...)
		if _, got := readTrampoline(t, schema.Render(argv, schema.WindowsShells)); !reflect.DeepEqual(got, argv) {
			t.Fatalf("%q came back as %q", argv, got)
		}
	})
}

func TestTrampolineFindsPowerShell(t *testing.T) {
	const below = `\System32\WindowsPowerShell\v1.0\powershell.exe`
	for systemRoot, want := range map[string]string{
		"":               `C:\Windows` + below,
		"Windows":        `C:\Windows` + below,
		`\Windows`:       `C:\Windows` + below,
		`D:\WINNT`:       `D:\WINNT` + below,
		`D:\WINNT\`:      `D:\WINNT` + below,
		`D:\Win dows`:    `"D:\Win dows` + below + `"`,
		`\\host\share`:   `\\host\share` + below,
		"D:\\W\" & calc": `C:\Windows` + below,
	} {
		t.Setenv("SystemRoot", systemRoot)
		if got, _ := readTrampoline(t, schema.Render([]string{"slipway", "a b"}, schema.WindowsShells)); got != want {
			t.Errorf("%q: %s", systemRoot, got)
		}
	}
}

func TestChoices(t *testing.T) {
	place := schema.Place{Root: absolute("/srv/it's here"), Identity: demo.Identity}
	root := schema.Render([]string{place.Root}, schema.POSIXShells)
	for name, test := range map[string]struct {
		next schema.Next
		want []string
	}{
		"none": {schema.NextNone(place), nil},
		"action": {schema.NextAction(place, "r", "a"), []string{
			"Next choices:",
			"- submit-outcome-file: requires outcome_file (path via --outcome-file)",
			"- submit-outcome-stdin: slipway protocol submit --run r --action a --root " + root + " --outcome-stdin",
			"- skip-action: slipway protocol skip --run r --action a --root " + root,
		}},
		"optional input": {schema.NextResume(place, "r", schema.Resumption{}, ""), []string{
			"Next choices:",
			"- resume-ad-hoc: slipway protocol resume r --root " + root,
		}},
		"two inputs": {schema.NextStart(place, 8, true, true), []string{
			"Next choices:",
			"- start-with-source: requires goal_file (path via --goal-file), source_file (path via --source-file)",
		}},
		"choices": {schema.NextInstallKiro(place), []string{
			"Next choices:",
			"- install-kiro: requires surface (enum via --surface) choices=ide|cli",
		}},
	} {
		if got := test.next.Choices(schema.POSIXShells); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestChoicesForWindowsUseItsShells(t *testing.T) {
	lines := schema.NextInspectRun(schema.Place{Root: absolute("/srv/it's here"), Identity: demo.Identity}, "r").Choices(schema.WindowsShells)
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	text, found := strings.CutPrefix(lines[1], "- inspect-run: ")
	if _, argv := readTrampoline(t, text); !found || argv[len(argv)-1] != absolute("/srv/it's here") {
		t.Errorf("%q", argv)
	}
}
