package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// counting is a Run that goes on for ever: its events have every sequence number
// after the one that is asked for.
func counting(ctx context.Context, q engine.FollowRequest) (iter.Seq2[engine.RunEvent, error], error) {
	if q.Run == "missing" {
		return nil, schema.Runtime(schema.CodeRunNotFound, schema.NextNone(schema.UnavailablePlace("/w")), nil, "no Run")
	}
	return func(yield func(engine.RunEvent, error) bool) {
		n := int64(0)
		if q.After != nil {
			n = *q.After
		}
		for ctx.Err() == nil {
			if n++; !yield(engine.RunEvent{Run: q.Run, Sequence: n, Type: engine.RunStopped, State: schema.Stopped}, nil) {
				return
			}
		}
	}, nil
}

// note is a notification as a raw client sees it.
type note struct {
	Method string
	Params struct {
		Subscription string
		Run          string
		Sequence     int64
		Type         string
		State        string
		Reason       string
		Error        *struct{ Code string }
		SnapshotHash string `json:"snapshot_hash"`
		PathCount    int    `json:"path_count"`
	}
}

// note reads a notification in newline framing.
func (r *raw) note() note {
	r.t.Helper()
	text, err := r.reader.ReadString('\n')
	if err != nil {
		r.t.Fatalf("no notification: %v (%q)", err, text)
	}
	var n note
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		r.t.Fatalf("%q: %v", text, err)
	}
	return n
}

// subscribe makes a subscription and gives its id.
func (r *raw) subscribe(params string) string {
	r.t.Helper()
	r.send(`{"jsonrpc":"2.0","id":"s","method":"run/subscribe","params":` + params + "}\n")
	var got struct{ Subscription string }
	a := r.line()
	if a.Error != nil || json.Unmarshal(a.Result, &got) != nil || got.Subscription == "" {
		r.t.Fatalf("subscribing: %s, %+v", a.Result, a.Error)
	}
	return got.Subscription
}

func TestSubscriptionTellsInOrder(t *testing.T) {
	s := serve(t, &fakeRuns{follow: counting})
	r := dialRaw(t, s.socket).greet()
	id := r.subscribe(`{"root":"/w","run":"r","after":41}`)
	for want := int64(42); want < 100; want++ {
		if n := r.note(); n.Method != "run/changed" || n.Params.Subscription != id || n.Params.Run != "r" || n.Params.Sequence != want || n.Params.State != "stopped" {
			t.Fatalf("event %d is told as %+v", want, n)
		}
	}
	if h := s.health(); h.Subscriptions != 1 {
		t.Errorf("health counts %d subscriptions", h.Subscriptions)
	}
	// After the answer to unsubscribe nothing comes any more.
	r.send(`{"jsonrpc":"2.0","id":"u","method":"unsubscribe","params":{"subscription":"` + id + `"}}` + "\n")
	for {
		text, err := r.reader.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, `"id":"u"`) {
			break
		}
	}
	r.send(`{"jsonrpc":"2.0","id":"z","method":"run/list","params":{"root":"/w"}}` + "\n")
	if a := r.line(); string(a.ID) != `"z"` {
		t.Errorf("after the end of the subscription comes %s", a.ID)
	}
	if h := s.health(); h.Subscriptions != 0 {
		t.Errorf("health counts %d subscriptions", h.Subscriptions)
	}
}

func TestSubscribingToWhatIsNotThere(t *testing.T) {
	s := serve(t, &fakeRuns{follow: counting})
	r := dialRaw(t, s.socket).greet()
	for range maxSubscriptions + 1 { // refused ones do not count
		r.send(`{"jsonrpc":"2.0","id":1,"method":"run/subscribe","params":{"root":"/w","run":"missing"}}` + "\n")
		if a := r.line(); a.code() != codeRuntime {
			t.Fatalf("answered with %+v", a.Error)
		}
	}
	r.send(`{"jsonrpc":"2.0","id":1,"method":"unsubscribe","params":{"subscription":"1"}}` + "\n")
	if a := r.line(); a.code() != -32602 {
		t.Errorf("an unknown subscription ends with %+v", a.Error)
	}
}

func TestWorktreeSubscription(t *testing.T) {
	s := serve(t, &fakeRuns{})
	r := dialRaw(t, s.socket).greet()
	r.send(`{"jsonrpc":"2.0","id":1,"method":"workspace/subscribe","params":{"root":"/w"}}` + "\n")
	r.line()
	if n := r.note(); n.Method != "workspace/changed" || n.Params.SnapshotHash != "/w" || n.Params.PathCount != 3 {
		t.Errorf("told %+v", n)
	}
}

