package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"slipway/schema"

	"github.com/sourcegraph/jsonrpc2"
)

// Codes of JSON-RPC errors beside those of JSON-RPC itself. A call that is
// answered with codeBusy or codeDraining was certainly not begun.
const (
	codeBusy      = -32000 // a limit is reached
	codeDraining  = -32001 // the daemon is about to end
	codeUsage     = -32002 // data is a CLI error with exit status 2
	codeRuntime   = -32003 // data is a CLI error with exit status 3
	codeCancelled = -32800 // as in the Language Server Protocol
)

// request is a call or a notification as it was received. Params are slices of
// the message: the bytes of a value in them are exactly those that were sent.
type request struct {
	id     json.RawMessage // nil for a notification
	method string
	params json.RawMessage // nil where there are none, and once they were decoded
	run    string          // the Run that the decoded params name, if any
}

// parseRequest looks into a message. A nil request without an error is something
// to pass over: an answer, though nothing was asked.
func parseRequest(data []byte) (*request, *jsonrpc2.Error) {
	switch {
	case !isJSON(data):
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeParseError, Message: "malformed JSON"}
	case data[0] == '[':
		return nil, invalidRequest("batch requests are not taken: send one request at a time")
	case data[0] != '{':
		return nil, invalidRequest("a request is a JSON object")
	}
	fields, err := members(data)
	if err != nil {
		return nil, invalidRequest(err.Error())
	}
	var r request
	var protocol string
	for _, f := range fields {
		var err error
		switch f.name {
		case "jsonrpc":
			err = json.Unmarshal(f.value, &protocol)
		case "method":
			err = json.Unmarshal(f.value, &r.method)
		case "id":
			r.id = bytes.Clone(f.value) // outlives a message that may be long
		case "params":
			r.params = f.value
		case "result", "error":
			return nil, nil
		}
		if err != nil {
			return nil, invalidRequest(f.name + " must be a string")
		}
	}
	switch {
	case r.id != nil && bytes.IndexByte([]byte(`{[tf`), r.id[0]) >= 0:
		return nil, invalidRequest("id must be a string or a number")
	case protocol != "2.0":
		return &r, invalidRequest(`jsonrpc must be "2.0"`)
	case r.method == "":
		return &r, invalidRequest("method must be a string that names one")
	}
	return &r, nil
}

// isJSON reports whether data is one JSON value. The strict check is several times
// faster, and what it refuses may still be JSON: a key twice, a deep value.
func isJSON(data []byte) bool {
	return schema.CheckJSON(data, len(data)) == nil || utf8.Valid(data) && json.Valid(data)
}

func invalidRequest(reason string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: reason}
}

func invalidParams(err error) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
}

// member is one key of a JSON object with the bytes of its value.
type member struct {
	name  string
	value json.RawMessage
}

// members takes an object apart without copying its values. The text is known
// to be valid JSON and to be an object. A key that comes twice is an error. A value
// has what follows it in the text as its capacity.
func members(object []byte) ([]member, error) {
	var list []member
	rest := skipSpace(object[1:])
	for rest[0] != '}' {
		var name string
		end := valueLength(rest)
		if err := json.Unmarshal(rest[:end], &name); err != nil {
			return nil, err
		}
		for _, m := range list {
			if m.name == name {
				return nil, fmt.Errorf("%q is there twice", name)
			}
		}
		rest = skipSpace(skipSpace(rest[end:])[1:]) // the colon
		end = valueLength(rest)
		list = append(list, member{name, json.RawMessage(rest[:end])})
		if len(list) > maxMembers {
			return nil, fmt.Errorf("more than %d keys", maxMembers)
		}
		rest = skipSpace(rest[end:])
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
	}
	return list, nil
}

// maxMembers is how many keys an object of this protocol may have at the most.
const maxMembers = 64

func skipSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// valueLength is the length of the value that valid JSON text begins with.
func valueLength(text []byte) int {
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '"':
			i += stringLength(text[i:])
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			i += literalLength(text[i:])
		}
		if depth == 0 {
			return i
		}
	}
	return len(text)
}

