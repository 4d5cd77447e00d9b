package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

func TestAnswersInTheFramingOfTheConnection(t *testing.T) {
	s := serve(t, &fakeRuns{})
	const list = `{"jsonrpc":"2.0","id":7,"method":"run/list","params":{"root":"/w"}}`
	lines := dialRaw(t, s.socket)
	lines.send(" \r\n\n" + helloLine + list + "\n")
	if a := lines.line(); string(a.ID) != `"hello"` {
		t.Errorf("hello was answered with id %s", a.ID)
	}
	if a := lines.line(); string(a.ID) != "7" || a.Error != nil {
		t.Errorf("the list was answered with id %s, %v", a.ID, a.Error)
	}
	blocks := dialRaw(t, s.socket)
	blocks.send("content-type: application/vscode-jsonrpc; charset=utf-8\r\n" + framedText(strings.TrimSpace(helloLine)) + framedText(list))
	if a := blocks.block(); string(a.ID) != `"hello"` {
		t.Errorf("hello was answered with id %s", a.ID)
	}
	if a := blocks.block(); string(a.ID) != "7" || a.Error != nil {
		t.Errorf("the list was answered with id %s, %v", a.ID, a.Error)
	}
}

func TestHelloSaysWhoAnswers(t *testing.T) {
	s := serve(t, &fakeRuns{})
	c := dialRaw(t, s.socket)
	c.send(helloLine)
	var got struct {
		Version         string
		Build           string
		PID             int
		RPCVersion      int `json:"rpc_version"`
		ContractVersion int `json:"contract_version"`
		Methods         []string
	}
	if err := json.Unmarshal(c.line().Result, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != "v1.0.0" || got.Build != "v1.0.0 - - - -" || got.PID == 0 || got.RPCVersion != 1 || got.ContractVersion != 2 {
		t.Errorf("hello answers %+v", got)
	}
	want := []string{
		"adapter/install", "adapter/list", "adapter/uninstall",
		"daemon/health", "daemon/hello", "daemon/shutdown", "doctor/run",
		"run/answer", "run/list", "run/log", "run/material", "run/resume", "run/section", "run/skip", "run/start",
		"run/status", "run/stop", "run/submit", "run/subscribe", "unsubscribe", "workspace/observe", "workspace/subscribe",
	}
	if !reflect.DeepEqual(got.Methods, want) {
		t.Errorf("methods %v", got.Methods)
	}
}

func TestRefusesWhatIsNoCall(t *testing.T) {
	s := serve(t, &fakeRuns{})
	for name, c := range map[string]struct {
		line string
		id   string
		code int
	}{
		"no JSON":              {`{"jsonrpc":`, "null", -32700},
		"no UTF-8":             {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "null", -32700},
		"two values":           {`{} {}`, "null", -32700},
		"too deep":             {`{"a":` + strings.Repeat("[", 20000), "null", -32700},
		"batch":                {`[{"jsonrpc":"2.0","id":1,"method":"run/list"}]`, "null", -32600},
		"empty batch":          {`[]`, "null", -32600},
		"number":               {`1`, "null", -32600},
		"id object":            {`{"jsonrpc":"2.0","id":{},"method":"run/list"}`, "null", -32600},
		"version 1":            {`{"id":3,"method":"run/list"}`, "3", -32600},
		"no method":            {`{"jsonrpc":"2.0","id":3}`, "3", -32600},
		"method number":        {`{"jsonrpc":"2.0","id":3,"method":1}`, "null", -32600},
		"member twice":         {`{"jsonrpc":"2.0","id":3,"method":"run/list","method":"run/stop"}`, "null", -32600},
		"unknown method":       {`{"jsonrpc":"2.0","id":3,"method":"run/fly"}`, "3", -32601},
		"negative after":       {`{"jsonrpc":"2.0","id":3,"method":"run/subscribe","params":{"root":"/w","after":-1}}`, "3", -32602},
		"no params":            {`{"jsonrpc":"2.0","id":3,"method":"run/list"}`, "3", -32602},
		"params array":         {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":["/w"]}`, "3", -32602},
		"params null":          {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":null}`, "3", -32602},
		"unknown param":        {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":{"root":"/w","deep":true}}`, "3", -32602},
		"param in other case":  {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":{"Root":"/w"}}`, "3", -32602},
		"param twice":          {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":{"root":"/w","root":"/v"}}`, "3", -32602},
		"param null":           {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":{"root":null}}`, "3", -32602},
		"param of wrong type":  {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":{"root":1}}`, "3", -32602},
		"fraction":             {`{"jsonrpc":"2.0","id":3,"method":"run/log","params":{"root":"/w","run":"r","after":1.5}}`, "3", -32602},
		"limit too high":       {`{"jsonrpc":"2.0","id":3,"method":"run/log","params":{"root":"/w","run":"r","limit":1001}}`, "3", -32602},
		"relative root":        {`{"jsonrpc":"2.0","id":3,"method":"run/list","params":{"root":"w"}}`, "3", -32602},
		"two outcomes":         {`{"jsonrpc":"2.0","id":3,"method":"run/submit","params":{"root":"/w","run":"r","action":"a","outcome":{},"outcome_base64":""}}`, "3", -32602},
		"no outcome":           {`{"jsonrpc":"2.0","id":3,"method":"run/submit","params":{"root":"/w","run":"r","action":"a"}}`, "3", -32602},
		"bad base64":           {`{"jsonrpc":"2.0","id":3,"method":"run/submit","params":{"root":"/w","run":"r","action":"a","outcome_base64":"?"}}`, "3", -32602},
		"unknown outcome mode": {`{"jsonrpc":"2.0","id":3,"method":"run/submit","params":{"root":"/w","run":"r","action":"a","outcome":{},"outcome_mode":"fax"}}`, "3", -32602},
		"two sources":          {`{"jsonrpc":"2.0","id":3,"method":"run/start","params":{"root":"/w","goal":"g","source":{},"source_base64":""}}`, "3", -32602},
		"other rpc version":    {`{"jsonrpc":"2.0","id":3,"method":"daemon/hello","params":{"client":"t","version":"1","build":"-","rpc_version":2}}`, "3", -32600},
	} {
		t.Run(name, func(t *testing.T) {
			r := dialRaw(t, s.socket).greet()
			r.send(c.line + "\n" + `{"jsonrpc":"2.0","id":9,"method":"run/list","params":{"root":"/w"}}` + "\n")
			a := r.line()
			if a.code() != c.code || string(a.ID) != c.id {
				t.Errorf("answered with id %s and %+v", a.ID, a.Error)
			}
			if next := r.line(); string(next.ID) != "9" || next.Error != nil {
				t.Errorf("the next line was answered with id %s and %+v", next.ID, next.Error)
			}
		})
	}
}

func TestHeaderFramingGoesOnAfterABadBody(t *testing.T) {
	s := serve(t, &fakeRuns{})
	r := dialRaw(t, s.socket)
	r.send(framedText("{") + framedText("") + framedText("[]") + framedText(strings.TrimSpace(helloLine)))
	for i, code := range []int{-32700, -32700, -32600, 0} {
		if a := r.block(); a.code() != code {
			t.Errorf("answer %d is %+v", i, a.Error)
		}
	}
}

func TestBadHeadersEndTheConnection(t *testing.T) {
	s := serve(t, &fakeRuns{})
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"batch":       {"[]\n", -32600},
		"no header":   {"GET / HTTP/1.1\r\n\r\n", -32700},
		"no length":   {"Content-Type: x\r\n\r\n{}", -32600},
		"two lengths": {"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", -32600},
		"negative":    {"Content-Length: -2\r\n\r\n{}", -32600},
		"too long":    {fmt.Sprintf("Content-Length: %d\r\n\r\n", maxMessage+1), -32600},
		"long block":  {strings.Repeat("X: "+strings.Repeat("y", 60)+"\r\n", 200), -32600},
		"long line":   {"X: " + strings.Repeat("y", maxHeader), -32600},
	} {
		t.Run(name, func(t *testing.T) {
			r := dialRaw(t, s.socket)
			r.send(c.text)
			if a := r.block(); a.code() != c.code || string(a.ID) != "null" {
				t.Errorf("answered with id %s and %+v", a.ID, a.Error)
			}
			r.ended()
		})
	}
}

func TestLongestMessage(t *testing.T) {
	s := serve(t, &fakeRuns{})
	const begin = `{"jsonrpc":"2.0","id":1,"method":"run/fly","params":"`
	fits := begin + strings.Repeat("x", maxMessage-len(begin)-2) + `"}`
	r := dialRaw(t, s.socket)
	_ = r.conn.SetDeadline(time.Now().Add(10 * testPatience)) // the race detector looks at every byte
	r.send(fits + "\n")
	if a := r.line(); a.code() != -32601 {
		t.Errorf("a message of the longest length: %+v", a.Error)
	}
	// The server stops reading, so the rest may not be taken.
	_, _ = io.WriteString(r.conn, "{"+fits+"\n")
	if a := r.line(); a.code() != -32600 {
		t.Errorf("a message that is too long: %+v", a.Error)
	}
	r.ended()
}

func TestOutcomeReachesTheEngineByteForByte(t *testing.T) {
	arrived := make(chan engine.SubmitRequest, 1)
	s := serve(t, &fakeRuns{submit: func(_ context.Context, _ engine.Caller, q engine.SubmitRequest) (*schema.ProtocolState, error) {
		arrived <- q
		return state(q.Run, ""), nil
	}})
	r := dialRaw(t, s.socket).greet()
	for _, outcome := range []string{
		"{ \"a\" :\t1.50e0, \"a\":\"<\\u003c\\/\u2028é\" }", `"text"`, `null`, `[1, {"x":[ ]}]`, `12`, `"\\\"}"`,
	} {
		r.send(`{"jsonrpc":"2.0","id":1,"method":"run/submit","params":{"root":"/w","outcome": ` + outcome + ` ,"run":"r","action":"a"}}` + "\n")
		if a := r.line(); a.Error != nil {
			t.Fatalf("%s: %s", outcome, a.Error.Message)
		}
		if got := <-arrived; string(got.Outcome) != outcome {
			t.Errorf("%q arrived as %q", outcome, got.Outcome)
		}
	}
	r.send(`{"jsonrpc":"2.0","id":1,"method":"run/submit","params":{"root":"/w","outcome_base64":"","run":"r","action":"a","outcome_mode":"stdin"}}` + "\n")
	r.line()
	if got := <-arrived; got.Outcome == nil || len(got.Outcome) != 0 || !got.Stdin {
		t.Errorf("an empty outcome from stdin arrived as %#v", got)
	}
}

func TestOptionalParams(t *testing.T) {
	var lock sync.Mutex // the calls arrive in goroutines of the server
	var started engine.StartRequest
	var resumed engine.ResumeRequest
	var stopped engine.StopRequest
	note := func(take func()) {
		lock.Lock()
		defer lock.Unlock()
		take()
	}
	s := serve(t, &fakeRuns{
		start: func(_ context.Context, _ engine.Caller, q engine.StartRequest) (*schema.ProtocolState, error) {
			note(func() { started = q })
			return state("r", ""), nil
		},
		resume: func(q engine.ResumeRequest) { note(func() { resumed = q }) },
		stop:   func(q engine.StopRequest) { note(func() { stopped = q }) },
	})
	r := dialRaw(t, s.socket).greet()
	call := func(method, params string) {
		t.Helper()
		r.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + "}\n")
		if a := r.line(); a.Error != nil {
			t.Fatal(a.Error.Message)
		}
		note(func() {}) // what was noted is seen from here on
	}
	call("run/start", `{"root":"/w","goal":"g"}`)
	if want := (engine.StartRequest{Goal: "g", Budget: schema.DefaultBudget, Review: true}); !reflect.DeepEqual(started, want) {
		t.Errorf("start without options is %+v", started)
	}
	call("run/start", `{"root":"/w","goal":"g","budget":3,"review":false,"source_base64":""}`)
	if want := (engine.StartRequest{Goal: "g", Budget: 3, Source: []byte{}}); !reflect.DeepEqual(started, want) {
		t.Errorf("start with options is %+v", started)
	}
	call("run/start", `{"root":"/w","goal":"g","source":{ "v":1 }}`)
	if string(started.Source) != `{ "v":1 }` {
		t.Errorf("source is %q", started.Source)
	}
	call("run/resume", `{"root":"/w","run":"r","source_choice":"","candidate":"c"}`)
	if resumed.HasSource || resumed.SourceChoice == nil || *resumed.Candidate != "c" || resumed.Budget != nil {
		t.Errorf("resume is %+v", resumed)
	}
	call("run/resume", `{"root":"/w","run":"r","source_base64":""}`)
	if !resumed.HasSource {
		t.Errorf("resume is %+v", resumed)
	}
	call("run/stop", `{"root":"/w"}`)
	if !stopped.Any {
		t.Errorf("stop is %+v", stopped)
	}
	call("run/stop", `{"root":"/w","run":""}`)
	if stopped.Any {
		t.Errorf("stop is %+v", stopped)
	}
}

func TestErrorsCarryTheObjectOfTheContract(t *testing.T) {
	place := schema.UnavailablePlace("/w")
	failures := map[string]*schema.Error{
		"u": schema.Usage(schema.CodeInvalidRunID, schema.NextInspectRuns(place), "bad <id>"),
		"r": schema.Runtime(schema.CodeRunNotActive, schema.NextNone(place), schema.RunDetails{RunID: "r", State: schema.Ended}, "ended"),
	}
	s := serve(t, &fakeRuns{status: func(_ context.Context, _ engine.Caller, run string) (*schema.RunStatus, error) {
		switch {
		case run == "panic":
			panic("secret")
		case failures[run] != nil:
			return nil, failures[run]
		}
		return nil, errors.New("odd")
	}})
	r := dialRaw(t, s.socket).greet()
	for run, code := range map[string]int{"u": -32002, "r": -32003, "other": -32603, "panic": -32603} {
		r.send(`{"jsonrpc":"2.0","id":1,"method":"run/status","params":{"root":"/w","run":"` + run + `"}}` + "\n")
		a := r.line()
		if a.code() != code {
			t.Errorf("%s: %+v", run, a.Error)
		}
		if failures[run] == nil {
			continue
		}
		want, _ := schema.Marshal(failures[run])
		if string(a.Error.Data) != string(want) || a.Error.Message != failures[run].Message {
			t.Errorf("%s: data is %s, want %s", run, a.Error.Data, want)
		}
	}
	s.end(t)
	if strings.Contains(s.log.String(), "secret") {
		t.Errorf("the log tells a secret:\n%s", s.log)
	}
}

func TestHelloComesFirst(t *testing.T) {
	s := serve(t, &fakeRuns{})
	r := dialRaw(t, s.socket)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"run/list","params":{"root":"/w"}}` + "\n")
	if a := r.line(); a.code() != -32600 {
		t.Errorf("a call before hello: %+v", a)
	}
}

func TestIDsComeBackAsTheyCame(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	r := dialRaw(t, s.socket).greet()
	close(h.leave)
	for _, id := range []string{`0`, `-7`, `1.50`, `"a\u0062"`, `12345678901234567890123`, `null`, `""`} {
		r.send(statusLine(id))
		if a := r.line(); string(a.ID) != id {
			t.Errorf("%s came back as %s", id, a.ID)
		}
	}
}
