package rpc

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

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
