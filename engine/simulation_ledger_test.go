package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"slipway/engine"
	"slipway/schema"
)

// ledger is what the clients of a world were promised.
type ledger struct {
	world *world

	mu    sync.Mutex // what clients write while they run
	deeds []*deed
	runs  map[string]*simRun // by id
	ids   []string           // in the order in which they became known
	order []*deed            // in the order in which they were acknowledged
}

// simRun is a Run that somebody was told of.
type simRun struct {
	refused bool // a power cut left it as one that is refused by its name
}

// begins notes an attempt.
func (l *ledger) begins(d *deed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.tries++
	d.before = len(l.order)
	if d.tries == 1 {
		l.deeds = append(l.deeds, d)
	}
}

// anyRun chooses a Run to work on; empty where there is none.
func (l *ledger) anyRun(random *rand.Rand) string {
	var usable []string
	for _, id := range l.ids {
		if !l.runs[id].refused {
			usable = append(usable, id)
		}
	}
	if len(usable) == 0 {
		return ""
	}
	return usable[random.IntN(len(usable))]
}

// told notes what the client was told of a deed.
func (l *ledger) told(p *simProcess, d *deed, state *schema.ProtocolState, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.world.note("%s: %s %q of %s (try %d): %s", p.name, d.kind, d.mark, d.run, d.tries, verdictOf(err))
	be, notBe := may(err)
	switch {
	case p.dead:
		d.possible = true // whatever it was told, it did not hear it
	case be && !notBe:
		l.acknowledge(d, state)
	case be:
		d.possible = true
		l.mayFail(p, d.run, d.kind, err)
	default:
		l.mayFail(p, d.run, d.kind, err)
	}
}

func (l *ledger) acknowledge(d *deed, state *schema.ProtocolState) {
	d.possible = true
	if d.acknowledged {
		return
	}
	d.acknowledged = true
	l.order = append(l.order, d)
	if d.kind == "run_started" && state != nil {
		d.run = state.RunID
		l.runs[d.run] = &simRun{}
		l.ids = append(l.ids, d.run)
	}
}

// mayFail checks that an error has a reason: a fault, a death, another client.
func (l *ledger) mayFail(p *simProcess, run, what string, err error) {
	if p.dead || p.faulted || run != "" && l.runs[run] != nil && l.runs[run].refused {
		return
	}
	switch codeOf(err) {
	case schema.CodeStaleAction, schema.CodeRunNotActive, schema.CodeRunNotSkippable, schema.CodeRunNotResumable, schema.CodeRunAlreadyEnded,
		schema.CodeOutcomeConflict, schema.CodeAnswerConflict, schema.CodeAnswerNotExpected, schema.CodeRunBusy, schema.CodeSourceCandidatePending,
		schema.CodeSourceChoiceRequired, schema.CodeStaleSourceCandidate, schema.CodeSourceModeRequired:
		return
	}
	l.world.wrong("%s failed for no reason: %s of %s: %v", p.name, what, run, err)
}

// known are the marks of the Outcomes of a Run that were acknowledged so far.
func (l *ledger) known(run string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var marks []string
	for _, d := range l.order {
		if d.run == run && d.kind == "outcome_submitted" {
			marks = append(marks, d.mark)
		}
	}
	return marks
}

// simEvent is what the model reads of a record.
type simEvent struct {
	Type string `json:"type"`
	Data struct {
		Started   *struct{ Goal string } `json:"started"`
		Submitted *struct {
			Outcome struct{ Summary string } `json:"outcome"`
		} `json:"submitted"`
		Answered *struct{ Text string } `json:"answered"`
		Skipped  string                 `json:"skipped"`
		Resumed  *struct {
			CandidateID string `json:"candidate_id"`
		} `json:"resumed"`
	} `json:"data"`
}

// mark is what a deed of the event's kind is known by.
func (e *simEvent) mark() string {
	switch {
	case e.Data.Started != nil:
		return e.Data.Started.Goal
	case e.Data.Submitted != nil:
		return strings.TrimSuffix(e.Data.Submitted.Outcome.Summary, " größer")
	case e.Data.Answered != nil:
		return e.Data.Answered.Text
	case e.Data.Skipped != "":
		return e.Data.Skipped
	case e.Type == "source_pinned":
		return e.Data.Resumed.CandidateID
	}
	return ""
}