// stringLength looks for quotes only, because a string may be very long: one that
// an odd number of backslashes stands before is escaped.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			break
		}
		i += next
		before := i
		for before > 1 && text[before-1] == '\\' {
			before--
		}
		if (i-before)%2 == 0 {
			return i + 1
		}
	}
	return len(text)
}

func literalLength(text []byte) int {
	if end := bytes.IndexAny(text, ",:{}[]\" \t\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// decodeParams decodes the parameters of a method into the struct that into
// points to. Every key must be one of the struct's, spelled exactly; one without
// omitempty must be there; null is never a value. A field of type
// json.RawMessage keeps the bytes as they came.
func decodeParams(params json.RawMessage, into any) error {
	var given []member
	if params != nil {
		if params[0] != '{' {
			return errors.New("params must be an object")
		}
		var err error
		if given, err = members(params); err != nil {
			return err
		}
	}
	target := reflect.ValueOf(into).Elem()
	found := 0
	for i := range target.NumField() {
		name, options, _ := strings.Cut(target.Type().Field(i).Tag.Get("json"), ",")
		value, ok := lookUp(given, name)
		switch {
		case !ok && options != "omitempty":
			return fmt.Errorf("%s is missing", name)
		case !ok:
			continue
		}
		found++
		if err := decodeParam(value, target.Field(i)); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	if found < len(given) {
		return unknownParam(given, target.Type())
	}
	return nil
}

func lookUp(given []member, name string) (json.RawMessage, bool) {
	for _, m := range given {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

func decodeParam(value json.RawMessage, field reflect.Value) error {
	if raw, ok := field.Addr().Interface().(*json.RawMessage); ok {
		*raw = value[:len(value):len(value)] // appending to it must not change what follows
		return nil
	}
	if value[0] == 'n' {
		return errors.New("can not be null")
	}
	into := field.Addr().Interface()
	var err error
	if exact, ok := into.(**[]byte); ok {
		*exact, err = decodeBase64(value)
	} else {
		err = json.Unmarshal(value, into)
	}
	if err != nil {
		return errors.New("has the wrong type")
	}
	return nil
}

// decodeBase64 decodes a JSON string of base64. An envelope is most of its message,
// so the bytes take the place of their spelling and value is worthless afterwards.
func decodeBase64(value json.RawMessage) (*[]byte, error) {
	if value[0] != '"' {
		return nil, errors.New("no string")
	}
	spelling := value[1 : len(value)-1]
	var decoded []byte
	var err error
	if bytes.IndexByte(spelling, '\\') < 0 {
		decoded, err = decodeInPlace(spelling)
	} else if err = json.Unmarshal(value, &decoded); decoded == nil {
		decoded = []byte{}
	}
	return &decoded, err
}

// decodeInPlace decodes base64 without line ends to where it stands.
func decodeInPlace(text []byte) ([]byte, error) {
	const piece = 16 << 10 // a multiple of four
	var decoded [piece / 4 * 3]byte
	n := 0
	for rest := text; len(rest) > 0; {
		part := rest[:min(piece, len(rest))]
		rest = rest[len(part):]
		got, err := base64.StdEncoding.Decode(decoded[:], part)
		if err != nil {
			return nil, err
		}
		if len(rest) > 0 && got < len(decoded) {
			return nil, errors.New("padding before the end")
		}
		n += copy(text[n:], decoded[:got])
	}
	return text[:n:n], nil
}

func unknownParam(given []member, params reflect.Type) error {
	known := make(map[string]bool)
	for i := range params.NumField() {
		name, _, _ := strings.Cut(params.Field(i).Tag.Get("json"), ",")
		known[name] = true
	}
	for _, m := range given {
		if !known[m.name] {
			return fmt.Errorf("%q is not a parameter of this method", m.name)
		}
	}
	return nil
}
