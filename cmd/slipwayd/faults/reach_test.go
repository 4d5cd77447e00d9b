//go:build unix

package faults

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
	t.Logf("git version                      %v", median(git))
	reach(t, "first command without a daemon", ratio(median(cold), median(git)), 12, "× git version")
	reach(t, "slipway daemon status", ratio(median(warm), median(git)), 2.5, "× git version")
	h.reachOfManyRuns()

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

// manyRunsAtOnce is how many Runs are busy at the same time (daemon.md, section 7).
const manyRunsAtOnce = 64

// reachOfManyRuns judges how much more many Runs get done than one: eight times as
// much, or as much as the disk or the processors allow, which are measured beside it.
func (h *house) reachOfManyRuns() {
	const most = 0.8 // of what disk or processors give counts as all of it
	t := h.t
	var one, many, disk, diskMany, busy, tail []float64
	for range 3 { // in turns
		alone, together := h.throughput(1), h.throughput(manyRunsAtOnce)
		one, many = append(one, alone.rate), append(many, together.rate)
		busy, tail = append(busy, together.busy), append(tail, ratio(together.p99, together.p50))
		disk, diskMany = append(disk, h.syncs(1)), append(diskMany, h.syncs(manyRunsAtOnce))
	}
	each := h.syncsOfOneSubmit()
	t.Logf("one writer, a record and a sync  %.0f syncs/s", middle(disk))
	t.Logf("%d writers, a file each          %.0f syncs/s", manyRunsAtOnce, middle(diskMany))
	t.Logf("one Run alone                    %.0f submits/s, %.1f syncs each: %.0f%% of what one writer gets",
		middle(one), each, 100*middle(one)*each/middle(disk))
	gain, ofDisk, ofProcessors := middle(many)/middle(one), middle(many)*each/middle(diskMany), middle(busy)
	t.Logf("%d Runs, one submit each         %.0f submits/s: %.1f × one, %.0f%% of the disk, %.0f%% of %d processors (daemon and clients)",
		manyRunsAtOnce, middle(many), gain, 100*ofDisk, 100*ofProcessors, runtime.NumCPU())
	if gain < 8 && ofDisk < most && ofProcessors < most {
		t.Errorf("%d Runs get %.1f times as much done as one, and neither disk nor processors are at their limit", manyRunsAtOnce, gain)
	}
	if middle(tail) > 10 {
		t.Errorf("p99 of %d Runs is %.1f × p50, over 10", manyRunsAtOnce, middle(tail))
	}
}

func middle(figures []float64) float64 {
	slices.Sort(figures)
	return figures[len(figures)/2]
}

// measureTime is how long each of the figures is measured.
const measureTime = 2 * time.Second

// syncs is how many records a second writers append, each to its own file on the file
// system of the Runs, and synchronise as the journal does.
func (h *house) syncs(writers int) float64 {
	record := bytes.Repeat([]byte("."), 800)
	var done atomic.Int64
	var working sync.WaitGroup
	began := time.Now()
	for i := range writers {
		working.Go(func() {
			file, err := os.Create(filepath.Join(h.dir, fmt.Sprint("written-", i)))
			for err == nil && time.Since(began) < measureTime {
				if _, err = file.Write(record); err == nil {
					err = file.Sync()
				}
				done.Add(1)
			}
			if err = errors.Join(err, file.Close()); err != nil {
				h.t.Error(err)
			}
		})
	}
	working.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// figures are those of many submits.
type figures struct {
	rate     float64 // submits per second
	p50, p99 time.Duration
	busy     float64 // share of all processors that daemon and clients had; 0 unknown
}

// throughput keeps one submit of each of n Runs in flight, over a connection each.
func (h *house) throughput(n int) figures {
	h.must("daemon", "start")
	socket := h.health().Socket
	states := make([]*schema.ProtocolState, n)
	peers := make([]*peer, n)
	for i := range n {
		states[i], peers[i] = h.start(), dial(h.t, socket)
	}
	var mu sync.Mutex
	var times []time.Duration
	var working sync.WaitGroup
	began, used := time.Now(), processorTime(h.pid())
	for i := range n {
		working.Go(func() {
			for state := states[i]; time.Since(began) < measureTime; {
				next, took := peers[i].submit(h, state)
				state = next
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	working.Wait()
	elapsed := time.Since(began)
	used = processorTime(h.pid()) - used
	slices.Sort(times)
	return figures{
		rate: float64(len(times)) / elapsed.Seconds(), p50: times[len(times)/2], p99: times[len(times)*99/100],
		busy: used.Seconds() / elapsed.Seconds() / float64(runtime.NumCPU()),
	}
}

// submit reports an Outcome and gives the next state and how long that took.
func (p *peer) submit(h *house, state *schema.ProtocolState) (*schema.ProtocolState, time.Duration) {
	sent := time.Now()
	result := p.call(h.t, "run/submit", map[string]any{
		"root": h.root, "run": state.RunID, "action": state.Action.ActionID,
		"outcome_base64": base64.StdEncoding.EncodeToString(outcome(state.Action, "looked")),
	})
	took := time.Since(sent)
	next := new(schema.ProtocolState)
	if err := json.Unmarshal(result, next); err != nil {
		h.t.Fatal(err)
	}
	return next, took
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
