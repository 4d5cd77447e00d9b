package journal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

const (
	goodBody = `{"sequence":1,"type":"run_started","at":"2025-03-04T05:06:07Z","data":{}`
	goodLine = goodBody + `,"chain":"6021f388b542cf47ab5cc666979327c9"}`
)

func TestDecodeRecord(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(goodBody, old, new, 1) }
	accepted := map[string]string{
		"own form":         goodBody,
		"fraction":         with(":07Z", ":07.123456789Z"),
		"braces in string": with(`{}`, `{"a":"}},{\"data\":{"}`),
		"chain in data":    goodLine,
	}
	for name, body := range accepted {
		line, want := seal([]byte(body), chain{1})
		record, next, err := decodeRecord(line[:len(line)-1], 1, chain{1})
		if err != nil || record.Type != "run_started" || record.At.Second() != 7 || next != want {
			t.Errorf("%s: %+v, %x, %v", name, record, next, err)
		}
	}
	refused := map[string]string{
		"empty": "", "null": "null", "array": "[]", "number": "1", "text": "x", "open": "{",
		"missing member":      with(`"at":"2025-03-04T05:06:07Z",`, ""),
		"other order":         `{"data":{},"at":"2025-03-04T05:06:07Z","type":"run_started","sequence":1`,
		"white space":         with(`"data":`, `"data": `),
		"escaped key":         with(`"type"`, `"\u0074ype"`),
		"escaped type":        with(`run_`, `run\u005f`),
		"other case":          with(`"data"`, `"Data"`),
		"byte order mark":     "\ufeff" + goodBody,
		"NUL":                 goodBody + "\x00",
		"sequence 2":          with(`:1,`, `:2,`),
		"sequence 01":         with(`:1,`, `:01,`),
		"sequence 1.0":        with(`:1,`, `:1.0,`),
		"sequence 1e0":        with(`:1,`, `:1e0,`),
		"sequence text":       with(`:1,`, `:"1",`),
		"sequence null":       with(`:1,`, `:null,`),
		"empty type":          with(`run_started`, ``),
		"type with a space":   with(`run_`, `run `),
		"type no string":      with(`"run_started"`, `1`),
		"instant no string":   with(`"2025-03-04T05:06:07Z"`, `1`),
		"instant with offset": with(`07Z`, `07+00:00`),
		"trailing zero":       with(`07Z`, `07.10Z`),
		"no such day":         with(`03-04`, `02-30`),
		"data array":          with(`{}`, `[]`),
		"data null":           with(`{}`, `null`),
		"data text":           with(`{}`, `"{}"`),
		"no data":             with(`{}`, ``),
		"payload too large":   with(`{}`, `{"a":"`+strings.Repeat("x", MaxPayload)+`"}`),
	}
	for name, body := range refused {
		line, _ := seal([]byte(body), chain{1})
		if record, _, err := decodeRecord(line[:len(line)-1], 1, chain{1}); err == nil {
			t.Errorf("%s: accepted as %+v", name, record)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
	}
}

// TestChain: a line counts behind the record that it was written after, and as the
// very bytes that were written.
func TestChain(t *testing.T) {
	sealed, next := seal([]byte(goodBody), chain{})
	line := sealed[:len(sealed)-1]
	if string(line) != goodLine {
		t.Errorf("the chain of the check value changed: %s", line)
	}
	if _, got, err := decodeRecord(line, 1, chain{}); err != nil || got != next {
		t.Errorf("%x, %v; want %x", got, err, next)
	}
	if _, _, err := decodeRecord(line, 1, chain{15: 1}); err == nil {
		t.Error("accepted behind another record")
	}
	for i := range line {
		for bit := range 8 {
			changed := bytes.Clone(line)
			changed[i] ^= 1 << bit
			if _, _, err := decodeRecord(changed, 1, chain{}); err == nil {
				t.Errorf("accepted: %s", changed)
			}
		}
		if _, _, err := decodeRecord(line[:i], 1, chain{}); err == nil {
			t.Errorf("accepted: %s", line[:i])
		}
	}
}