// judge holds all journals against what was promised: every acknowledged deed is
// there once, nothing is there that was told not to be, and deeds that followed on
// each other do so in the journal.
func (l *ledger) judge(when string) {
	report, err := l.reader().Verify(context.Background(), paperCaller, "")
	if err != nil {
		l.world.wrong("%s: verify: %v", when, err)
		return
	}
	found := map[string]int{} // place of a mark in its journal
	counts := map[string]int{}
	for i := range report.Runs {
		r := &report.Runs[i]
		if !l.sound(r, when) {
			continue
		}
		for place, e := range l.events(r.ID) {
			key := e.Type + " " + e.mark()
			if e.mark() == "" {
				counts[r.ID+" "+e.Type]++
				continue
			}
			if found[key] > 0 {
				l.world.wrong("%s: %s is there twice", when, key)
			}
			found[key] = place + 1
		}
	}
	l.judgeMarked(found, when)
	l.judgeCounted(counts, when)
}

// reader is a Keeper that nobody holds up: it looks at a copy of the disk.
func (l *ledger) reader() *engine.Keeper {
	return newOperator(l.world.disk.Copy().Process(), true).keeper
}

// sound says whether a Run is to be looked at. One that is not sound must be a start
// that nobody was told of, or one whose last record is a torn write that looks like
// a damaged line.
func (l *ledger) sound(r *engine.RunCheck, when string) bool {
	known := l.runs[r.ID]
	switch {
	case r.Sound:
		return true
	case known == nil:
		return false
	case known.refused:
		return false
	}
	content := journalOf(l.world.disk, r.ID)
	if bytes.HasSuffix(content, []byte("\n")) && bytes.IndexByte(content, 0) >= 0 {
		l.world.note("Run %s is refused by its name", r.ID)
		known.refused = true
		return false
	}
	l.world.wrong("%s: Run %s is damaged: %q", when, r.ID, r.Faults)
	return false
}

func (l *ledger) events(run string) []simEvent {
	var events []simEvent
	for line := range bytes.Lines(journalOf(l.world.disk, run)) {
		var e simEvent
		if json.Unmarshal(line, &e) == nil && e.Type != "" {
			events = append(events, e)
		}
	}
	return events
}

// judgeMarked looks for the deeds that are known by a mark.
func (l *ledger) judgeMarked(found map[string]int, when string) {
	for _, d := range l.deeds {
		if d.mark == "" || d.run != "" && l.runs[d.run] != nil && l.runs[d.run].refused {
			continue
		}
		place := found[d.kind+" "+d.mark]
		switch {
		case d.acknowledged && place == 0:
			l.world.wrong("%s: %s %q of %s was acknowledged and is lost", when, d.kind, d.mark, d.run)
		case !d.possible && place > 0 && !d.shared() && !l.underWay(d):
			l.world.wrong("%s: %s %q of %s was told not to be recorded, and is", when, d.kind, d.mark, d.run)
		}
	}
	for _, d := range l.order {
		place := found[d.kind+" "+d.mark]
		if !d.once() || place == 0 {
			continue
		}
		for _, earlier := range l.order[:d.before] {
			if earlier.run == d.run && earlier.once() && found[earlier.kind+" "+earlier.mark] > place {
				l.world.wrong("%s: %q stands before %q, which was acknowledged before it began", when, d.mark, earlier.mark)
			}
		}
	}
}

// shared says whether other clients may do the same deed: skips and choices are
// known by ids that all see.
func (d *deed) shared() bool { return d.kind == "action_skipped" || d.kind == "source_pinned" }

// once says whether there was one attempt, which alone can have left the mark.
func (d *deed) once() bool { return d.mark != "" && d.tries == 1 && !d.shared() }

// underWay says whether an attempt has not been answered yet.
func (l *ledger) underWay(d *deed) bool {
	return slices.ContainsFunc(l.world.clients, func(c *client) bool { return c.busy && c.doing == d })
}

// judgeCounted compares how often things without a mark are there.
func (l *ledger) judgeCounted(counts map[string]int, when string) {
	least, most := map[string]int{}, map[string]int{}
	for _, d := range l.deeds {
		if d.mark != "" {
			continue
		}
		key := d.run + " " + d.kind
		if d.acknowledged {
			least[key]++
		}
		if d.possible || l.underWay(d) {
			most[key] += d.tries
		}
	}
	for key := range most {
		run, _, _ := strings.Cut(key, " ")
		if l.runs[run].refused {
			continue
		}
		if n := counts[key]; n < least[key] || n > most[key] {
			l.world.wrong("%s: %s is there %d times; %d were acknowledged, %d tried", when, key, n, least[key], most[key])
		}
	}
}

// judgeProjections checks run.json once all processes have ended in good order.
func (l *ledger) judgeProjections() {
	report, err := l.reader().Verify(context.Background(), paperCaller, "")
	if err != nil {
		l.world.wrong("verify: %v", err)
		return
	}
	for _, r := range report.Runs {
		if l.runs[r.ID] != nil && r.Sound && r.Projection == engine.ProjectionAhead {
			l.world.wrong("run.json of %s is ahead of its journal", r.ID)
		}
	}
}
