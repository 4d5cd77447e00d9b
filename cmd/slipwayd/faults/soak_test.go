//go:build unix

package faults

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/schema"
)

// Daemon and clients are killed at random moments, under load. Nothing that was
// acknowledged is lost, and nothing is there twice.
func TestRandomKills(t *testing.T) {
	cycles := 15
	if soaking() {
		cycles = 1000
	}
	h := newHouse(t)
	const workers = 4
	var over atomic.Bool
	var working sync.WaitGroup
	runs, counts := make([]string, workers), make([]int, workers)
	for i := range workers {
		state := h.start()
		runs[i] = state.RunID
		working.Go(func() { counts[i] = h.reportUntil(&over, state) })
	}
	starts := 0
	working.Go(func() { starts = h.startUntil(&over) })
	for range cycles {
		time.Sleep(time.Duration(mathrand.IntN(120)) * time.Millisecond) // the moment of the fault
		h.kill()
	}
	over.Store(true)
	working.Wait()
	total := 0
	for i, run := range runs {
		got := h.summaries(run)
		if len(got) != counts[i] {
			t.Errorf("of %d acknowledged Outcomes there are %d", counts[i], len(got))
		}
		for n, summary := range got {
			if summary != strconv.Itoa(n) {
				t.Errorf("Outcome %d is %s", n, summary)
			}
		}
		h.sequences(run)
		total += len(got)
	}
	list := decode[schema.StatusList](t, h.must("status", "--json"))
	if len(list.UnavailableRuns) > 0 || len(list.Runs) < workers+starts {
		t.Errorf("of %d starts that were answered there are %d Runs, and %+v", workers+starts, len(list.Runs), list.UnavailableRuns)
	}
	t.Logf("%d kills of the daemon, %d Outcomes, %d starts", cycles, total, starts)
}

// startUntil starts one Run after the other and counts the answers. Some clients are
// killed, and some work without the daemon.
func (h *house) startUntil(over *atomic.Bool) (answered int) {
	for n := 0; !over.Load() && n < 300; n++ {
		cmd := h.command("run", "--json", "mend the roof")
		if n%5 == 0 {
			cmd.Env = append(h.env, "SLIPWAY_DAEMON=off")
		}
		a := runWith(cmd, func(p *os.Process) {
			if n%3 == 0 {
				time.AfterFunc(time.Duration(mathrand.IntN(20))*time.Millisecond, func() {
					_ = p.Kill() // may be done
				})
			}
		})
		if a.status == 0 {
			answered++
		}
	}
	return answered
}

// reportUntil reports one Outcome after the other and repeats each until it is
// acknowledged. Every third client is killed, and every tenth works without the
// daemon.
func (h *house) reportUntil(over *atomic.Bool, state *schema.ProtocolState) int {
	acknowledged := 0
	// The budget bounds the Run; nine tenths of it are enough for any number of kills.
	for attempts := 0; (!over.Load() || attempts > 0) && acknowledged < 900; {
		cmd := h.submission(state.RunID, state.Action, outcome(state.Action, strconv.Itoa(acknowledged)))
		if mathrand.IntN(10) == 0 {
			cmd.Env = append(h.env, "SLIPWAY_DAEMON=off")
		}
		killer := func(*os.Process) {}
		if mathrand.IntN(3) == 0 {
			killer = func(p *os.Process) {
				time.AfterFunc(time.Duration(mathrand.IntN(15))*time.Millisecond, func() {
					_ = p.Kill() // may be done
				})
			}
		}
		a := runWith(cmd, killer)
		if attempts++; attempts > 200 {
			h.t.Errorf("an Outcome is not taken: exit %d, %s", a.status, a.stderr)
			return acknowledged
		}
		var next schema.ProtocolState
		if a.status != 0 || json.Unmarshal(a.stdout, &next) != nil {
			continue
		}
		state, attempts = &next, 0
		acknowledged++
	}
	return acknowledged
}

// soakVariableMinutes says how long the storm lasts in make soak.
const soakVariableMinutes = "SLIPWAY_SOAK_MINUTES"

func stormTime() time.Duration {
	if !soaking() {
		return 3 * time.Second
	}
	minutes, err := strconv.Atoi(os.Getenv(soakVariableMinutes))
	if err != nil {
		minutes = 30
	}
	return time.Duration(minutes) * time.Minute
}

