package schema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsText reports whether s is valid UTF-8 without control characters other than
// TAB, LF and CR (wire.md, 1.2). An empty string is text.
func IsText(s string) bool { return utf8.ValidString(s) && !hasControl(s, "\t\n\r") }

// IsPlain reports whether s is valid UTF-8 without any control character
// (wire.md, 1.2). An empty string is plain.
func IsPlain(s string) bool { return utf8.ValidString(s) && !hasControl(s, "") }

// hasControl looks for a control character (category Cc) that is not allowed. The
// texts are long and nearly always clean, so it looks at bytes: in UTF-8 the C0
// controls and DEL are one byte, and the C1 controls are 0xC2 and one byte more.
func hasControl(s, allowed string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c == 0x7f:
			if strings.IndexByte(allowed, c) < 0 {
				return true
			}
		case c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0:
			return true
		}
	}
	return false
}

// IsBlank reports whether s has no character but Unicode White_Space (wire.md,
// 1.2). Bytes that are not UTF-8 are no white space.
func IsBlank(s string) bool { return TrimWhiteSpace(s) == "" }

// TrimWhiteSpace returns s without the Unicode White_Space at its two ends.
func TrimWhiteSpace(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }

// Harmless returns a text that does nothing but to be seen, in a terminal or an
// editor: what can not be seen, turns the direction of writing or moves the cursor
// is spelled out as \u and four digits, or \U and eight. LF and TAB stay, CR LF
// becomes LF. It is for people; no message of the contract is changed like this.
func Harmless(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// unseen tells whether a character does something else than to be seen.
func unseen(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }

// EncodedSize returns the bytes of s as a JSON string literal, both quotes
// counted (wire.md, 1.2). It is what [Marshal] writes for every valid UTF-8
// string.
func EncodedSize(s string) int {
	size := len(`""`) + len(s)
	for i := range len(s) {
		size += int(escapeCost[s[i]])
		if s[i] == 0xe2 && (strings.HasPrefix(s[i:], "\u2028") || strings.HasPrefix(s[i:], "\u2029")) {
			size += len(`\u2028`) - len("\u2028")
		}
	}
	return size
}

// escapeCost is what each byte takes in a JSON literal beyond itself.
var escapeCost = func() (cost [256]uint8) {
	for c := range byte(' ') {
		cost[c] = uint8(len(`\u0000`) - 1)
	}
	for _, c := range []byte("\"\\\b\t\n\f\r") {
		cost[c] = 1
	}
	return cost
}()

// isSolid reports whether s is non-blank text.
func isSolid(s string) bool { return IsText(s) && !IsBlank(s) }

// isName reports whether s is non-blank plain, which is also the form of an id.
func isName(s string) bool { return IsPlain(s) && !IsBlank(s) }
