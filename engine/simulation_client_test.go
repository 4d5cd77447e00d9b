package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"slipway/engine"
	"slipway/journal/crashfs"
	"slipway/schema"
)

// client is a host that works on Runs. It does one thing at a time, through any
// process, and remembers what it was told.
type client struct {
	world  *world
	name   string
	random *rand.Rand
	busy   bool
	marks  int
	again  *deed // to be repeated, because its answer was lost
	doing  *deed // under way
}

// deed is something that a client wants done once, in one or more attempts.
type deed struct {
	kind  string // of the event that it is to leave
	run   string // empty for a start, until it is known
	mark  string // what the event is known by
	try   func(*engine.Keeper) (*schema.ProtocolState, error)
	tries int

	acknowledged bool
	possible     bool // an attempt may have left it
	before       int  // how many deeds were acknowledged when the last attempt began
}

// begin starts the next operation of the client as an actor.
func (c *client) begin() {
	w := c.world
	c.busy = true
	var p *simProcess
	if w.random.IntN(3) == 0 {
		p = w.startProcess(fmt.Sprintf("%s embedded %d", c.name, len(w.trace)), true)
	} else {
		p = w.processes[w.random.IntN(len(w.processes))]
		for p.embedded {
			p = w.processes[w.random.IntN(len(w.processes))]
		}
	}
	p.busy++
	run := w.ledger.anyRun(c.random)
	w.spawn(c.name, func() {
		defer func() {
			c.busy = false
			if p.busy--; p.busy == 0 {
				p.faulted = false
			}
			if p.embedded && !p.dead {
				w.kill(p)
			}
		}()
		d := c.again
		c.again = nil
		if d == nil {
			d = c.decide(p, run)
		}
		if d != nil {
			c.attempt(p, d)
		}
	})
}

// attempt carries out a deed and notes what the client is told.
func (c *client) attempt(p *simProcess, d *deed) {
	l := c.world.ledger
	c.doing = d
	l.begins(d)
	state, err := d.try(p.keeper)
	l.told(p, d, state, err)
	switch code := codeOf(err); {
	case d.acknowledged || d.kind == "run_started":
	case p.dead, code == schema.CodeMutationOutcomeAmbiguous, code == schema.CodeMutationNotCommitted, code == schema.CodeRunBusy:
		if d.tries < 6 && c.random.IntN(5) > 0 {
			c.again = d
		}
	}
}

// newMark is a text that stands in one event alone.
func (c *client) newMark() string {
	c.marks++
	return fmt.Sprintf("mark %s %d.", c.name, c.marks)
}

// decide looks at a Run and chooses what to do; nil where nothing is to be done.
func (c *client) decide(p *simProcess, run string) *deed {
	if run == "" || c.random.IntN(12) == 0 {
		return c.start()
	}
	status, ok := c.look(p, run)
	if !ok {
		return nil
	}
	d := &deed{run: run}
	switch chance := c.random.IntN(10); {
	case status.State == schema.Ended:
		return nil
	case status.State == schema.Stopped || status.State == schema.Paused && status.CurrentAction == nil:
		d.resume(c, status)
	case chance == 0:
		d.kind, d.try = "run_stopped", func(k *engine.Keeper) (*schema.ProtocolState, error) {
			return k.Stop(context.Background(), paperCaller, engine.StopRequest{Run: run})
		}
	case status.State == schema.Paused:
		d.answer(c, status.CurrentAction)
	case chance == 1:
		action := status.CurrentAction.ActionID
		d.kind, d.mark, d.try = "action_skipped", action, func(k *engine.Keeper) (*schema.ProtocolState, error) {
			return k.Skip(context.Background(), paperCaller, engine.SkipRequest{Run: run, Action: action})
		}
	default:
		d.submit(c, status.CurrentAction)
	}
	return d
}

func (c *client) start() *deed {
	d := &deed{kind: "run_started", mark: c.newMark()}
	q := engine.StartRequest{Goal: d.mark, Budget: 1000, Review: c.random.IntN(2) == 0}
	if c.random.IntN(2) == 0 {
		q.Source = newIssue().envelope(c.world.t)
	}
	d.try = func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Start(context.Background(), paperCaller, q)
	}
	return d
}

func (d *deed) submit(c *client, a *schema.Action) {
	d.kind, d.mark = "outcome_submitted", c.newMark()
	edits := []func(*schema.Outcome){func(o *schema.Outcome) { o.Summary = d.mark + " größer" }}
	switch {
	case a.Kind != schema.Summarize && c.random.IntN(4) == 0:
		edits = append(edits, asking(schema.DecisionRequired))
	case a.Kind == schema.Orient || a.Kind == schema.Clarify:
		edits = append(edits, suggesting([]schema.Kind{schema.Clarify, schema.Implement}[c.random.IntN(2)], "go on"))
	}
	q := engine.SubmitRequest{Run: d.run, Action: a.ActionID, Outcome: encode(c.world.t, outcomeOf(a, edits...))}
	d.try = func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Submit(context.Background(), paperCaller, q)
	}
}

func (d *deed) answer(c *client, a *schema.Action) {
	d.kind, d.mark = "answer_recorded", c.newMark()
	q := engine.AnswerRequest{Run: d.run, Action: a.ActionID, Text: d.mark}
	d.try = func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Answer(context.Background(), paperCaller, q)
	}
}

func (d *deed) resume(c *client, status *schema.RunStatus) {
	q := engine.ResumeRequest{Run: d.run}
	d.kind = "run_resumed"
	switch {
	case status.SourceCandidate != nil:
		d.kind = "source_pinned"
		choice := "pinned"
		q.SourceChoice, q.Candidate = &choice, &status.SourceCandidate.CandidateID
		d.mark = status.SourceCandidate.CandidateID
	case status.PinnedSource != nil && c.random.IntN(2) == 0:
		issue := newIssue()
		issue.kept = 3
		d.kind, q.Source, q.HasSource = "source_candidate_created", issue.envelope(c.world.t), true
	case status.PinnedSource != nil:
		d.kind, q.UsePinnedSource = "source_refresh_skipped", true
	}
	d.try = func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Resume(context.Background(), paperCaller, q)
	}
}

// look reads a Run, and holds it against what was acknowledged before.
func (c *client) look(p *simProcess, run string) (*schema.RunStatus, bool) {
	l := c.world.ledger
	want := l.known(run)
	status, err := p.keeper.Status(context.Background(), paperCaller, run)
	if err != nil {
		l.mayFail(p, run, "status", err)
		return nil, false
	}
	seen := map[string]bool{}
	for _, a := range status.Actions {
		if a.Outcome != nil {
			seen[a.Outcome.Summary] = true
		}
	}
	for _, mark := range want {
		if !seen[mark+" größer"] {
			c.world.wrong("%s read Run %s through %s and did not see %q, which was acknowledged before", c.name, run, p.name, mark)
		}
	}
	return status, true
}

// journalOf is the journal of a Run on a disk.
func journalOf(disk *crashfs.Disk, run string) []byte {
	return disk.File("slipway/runs/" + run + "/journal.jsonl")
}
