package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// storage.md, 3.3: events that are not the history of a Run are refused, each
// for the reason named.
func TestReplayIsRefused(t *testing.T) {
	type change = func(c *engine.Change)
	granted, ended, asked := grantedRun(t), endedRun(t), decisionRun(t)
	answered := decisionRun(t)
	answered.must(replying(answered, "yes"))
	declined := destructiveRun(t)
	declined.must(replying(declined, "no"))
	stopped, skipped := stoppedRun(t), startWith(t, clean).must(engine.Skip{ActionID: actionID(1)})
	other := schema.NewWorkspaceIdentity(absolute("/srv/other"), absolute("/srv/other/.git"), absolute("/srv/other/.git"))
	for name, c := range map[string]struct {
		h  *history
		at int // the event that is damaged; -1: the last one
		do change
	}{
		"another Run":              {asked, 0, func(c *engine.Change) { c.Started.RunID = "other" }},
		"workspace digest":         {asked, 0, func(c *engine.Change) { c.Started.WorkspaceIdentity.ID = other.ID }},
		"workspace path":           {asked, 0, func(c *engine.Change) { c.Started.WorkspaceIdentity.GitDir = "relative" }},
		"blank goal":               {asked, 0, func(c *engine.Change) { c.Started.Goal = " \n" }},
		"goal that is no text":     {asked, 0, func(c *engine.Change) { c.Started.Goal = "a\x01" }},
		"initial budget 0":         {asked, 0, func(c *engine.Change) { c.Started.InitialBudget = 0 }},
		"initial budget 1001":      {asked, 0, func(c *engine.Change) { c.Started.InitialBudget = 1001 }},
		"no first observation":     {asked, 0, func(c *engine.Change) { c.Observed = nil }},
		"empty first observation":  {asked, 0, func(c *engine.Change) { c.Observed = &engine.Observed{} }},
		"no first Action":          {asked, 0, func(c *engine.Change) { c.Issued = nil }},
		"no content":               {asked, 0, func(c *engine.Change) { c.Started = nil }},
		"start again":              {asked, 1, func(c *engine.Change) { c.Submitted, c.Started = nil, asked.events[0].Change.Started }},
		"content of another event": {asked, 1, func(c *engine.Change) { c.Skipped = actionID(1) }},
		"unknown state":            {asked, 1, func(c *engine.Change) { c.State = "asleep" }},
		"no state":                 {asked, 1, func(c *engine.Change) { c.State = "" }},
		"unknown pause reason":     {asked, 1, func(c *engine.Change) { c.PauseReason = "tired" }},
		"no pause reason":          {asked, 1, func(c *engine.Change) { c.PauseReason = "" }},
		"reason without pause":     {stopped, -1, func(c *engine.Change) { c.PauseReason = schema.DecisionRequired }},
		"negative budget":          {asked, 1, func(c *engine.Change) { c.RemainingBudget = -1 }},
		"budget from nowhere":      {asked, 1, func(c *engine.Change) { c.RemainingBudget++ }},
		"budget that was not paid": {answered, -1, func(c *engine.Change) { c.RemainingBudget++ }},
		"malformed payload digest": {asked, 1, func(c *engine.Change) { c.Submitted.PayloadSHA256 = "sha256:ABC" }},
		"answer digest":            {answered, -1, func(c *engine.Change) { c.Answered.PayloadSHA256 = digestOf("x") }},
		"answer text":              {answered, -1, func(c *engine.Change) { c.Answered.Text = "no" }},
		"snapshot":                 {asked, 1, func(c *engine.Change) { c.Observed = &engine.Observed{Git: damagedObservation()} }},
		"Outcome of another":       {asked, 1, func(c *engine.Change) { c.Submitted.Outcome.ActionID = "other" }},
		"Outcome of another kind":  {asked, 1, func(c *engine.Change) { c.Submitted.Outcome.ActionKind = schema.Review }},
		"Outcome without summary":  {asked, 1, func(c *engine.Change) { c.Submitted.Outcome.Summary = "" }},
		"pause without question":   {asked, 1, func(c *engine.Change) { c.PauseReason = schema.DestructiveConfirmationRequired }},
		"pause for another answer": {environmentRun(t), 1, func(c *engine.Change) { c.PauseReason = schema.DecisionRequired }},
		"settled, yet asking": {declined, 1, func(c *engine.Change) {
			c.Issued, c.State, c.PauseReason, c.RemainingBudget = nil, schema.Paused, schema.DestructiveConfirmationRequired, 19
		}},
		"active without Action":     {declined, 1, func(c *engine.Change) { c.Issued, c.RemainingBudget = nil, 19 }},
		"Action beside another":     {asked, 1, func(c *engine.Change) { c.Issued, c.RemainingBudget = issued("new"), 18 }},
		"Action into a pause":       {answered, -1, func(c *engine.Change) { c.State, c.PauseReason = schema.Paused, schema.BudgetExhausted }},
		"Action issued twice":       {answered, -1, func(c *engine.Change) { c.Issued.ActionID = actionID(1) }},
		"Action without id":         {answered, -1, func(c *engine.Change) { c.Issued.ActionID = "" }},
		"Action of unknown kind":    {answered, -1, func(c *engine.Change) { c.Issued.Kind = "dance" }},
		"Action without brief":      {answered, -1, func(c *engine.Change) { c.Issued.Brief = "\n" }},
		"brief too long":            {answered, -1, func(c *engine.Change) { c.Issued.Brief = repeated("b", 8193) }},
		"stopped, yet waiting":      {stopped, -1, func(c *engine.Change) { c.Voided = "" }},
		"voided another":            {stopped, -1, func(c *engine.Change) { c.Voided = "other" }},
		"skipped another":           {skipped, -1, func(c *engine.Change) { c.Skipped = "other" }},
		"skipped and voided":        {skipped, -1, func(c *engine.Change) { c.Voided = c.Skipped }},
		"stop that does not stop":   {stopped, -1, func(c *engine.Change) { c.State = schema.Active }},
		"answer of another":         {answered, -1, func(c *engine.Change) { c.Answered.ActionID = "other" }},
		"answered, yet not voided":  {answered, -1, func(c *engine.Change) { c.Voided = "" }},
		"scope of a decision":       {answered, -1, func(c *engine.Change) { c.Answered.ScopeSHA256 = digestOf("x") }},
		"confirmation of decision":  {answered, -1, func(c *engine.Change) { c.Answered.ConfirmDestructive = true }},
		"confirmation of another":   {granted, -1, func(c *engine.Change) { c.Answered.ScopeSHA256 = digestOf("x") }},
		"granted, yet voided":       {granted, -1, func(c *engine.Change) { c.Voided = c.Answered.ActionID }},
		"grant for another kind":    {granted, -1, func(c *engine.Change) { c.Issued.Kind = schema.Orient }},
		"request of another scope":  {granted, 2, func(c *engine.Change) { requestOf(c).ScopeSHA256 = digestOf("x") }},
		"request of another impact": {granted, 2, func(c *engine.Change) { requestOf(c).Impact = "less" }},
		"end without summary":       {ended, -1, func(c *engine.Change) { c.Summary = "" }},
		"summary before the end":    {asked, 1, func(c *engine.Change) { c.Summary = "the end" }},
		"ended, yet waiting":        {asked, 1, func(c *engine.Change) { c.State, c.PauseReason, c.Summary = schema.Ended, "", "the end" }},
	} {
		t.Run(name, func(t *testing.T) {
			c.h.wantRefusedWith(t, c.at, c.do)
		})
	}
}

