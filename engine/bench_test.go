package engine_test

import (
	"fmt"
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// longRun is a Run of n Actions whose host reports about as much as hosts do, in
// a worktree that changes with every third of them.
func longRun(t tester, n int) *history {
	t.Helper()
	h := startWith(t, observation("1", manyFiles(20)...), withoutReview, withBudget(1000))
	for i := 1; i < n; i++ {
		if i%900 == 0 {
			h.must(stop).must(engine.Resume{Budget: ptr(1000)})
			continue
		}
		h.submitSeeing(seen(observation("1", manyFiles(15+i/3%10)...)), suggesting(schema.Clarify, "look at the next part"), reportingUsually(i))
	}
	return h
}

func ptr[T any](v T) *T { return &v }

func reportingUsually(i int) func(*schema.Outcome) {
	return func(o *schema.Outcome) {
		o.Summary = fmt.Sprintf("Part %d was looked at. %s", i, repeated("It is as expected. ", 300))
		o.Observations = []string{fmt.Sprintf("part %d has tests", i), "the build is green"}
		o.KnownIssues = []string{fmt.Sprintf("part %d is slow", i)}
	}
}

// encoded is what the journal holds of a Run.
func encoded(t tester, h *history) (types []string, data [][]byte, size int) {
	t.Helper()
	for _, e := range h.events {
		d, err := e.Encode()
		if err != nil {
			t.Fatalf("%v", err)
		}
		types, data, size = append(types, string(e.Type)), append(data, d), size+len(d)
	}
	return types, data, size
}

func replayEncoded(t tester, types []string, data [][]byte) *engine.Run {
	t.Helper()
	events := make([]engine.Event, len(data))
	for i := range data {
		var err error
		if events[i], err = engine.DecodeEvent(types[i], startOfTime.Add(time.Duration(i)), data[i]); err != nil {
			t.Fatalf("%v", err)
		}
	}
	run, err := engine.Replay(testRunID, events)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return run
}

// A Run of a thousand Actions is decoded and replayed; 100 ms are the goal.
func BenchmarkReplay1000(b *testing.B) {
	types, data, size := encoded(b, longRun(b, 1000))
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		replayEncoded(b, types, data)
	}
}

func BenchmarkSubmitAt10(b *testing.B)   { benchmarkSubmit(b, 10) }
func BenchmarkSubmitAt1000(b *testing.B) { benchmarkSubmit(b, 1000) }

// benchmarkSubmit is one decision: what a submit costs beside Git and the disk.
func benchmarkSubmit(b *testing.B, n int) {
	h := longRun(b, n)
	c := submitted(b, h.outcome(suggesting(schema.Clarify, "go on"), reportingUsually(n)))
	f := engine.Facts{Now: startOfTime, ActionID: "new", Git: seen(edited)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Decide(h.run, c, f); err != nil {
			b.Fatal(err)
		}
	}
}

// A status shows every Action with its context, so its size grows with the
// square of the history.
func BenchmarkStatus1000(b *testing.B) {
	run := longRun(b, 1000).run
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run.Status(); err != nil {
			b.Fatal(err)
		}
	}
}

// A journal grows with what the host sent and not with its square: each event
// adds a bounded number of bytes of its own (storage.md, 3.1).
func TestEventsHoldOnlyWhatChanged(t *testing.T) {
	h := startWith(t, clean, withBudget(1000), withGoal(repeated("goal ", 10_000)))
	most := 0
	for i := range 300 {
		o := h.outcome(suggesting(schema.Clarify, "go on"), reportingUsually(i))
		h.must(submitted(t, o))
		own := ownBytes(t, h.events[len(h.events)-1], len(encode(t, o)))
		most = max(most, own)
	}
	t.Logf("at most %d bytes of an event are not the host's", most)
	if most > 400 {
		t.Errorf("an event holds %d bytes that are not the host's", most)
	}
	changed := h.submitSeeing(seen(edited), suggesting(schema.Clarify, "go on")).events
	t.Logf("an event with another worktree: %d bytes", ownBytes(t, changed[len(changed)-1], 0))
}

func ownBytes(t tester, e engine.Event, host int) int {
	t.Helper()
	data, err := e.Encode()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return len(data) - host
}