// Row 13: garbage, half messages, huge messages, storms of connections and readers
// that do not read leave latency, memory and descriptors where they were.
func TestStorm(t *testing.T) {
	h := newHouse(t)
	state := h.start()
	socket := h.health().Socket
	good := dial(t, socket)
	storm := func(length time.Duration) (latencies []time.Duration) {
		var over atomic.Bool
		var working sync.WaitGroup
		for _, pester := range pesterers {
			working.Go(func() {
				for !over.Load() {
					pester(socket, h.root, state.RunID)
				}
			})
		}
		for began := time.Now(); time.Since(began) < length; {
			latencies = append(latencies, good.status(t, h.root, state.RunID))
			time.Sleep(time.Millisecond)
		}
		over.Store(true)
		working.Wait()
		return latencies
	}
	calm := func() (h2 health, p50 time.Duration) {
		var times []time.Duration
		for range 300 {
			times = append(times, good.status(t, h.root, state.RunID))
		}
		slices.Sort(times)
		return h.health(), times[len(times)/2]
	}
	storm(2 * time.Second) // pools and buffers reach their size
	before, usual := calm()
	during := storm(stormTime())
	var after health
	waitFor(t, func() bool { // connections end in their own time
		after = h.health()
		return after.OpenFiles <= before.OpenFiles+4 && after.Goroutines <= before.Goroutines+8
	})
	_, later := calm()
	slices.Sort(during)
	t.Logf("usual %v; in the storm half within %v, 99 of 100 within %v; afterwards %v", usual, during[len(during)/2], during[len(during)*99/100], later)
	t.Logf("before %d MiB, %d files, %d goroutines; after %d MiB, %d files, %d goroutines",
		before.RSSBytes>>20, before.OpenFiles, before.Goroutines, after.RSSBytes>>20, after.OpenFiles, after.Goroutines)
	if later > 3*usual+time.Millisecond {
		t.Errorf("a call took %v before and takes %v after the storm", usual, later)
	}
	if after.RSSBytes > before.RSSBytes+100<<20 {
		t.Errorf("memory grew from %d to %d MiB", before.RSSBytes>>20, after.RSSBytes>>20)
	}
	if h.pid() != after.PID || h.sequences(state.RunID) != 1 {
		t.Error("the daemon or the Run is another one")
	}
}

// pesterers are what a bad client does, each once.
var pesterers = []func(socket, root, run string){
	func(socket, _, _ string) { // garbage
		noise := make([]byte, 4096)
		_, _ = rand.Read(noise)
		say(socket, string(noise))
	},
	func(socket, _, _ string) { // half messages of both framings
		say(socket, hello+`{"jsonrpc":"2.0","id":1,"met`)
		say(socket, "Content-Length: 1000\r\n\r\n{")
		say(socket, "Content-Le")
	},
	func(socket, _, _ string) { // too long, announced and really
		say(socket, "Content-Length: 41943041\r\n\r\n")
		say(socket, hello+strings.Repeat(" ", 1<<20)+`{"jsonrpc":"2.0","id":1,"method":"run/list","params":{"root":"`+strings.Repeat("x", 1<<20)+`"}}`+"\n")
	},
	func(socket, _, _ string) { // a storm of connections
		var conns []net.Conn
		for range 300 {
			if conn, err := net.Dial("unix", socket); err == nil {
				conns = append(conns, conn)
			}
		}
		for _, conn := range conns {
			conn.Close()
		}
	},
	func(socket, root, run string) { // a subscriber that does not read, and leaves
		say(socket, hello+fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"run/subscribe","params":{"root":%q,"run":%q,"after":0}}`+"\n", root, run))
	},
	func(socket, root, _ string) { // calls whose answers nobody reads
		text := hello
		for i := range 200 {
			text += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"run/list","params":{"root":%q}}`+"\n", i, root)
		}
		say(socket, text)
	},
}

const hello = `{"jsonrpc":"2.0","id":"h","method":"daemon/hello","params":{"client":"storm","version":"1","build":"-","rpc_version":1}}` + "\n"

// say sends a text, waits a moment, and goes.
func say(socket, text string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return // a full queue of connections is part of the storm
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
	_, _ = io.WriteString(conn, text)
	_, _ = conn.Read(make([]byte, 1))
}

// peer is a good client.
type peer struct {
	conn   net.Conn
	answer *bufio.Reader
}

func dial(t testing.TB, socket string) *peer {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	p := &peer{conn, bufio.NewReaderSize(conn, 1<<20)}
	p.exchange(t, hello)
	return p
}

func (p *peer) exchange(t testing.TB, request string) []byte {
	t.Helper()
	_ = p.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(p.conn, request); err != nil {
		t.Fatal(err)
	}
	line, err := p.answer.ReadBytes('\n')
	if err != nil || strings.HasPrefix(string(line), `{"jsonrpc":"2.0","id":null`) {
		t.Fatalf("%v: %s", err, line)
	}
	return line
}

// status asks for the status of a Run and tells how long the answer took.
func (p *peer) status(t testing.TB, root, run string) time.Duration {
	t.Helper()
	began := time.Now()
	line := p.exchange(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"run/status","params":{"root":%q,"run":%q}}`+"\n", root, run))
	if !strings.Contains(string(line), `"result"`) {
		t.Fatalf("%s", line)
	}
	return time.Since(began)
}
