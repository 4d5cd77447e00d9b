package rpc

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// Exact bytes come as any JSON spelling of their base64, of any length.
func TestExactBytes(t *testing.T) {
	long := strings.Repeat("\x00\xff\xfb slipway ", 20_000)
	spell := func(text string) string { return `"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"` }
	for name, test := range map[string]struct {
		value, want string
	}{
		"empty":            {`""`, ""},
		"one byte":         {`"QQ=="`, "A"},
		"one piece":        {spell(long[:12<<10]), long[:12<<10]},
		"a byte more":      {spell(long[:12<<10+1]), long[:12<<10+1]},
		"many pieces":      {spell(long), long},
		"escaped solidus":  {`"\/\/\/\/"`, "\xff\xff\xff"},
		"escaped letters":  {`"\u0051UE="`, "AA"},
		"escaped, nothing": {`"\n"`, ""},
	} {
		var p startParams
		if err := decodeParams([]byte(fmt.Sprintf(`{"root":"/w","goal":"\"\\","source_base64":%s}`, test.value)), &p); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.SourceBase64 == nil || *p.SourceBase64 == nil || string(*p.SourceBase64) != test.want || p.Goal != `"\` {
			t.Errorf("%s: wrong bytes", name)
		}
	}
	for _, value := range []string{
		`null`, `7`, `{}`, `"?"`, `"Q"`, `"QQ="`, `"QQ==QQ=="`, `"-_-_"`, `"\u0000"`,
		`"` + strings.Repeat("QUFB", 4095) + "QQ==" + `QUFB"`, // padding where a piece ends
	} {
		var p startParams
		if err := decodeParams([]byte(`{"root":"/w","goal":"g","source_base64":`+value+`}`), &p); err == nil {
			t.Errorf("%.40s: taken", value)
		}
	}
}

// The end of a string is a quote behind an even number of backslashes.
func TestParamsBehindStringsOfAllKinds(t *testing.T) {
	for _, goal := range []string{`\\`, `\"`, `\\\"`, `\\\\`, `\"\"`, `a\\\\\"b`, ``, `\u0022\\`} {
		r, refusal := parseRequest([]byte(`{"jsonrpc":"2.0","method":"run/start","params":{"goal":"` + goal + `","root":"/w"},"id":1}`))
		if refusal != nil {
			t.Fatalf("%s: %v", goal, refusal)
		}
		var p startParams
		if err := decodeParams(r.params, &p); err != nil || p.Root != "/w" || string(r.id) != "1" {
			t.Errorf("%s: %+v, %v", goal, p, err)
		}
	}
}

// What is no sound document may still be a request: its engine says what is wrong.
func TestLenientMessages(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, outcome := range []string{`{"a":1,"a":2}`, deep, `"\ud800"`} {
		r, refusal := parseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"run/submit","params":{"outcome":` + outcome + `}}`))
		if refusal != nil || !strings.Contains(string(r.params), outcome) {
			t.Errorf("%.20s: %v", outcome, refusal)
		}
	}
	for _, broken := range []string{"{\"id\":\"\xff\"}", `{"id":1}x`, `{"id":"\ud"}`, "\ufeff{}"} {
		if _, refusal := parseRequest([]byte(broken)); refusal == nil {
			t.Errorf("%q: taken", broken)
		}
	}
}
