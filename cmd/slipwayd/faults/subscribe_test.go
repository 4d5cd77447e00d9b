//go:build unix

package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// told is what a subscriber hears of an event, and what run/log says of it.
type told struct {
	Sequence int64
	Type     string
	State    string
	ActionID string `json:"action_id"`
	Kind     string
}

// Subscriptions go on with the next daemon where the last one left off: whoever asks
// for what comes after the last event that it heard hears every event of the Run
// once, in order, however often the daemon dies meanwhile.
func TestSubscribersHearEverythingOnce(t *testing.T) {
	kills := 12
	if soaking() {
		kills = 200
	}
	h := newHouse(t)
	const runs = 3
	var over atomic.Bool
	var working, listening sync.WaitGroup
	ids, heard, lost := make([]string, runs), make([][]told, runs), make([]int, runs)
	enough := make([]chan int64, runs)
	for i := range runs {
		state := h.start()
		ids[i], enough[i] = state.RunID, make(chan int64, 1)
		working.Go(func() { enough[i] <- int64(h.reportUntil(&over, state)) + 1 })
		listening.Go(func() { heard[i], lost[i] = h.listen(ids[i], enough[i]) })
	}
	for range kills {
		time.Sleep(time.Duration(mathrand.IntN(150)) * time.Millisecond) // the moment of the fault
		h.kill()
	}
	over.Store(true)
	working.Wait()
	listening.Wait()
	connections := 0
	for i, id := range ids {
		var want []told
		for line := range bytes.Lines(h.must("log", "--json", id).stdout) {
			var e told
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			want = append(want, e)
		}
		if !reflect.DeepEqual(heard[i], want) {
			t.Errorf("of %d events of %s a subscriber heard %d, or others:\n%v\n%v", len(want), id, len(heard[i]), want, heard[i])
		}
		connections += lost[i]
	}
	if connections < runs+1 {
		t.Errorf("%d subscribers needed %d connections: no daemon died under one", runs, connections)
	}
	t.Logf("%d kills, %d connections of %d subscribers", kills, connections, runs)
}

// listen follows a Run until it has heard as many events as are given in the end,
// and tells how many connections it needed.
func (h *house) listen(run string, enough <-chan int64) (heard []told, connections int) {
	want := int64(-1)
	for deadline := time.Now().Add(10 * patience); time.Now().Before(deadline); {
		select {
		case want = <-enough:
		default:
		}
		if want >= 0 && int64(len(heard)) >= want {
			break
		}
		a := h.do("daemon", "start", "--json")
		var at health
		if a.status != 0 || json.Unmarshal(a.stdout, &at) != nil {
			continue // it was killed while it started
		}
		conn, err := net.Dial("unix", at.Socket)
		if err != nil {
			continue
		}
		connections++
		heard = append(heard, h.hear(conn, run, int64(len(heard)))...)
		conn.Close()
	}
	return heard, connections
}

// hear subscribes on a connection and gives what comes until it ends, or until
// nothing comes for a while.
func (h *house) hear(conn net.Conn, run string, after int64) (heard []told) {
	_, err := io.WriteString(conn, hello+fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"run/subscribe","params":{"root":%q,"run":%q,"after":%d}}`+"\n", h.root, run, after))
	for answers := bufio.NewReader(conn); err == nil; {
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		var line []byte
		if line, err = answers.ReadBytes('\n'); err != nil {
			break // half a line does not count
		}
		var m struct {
			Method string
			Params told
		}
		if err := json.Unmarshal(line, &m); err != nil {
			h.t.Errorf("%q: %v", line, err)
		}
		if m.Method == "run/changed" {
			heard = append(heard, m.Params)
		}
	}
	return heard
}
