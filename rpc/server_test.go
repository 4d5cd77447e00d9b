package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"runtime"
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

func TestLogHoldsNothingPrivate(t *testing.T) {
	s := serve(t, &fakeRuns{})
	r := dialRaw(t, s.socket).greet()
	for _, call := range []string{
		`"method":"run/start","params":{"root":"/private","goal":"private"}`,
		`"method":"run/answer","params":{"root":"/private","run":"run-1","action":"private","text":"private"}`,
		`"method":"run/answer","params":{"root":"/private","run":"private words","action":"private","text":"private"}`,
		`"method":"private"`, `"method":"run/skip","params":{"private":1}`,
	} {
		r.send(`{"jsonrpc":"2.0","id":"private",` + call + "}\n")
		r.line()
	}
	s.end(t)
	log := s.log.String()
	if strings.Contains(log, "private") {
		t.Errorf("the log tells too much:\n%s", log)
	}
	for _, want := range []string{"method=run/answer", "run=run-1", "method=run/start", "us="} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
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

func TestEnvironmentOfTheConnection(t *testing.T) {
	seen := make(chan []string, 1)
	s := serve(t, &fakeRuns{status: func(_ context.Context, c engine.Caller, _ string) (*schema.RunStatus, error) {
		seen <- c.Environment
		return &schema.RunStatus{}, nil
	}}, func(o *ServerOptions) { o.Environment = []string{"PATH=/daemon"} })
	const status = `{"jsonrpc":"2.0","id":1,"method":"run/status","params":{"root":"/w","run":"r"}}` + "\n"
	plain := dialRaw(t, s.socket).greet()
	plain.send(status)
	if got := <-seen; !reflect.DeepEqual(got, []string{"PATH=/daemon"}) {
		t.Errorf("without an environment: %v", got)
	}
	own := dialRaw(t, s.socket)
	own.send(strings.Replace(helloLine, `"rpc_version":1`, `"rpc_version":1,"environment":["PATH=/client"]`, 1) + status)
	if got := <-seen; !reflect.DeepEqual(got, []string{"PATH=/client"}) {
		t.Errorf("with an environment: %v", got)
	}
}

// holding is an engine whose status calls wait.
type holding struct {
	*fakeRuns
	entered chan string
	leave   chan struct{}
}

func newHolding() *holding {
	h := &holding{fakeRuns: &fakeRuns{}, entered: make(chan string, 2*maxCallsInFlight), leave: make(chan struct{})}
	h.status = func(ctx context.Context, _ engine.Caller, run string) (*schema.RunStatus, error) {
		h.entered <- run
		select {
		case <-h.leave:
			return &schema.RunStatus{ID: run}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return h
}

func statusLine(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"run/status","params":{"root":"/w","run":"r"}}` + "\n"
}

func TestCallsInFlight(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	r := dialRaw(t, s.socket).greet()
	for i := range maxCallsInFlight {
		r.send(statusLine(fmt.Sprint(i)))
	}
	r.send(statusLine("999"))
	if a := r.line(); a.code() != codeBusy || string(a.ID) != "999" {
		t.Errorf("one call too many: id %s, %+v", a.ID, a.Error)
	}
	other := dialRaw(t, s.socket).greet()
	other.send(`{"jsonrpc":"2.0","id":1,"method":"daemon/health"}` + "\n")
	var health Health
	if err := json.Unmarshal(other.line().Result, &health); err != nil {
		t.Fatal(err)
	}
	if health.CallsInFlight != maxCallsInFlight+1 || health.Connections != 2 || !health.Running {
		t.Errorf("health says %+v", health.Figures)
	}
	close(h.leave)
	for range maxCallsInFlight {
		if a := r.line(); a.Error != nil {
			t.Fatal(a.Error.Message)
		}
	}
	r.send(statusLine("1000"))
	if a := r.line(); a.Error != nil {
		t.Errorf("after the answers: %+v", a.Error)
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

func TestCancelRequest(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	r := dialRaw(t, s.socket).greet()
	r.send(statusLine(`"x"`))
	<-h.entered
	r.send(statusLine(`"x"`))
	if a := r.line(); a.code() != -32600 {
		t.Errorf("the id of a running call: %+v", a)
	}
	r.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"other"}}` + "\n")
	r.send(`{"jsonrpc":"2.0","method":"run/stop","params":{"root":"/w"}}` + "\n") // no answer is wanted
	r.send(`{"jsonrpc":"2.0","id":4,"result":{}}` + "\n")                         // nothing was asked
	r.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}` + "\n")
	if a := r.line(); a.code() != codeCancelled || string(a.ID) != `"x"` {
		t.Errorf("a cancelled call: %+v", a)
	}
}

func TestHalfClosedConnectionGetsItsAnswers(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	r := dialRaw(t, s.socket).greet()
	r.send(strings.TrimSpace(statusLine("1"))) // not even a final line feed
	if err := r.conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	close(h.leave)
	if a := r.line(); a.Error != nil {
		t.Errorf("%+v", a)
	}
	r.ended()
}

// TestIdleConnectionsMakeRoom: a new command gets in however many connections lie
// idle; those that lie longest go, those that are at work stay.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	busy := dialRaw(t, s.socket).greet()
	busy.send(statusLine("1"))
	<-h.entered
	follower := dialRaw(t, s.socket).greet()
	follower.send(`{"jsonrpc":"2.0","id":2,"method":"workspace/subscribe","params":{"root":"/w"}}` + "\n")
	if a := follower.line(); a.Error != nil {
		t.Fatalf("%+v", a.Error)
	}
	used := dialRaw(t, s.socket).greet()
	idle := []*raw{dialRaw(t, s.socket)} // never says a word
	for len(idle) < maxConnections-3 {
		idle = append(idle, dialRaw(t, s.socket).greet())
	}
	used.greet()
	const more = 76
	for range more {
		dialRaw(t, s.socket).greet()
	}
	for _, r := range idle[:more] {
		r.ended()
		if _, err := r.conn.Write([]byte(statusLine("4"))); err == nil {
			t.Fatal("an ended connection takes calls")
		}
	}
	idle[more].greet()
	used.greet()
	follower.send(`{"jsonrpc":"2.0","id":3,"method":"unsubscribe","params":{"subscription":"1"}}` + "\n")
	a := follower.line()
	for a.ID == nil {
		a = follower.line() // a notification
	}
	if a.Error != nil {
		t.Errorf("unsubscribe: %+v", a.Error)
	}
	close(h.leave)
	if a := busy.line(); string(a.ID) != "1" || a.Error != nil {
		t.Errorf("the running call got %+v", a)
	}
}

// TestConnectionLimit: where all connections are at work there is no room.
func TestConnectionLimit(t *testing.T) {
	h := newHolding()
	defer close(h.leave)
	s := serve(t, h)
	for range maxConnections {
		dialRaw(t, s.socket).greet().send(statusLine("1"))
		<-h.entered
	}
	r := dialRaw(t, s.socket)
	if a := r.block(); a.code() != codeBusy {
		t.Errorf("one connection too many: %+v", a)
	}
	r.ended()
}

func TestConnectionsLeaveFilesForTheRest(t *testing.T) {
	for files, want := range map[int]int{0: 1024, 8: 16, 256: 128, 1024: 512, 1 << 20: 1024} {
		if got := connectionLimit(files); got != want {
			t.Errorf("of %d files %d are for connections, want %d", files, got, want)
		}
	}
}

func TestDrainFinishesWhatRuns(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	busy := dialRaw(t, s.socket).greet()
	idle := dialRaw(t, s.socket).greet()
	busy.send(statusLine("1"))
	<-h.entered
	busy.send(`{"jsonrpc":"2.0","id":2,"method":"daemon/shutdown","params":{"reason":"test"}}` + "\n" + statusLine("3"))
	if a := busy.line(); string(a.ID) != "2" || string(a.Result) != "{}" {
		t.Errorf("shutdown answers %s %+v", a.Result, a.Error)
	}
	if a := busy.line(); a.code() != codeDraining {
		t.Errorf("a call of a draining daemon: %+v", a)
	}
	if _, err := net.Dial("unix", s.socket); err == nil {
		t.Error("a draining daemon accepts connections")
	}
	drained := make(chan error)
	go func() { drained <- s.Drain(context.Background()) }()
	idle.ended()
	if _, err := idle.conn.Write([]byte(statusLine("4"))); err == nil {
		t.Error("a draining daemon takes calls from an idle connection")
	}
	close(h.leave)
	if a := busy.line(); string(a.ID) != "1" || a.Error != nil {
		t.Errorf("the running call got %+v", a)
	}
	busy.ended()
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

func TestDrainGivesUp(t *testing.T) {
	h := newHolding()
	s := serve(t, h)
	r := dialRaw(t, s.socket).greet()
	r.send(statusLine("1"))
	<-h.entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("drain says %v", err)
	}
	r.ended()
	close(h.leave)
}

func TestIdleServerDrains(t *testing.T) {
	s := serve(t, &fakeRuns{}, func(o *ServerOptions) { o.Idle = time.Millisecond })
	select {
	case <-s.Draining():
	case <-time.After(testPatience):
		t.Error("the server stays")
	}
}

func TestConnectedServerIsNotIdle(t *testing.T) {
	s := serve(t, &fakeRuns{}, func(o *ServerOptions) { o.Idle = time.Hour })
	r := dialRaw(t, s.socket).greet()
	s.idleEnded()
	if s.isDraining() {
		t.Error("a server with a connection drains")
	}
	r.conn.Close()
}

func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	s := serve(t, &fakeRuns{})
	var clients sync.WaitGroup
	for range 32 {
		clients.Go(func() {
			r := dialRaw(t, s.socket)
			r.send(helloLine + statusLine("1") + "{")
			r.line()
			r.line()
			r.conn.Close()
		})
	}
	clients.Wait()
	s.end(t)
	for deadline := time.Now().Add(testPatience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stack := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stack[:runtime.Stack(stack, true)])
		}
	}
	if f := s.memory.free; f != maxHeldBytes {
		t.Errorf("%d bytes of the allowance are missing", maxHeldBytes-f)
	}
}

func TestAllowanceMakesTakersWait(t *testing.T) {
	a := newAllowance(10)
	soon := time.Now().Add(testPatience)
	if !a.take(7, soon) || a.take(4, time.Now()) {
		t.Fatal("more was given than there is")
	}
	taken := make(chan bool)
	go func() { taken <- a.take(4, soon) }()
	a.give(7)
	if !<-taken || a.free != 6 {
		t.Errorf("%d are free", a.free)
	}
}

func TestObservationSaysHowItWasMade(t *testing.T) {
	o := observed(schema.Observation{Version: 1, DirtyFiles: []string{}, PathObservations: []schema.PathObservation{}})
	text, err := schema.Marshal(observation{&o, "watch", 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"version":1`, `"dirty_files":[]`, `"mode":"watch"`, `"elapsed_us":7`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}
