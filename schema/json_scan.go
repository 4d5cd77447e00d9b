package schema

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting bounds the arrays and objects that may stand in each other where no
// Go type says how deep a value may go. Legal documents reach five levels and
// journal records about ten, so nothing sound comes near it.
const maxNesting = 128

// scanner walks over one JSON text (RFC 8259) that is already known to be valid
// UTF-8. It never recurses.
type scanner struct {
	data []byte
	pos  int
}

func (s *scanner) fault(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", s.pos, fmt.Sprintf(format, args...))
}

// peek skips white space and returns the byte after it without taking it; at the
// end of the text it returns NUL, which begins no token.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// take skips white space and takes c, which is not NUL, if it is next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// end checks that nothing but white space is left.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return s.fault("there is something after the JSON value")
	}
	return nil
}

// literal takes true, false or null.
func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fault("no JSON value")
	}
	s.pos += len(word)
	return nil
}

// number takes a JSON number and returns its spelling.
func (s *scanner) number() ([]byte, error) {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	switch whole := s.digits(); {
	case whole == 0:
		return nil, s.fault("no JSON value")
	case whole > 1 && s.data[s.pos-whole] == '0':
		return nil, s.fault("a number has a leading zero")
	}
	if s.at('.') {
		s.pos++
		if s.digits() == 0 {
			return nil, s.fault("a number has no digit after its point")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if s.digits() == 0 {
			return nil, s.fault("a number has no digit in its exponent")
		}
	}
	return s.data[start:s.pos], nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

// rawString takes a string literal, whose opening quote is next, and returns what
// stands between its quotes, and whether that holds escapes.
func (s *scanner) rawString() (raw []byte, escaped bool, err error) {
	s.pos++
	start := s.pos
	for {
		s.pos += plainPrefix(s.data[s.pos:])
		if s.pos == len(s.data) {
			return nil, false, s.fault("a string does not end")
		}
		switch s.data[s.pos] {
		case '"':
			s.pos++
			return s.data[start : s.pos-1], escaped, nil
		case '\\':
			escaped = true
			if next := s.pos + 1; next < len(s.data) && s.data[next] == 'n' {
				s.pos += 2 // most escapes of a long text
			} else if err := s.escape(); err != nil {
				return nil, false, err
			}
		default:
			return nil, false, s.fault("a string holds a raw control character")
		}
	}
}

// plainPrefix is how many bytes b begins with that stand for themselves in a
// string literal: neither a quote nor a backslash nor a control character. Long
// texts are most of what is scanned, so it looks at eight bytes at a time.
func plainPrefix[T string | []byte](b T) int {
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		found := notPlain(wordOf(b[n : n+8]))
		if found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// wordOf is eight bytes as a number, the first one lowest.
func wordOf[T string | []byte](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// notPlain sets the top bit of each byte of a word that is not plain, and perhaps
// of bytes behind the first such one.
func notPlain(word uint64) uint64 {
	const each, top = 0x0101010101010101, 0x8080808080808080
	quote, backslash := word^('"'*each), word^('\\'*each)
	return ((quote-each)&^quote | (backslash-each)&^backslash | (word-' '*each)&^word) & top
}

// escape takes one escape sequence.
func (s *scanner) escape() error {
	s.pos++
	if s.pos == len(s.data) {
		return s.fault("a string does not end")
	}
	switch s.data[s.pos] {
	case 'n', '"', '\\', '/', 'b', 'f', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		if _, ok := hexUnit(s.data[s.pos:]); !ok {
			return s.fault(`\u is not followed by four hex digits`)
		}
		s.pos += 4
		return nil
	}
	return s.fault("unknown escape in a string")
}

// text takes a string literal and returns its decoded bytes, which may be part
// of the scanned data.
func (s *scanner) text() ([]byte, error) {
	raw, escaped, err := s.rawString()
	if err != nil || !escaped {
		return raw, err
	}
	return []byte(unescape(raw)), nil
}

// string is text as a string of its own.
func (s *scanner) string() (string, error) {
	raw, escaped, err := s.rawString()
	if err != nil || !escaped {
		return string(raw), err
	}
	text := unescape(raw)
	if len(text) < len(raw)/2 {
		text = strings.Clone(text) // without the room that its escapes took
	}
	return text, nil
}

// unescape decodes what rawString accepted. A surrogate without its partner
// becomes U+FFFD.
func unescape(raw []byte) string {
	var out strings.Builder // its text is not copied once more
	out.Grow(len(raw))
	for len(raw) > 0 {
		plain := bytes.IndexByte(raw, '\\')
		if plain < 0 {
			out.Write(raw)
			break
		}
		out.Write(raw[:plain])
		raw = raw[plain+1:]
		c := raw[0]
		raw = raw[1:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			var r rune
			r, raw = unescapeUnit(raw)
			out.WriteRune(r)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// unescapeUnit decodes the four hex digits after \u, and those of the second half
// of a surrogate pair where one follows.
func unescapeUnit(raw []byte) (rune, []byte) {
	unit, _ := hexUnit(raw)
	raw = raw[4:]
	if !utf16.IsSurrogate(unit) {
		return unit, raw
	}
	if bytes.HasPrefix(raw, []byte(`\u`)) {
		if second, ok := hexUnit(raw[2:]); ok {
			if r := utf16.DecodeRune(unit, second); r != utf8.RuneError {
				return r, raw[6:]
			}
		}
	}
	return utf8.RuneError, raw
}

func hexUnit(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	unit := rune(0)
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			unit = unit<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			unit = unit<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}

// openValue is an array or object that skipValue is inside of.
type openValue struct {
	object bool
	keys   int // where its keys begin among the keys of all open objects
}

// skipValue takes one whole value and checks that no object in it has a key
// twice.
func (s *scanner) skipValue() error {
	var open []openValue
	var keys [][]byte
	for {
		entered, err := s.skipToken(&open, len(keys))
		if err != nil {
			return err
		}
		if entered && open[len(open)-1].object {
			if keys, err = s.key(keys); err != nil {
				return err
			}
		}
		if entered {
			continue
		}
		for {
			if len(open) == 0 {
				return nil
			}
			top := open[len(open)-1]
			if s.take(',') {
				if top.object {
					if keys, err = s.key(keys); err != nil {
						return err
					}
				}
				break
			}
			if err := s.close(top, keys); err != nil {
				return err
			}
			keys = keys[:top.keys]
			open = open[:len(open)-1]
		}
	}
}

// skipToken takes a scalar, an empty array or object, or the bracket that opens
// a filled one; the last is put on the stack.
func (s *scanner) skipToken(open *[]openValue, keys int) (entered bool, err error) {
	switch c := s.peek(); c {
	case '{', '[':
		s.pos++
		if s.take(c + 2) { // '}' and ']' stand two after their opening bracket
			return false, nil
		}
		if len(*open) == maxNesting {
			return false, s.fault("nested deeper than %d levels", maxNesting)
		}
		*open = append(*open, openValue{object: c == '{', keys: keys})
		return true, nil
	case '"':
		_, _, err = s.rawString()
	case 't':
		err = s.literal("true")
	case 'f':
		err = s.literal("false")
	case 'n':
		err = s.literal("null")
	default:
		_, err = s.number()
	}
	return false, err
}

// key takes a key and its colon and appends the decoded key to keys.
func (s *scanner) key(keys [][]byte) ([][]byte, error) {
	if s.peek() != '"' {
		return nil, s.fault("a key is missing")
	}
	key, err := s.text()
	if err != nil {
		return nil, err
	}
	if !s.take(':') {
		return nil, s.fault("a colon is missing after the key %s", shorten(key))
	}
	return append(keys, key), nil
}

// close takes the bracket that ends an array or object, and looks at its keys.
func (s *scanner) close(v openValue, keys [][]byte) error {
	if !v.object {
		if !s.take(']') {
			return s.fault("an array goes on without a comma or does not end")
		}
		return nil
	}
	if !s.take('}') {
		return s.fault("an object goes on without a comma or does not end")
	}
	own := keys[v.keys:]
	slices.SortFunc(own, bytes.Compare)
	for i := 1; i < len(own); i++ {
		if bytes.Equal(own[i-1], own[i]) {
			return s.fault("the key %s stands twice in an object", shorten(own[i]))
		}
	}
	return nil
}

// shorten quotes a key for a message.
func shorten(key []byte) string {
	const enough = 64
	if len(key) > enough {
		key = append(bytes.ToValidUTF8(key[:enough], nil), "..."...)
	}
	return strconv.Quote(string(key))
}