// TestEncodeRecordRefuses: what could not be read back is not written.
func TestEncodeRecordRefuses(t *testing.T) {
	for name, record := range map[string]Record{
		"no type":          {Data: []byte(`{}`)},
		"type of letters":  {Type: "Run", Data: []byte(`{}`)},
		"no data":          {Type: "a"},
		"data array":       {Type: "a", Data: []byte(`[]`)},
		"second value":     {Type: "a", Data: []byte(`{}{}`)},
		"second member":    {Type: "a", Data: []byte(`{},"data":{}`)},
		"key twice":        {Type: "a", Data: []byte(`{"a":1,"b":{"c":1,"\u0063":2}}`)},
		"trailing comma":   {Type: "a", Data: []byte(`{"a":1,}`)},
		"not UTF-8":        {Type: "a", Data: []byte("{\"a\":\"\xc3\"}")},
		"raw control":      {Type: "a", Data: []byte("{\"a\":\"\x01\"}")},
		"raw line end":     {Type: "a", Data: []byte("{\"a\":\"\n\"}")},
		"too deep":         {Type: "a", Data: []byte(`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`)},
		"year before 0000": {Type: "a", At: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), Data: []byte(`{}`)},
	} {
		if line, _, err := encodeRecord(record, chain{}); err == nil {
			t.Errorf("%s: encoded as %s", name, line)
		}
	}
}

// TestWhatIsEncodedIsDecoded: what encodeRecord lets through comes back the same.
func TestWhatIsEncodedIsDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Record{
			Sequence: rapid.Int64Range(1, 1<<40).Draw(t, "sequence"),
			Type:     rapid.StringMatching(`[a-z_]{1,20}`).Draw(t, "type"),
			At:       time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
		}
		want.Data = fmt.Appendf(nil, `{"text":%q,"n":%d}`, rapid.StringMatching(`[ -!#-\[\]-~é漢]*`).Draw(t, "text"), rapid.Int().Draw(t, "n"))
		previous := chain(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "previous"))
		line, next, err := encodeRecord(want, previous)
		if err != nil {
			t.Fatal(err)
		}
		got, gotNext, err := decodeRecord(bytes.TrimSuffix(line, []byte("\n")), want.Sequence, previous)
		if err != nil {
			t.Fatal(err)
		}
		if got.Sequence != want.Sequence || got.Type != want.Type || !got.At.Equal(want.At) || !bytes.Equal(got.Data, want.Data) || gotNext != next {
			t.Fatalf("%+v became %+v", want, got)
		}
	})
}

// TestLines: lines come out whole wherever the chunks of the file end.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.OneOf(
			rapid.IntRange(0, 40),
			rapid.IntRange(chunkSize-3, chunkSize+3),
			rapid.IntRange(2*chunkSize-3, 2*chunkSize+3),
		), 0, 8).Draw(t, "lengths")
		var text []byte
		for i, n := range lengths {
			text = append(append(text, bytes.Repeat([]byte{'a' + byte(i)}, n)...), '\n')
		}
		rest := rapid.SampledFrom([]string{"", "z", "zzz"}).Draw(t, "rest")
		r := lineReader{file: strings.NewReader(string(text) + rest), size: int64(len(text) + len(rest))}
		var end int64
		for i, n := range lengths {
			l, err := r.next()
			end += int64(n) + 1
			if err != nil || len(l.text) != n || !l.terminated || l.tooLong || l.end != end || bytes.Trim(l.text, string('a'+rune(i))) != nil {
				t.Fatalf("line %d of %d bytes: %d bytes, end %d, %v", i, n, len(l.text), l.end, err)
			}
		}
		if rest != "" {
			if l, err := r.next(); err != nil || l.terminated || string(l.text) != rest {
				t.Fatalf("rest %q: %q, %v", rest, l.text, err)
			}
		}
		if _, err := r.next(); err == nil {
			t.Fatal("there is no end")
		}
	})
}

// TestLongLines: a line beyond the limit is passed over without being kept.
func TestLongLines(t *testing.T) {
	text := "first\n" + strings.Repeat("x", 3*MaxRecord) + "\nlast\n"
	r := lineReader{file: strings.NewReader(text), size: int64(len(text))}
	for _, want := range []string{"first", "", "last"} {
		l, err := r.next()
		if err != nil || string(l.text) != want || l.tooLong != (want == "") || !l.terminated {
			t.Errorf("%.20q, %+v", l.text, err)
		}
		if len(r.rest) > 2*chunkSize {
			t.Errorf("%d bytes are kept", len(r.rest))
		}
	}
}

