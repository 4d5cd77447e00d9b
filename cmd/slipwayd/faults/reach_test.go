//go:build unix

package faults

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"slipway/schema"
)

// TestReach measures what the daemon has to reach, as ratios of one run on one
// machine, and prints the table. It means something only where nothing else runs.
func TestReach(t *testing.T) {
	if !soaking() {
		t.Skip("measures: runs in make soak")
	}
	h := newHouse(t)
	// In turns, so that what else the machine does falls on all alike.
	var git, cold, warm []time.Duration
	for range 15 {
		began := time.Now()
		if err := exec.Command("git", "version").Run(); err != nil {
			t.Fatal(err)
		}
		git = append(git, time.Since(began))
		h.kill()
		waitFor(t, func() bool { return h.pid() == 0 })
		cold = append(cold, h.must("status").took)
		warm = append(warm, h.must("daemon", "status").took)
	}
	one, _, _ := h.throughput(1)
	many, p50, p99 := h.throughput(64)
	t.Logf("git version                      %v", median(git))
	reach(t, "first command without a daemon", ratio(median(cold), median(git)), 12, "× git version")
	reach(t, "slipway daemon status", ratio(median(warm), median(git)), 2.5, "× git version")
	t.Logf("one Run alone                    %.0f submits/s", one)
	t.Logf("64 Runs, one submit each         %.0f submits/s (%.1f × one)", many, many/one)
	reach(t, "p99 of 64 Runs", ratio(p99, p50), 10, "× p50")

	const count = 10_000
	first, next, rss := h.manyRuns(count)
	reach(t, fmt.Sprintf("run/list of %d Runs, first, ms", count), float64(first.Milliseconds()), 1000, "ms")
	reach(t, fmt.Sprintf("run/list of %d Runs, next, ms", count), float64(next.Milliseconds()), 50, "ms")
	reach(t, "memory of the daemon", float64(rss>>20), 200, "MiB")
}

func reach(t *testing.T, what string, got, limit float64, unit string) {
	t.Helper()
	t.Logf("%-32s %.1f %s (limit %v)", what, got, unit, limit)
	if got > limit {
		t.Errorf("%s: %.1f %s is over %v", what, got, unit, limit)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// call makes a call and gives its result.
func (p *peer) call(t testing.TB, method string, params map[string]any) json.RawMessage {
	t.Helper()
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	var a struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(p.exchange(t, string(request)+"\n"), &a); err != nil || a.Error != nil {
		t.Fatalf("%s: %v %s", method, err, a.Error)
	}
	return a.Result
}

// throughput keeps one submit of each of n Runs in flight, over a connection each,
// and gives submits per second and their latencies.
func (h *house) throughput(n int) (rate float64, p50, p99 time.Duration) {
	h.must("daemon", "start")
	socket := h.health().Socket
	states := make([]*schema.ProtocolState, n)
	peers := make([]*peer, n)
	for i := range n {
		states[i], peers[i] = h.start(), dial(h.t, socket)
	}
	const length = 2 * time.Second
	var mu sync.Mutex
	var times []time.Duration
	var working sync.WaitGroup
	began := time.Now()
	for i := range n {
		working.Go(func() {
			for state := states[i]; time.Since(began) < length; {
				sent := time.Now()
				result := peers[i].call(h.t, "run/submit", map[string]any{
					"root": h.root, "run": state.RunID, "action": state.Action.ActionID,
					"outcome_base64": base64.StdEncoding.EncodeToString(outcome(state.Action, "looked")),
				})
				took := time.Since(sent)
				state = new(schema.ProtocolState)
				if err := json.Unmarshal(result, state); err != nil {
					h.t.Error(err)
					return
				}
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	working.Wait()
	elapsed := time.Since(began)
	slices.Sort(times)
	return float64(len(times)) / elapsed.Seconds(), times[len(times)/2], times[len(times)*99/100]
}

// manyRuns makes Runs in a repository of its own and lists them, with a daemon
// that knows none of them and then with one that does.
func (h *house) manyRuns(count int) (first, next time.Duration, rss int) {
	root := filepath.Join(h.dir, "many")
	if err := exec.Command("mkdir", root).Run(); err != nil {
		h.t.Fatal(err)
	}
	makeRepository(h, root)
	socket := h.health().Socket
	var making sync.WaitGroup
	for i := range 16 {
		p := dial(h.t, socket)
		making.Go(func() {
			for n := i; n < count; n += 16 {
				p.call(h.t, "run/start", map[string]any{"root": root, "goal": fmt.Sprint("goal ", n)})
			}
		})
	}
	making.Wait()
	h.must("daemon", "restart")
	p := dial(h.t, h.health().Socket)
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"run/list","params":{"root":%q}}`+"\n", root)
	var times []time.Duration
	for range 11 {
		times = append(times, p.untilAnswered(h.t, request))
	}
	return times[0], median(times[1:]), h.health().RSSBytes
}

// untilAnswered is the time from a request to the last byte of its answer.
func (p *peer) untilAnswered(t testing.TB, request string) time.Duration {
	t.Helper()
	_ = p.conn.SetDeadline(time.Now().Add(patience))
	began := time.Now()
	if _, err := io.WriteString(p.conn, request); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := p.answer.ReadSlice('\n')
		if err == nil {
			return time.Since(began)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			t.Fatal(err)
		}
	}
}
