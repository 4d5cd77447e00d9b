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
//	{"sequence":N,"type":T,"at":INSTANT,"data":{…},"chain":"…"}
//
// The chain is a checksum over the record and all before it; it is made by Append
// and checked by whatever reads.
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
		if err := checkLengths(record, len(appendHead(nil, record))+len(record.Data)+chainPart+len("\n")); err != nil {
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

// encodeRecord gives the line of a record with its LF, and its chain, which follows
// on previous. What it returns is known to be readable: a record that could not be
// replayed would end its Run.
func encodeRecord(record Record, previous chain) (line []byte, next chain, err error) {
	if bytes.ContainsAny(record.Data, "\r\n") {
		var compact bytes.Buffer
		if err := json.Compact(&compact, record.Data); err != nil {
			return nil, chain{}, fmt.Errorf("the data of %s: %w", record.Type, err)
		}
		record.Data = compact.Bytes()
	}
	line, next = seal(appendBody(record), previous)
	if err := checkLengths(record, len(line)); err != nil {
		return nil, chain{}, err
	}
	if err := schema.CheckJSON(record.Data, MaxPayload); err != nil {
		return nil, chain{}, fmt.Errorf("the data of %s: %w", record.Type, err)
	}
	if _, _, err := decodeRecord(line[:len(line)-1], record.Sequence, previous); err != nil {
		return nil, chain{}, fmt.Errorf("the record of %s: %w", record.Type, err)
	}
	return line, next, nil
}

// The parts of a line between its values.
const (
	beforeSequence = `{"sequence":`
	beforeType     = `,"type":"`
	beforeAt       = `","at":"`
	beforeData     = `","data":`
)

// appendBody gives the line of a record up to the end of its data.
func appendBody(record Record) []byte {
	const framing = 192 // more than what stands around type and data
	b := make([]byte, 0, len(record.Data)+len(record.Type)+framing)
	return append(appendHead(b, record), record.Data...)
}

// appendHead appends what stands before the data of a record.
func appendHead(b []byte, record Record) []byte {
	b = append(b, beforeSequence...)
	b = strconv.AppendInt(b, record.Sequence, 10)
	b = append(b, beforeType...)
	b = append(b, record.Type...)
	b = append(b, beforeAt...)
	b = record.At.UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, beforeData...)
}

// decodeRecord reads a line without its LF, which must be the record numbered want
// and follow on the record with the chain previous. Data is part of line.
//
// There is one spelling of a record, the one that Append writes. That its data is
// JSON was checked then, and the chain shows that it is the same data; whoever
// decodes it looks at it once more.
func decodeRecord(line []byte, want int64, previous chain) (Record, chain, error) {
	if len(line) >= MaxRecord {
		return Record{}, chain{}, fmt.Errorf("it has more than %d bytes", MaxRecord)
	}
	body, next, sealed := unseal(line, previous)
	if !sealed {
		return Record{}, chain{}, errNoChain(line, want)
	}
	sequence, kind, at, data, ok := splitBody(body)
	if !ok {
		return Record{}, chain{}, errNoRecord
	}
	record, err := buildRecord(sequence, kind, at, data, want)
	return record, next, err
}

var errNoRecord = errors.New("it has not the form of a record")

// errNoChain says what is wrong with a line whose chain is not the expected one. A
// record out of sequence is the likely reason and worth its own words.
func errNoChain(line []byte, want int64) error {
	end := max(len(line)-chainPart, 0)
	sequence, _, _, _, ok := splitBody(line[:end])
	switch {
	case !ok:
		return errNoRecord
	case sequence != strconv.FormatInt(want, 10):
		return fmt.Errorf("its sequence is %s instead of %d", shorten(sequence), want)
	}
	return errors.New("its checksum does not follow on the records before it: one of them or it was changed")
}

// splitBody takes apart what appendBody gives, without a look at its parts but for
// how the data begins and ends.
func splitBody(body []byte) (sequence, kind, at string, data []byte, ok bool) {
	rest, ok := bytes.CutPrefix(body, []byte(beforeSequence))
	if !ok {
		return
	}
	number, rest, ok := bytes.Cut(rest, []byte(beforeType))
	if !ok {
		return
	}
	name, rest, ok := bytes.Cut(rest, []byte(beforeAt))
	if !ok {
		return
	}
	instant, data, ok := bytes.Cut(rest, []byte(beforeData))
	if !ok || len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return "", "", "", nil, false
	}
	return string(number), string(name), string(instant), data, true
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
