package engine_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// FuzzReplayEvents damages the events of real histories. An edit is three bytes:
// which event, which value in its JSON, and what takes its place. Whatever is
// accepted is a Run that can be shown, and that its own events make again.
func FuzzReplayEvents(f *testing.F) {
	seeds := histories(f)
	for which := range seeds {
		for node := range byte(40) {
			f.Add(byte(which), []byte{1, node, node}, true)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte, cut bool) {
		replayDamaged(t, seeds, which, edits, cut)
	})
}

// TestReplayOfDamage is the same with damage from a generator, so that every run
// of the tests sees some.
func TestReplayOfDamage(t *testing.T) {
	seeds := histories(t)
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range damages {
		edits := make([]byte, 3*(1+random.IntN(3)))
		for i := range edits {
			edits[i] = byte(random.Uint32())
		}
		if replayDamaged(t, seeds, byte(random.Uint32()), edits, random.IntN(2) == 0) {
			accepted++
		}
	}
	t.Logf("%d of %d damaged histories are still histories", accepted, damages)
	if accepted == 0 || accepted == damages {
		t.Error("the damage proves nothing")
	}
}

// histories are those that are damaged, each with its events as JSON values.
func histories(t tester) []damageable {
	granted := startWith(t, clean).toImplement().submit(asking(schema.DestructiveConfirmationRequired))
	granted.must(confirming(granted))
	all := []*history{
		startWith(t, deleted, withoutReview, withBudget(1)).submit(suggesting(schema.Clarify, "x")),
		fuzzSeed(t), granted, startWith(t, clean).submitSeeing(unseen("x"), suggesting(schema.Clarify, "x")),
		supersededRun(t), startWith(t, clean).submit().submit(),
	}
	list := make([]damageable, len(all))
	for i, h := range all {
		for _, e := range h.events {
			data, err := e.Encode()
			if err != nil {
				t.Fatalf("encode: %v", err)
			}
			list[i] = append(list[i], damageableEvent{string(e.Type), data})
		}
	}
	return list
}

type (
	damageable      []damageableEvent
	damageableEvent struct {
		kind string
		data []byte
	}
)

func fuzzSeed(t tester) *history {
	h := startWith(t, clean).submit(asking(schema.DecisionRequired))
	h.must(replying(h, "yes"))
	h.toImplement().submit(asking(schema.DestructiveConfirmationRequired))
	h.must(confirming(h)).submitSeeing(seen(edited)).must(stop).must(resume)
	h.must(engine.Skip{ActionID: h.action().ActionID})
	return h.submit()
}

func replayDamaged(t *testing.T, seeds []damageable, which byte, edits []byte, cut bool) (accepted bool) {
	t.Helper()
	seed := slices.Clone(seeds[int(which)%len(seeds)])
	last := 0
	for ; len(edits) >= 3; edits = edits[3:] {
		at := int(edits[0]) % len(seed)
		seed[at].data = damage(seed[at].data, int(edits[1]), int(edits[2]))
		last = max(last, at)
	}
	if cut {
		seed = seed[:last+1]
	}
	events := make([]engine.Event, len(seed))
	for i, s := range seed {
		var err error
		if events[i], err = engine.DecodeEvent(s.kind, startOfTime.AddDate(0, 0, i), s.data); err != nil {
			return false
		}
	}
	run, err := engine.Replay(testRunID, events)
	if err != nil {
		return false
	}
	s, err := run.Status()
	if err != nil {
		t.Fatalf("accepted, but can not be shown: %v", err)
	}
	checkAccepted(t, s)
	again := (&history{t: t, events: events}).replayed()
	if statusJSON(t, again) != statusJSON(t, run) {
		t.Fatal("the events make another Run once they were encoded")
	}
	for _, c := range []engine.Command{stop, resume, engine.Skip{ActionID: actionID(1)}, engine.Reply{ActionID: actionID(1), Text: "x"}} {
		_, _ = engine.Decide(run, c, engine.Facts{Now: startOfTime, ActionID: "new", Git: seen(clean)})
	}
	return true
}

// checkAccepted holds the rules between fields that a host relies on.
func checkAccepted(t *testing.T, s *schema.RunStatus) {
	t.Helper()
	if err := s.Next.Validate(); err != nil {
		t.Fatal(err)
	}
	waiting := s.State == schema.Active || s.PauseReason == schema.DecisionRequired || s.PauseReason == schema.DestructiveConfirmationRequired
	switch {
	case waiting && s.CurrentAction == nil:
		t.Fatalf("nothing waits in state %s %s", s.State, s.PauseReason)
	case s.RemainingBudget < 0 || s.ReviewPending && !s.ReviewEnabled || len(s.Actions) == 0:
		t.Fatalf("impossible: %+v", s)
	case (s.State == schema.Ended) != (s.Summary != ""), (s.State == schema.Paused) != (s.PauseReason != ""):
		t.Fatalf("state %s, pause %q, summary %q", s.State, s.PauseReason, s.Summary)
	case s.DestructiveGrant != nil && (s.CurrentAction == nil || s.CurrentAction.DestructiveAuthorization != s.DestructiveGrant):
		t.Fatal("a grant that no Action carries")
	}
	wantShape(t, "run_status", s)
}

// damage puts something else at the n-th value of a JSON document.
func damage(document []byte, n, with int) []byte {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return document
	}
	count := 0
	visit(value, func(any) any { count++; return nil }, false)
	target := n % max(count, 1)
	at := 0
	visit(value, func(old any) any {
		if at++; at-1 != target {
			return old
		}
		return replacements(old)[with%len(replacements(old))]
	}, true)
	damaged, err := json.Marshal(value)
	if err != nil {
		return document
	}
	return damaged
}

// visit calls see for each value within another one, in a fixed order, and
// replaces it by the result if it is to; missing takes a key away.
func visit(value any, see func(any) any, replace bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := see(v[key])
			switch {
			case replace && inner == missing:
				delete(v, key)
				continue
			case replace:
				v[key] = inner
			}
			visit(v[key], see, replace)
		}
	case []any:
		for i := range v {
			if inner := see(v[i]); replace && inner != missing {
				v[i] = inner
			}
			visit(v[i], see, replace)
		}
	}
}

// missing stands for a key that is not there.
var missing any = json.Number("missing")

func replacements(old any) []any {
	common := []any{missing, nil, "", []any{}, map[string]any{}}
	switch v := old.(type) {
	case string:
		return append(common, "active", "paused", "stopped", "ended", "decision_required", "destructive_confirmation_required",
			"environment_unavailable", "budget_exhausted", "orient", "clarify", "implement", "review", "summarize", "completed",
			"needs_input", "error", "applied", actionID(1), actionID(2), actionID(3), v+" ", string(digestOf(v)), "\x00", "\u2028")
	case float64:
		return append(common, v+1, v-1, -v, 0.5, 1e30)
	case bool:
		return append(common, !v)
	case []any:
		return append(common, append(slices.Clone(v), v...), append(slices.Clone(v), "more"))
	}
	return append(common, []any{old}, "text", 1.0)
}