// wantRefusedWith damages the event at an index, counted from the end where it is
// negative.
func (h *history) wantRefusedWith(t *testing.T, at int, damage func(*engine.Change)) {
	t.Helper()
	h.t = t
	h.replayed() // undamaged
	events := h.decoded()
	if at < 0 {
		at += len(events)
	}
	damage(&events[at].Change)
	wantRefusedHistory(t, events[:at+1], at+1)
}

func wantRefusedHistory(t *testing.T, events []engine.Event, at int) {
	t.Helper()
	run, err := engine.Replay(testRunID, events)
	var refused *engine.HistoryError
	if run != nil || !errors.As(err, &refused) {
		t.Fatalf("accepted: %v", err)
	}
	if refused.Event != int64(at) || refused.Error() == "" {
		t.Errorf("event %d is named, want %d: %v", refused.Event, at, err)
	}
}

func issued(id string) *engine.Issued {
	return &engine.Issued{ActionID: id, Kind: schema.Orient, Brief: "b"}
}

func requestOf(c *engine.Change) *schema.DestructiveRequest {
	return c.Submitted.Outcome.Pause.DestructiveRequest
}

func damagedObservation() *schema.Observation {
	o := *edited
	o.Head = clean.Head[1:] + "9"
	return &o
}

// supersededRun answered a question that replaces an earlier one.
func supersededRun(t tester) *history {
	h := decisionRun(t)
	first := h.action().ActionID
	h.must(replying(h, "left"))
	h.submit(asking(schema.DecisionRequired), superseding(first))
	return h.must(replying(h, "right"))
}

