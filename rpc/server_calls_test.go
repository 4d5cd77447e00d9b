package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

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