func TestLostSubscriptions(t *testing.T) {
	gone := schema.Runtime(schema.CodeWorkspaceIdentityMismatch, schema.NextNone(schema.UnavailablePlace("/w")), nil, "gone")
	for name, c := range map[string]struct {
		err          error
		reason, code string
	}{
		"slow reader":   {engine.ErrBehind, lostSlow, ""},
		"worktree gone": {gone, lostFailed, string(schema.CodeWorkspaceIdentityMismatch)},
		"defect":        {errors.New("private"), lostFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, &fakeRuns{follow: func(context.Context, engine.FollowRequest) (iter.Seq2[engine.RunEvent, error], error) {
				return func(yield func(engine.RunEvent, error) bool) { yield(engine.RunEvent{}, c.err) }, nil
			}})
			r := dialRaw(t, s.socket).greet()
			id := r.subscribe(`{"root":"/w"}`)
			n := r.note()
			code := ""
			if n.Params.Error != nil {
				code = n.Params.Error.Code
			}
			if n.Method != "subscription/lost" || n.Params.Subscription != id || n.Params.Reason != c.reason || code != c.code {
				t.Errorf("told %+v", n)
			}
			r.subscribe(`{"root":"/w"}`) // the connection goes on
		})
	}
}

func TestDrainTellsSubscribers(t *testing.T) {
	s := serve(t, &fakeRuns{})
	r := dialRaw(t, s.socket).greet()
	id := r.subscribe(`{"root":"/w"}`)
	go s.end(t)
	if n := r.note(); n.Method != "subscription/lost" || n.Params.Subscription != id || n.Params.Reason != lostDraining {
		t.Errorf("told %+v", n)
	}
	r.ended()
}

func TestSubscriptionLimit(t *testing.T) {
	s := serve(t, &fakeRuns{})
	r := dialRaw(t, s.socket).greet()
	for range maxSubscriptions {
		r.subscribe(`{"root":"/w"}`)
	}
	r.send(`{"jsonrpc":"2.0","id":1,"method":"run/subscribe","params":{"root":"/w"}}` + "\n")
	if a := r.line(); a.code() != codeBusy {
		t.Errorf("one more is answered with %+v", a.Error)
	}
	r.conn.Close()
	waitFor(t, func() bool { return s.health().Subscriptions == 0 })
}

func TestSubscriberThatDoesNotReadHindersNobody(t *testing.T) {
	s := serve(t, &fakeRuns{follow: counting})
	deaf := dialRaw(t, s.socket).greet()
	deaf.send(`{"jsonrpc":"2.0","id":"s","method":"run/subscribe","params":{"root":"/w","run":"r"}}` + "\n")
	r := dialRaw(t, s.socket).greet()
	for range 100 {
		r.send(`{"jsonrpc":"2.0","id":1,"method":"run/list","params":{"root":"/w"}}` + "\n")
		r.line()
	}
	began := time.Now()
	s.end(t)
	if took := time.Since(began); took > farewellTime+5*time.Second {
		t.Errorf("a drain with a deaf subscriber took %v", took)
	}
}

// waitFor waits until something holds.
func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testPatience); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it does not come about")
		}
	}
}

// TestFollowGoesOnWithTheNextDaemon breaks every connection after a few events.
func TestFollowGoesOnWithTheNextDaemon(t *testing.T) {
	socket := shortTempDir(t) + "/d1.sock"
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go breakingDaemon(l)
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	defer cancel()
	var last int64
	done := errors.New("enough")
	err = Follow(ctx, Options{Environment: []string{"SLIPWAY_SOCKET=" + socket, "HOME=" + os.TempDir()}}, Subscription{
		Method: runSubscribeMethod,
		Params: func() any { return map[string]any{"root": "/w", "run": "r", "after": last} },
		Changed: func(params json.RawMessage) error {
			var n struct{ Sequence int64 }
			if err := json.Unmarshal(params, &n); err != nil {
				return err
			}
			if n.Sequence != last+1 {
				return fmt.Errorf("%d is followed by %d", last, n.Sequence)
			}
			if last = n.Sequence; last == 10 {
				return done
			}
			return nil
		},
	})
	if !errors.Is(err, done) {
		t.Error(err)
	}
}

// breakingDaemon ends each connection after three events, the second time in the
// middle of a message.
func breakingDaemon(l net.Listener) {
	for n := 0; ; n++ {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s := newFramed(conn, maxMessage)
		_, _ = s.read()
		_ = s.write(answer{protocolVersion, json.RawMessage("1"), helloAnswer{Build: OwnBuild().String()}})
		m, err := s.read()
		var request struct{ Params struct{ After int64 } }
		if err != nil || json.Unmarshal(m.data, &request) != nil {
			conn.Close()
			continue
		}
		_ = s.write(answer{protocolVersion, json.RawMessage("2"), map[string]string{"subscription": "1"}})
		for i := range int64(3) {
			_ = s.write(notification{protocolVersion, runChangedNotification, map[string]any{"sequence": request.Params.After + i + 1}})
		}
		if n == 1 {
			_, _ = conn.Write([]byte("Content-Length: 1000\r\n\r\n{"))
		}
		conn.Close()
	}
}