func TestReplayOfWholeEvents(t *testing.T) {
	wantRefusedHistory(t, nil, 1)
	h := endedRun(t)
	wantRefusedHistory(t, h.events[1:], 1)
	wantRefusedHistory(t, append(h.decoded(), stoppedRun(t).decoded()[1]), len(h.events)+1)
	again := startWith(t, clean)
	wantRefusedHistory(t, append(again.decoded(), again.decoded()...), 2)
	if _, err := engine.Replay("other", h.decoded()); err == nil {
		t.Error("a copied Run was accepted under its new name")
	}
	twice := decisionRun(t)
	twice.must(replying(twice, "yes"))
	wantRefusedHistory(t, append(twice.decoded(), twice.decoded()[2]), 4)
	repeated := decisionRun(t)
	wantRefusedHistory(t, append(repeated.decoded(), repeated.decoded()[1]), 3)
	superseding := supersededRun(t).decoded()
	nobody := "nobody"
	superseding[3].Change.Submitted.Outcome.Pause.SupersedesAnswerActionID = &nobody
	wantRefusedHistory(t, superseding, 5)
	unknown := decisionRun(t).decoded()
	unknown[1].Type = "outcome_forgotten"
	wantRefusedHistory(t, unknown, 2)
	for _, swapped := range []engine.EventType{engine.RunStopped, engine.RunResumed, engine.ActionSkipped, engine.AnswerRecorded, engine.RunStarted} {
		events := decisionRun(t).decoded()
		events[1].Type = swapped
		wantRefusedHistory(t, events, 2)
	}
}

// A Run is a value: a refused event leaves it as it was.
func TestApplyLeavesTheRunAlone(t *testing.T) {
	h := decisionRun(t)
	before := statusJSON(t, h.run)
	after := h.run
	for _, e := range h.decoded() {
		if run, err := h.run.Apply(e); err == nil || run != nil {
			t.Fatalf("%s was accepted twice", e.Type)
		}
	}
	h.must(replying(h, "yes"))
	if statusJSON(t, after) != before {
		t.Error("the older Run changed")
	}
}

// Two Runs made of one share what came before and nothing else, however much
// room its lists happen to have left.
func TestSuccessorsAreApart(t *testing.T) {
	h := startWith(t, clean, withBudget(1000))
	for range 9 {
		h.toImplement().submitSeeing(seen(edited), reportingWork("work"))
		h.submit(reportingWork("review")).must(stop).must(resume)
		origin := h.toImplement().run
		successor := func(word string) *engine.Run {
			h := &history{t: t, run: origin, ids: h.ids, now: h.now}
			h.submitSeeing(seen(edited), reportingWork(word))
			return h.run
		}
		before := statusJSON(t, origin)
		one := successor("one")
		first := statusJSON(t, one)
		successor("two")
		if statusJSON(t, one) != first || statusJSON(t, origin) != before {
			t.Fatal("a Run changed when a sibling was made")
		}
		h.must(stop).must(resume)
	}
}

// reportingWork fills every list of an Outcome with a word.
func reportingWork(word string) func(*schema.Outcome) {
	return func(o *schema.Outcome) {
		o.Observations, o.KnownIssues = []string{word}, []string{word}
		if o.Implementation != nil {
			o.Implementation.Uncertainties = []string{word}
			o.Implementation.Activities = []schema.Activity{{Kind: "test", Command: word, Summary: word}}
		}
		if o.Review != nil {
			o.Review.Uncertainties = []string{word}
		}
	}
}

// storage.md, 3.3: an event is read as strictly as any document.
func TestDecodeEventIsStrict(t *testing.T) {
	const good = `{"voided":"a","state":"stopped","remaining_budget":3}`
	if e, err := engine.DecodeEvent("run_stopped", startOfTime, []byte(good)); err != nil || e.Change.Voided != "a" || e.Type != engine.RunStopped {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, bad := range []string{
		``, ` `, `null`, `[]`, `"x"`, `{`, good + `{}`, good + `,`, "\xef\xbb\xbf" + good,
		strings.Replace(good, `"a"`, "\"\xff\"", 1),
		strings.Replace(good, `"a"`, `null`, 1), strings.Replace(good, `"a"`, `1`, 1),
		strings.Replace(good, `3`, `3.0`, 1), strings.Replace(good, `3`, `"3"`, 1), strings.Replace(good, `3`, `99999999999999999999`, 1),
		strings.Replace(good, `"voided"`, `"Voided"`, 1), strings.Replace(good, `"voided"`, `"unknown"`, 1),
		strings.Replace(good, `{`, `{"state":"stopped",`, 1), strings.Replace(good, `{`, `{"st\u0061te":"stopped",`, 1),
		strings.Replace(good, `{`, `{"observed":{"git":{"version":1,"extra":1}},`, 1),
		strings.Replace(good, `{`, `{"observations":[null],`, 1),
		strings.Repeat("[", 1_000_000),
		good + strings.Repeat(" ", 5<<20),
	} {
		if e, err := engine.DecodeEvent("run_stopped", time.Time{}, []byte(bad)); err == nil {
			t.Errorf("accepted %.80q: %+v", bad, e)
		}
	}
}
