package schema

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// TextJSON is what [Marshal] gives for the text of the section.
func (s MaterialSection) TextJSON() ([]byte, error) {
	const escapes = 8 // one byte in so many may need another before it
	return appendString(make([]byte, 0, len(s.Markdown)+len(s.Markdown)/escapes+2), s.Markdown)
}

// Text is the section that the message is about.
func (m ActionMaterial) Text() MaterialSection { return m.Section }

// Text is the section that the message is about.
func (m PinnedMaterial) Text() MaterialSection { return m.Section }

// Around gives what [Marshal] gives for m, in pieces. The text, which can have 256
// KiB, is most of it and is not gone through again: its JSON is given.
func (m ActionMaterial) Around(textJSON []byte) ([][]byte, error) {
	m.Section.Markdown = ""
	return around(m, textJSON)
}

// Around gives what [Marshal] gives for m, in pieces, around the JSON of its text.
func (m PinnedMaterial) Around(textJSON []byte) ([][]byte, error) {
	m.Section.Markdown = ""
	return around(m, textJSON)
}

// around puts the text into its message, which ends with an empty one.
func around(message any, textJSON []byte) ([][]byte, error) {
	const end = `}}`
	frame, err := Marshal(message)
	return [][]byte{bytes.TrimSuffix(frame, []byte(`""`+end)), textJSON, []byte(end)}, err
}

// appendString appends what [Marshal] gives for s, several times faster.
func appendString(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029") {
		text, err := Marshal(s)
		return append(b, text...), err
	}
	return appendCanonicalString(b, s), nil
}

// appendCanonicalString writes a string the one way that scopes allow. It is not
// [Marshal], which escapes U+2028 and U+2029. Long texts are made of short lines, so
// it copies eight bytes at a time while it looks at them.
func appendCanonicalString(b []byte, s string) []byte {
	b = append(b, '"')
	for len(s) >= 8 {
		word := wordOf(s)
		b = binary.LittleEndian.AppendUint64(b, word)
		found := notPlain(word)
		if found == 0 {
			s = s[8:]
			continue
		}
		plain := bits.TrailingZeros64(found) / 8
		b = b[:len(b)-8+plain]
		if c := s[plain]; c == '\n' {
			b = append(b, '\\', 'n')
		} else {
			b = appendEscape(b, c)
		}
		s = s[plain+1:]
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			b = appendEscape(b, c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// appendEscape appends a character that can not stand for itself.
func appendEscape(b []byte, c byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
