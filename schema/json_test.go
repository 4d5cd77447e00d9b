package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"slipway/schema"
)

const anyLimit = 1 << 20

func TestCheckJSONAccepts(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, `""`, `0`, `-0`, `-12.50e+3`, `true`, `false`, `null`,
		" \t\r\n{\"a\" : [ 1 , {\"a\":{}} , [] ] , \"b\":\"\\u0041\\ud834\\udd1e\\ud800\\/\" } \n",
		`{"a":{"b":1},"b":{"b":2},"A":3}`,
		`[{"a":1},{"a":1}]`,
		"\"\u007f\u2028\"",
		strings.Repeat("[", 100) + strings.Repeat("]", 100),
	} {
		if err := schema.CheckJSON([]byte(doc), anyLimit); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// strictlyRefused are documents that break rules 2 to 6 of wire.md, section 2.
var strictlyRefused = map[string]string{
	"lone 0xff":                  "\"\xff\"",
	"half a character":           "\"\xe2\x82\"",
	"UTF-8 of a surrogate":       "\"\xed\xa0\x80\"",
	"byte order mark":            "\ufeff{}",
	"UTF-16":                     "{\x00}\x00",
	"nothing":                    "",
	"white space":                " \t\r\n",
	"foreign white space":        "\u00a0{}",
	"vertical tab":               "\v{}",
	"second value":               "{}{}",
	"semicolon":                  "{};",
	"NUL at the end":             "{}\x00",
	"NUL":                        "\x00",
	"comment":                    "{} // no",
	"comment inside":             "{/**/}",
	"comma at the end of array":  "[1,]",
	"comma at the end of object": `{"a":1,}`,
	"comma at the start":         `[,1]`,
	"comma twice":                `[1,,2]`,
	"no comma":                   `[1 2]`,
	"no comma in object":         `{"a":1 "b":2}`,
	"no colon":                   `{"a" 1}`,
	"no value":                   `{"a":}`,
	"no key":                     `{:1}`,
	"bare key":                   `{a:1}`,
	"number as key":              `{1:1}`,
	"single quotes":              `{'a':1}`,
	"NaN":                        `NaN`,
	"Infinity":                   `-Infinity`,
	"leading zero":               `02`,
	"negative leading zero":      `-02`,
	"plus":                       `+2`,
	"bare point":                 `.5`,
	"point at the end":           `5.`,
	"empty exponent":             `5e`,
	"hexadecimal":                `0x10`,
	"minus":                      `-`,
	"raw line break":             "\"a\nb\"",
	"raw TAB":                    "\"a\tb\"",
	"unknown escape":             `"\x41"`,
	"short unicode escape":       `"\u12"`,
	"signed unicode escape":      `"\u+123"`,
	"open escape":                `"\`,
	"open string":                `"a`,
	"open object":                `{"a":1`,
	"open array":                 `[1`,
	"crossed brackets":           `[{]}`,
	"close only":                 `]`,
	"upper-case literal":         `True`,
	"cut literal":                `nul`,
	"long literal":               `nulll`,
	"same key":                   `{"a":1,"a":1}`,
	"same key apart":             `{"a":1,"b":{"a":1},"a":2}`,
	"same key escaped":           `{"summary":1,"s\u0075mmary":2}`,
	"same key deep":              `[[{"x":{"b":1,"c":2,"b":3}}]]`,
	"same empty key":             `{"":1,"":2}`,
	"same lone surrogate":        `{"\ud800":1,"\udfff":2}`,
	"deeper than any document":   strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
}

func TestCheckJSONRefuses(t *testing.T) {
	for name, doc := range strictlyRefused {
		if err := schema.CheckJSON([]byte(doc), anyLimit); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCheckJSONCountsWhiteSpaceToTheLimit(t *testing.T) {
	doc := []byte("{}  ")
	if err := schema.CheckJSON(doc, len(doc)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if err := schema.CheckJSON(append(doc, '\n'), len(doc)); err == nil {
		t.Error("one LF more: accepted")
	}
}

// hostile are documents that are cheap to write and must be cheap to refuse.
func hostile() map[string][]byte {
	const million = 1 << 20
	var manyKeys bytes.Buffer
	manyKeys.WriteString(`{"0":0`)
	for i := 1; manyKeys.Len() < million-20; i++ {
		manyKeys.WriteString(`,"` + time.Duration(i).String() + `":0`)
	}
	manyKeys.WriteString(`,"0":0}`)
	return map[string][]byte{
		"opening brackets":  bytes.Repeat([]byte("["), million),
		"opening objects":   bytes.Repeat([]byte(`{"":`), million/4),
		"nested in a key":   append([]byte(`{"observations":`), bytes.Repeat([]byte("["), million-20)...),
		"many keys":         manyKeys.Bytes(),
		"open escapes":      append([]byte(`"`), bytes.Repeat([]byte(`\u12`), million/4-1)...),
		"commas":            bytes.Repeat([]byte(","), million),
		"digits":            bytes.Repeat([]byte("9"), million),
		"objects in a list": append([]byte(`[`), bytes.Repeat([]byte(`{},`), million/3-1)...),
	}
}

func TestHostileDocumentsAreRefusedInBoundedMemory(t *testing.T) {
	const most = 48 << 20
	for name, doc := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, fault := schema.DecodeOutcome(doc); fault == nil {
			t.Errorf("%s: accepted as Outcome", name)
		}
		if err := schema.CheckJSON(doc, len(doc)); err == nil && name != "digits" {
			t.Errorf("%s: accepted as JSON", name)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > most {
			t.Errorf("%s: %d bytes were allocated", name, used)
		}
	}
}

type inner struct {
	Name string `json:"name"`
}

type everything struct {
	inner
	Text     string          `json:"text"`
	Small    int8            `json:"small"`
	Big      int64           `json:"big"`
	Flag     bool            `json:"flag"`
	List     []string        `json:"list"`
	Few      []inner         `json:"few" max:"2"`
	Child    *inner          `json:"child"`
	Children []*inner        `json:"children"`
	At       time.Time       `json:"at"`
	Raw      json.RawMessage `json:"raw"`
	Hidden   string          `json:"-"`
}

func TestDecodeStrictReadsEveryType(t *testing.T) {
	const doc = `{"text":"a\u00e9\n","small":-128,"big":9223372036854775807,"flag":true,"list":["x",""],
		"few":[{"name":"1"},{"name":"2"}],"child":{"name":"c"},"children":[{}],"at":"2024-05-06T07:08:09.1Z","raw": {"any":[1.5e3]} ,"name":"n"}`
	var got everything
	if err := schema.DecodeStrict([]byte(doc), anyLimit, &got); err != nil {
		t.Fatal(err)
	}
	want := everything{
		inner: inner{"n"}, Text: "aé\n", Small: -128, Big: 1<<63 - 1, Flag: true, List: []string{"x", ""},
		Few: []inner{{"1"}, {"2"}}, Child: &inner{"c"}, Children: []*inner{{}},
		At: time.Date(2024, 5, 6, 7, 8, 9, 1e8, time.UTC), Raw: json.RawMessage(`{"any":[1.5e3]}`),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestDecodeStrictLeavesMissingKeysAndMakesEmptyLists(t *testing.T) {
	got := everything{Text: "kept", Child: &inner{"gone"}}
	if err := schema.DecodeStrict([]byte(`{"list":[],"child":null}`), anyLimit, &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != "kept" || got.List == nil || len(got.List) != 0 || got.Few != nil || got.Child != nil {
		t.Errorf("got %+v", got)
	}
}

func TestDecodeStrictRefuses(t *testing.T) {
	for name, doc := range map[string]string{
		"unknown key":               `{"other":1}`,
		"key in other case":         `{"Text":"a"}`,
		"field without key":         `{"Hidden":"a"}`,
		"dash":                      `{"-":"a"}`,
		"unknown key deep":          `{"child":{"name":"a","x":1}}`,
		"same key":                  `{"text":"a","text":"a"}`,
		"same key escaped":          `{"text":"a","\u0074ext":"a"}`,
		"same key in raw":           `{"raw":{"a":1,"a":2}}`,
		"fraction":                  `{"big":2.0}`,
		"exponent":                  `{"big":2e0}`,
		"too big":                   `{"big":9223372036854775808}`,
		"too small":                 `{"big":-9223372036854775809}`,
		"too big for the field":     `{"small":128}`,
		"string for integer":        `{"big":"2"}`,
		"boolean for integer":       `{"big":true}`,
		"number for string":         `{"text":1}`,
		"object for string":         `{"text":{}}`,
		"string for boolean":        `{"flag":"true"}`,
		"number for boolean":        `{"flag":1}`,
		"object for list":           `{"list":{}}`,
		"string for list":           `{"list":"a"}`,
		"list for object":           `{"child":[]}`,
		"list for all":              `[]`,
		"null for all":              `null`,
		"null for string":           `{"text":null}`,
		"null for integer":          `{"big":null}`,
		"null for boolean":          `{"flag":null}`,
		"null for list":             `{"list":null}`,
		"null for time":             `{"at":null}`,
		"null for raw":              `{"raw":null}`,
		"null for object":           `{"few":[null]}`,
		"null in list":              `{"list":[null]}`,
		"null in list of pointers":  `{"children":[null]}`,
		"malformed time":            `{"at":"yesterday"}`,
		"number for time":           `{"at":5}`,
		"one item more than max":    `{"few":[{},{},{}]}`,
		"trailing data":             `{} {}`,
		"half an object":            `{"text":"a"`,
		"comma at the end":          `{"text":"a",}`,
		"comma at the end of list":  `{"list":["a",]}`,
		"fault after the last key":  `{"text":"a"]`,
		"literal that only begins":  `{"flag":tru}`,
		"null that only begins":     `{"child":nil}`,
		"number that only begins":   `{"big":-}`,
		"string that does not end":  `{"text":"`,
		"depth in an unknown value": `{"raw":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
	} {
		var got everything
		if err := schema.DecodeStrict([]byte(doc), anyLimit, &got); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

func TestDecodeStrictRefusesWhatCheckJSONRefuses(t *testing.T) {
	for name, doc := range strictlyRefused {
		var raw json.RawMessage
		if err := schema.DecodeStrict([]byte(doc), anyLimit, &raw); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := schema.DecodeStrict([]byte(`{} `), 2, &everything{}); err == nil {
		t.Error("beyond the limit: accepted")
	}
}

func TestSurrogateEscapes(t *testing.T) {
	for escaped, want := range map[string]string{
		`\ud834\udd1e`:       "𝄞",
		`\uD834\uDD1E`:       "𝄞",
		`\ud800`:             "\ufffd",
		`\ud800x`:            "\ufffdx",
		`\ud800\n`:           "\ufffd\n",
		`\ud800\u0041`:       "\ufffdA",
		`\ud800\ud834\udd1e`: "\ufffd𝄞",
		`\udd1e\ud834`:       "\ufffd\ufffd",
		`\u0000\/\"\\`:       "\x00/\"\\",
	} {
		var got string
		if err := schema.DecodeStrict([]byte(`"`+escaped+`"`), anyLimit, &got); err != nil || got != want {
			t.Errorf("%s: %q, %v", escaped, got, err)
		}
	}
}

func TestMarshalEscapesNothingNeedless(t *testing.T) {
	got, err := schema.Marshal(map[string]string{"a": "<é>&\u2028\x7f"})
	if err != nil || string(got) != "{\"a\":\"<é>&\\u2028\x7f\"}" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := schema.Marshal(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, doc := range strictlyRefused {
		f.Add([]byte(doc))
	}
	f.Add([]byte(`{"a":[1,-2.5e+7,"\u00e9\ud800",true,null],"b":{"c":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := schema.CheckJSON(data, anyLimit)
		if err == nil && !json.Valid(data) {
			t.Fatal("accepted what is no JSON")
		}
		var raw json.RawMessage
		if strict := schema.DecodeStrict(data, anyLimit, &raw); err == nil && strict != nil && string(bytes.TrimSpace(data)) != "null" {
			t.Fatalf("DecodeStrict refuses what CheckJSON accepts: %v", strict)
		}
		if err != nil {
			return
		}
		// Without duplicate keys nothing is lost by decoding, so the standard
		// library's own output must pass too.
		var value any
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.CheckJSON(again, 8*anyLimit); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

// TestEveryByteOfAString: what ends a string, or may not stand in it, is found at
// every place of it, and nothing else is.
func TestEveryByteOfAString(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(strings.Repeat("x", length))
				text[at] = byte(c)
				doc := fmt.Appendf(nil, `["%s","é"]`, text)
				want := json.Valid(doc) && utf8.Valid(doc)
				if err := schema.CheckJSON(doc, anyLimit); (err == nil) != want {
					t.Fatalf("%q: %v, want accepted = %v", doc, err, want)
				}
			}
		}
	}
}
