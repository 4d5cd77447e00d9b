package schema

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends what [Marshal] gives for m. A text of 256 KiB is most of the
// message, so it is gone through once and copied once.
func (m ActionMaterial) AppendJSON(b []byte) ([]byte, error) {
	text := m.Section.Markdown
	m.Section.Markdown = ""
	return appendMaterial(b, m, text)
}

// AppendJSON appends what [Marshal] gives for m.
func (m PinnedMaterial) AppendJSON(b []byte) ([]byte, error) {
	text := m.Section.Markdown
	m.Section.Markdown = ""
	return appendMaterial(b, m, text)
}

// appendMaterial puts the text into its message, which ends with an empty one.
func appendMaterial(b []byte, message any, text string) ([]byte, error) {
	frame, err := Marshal(message)
	if err != nil {
		return nil, err
	}
	const end = `""}}`
	if b == nil {
		const escapes = 8 // one byte in so many may need another before it
		b = make([]byte, 0, len(frame)+len(text)+len(text)/escapes)
	}
	b = append(b, bytes.TrimSuffix(frame, []byte(end))...)
	b, err = appendString(b, text)
	return append(b, "}}"...), err
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
