package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// Marshal encodes v as compact JSON without a final LF. Only what JSON itself
// demands is escaped, and U+2028 and U+2029, so that every string takes its
// [EncodedSize].
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// CheckJSON holds data against rules 1 to 6 of strict input (wire.md, section
// 2): at most limit bytes, valid UTF-8 without byte order mark, exactly one JSON
// value, no key twice in one object. What the value means is left open.
//
// Memory and time stay in proportion to data, whatever it holds: a value nested
// deeper than any document of Slipway's is refused where it gets too deep.
func CheckJSON(data []byte, limit int) error {
	if err := checkEncoding(data, limit); err != nil {
		return err
	}
	s := scanner{data: data}
	if err := s.skipValue(); err != nil {
		return err
	}
	return s.end()
}

// DecodeStrict decodes data into the value that into points to, under all nine
// rules of strict input (wire.md, section 2): those of [CheckJSON], and keys,
// types and null as the Go type has them.
//
//   - A key is the exact name in the json tag; any other key is refused.
//   - A missing key leaves its field as it is.
//   - An integer has neither fraction nor exponent and fits its field.
//   - null is accepted for a pointer, which becomes nil, but never as an item of
//     an array.
//   - An empty array gives an empty slice, never nil. A field with a tag like
//     max:"64" takes at most so many items, which bounds what a hostile document
//     can make of itself in memory.
//   - A json.Unmarshaler, a [json.RawMessage] among them, gets the bytes of its
//     value after CheckJSON found them well-formed.
//
// Fields may be strings, booleans, integers, pointers, slices, structs and
// json.Unmarshaler values; another type panics. After an error the value is
// partly written.
func DecodeStrict(data []byte, limit int, into any) error {
	_, err := decodeStrict(data, limit, into, false)
	return err
}

// decodeStrict returns, where tolerant is set, the first missing key or null
// array apart from the faults that win over it.
func decodeStrict(data []byte, limit int, into any, tolerant bool) (late, err error) {
	if err := checkEncoding(data, limit); err != nil {
		return nil, err
	}
	d := decoder{scanner: scanner{data: data}, tolerant: tolerant}
	if err := d.value(reflect.ValueOf(into).Elem(), fieldRule{}); err != nil {
		return nil, err
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	return d.late, nil
}

var byteOrderMark = []byte("\ufeff")

// checkEncoding is rules 1 to 4.
func checkEncoding(data []byte, limit int) error {
	switch {
	case len(data) > limit:
		return fmt.Errorf("the document has more than %d bytes", limit)
	case !utf8.Valid(data):
		return errors.New("the document is not valid UTF-8")
	case bytes.HasPrefix(data, byteOrderMark):
		return errors.New("the document begins with a byte order mark: leave it out")
	case len(bytes.Trim(data, " \t\r\n")) == 0:
		return errors.New("the document is empty")
	}
	return nil
}
