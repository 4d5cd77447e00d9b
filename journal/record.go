package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"slipway/schema"
)

// Limits of a record, in bytes (storage.md, 3.2).
const (
	// MaxRecord is the largest record with its LF.
	MaxRecord = 4_194_304
	// MaxPayload is the largest Data of a record.
	MaxPayload = 4_128_768
)

// Record is one event of a Run, one line of its journal (storage.md, 3.1):
//
//	{"sequence":N,"type":T,"at":INSTANT,"data":{…}}
type Record struct {
	Sequence int64           // counts from 1 without gaps
	Type     string          // lower-case letters and underscores
	At       time.Time       // UTC
	Data     json.RawMessage // a JSON object; may share memory with other records
}

// CheckSize tells before anything is touched whether the journal takes the
// records. Its only error is a *RecordTooLargeError.
func CheckSize(records ...Record) error {
	for _, record := range records {
		if err := checkLengths(record, len(appendLine(nil, record))); err != nil {
			return err
		}
	}
	return nil
}

func checkLengths(record Record, line int) error {
	if len(record.Data) > MaxPayload {
		return &RecordTooLargeError{Context: "the payload of " + record.Type, Size: len(record.Data), Limit: MaxPayload}
	}
	if line > MaxRecord {
		return &RecordTooLargeError{Context: "the record of " + record.Type, Size: line, Limit: MaxRecord}
	}
	return nil
}

// encodeRecord gives the line of a record with its LF. What it returns is known
// to be readable: a record that could not be replayed would end its Run.
func encodeRecord(record Record) ([]byte, error) {
	if bytes.ContainsAny(record.Data, "\r\n") {
		var compact bytes.Buffer
		if err := json.Compact(&compact, record.Data); err != nil {
			return nil, fmt.Errorf("the data of %s: %w", record.Type, err)
		}
		record.Data = compact.Bytes()
	}
	line := appendLine(nil, record)
	if err := checkLengths(record, len(line)); err != nil {
		return nil, err
	}
	if _, err := decodeRecord(line[:len(line)-1], record.Sequence); err != nil {
		return nil, fmt.Errorf("the record of %s: %w", record.Type, err)
	}
	return line, nil
}

// The parts of a line between its values, as appendLine writes them.
const (
	beforeSequence = `{"sequence":`
	beforeType     = `,"type":"`
	beforeAt       = `","at":"`
	beforeData     = `","data":`
	afterData      = `}`
)

func appendLine(b []byte, record Record) []byte {
	const framing = 128 // more than what stands around type and data
	b = append(make([]byte, 0, len(record.Data)+len(record.Type)+framing), b...)
	b = append(b, beforeSequence...)
	b = strconv.AppendInt(b, record.Sequence, 10)
	b = append(b, beforeType...)
	b = append(b, record.Type...)
	b = append(b, beforeAt...)
	b = record.At.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, beforeData...)
	b = append(b, record.Data...)
	return append(b, afterData+"\n"...)
}

// decodeRecord reads a line without its LF, which must be the record numbered
// want. Data is part of line.
//
// Lines are written in one form, which is taken apart without a second look at
// the data; any other spelling of the same members is read the slow way.
func decodeRecord(line []byte, want int64) (Record, error) {
	if len(line) >= MaxRecord {
		return Record{}, fmt.Errorf("it has more than %d bytes", MaxRecord)
	}
	sequence, kind, at, data, ok := splitOwnForm(line)
	if !ok || schema.CheckJSON(data, len(data)) != nil {
		var err error
		if sequence, kind, at, data, err = splitAnyForm(line); err != nil {
			return Record{}, err
		}
	}
	return buildRecord(sequence, kind, at, data, want)
}

// splitOwnForm takes apart a line that has exactly the form of appendLine. The
// data that it finds begins and ends as an object but is not looked into.
func splitOwnForm(line []byte) (sequence, kind, at string, data []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(beforeSequence))
	if !ok {
		return
	}
	number, rest, ok := cutRun(rest, "0123456789", beforeType)
	if !ok {
		return
	}
	name, rest, ok := cutRun(rest, typeLetters, beforeAt)
	if !ok {
		return
	}
	instant, rest, ok := cutRun(rest, "0123456789-:.TZ", beforeData)
	if !ok {
		return
	}
	data, ok = bytes.CutSuffix(rest, []byte(afterData))
	if !ok || len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return "", "", "", nil, false
	}
	return string(number), string(name), string(instant), data, true
}

// cutRun splits b into its leading run of the given bytes and what follows the
// text that must come next.
func cutRun(b []byte, of, next string) (run, rest []byte, ok bool) {
	n := 0
	for n < len(b) && strings.IndexByte(of, b[n]) >= 0 {
		n++
	}
	rest, ok = bytes.CutPrefix(b[n:], []byte(next))
	return b[:n], rest, ok
}

// splitAnyForm takes apart any line that is one strict JSON object with the four
// members.
func splitAnyForm(line []byte) (sequence, kind, at string, data []byte, err error) {
	if err = schema.CheckJSON(line, MaxRecord); err != nil {
		return
	}
	var members map[string]json.RawMessage
	if err = json.Unmarshal(line, &members); err != nil {
		return
	}
	for _, name := range []string{"sequence", "type", "at", "data"} {
		if members[name] == nil {
			return "", "", "", nil, fmt.Errorf("it has no member %q", name)
		}
	}
	if len(members) != 4 {
		return "", "", "", nil, errors.New("it has an unknown member")
	}
	if err = json.Unmarshal(members["type"], &kind); err != nil {
		return "", "", "", nil, errors.New("its type is no string")
	}
	if err = json.Unmarshal(members["at"], &at); err != nil {
		return "", "", "", nil, errors.New("its instant is no string")
	}
	return string(members["sequence"]), kind, at, members["data"], nil
}

const typeLetters = "abcdefghijklmnopqrstuvwxyz_"

// buildRecord checks the members one by one.
func buildRecord(sequence, kind, at string, data []byte, want int64) (Record, error) {
	if sequence != strconv.FormatInt(want, 10) {
		return Record{}, fmt.Errorf("its sequence is %s instead of %d", shorten(sequence), want)
	}
	if kind == "" || strings.Trim(kind, typeLetters) != "" {
		return Record{}, fmt.Errorf("its type %s is none", shorten(strconv.Quote(kind)))
	}
	instant, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || instant.UTC().Format(time.RFC3339Nano) != at {
		return Record{}, fmt.Errorf("its instant %s is none", shorten(strconv.Quote(at)))
	}
	if len(data) == 0 || data[0] != '{' {
		return Record{}, errors.New("its data is no object")
	}
	if len(data) > MaxPayload {
		return Record{}, fmt.Errorf("its data has more than %d bytes", MaxPayload)
	}
	return Record{Sequence: want, Type: kind, At: instant.UTC(), Data: data}, nil
}

// shorten keeps what a foreign file says from filling a message.
func shorten(s string) string {
	const enough = 64
	if len(s) > enough {
		return strings.ToValidUTF8(s[:enough], "") + "..."
	}
	return s
}
