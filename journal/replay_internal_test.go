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

func TestDecodeRecord(t *testing.T) {
	const good = `{"sequence":1,"type":"run_started","at":"2025-03-04T05:06:07Z","data":{}}`
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	accepted := map[string]string{
		"own form":         good,
		"fraction":         with(":07Z", ":07.123456789Z"),
		"white space":      with(`"data":{}`, `"data": {"a" : 1} `),
		"other order":      `{"data":{},"at":"2025-03-04T05:06:07Z","type":"run_started","sequence":1}`,
		"escaped key":      with(`"type"`, `"\u0074ype"`),
		"escaped type":     with(`run_`, `run\u005f`),
		"braces in string": with(`{}`, `{"a":"}},{\"data\":{"}`),
	}
	for name, text := range accepted {
		if record, err := decodeRecord([]byte(text), 1); err != nil || record.Type != "run_started" || record.At.Second() != 7 {
			t.Errorf("%s: %+v, %v", name, record, err)
		}
	}
	refused := map[string]string{
		"empty": "", "null": "null", "array": "[]", "number": "1", "text": "x", "open": "{",
		"missing member":      with(`"at":"2025-03-04T05:06:07Z",`, ""),
		"unknown member":      with(`{}}`, `{},"more":1}`),
		"member twice":        with(`{}}`, `{},"data":{}}`),
		"escaped twice":       with(`{}}`, `{},"d\u0061ta":{}}`),
		"other case":          with(`"data"`, `"Data"`),
		"key twice inside":    with(`{}`, `{"a":1,"b":{"c":1,"c":2}}`),
		"second value":        good + "{}",
		"trailing text":       good + ",",
		"trailing comma":      with(`{}`, `{"a":1,}`),
		"byte order mark":     "\ufeff" + good,
		"not UTF-8":           with(`{}`, "{\"a\":\"\xc3\"}"),
		"NUL":                 good + "\x00",
		"raw control":         with(`{}`, "{\"a\":\"\x01\"}"),
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
		"too deep":            with(`{}`, `{"a":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`),
		"payload too large":   with(`{}`, `{"a":"`+strings.Repeat("x", MaxPayload)+`"}`),
	}
	for name, text := range refused {
		if record, err := decodeRecord([]byte(text), 1); err == nil {
			t.Errorf("%s: accepted as %+v", name, record)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
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
		line, err := encodeRecord(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord(bytes.TrimSuffix(line, []byte("\n")), want.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		if got.Sequence != want.Sequence || got.Type != want.Type || !got.At.Equal(want.At) || !bytes.Equal(got.Data, want.Data) {
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

func FuzzReplay(f *testing.F) {
	one := `{"sequence":1,"type":"a","at":"2025-03-04T05:06:07Z","data":{}}` + "\n"
	two := `{"sequence":2,"type":"b","at":"2025-03-04T05:06:07.5Z","data":{"a":[1,"é"]}}` + "\n"
	for _, seed := range []string{
		"", "\n", one, one + two, one + two[:20], one + two[:len(two)-1], one + "\x00\x00", one + "\x00\n" + two,
		`{"data":{},"at":"2025-03-04T05:06:07Z","type":"a","sequence":1}`, one + one, one + "{}\n" + two,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := replayFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("%v is no InvalidError", err)
			}
			return
		}
		checkMended(t, data, got)
		checkBothForms(t, data)
	})
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

// checkBothForms holds the quick way to take a line apart against the slow one.
func checkBothForms(t *testing.T, data []byte) {
	for text := range bytes.Lines(data) {
		text = bytes.TrimSuffix(text, []byte("\n"))
		for want := range int64(4) {
			quick, err := decodeRecord(text, want)
			sequence, kind, at, part, slowErr := splitAnyForm(text)
			var slow Record
			if slowErr == nil {
				slow, slowErr = buildRecord(sequence, kind, at, part, want)
			}
			if (err == nil) != (slowErr == nil) || err == nil && (quick.Type != slow.Type || !quick.At.Equal(slow.At) || !bytes.Equal(quick.Data, slow.Data)) {
				t.Fatalf("%q: %+v, %v the quick way; %+v, %v the slow way", text, quick, err, slow, slowErr)
			}
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
