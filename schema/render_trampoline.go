package schema

import (
	"encoding/base64"
	"encoding/binary"
	"os"
	"strings"
	"unicode/utf16"
)

// harmless is an element that cmd.exe and both PowerShells pass on as it stands.
// A word that begins with a dash and holds a point or a colon is not: Windows
// PowerShell cuts it in two.
var harmless = Pattern(`^(--?[A-Za-z][A-Za-z0-9-]*|[A-Za-z0-9/\\][A-Za-z0-9/\\:._-]*)$`)

// renderWindows writes a command of harmless elements as it is, any other as a
// trampoline (next.md, 8.2).
func renderWindows(argv []string) string {
	for _, element := range argv {
		if !harmless(element) {
			return trampoline(argv)
		}
	}
	return strings.Join(argv, " ")
}

// trampoline starts the command through a PowerShell script in Base64, so that no
// character of it is seen by the parser of any shell.
func trampoline(argv []string) string {
	arguments := make([]string, len(argv)-1)
	for i, element := range argv[1:] {
		arguments[i] = quoteWindows(element)
	}
	script := strings.NewReplacer(
		"PROGRAM", base64.StdEncoding.EncodeToString([]byte(argv[0])),
		"ARGUMENTS", base64.StdEncoding.EncodeToString([]byte(strings.Join(arguments, " "))),
	).Replace(trampolineScript)
	return quoteWindows(powerShellPath(os.Getenv("SystemRoot"))) +
		" -NoLogo -NoProfile -NonInteractive -EncodedCommand " + encodeCommand(script)
}

// trampolineScript is quiet about its progress, which PowerShell would otherwise
// write to stderr as XML.
const trampolineScript = `$ErrorActionPreference='Stop';$ProgressPreference='SilentlyContinue';` +
	`function decode($s){[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($s))};` +
	`$code=1;try{$start=New-Object Diagnostics.ProcessStartInfo;` +
	`$start.FileName=decode 'PROGRAM';$start.Arguments=decode 'ARGUMENTS';$start.UseShellExecute=$false;` +
	`$process=[Diagnostics.Process]::Start($start);$process.WaitForExit();$code=$process.ExitCode}` +
	`catch{$code=1};exit $code`

// encodeCommand is Base64 of UTF-16LE.
func encodeCommand(script string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(script)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return base64.StdEncoding.EncodeToString(b)
}

var windowsAbsolute = Pattern(`^([A-Za-z]:[\\/]|\\\\[^\\/])`)

// powerShellPath finds Windows PowerShell below the system's folder.
func powerShellPath(systemRoot string) string {
	if !windowsAbsolute(systemRoot) || strings.ContainsAny(systemRoot, "\"\x00\r\n") {
		systemRoot = `C:\Windows`
	}
	return strings.TrimRight(systemRoot, `\/`) + `\System32\WindowsPowerShell\v1.0\powershell.exe`
}

// quoteWindows escapes one element by the rules of CommandLineToArgvW.
func quoteWindows(element string) string {
	if element != "" && !strings.ContainsAny(element, " \t\n\v\"") {
		return element
	}
	var b strings.Builder
	b.WriteByte('"')
	backslashes := 0
	for i := 0; i < len(element); i++ {
		c := element[i]
		switch c {
		case '\\':
			backslashes++
		case '"':
			// Those before a quote count double, and one more guards the quote.
			b.WriteString(strings.Repeat(`\`, backslashes+1))
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat(`\`, backslashes))
	b.WriteByte('"')
	return b.String()
}
