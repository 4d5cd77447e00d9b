package engine_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"slipway/journal/crashfs"
)

// knownSeeds are lives in which something was wrong once.
var knownSeeds = []uint64{
	1796087542828350961, // who looked whose Run it is met a tail being cut off
}

// TestSimulation lives the lives of many small machines: clients that work on the
// same Runs through two daemons and embedded writers, in any interleaving of their
// file operations, with deaths, power cuts and failing disks in between. After each
// crash, and in the end, every promise must hold. `make soak` goes on for long, with
// new seeds; a failure names its seed.
func TestSimulation(t *testing.T) {
	for _, seed := range knownSeeds {
		simulate(t, seed)
	}
	until, seed, lives := time.Now().Add(3*time.Second), uint64(1), 0
	if d := soaking(t); d > 0 {
		until, seed = time.Now().Add(d), uint64(time.Now().UnixNano())
		t.Logf("seeds from %d on", seed)
	}
	begin := time.Now()
	var deeds, acknowledged, steps int
	for ; time.Now().Before(until); seed++ {
		w := simulate(t, seed)
		lives++
		deeds += len(w.ledger.deeds)
		acknowledged += len(w.ledger.order)
		steps += len(w.trace)
	}
	t.Logf("%d lives, %.0f a minute: %d deeds, %d of them acknowledged, %d steps", lives, float64(lives)/time.Since(begin).Minutes(), deeds, acknowledged, steps)
}

// simulate lives one life, in which nothing may be wrong.
func simulate(t *testing.T, seed uint64) *world {
	t.Helper()
	w := liveWith(t, seed, nil)
	if w.failed() {
		t.Fatalf("seed %d: %s", seed, w.violation)
	}
	return w
}

// liveWith lives one life on a disk whose syncs have the given fate.
func liveWith(t *testing.T, seed uint64, fate func(string) crashfs.SyncFate) (lived *world) {
	t.Helper()
	// One goroutine at a time is all that a life has, and it hands over often.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		lived = newWorld(t, seed)
		lived.disk.Fate = fate
		lived.live()
	})
	return lived
}

// TestSimulationFindsLosses: on a disk that lies about its syncs something is lost
// before long.
func TestSimulationFindsLosses(t *testing.T) {
	lies := func(string) crashfs.SyncFate { return crashfs.Ignored }
	for seed := range uint64(200) {
		if w := liveWith(t, seed, lies); w.failed() {
			t.Logf("seed %d: %s", seed, w.violation)
			return
		}
	}
	t.Error("nothing was lost")
}

// TestSimulationIsDeterministic: a seed that fails must fail again.
func TestSimulationIsDeterministic(t *testing.T) {
	for seed := range uint64(10) {
		if first, second := simulate(t, seed), simulate(t, seed); first.hash != second.hash {
			n := min(len(first.trace), len(second.trace))
			for i := range n {
				if first.trace[i] != second.trace[i] {
					t.Fatalf("seed %d: step %d is %q and then %q", seed, i, first.trace[i], second.trace[i])
				}
			}
			t.Fatalf("seed %d: %d and %d steps", seed, len(first.trace), len(second.trace))
		}
	}
}
