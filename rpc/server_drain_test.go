package rpc

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

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
