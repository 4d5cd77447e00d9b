package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/schema"
)

// The most that one envelope of 16 MiB may take of the daemon and of its caller.
const (
	mostResident = 120 << 10 // KiB
	mostElapsed  = time.Second
)

// TestLargeEnvelopes measures what the largest envelopes cost the real daemon,
// alone and several at once: `make bench`. Elsewhere they are only sent: times and
// memory say something on a machine that does nothing else.
func TestLargeEnvelopes(t *testing.T) {
	alone := os.Getenv("SLIPWAY_MEASURE") != ""
	chapters := func(size int) (made []chapter) {
		roles := []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"}
		for i := range 64 {
			c := chapter{key: fmt.Sprintf("k%d", i), role: roles[i%5], title: "T", number: 101 + i}
			c.payload = (fmt.Sprintf("%d\n", i) + strings.Repeat("word\n", size/5))[:size]
			c.body = "<!-- slipway-section:v1 key=" + c.key + " -->\n" + c.payload
			made = append(made, c)
		}
		return made
	}
	filled := func(chapters []chapter) []byte {
		const most = 16 << 20
		room := most - len(envelopeOf(t, "T", "", chapters, nil))
		return envelopeOf(t, "T", strings.Repeat("x", room), chapters, nil)
	}
	for name, test := range map[string]struct {
		envelope []byte
		exit     int
	}{
		"accepted": {filled(chapters(64 << 10)), 0},
		"refused":  {filled(chapters(200_000)), 2}, // the sections are too much together
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorlds(t, "SLIPWAY_DAEMON=require").world(t)
			path := w.file("envelope.json", test.envelope)
			start := func() time.Duration {
				began := time.Now()
				if r := w.run(w.env, "", "run", "--json", "--source-file", path, "tidy"); r.exit != test.exit {
					t.Errorf("exit %d: %.300s", r.exit, r.stderr)
				}
				return time.Since(began)
			}
			w.run(w.env, "", "daemon", "start")
			elapsed := start()
			resident := peakOf(t, w.env)
			if alone {
				times := []time.Duration{elapsed, start(), start(), start(), start()}
				slices.Sort(times)
				elapsed = times[len(times)/2]
			}
			t.Logf("%d bytes: %v, daemon's peak %d MiB", len(test.envelope), elapsed.Round(time.Millisecond), resident>>10)
			if alone && resident >= mostResident {
				t.Errorf("the daemon took %d MiB", resident>>10)
			}
			if !alone {
				return
			}
			if elapsed >= mostElapsed {
				t.Errorf("it took %v", elapsed)
			}
			var clients sync.WaitGroup
			began := time.Now()
			for range 6 {
				clients.Go(func() { start() })
			}
			clients.Wait()
			t.Logf("6 at once: %v, daemon's peak %d MiB", time.Since(began).Round(time.Millisecond), peakOf(t, w.env)>>10)
		})
	}
}

// peakOf is the most memory that the daemon ever had, in KiB.
func peakOf(t *testing.T, env []string) (kib int) {
	t.Helper()
	var daemon struct {
		PID int `json:"pid"`
	}
	for _, entry := range env {
		if dir, found := strings.CutPrefix(entry, "XDG_RUNTIME_DIR="); found {
			content, err := os.ReadFile(filepath.Join(dir, "slipway", "d1.json"))
			if err == nil {
				err = json.Unmarshal(content, &daemon)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", daemon.PID))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(peak, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}

// TestReadingMaterialAgainstVersion compares the largest material, read through
// the thin client, with the program that only says its version, in turns.
func TestReadingMaterialAgainstVersion(t *testing.T) {
	if os.Getenv("SLIPWAY_MEASURE") == "" {
		t.Skip("a measurement: make bench")
	}
	const pairs, most = 60, 2.0
	w := newWorlds(t, "SLIPWAY_DAEMON=require").world(t)
	issue := newIssue()
	issue.comments[0].text = strings.Repeat("0123456 789abcd\n", 16<<10)
	answer := w.run(w.env, "", "run", "--json", "--source-file", w.file("envelope.json", issue.envelope(t)), "tidy")
	var state schema.ProtocolState
	if err := decodeNumbers(answer.stdout, &state); err != nil {
		t.Fatal(err)
	}
	timed := func(args ...string) time.Duration {
		cmd := exec.Command(program("slipway"), args...)
		cmd.Env, cmd.Dir = w.env, w.vars["ROOT"]
		began := time.Now()
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	var ratios []float64
	for range pairs {
		material := timed("protocol", "material", "--run", state.RunID, "--action", state.Action.ActionID, "--section", "outcome")
		ratios = append(ratios, float64(material)/float64(timed("--version")))
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	t.Logf("256 KiB of material take %.2f times as long as --version (median of %d pairs)", median, pairs)
	if median > most {
		t.Errorf("more than %.1f times", most)
	}
}
