package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsText reports whether s is valid UTF-8 without control characters other than
// TAB, LF and CR (wire.md, 1.2). An empty string is text.
func IsText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, isForbiddenInText) < 0
}

// IsPlain reports whether s is valid UTF-8 without any control character
// (wire.md, 1.2). An empty string is plain.
func IsPlain(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// IsBlank reports whether s has no character but Unicode White_Space (wire.md,
// 1.2). Bytes that are not UTF-8 are no white space.
func IsBlank(s string) bool { return TrimWhiteSpace(s) == "" }

// TrimWhiteSpace returns s without the Unicode White_Space at its two ends.
func TrimWhiteSpace(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }

// EncodedSize returns the bytes of s as a JSON string literal, both quotes
// counted (wire.md, 1.2). It is what [Marshal] writes for every valid UTF-8
// string.
func EncodedSize(s string) int {
	size := len(`""`) + len(s)
	for _, r := range s {
		switch {
		case r == '"', r == '\\', r == '\b', r == '\t', r == '\n', r == '\f', r == '\r':
			size++
		case r < ' ':
			size += len(`\u0000`) - 1
		case r == '\u2028', r == '\u2029':
			size += len(`\u2028`) - len("\u2028")
		}
	}
	return size
}

func isForbiddenInText(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
}

// isSolid reports whether s is non-blank text.
func isSolid(s string) bool { return IsText(s) && !IsBlank(s) }

// isName reports whether s is non-blank plain, which is also the form of an id.
func isName(s string) bool { return IsPlain(s) && !IsBlank(s) }
