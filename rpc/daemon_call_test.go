//go:build unix

package rpc

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"slipway/schema"
)

// deaf is so many servers in turn that each take one message after the greeting and
// end.
func deaf(t *testing.T, p *place, servers int) net.Listener {
	e := at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), "")
	if err := e.prepare(); err != nil {
		t.Fatal(err)
	}
	l, err := e.listen()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer l.Close()
		for range servers {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s := newFramed(conn, maxMessage)
			_, _ = s.read()
			_ = s.write(answer{protocolVersion, json.RawMessage("1"), helloAnswer{Build: OwnBuild().String()}})
			_, _ = s.read()
			conn.Close()
		}
	}()
	return l
}

func TestUnansweredMutationIsNotRepeated(t *testing.T) {
	p := newPlace(t)
	l := deaf(t, p, 1)
	defer l.Close()
	c, _, err := Connect(context.Background(), *p.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Call(context.Background(), "run/start", map[string]string{"root": "/w", "goal": "g"})
	if codeOfError(t, err) != schema.CodeDaemonUnresponsive || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("the call says %v", err)
	}
	if p.pid() != 0 {
		t.Error("a daemon was started for a repeat")
	}
}

// TestQuestionsOutliveDaemons: what only reads is asked of the next daemon, and of
// the one after it.
func TestQuestionsOutliveDaemons(t *testing.T) {
	p := newPlace(t)
	l := deaf(t, p, maxAttempts-1)
	defer l.Close()
	c, _, err := Connect(context.Background(), *p.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
		t.Error(err)
	}
	if p.pid() == 0 {
		t.Error("no daemon was started for it")
	}
}

func TestErrorsCrossTheSocket(t *testing.T) {
	p := newPlace(t)
	for name, params := range map[string]map[string]any{
		"bad params": {"root": "relative", "run": "r"},
	} {
		if _, err := p.connect().Call(context.Background(), "run/status", params); codeOfError(t, err) != schema.CodeRuntimeError {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.connect().Call(context.Background(), "run/fly", nil); codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Errorf("unknown method: %v", err)
	}
	place := schema.UnavailablePlace("/w")
	want := schema.Runtime(schema.CodeRunNotActive, schema.NextNone(place), schema.RunDetails{RunID: "r", State: schema.Ended}, "<ended>")
	got := failureOf(asError(context.Background(), want))
	wanted, _ := schema.Marshal(want)
	if text, err := schema.Marshal(got); err != nil || string(text) != string(wanted) {
		t.Errorf("%s became %s (%v)", wanted, text, err)
	}
}

func BenchmarkWarmCommand(b *testing.B) {
	p := newPlace(b)
	p.connect()
	for b.Loop() {
		c, _, err := Connect(context.Background(), *p.options())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func BenchmarkCall(b *testing.B) {
	p := newPlace(b)
	c := p.connect()
	for b.Loop() {
		if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
			b.Fatal(err)
		}
	}
}