// TestReadErrors: a file that can not be read, or is shorter than it was, is not
// taken for a journal that is damaged.
func TestReadErrors(t *testing.T) {
	broken := errors.New("broken disk")
	var invalid *InvalidError
	if _, err := replayFile(readerAt{iotest.ErrReader(broken)}, 10); !errors.Is(err, broken) || errors.As(err, &invalid) {
		t.Errorf("broken disk: %v", err)
	}
	if _, err := replayFile(strings.NewReader("short"), 10); err == nil || errors.As(err, &invalid) {
		t.Errorf("file that shrank: %v", err)
	}
}

type readerAt struct {
	reader interface{ Read([]byte) (int, error) }
}

func (r readerAt) ReadAt(b []byte, _ int64) (int, error) { return r.reader.Read(b) }

// FuzzReplay reads what is given and, because no fuzzer guesses a checksum, also the
// journal that its lines would be as bodies of records.
func FuzzReplay(f *testing.F) {
	one := `{"sequence":1,"type":"a","at":"2025-03-04T05:06:07Z","data":{}` + "\n"
	two := `{"sequence":2,"type":"b","at":"2025-03-04T05:06:07.5Z","data":{"a":[1,"é"]}` + "\n"
	for _, seed := range []string{
		"", "\n", one, one + two, one + two[:20], one + two[:len(two)-1], one + "\x00\x00", one + "\x00\n" + two,
		one + one, one + "{}\n" + two, one + " \t\n\u00a0\n" + two,
	} {
		for _, rest := range []string{"", "\v", "torn", "\x00\x00"} {
			f.Add([]byte(seed), []byte(rest))
			f.Add(sealLines([]byte(seed)), []byte(rest))
		}
	}
	f.Fuzz(func(t *testing.T, data, rest []byte) {
		for _, text := range [][]byte{data, sealLines(data)} {
			checkReplay(t, append(text, rest...))
		}
	})
}

// sealLines makes records of all lines that are not blank.
func sealLines(bodies []byte) (journal []byte) {
	var previous chain
	for body := range bytes.Lines(bodies) {
		if isBlank(body) {
			journal = append(journal, body...)
			continue
		}
		var line []byte
		line, previous = seal(bytes.Clone(bytes.TrimSuffix(body, []byte("\n"))), previous)
		journal = append(journal, line...)
	}
	return journal
}

func checkReplay(t *testing.T, data []byte) {
	got, err := replayFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			t.Fatalf("%v is no InvalidError", err)
		}
		return
	}
	checkMended(t, data, got)
}

// checkMended does what a writer does with the tail: the records stay the same, and
// the journal is whole.
func checkMended(t *testing.T, data []byte, got content) {
	mended := bytes.Clone(data[:got.end])
	if got.tail == unterminated {
		mended = append(mended, '\n')
	}
	if got.tail == whole && len(mended) != len(data) {
		t.Fatalf("a whole journal of %d bytes ends at %d", len(data), got.end)
	}
	again, err := replayFile(bytes.NewReader(mended), int64(len(mended)))
	if err != nil || again.tail != whole || len(again.records) != len(got.records) {
		t.Fatalf("mended: %d records instead of %d, tail %d, %v", len(again.records), len(got.records), again.tail, err)
	}
	for i, record := range again.records {
		if record.Sequence != int64(i+1) || !bytes.Equal(record.Data, got.records[i].Data) {
			t.Fatalf("record %d changed", i+1)
		}
	}
}

func TestMutexName(t *testing.T) {
	// SHA-256 of `c:\demo\.git`, NUL, `Run-1`.
	const want = `Global\slipway-run-7a88d4f07b703054d8f3729a1bf7468ecd076b914e0fd0d3bc0dcda735ddde6d`
	if got := mutexName(`C:\Demo\.git`, "Run-1"); got != want {
		t.Errorf("mutexName = %s, want %s", got, want)
	}
}
