package engine

import (
	"context"
	"errors"
	"fmt"

	"slipway/journal"
	"slipway/schema"
)

// Submit reports an Outcome (run.md, 6.3).
func (k *Keeper) Submit(ctx context.Context, caller Caller, q SubmitRequest) (*schema.ProtocolState, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	outcome, fault := schema.DecodeOutcome(q.Outcome)
	if fault != nil {
		w, err := k.workspace(ctx, caller) // where there is none, that comes first
		if err != nil {
			return nil, err
		}
		return nil, undecodable(fault, w.Place(), q)
	}
	return k.mutate(ctx, caller, q.Run, Submit{
		ActionID: q.Action, Outcome: outcome, Payload: schema.PayloadDigest(q.Outcome),
	})
}

func undecodable(fault *schema.OutcomeFault, p schema.Place, q SubmitRequest) *schema.Error {
	if fault.Code == schema.CodeContractVersionMismatch {
		return schema.Runtime(fault.Code, schema.NextRefreshAdapters(p), nil, "%s", fault.Reason)
	}
	return schema.Usage(fault.Code, schema.NextSubmitRetry(p, q.Run, q.Action, q.Stdin), "the Outcome can not be read: %s", fault.Reason)
}

// Answer answers the question of an Action (run.md, 6.4).
func (k *Keeper) Answer(ctx context.Context, caller Caller, q AnswerRequest) (*schema.ProtocolState, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	return k.mutate(ctx, caller, q.Run, Reply{
		ActionID: q.Action, Text: q.Text, ConfirmDestructive: q.ConfirmDestructive, Scope: q.ScopeSHA256,
	})
}

// Skip gives up the current Action (run.md, 6.5).
func (k *Keeper) Skip(ctx context.Context, caller Caller, q SkipRequest) (*schema.ProtocolState, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	return k.mutate(ctx, caller, q.Run, Skip{ActionID: q.Action})
}

// Stop stops a Run; without an id the only live one of the worktree (run.md,
// 6.6).
func (k *Keeper) Stop(ctx context.Context, caller Caller, q StopRequest) (*schema.ProtocolState, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	if !q.Any {
		return k.mutate(ctx, caller, q.Run, Stop{})
	}
	run, err := k.onlyLive(ctx, caller)
	if err != nil {
		return nil, err
	}
	return k.mutate(ctx, caller, run, Stop{})
}

// onlyLive finds the Run that a stop without an id means.
func (k *Keeper) onlyLive(ctx context.Context, caller Caller) (string, error) {
	v, err := k.visit(ctx, caller, journal.ReadWrite)
	if err != nil {
		return "", err
	}
	defer v.store.Close()
	entries, err := k.entries(ctx, v)
	if err != nil {
		return "", err
	}
	var live []string
	unreadable := 0
	for _, e := range entries {
		switch {
		case e.unavailable != nil:
			unreadable++
		case e.run != nil && e.run.Live():
			live = append(live, e.run.ID())
		}
	}
	if len(live) == 1 && unreadable == 0 {
		return live[0], nil
	}
	return "", schema.Usage(schema.CodeRunIDRequired, schema.NextListRuns(v.place()), "%s", whichToStop(len(live), unreadable))
}

// whichToStop says why no Run is the one that is meant.
func whichToStop(live, unreadable int) string {
	switch {
	case live == 0 && unreadable == 0:
		return "no Run of this worktree is active or paused, so there is none to stop"
	case unreadable == 0:
		return fmt.Sprintf("name the Run to stop: %d of this worktree are active or paused", live)
	}
	return fmt.Sprintf("name the Run to stop: %d of this worktree are active or paused, and %d can not be read", live, unreadable)
}

// mutate walks one operation on an existing Run: turn, lock, replay, decision,
// record.
func (k *Keeper) mutate(ctx context.Context, caller Caller, id string, cmd Command) (*schema.ProtocolState, error) {
	v, err := k.visit(ctx, caller, journal.ReadWrite)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	have := v.recall(id)
	if have.run == nil {
		if err := v.checkOwner(id); err != nil {
			return nil, err
		}
	}
	failed := storageFailure{place: v.place(), next: schema.NextInspectRun(v.place(), id)}
	release, ok := v.turn(ctx, id)
	if !ok {
		return nil, failed.of(journal.ErrBusy)
	}
	defer release()
	w, err := v.store.Lock(ctx, id)
	if err != nil {
		return nil, v.lockFailure(id, err, failed)
	}
	defer w.Close()
	run, err := k.load(v, w, id, failed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Repair(); err != nil {
		return nil, failed.of(err)
	}
	if err := v.recheck(ctx); err != nil {
		return nil, err
	}
	d, err := k.decide(ctx, v, run, cmd)
	if err != nil {
		return nil, err
	}
	if d.Event == nil {
		return k.repeat(v, w, d, failed)
	}
	return k.commitNext(ctx, v, w, d, failed)
}

// lockFailure tells apart a Run that is not there (any more) from one that can
// not be locked.
func (v *visit) lockFailure(id string, err error, failed storageFailure) error {
	var invalid *journal.InvalidError
	if errors.Is(err, journal.ErrNoRun) || errors.As(err, &invalid) {
		return v.unusable(id, err)
	}
	return failed.of(err)
}

// load gives the Run as its journal has it now, under the lock.
func (k *Keeper) load(v *visit, w *journal.Writer, id string, failed storageFailure) (*Run, error) {
	have := v.recall(id)
	records, stamp, unchanged, err := w.Load(have.stamp)
	if err != nil {
		k.runs.forget(v.key(id))
		return nil, v.replayFailure(id, err, failed)
	}
	if unchanged {
		return have.run, nil
	}
	run, err := replay(id, records)
	if err != nil {
		k.runs.forget(v.key(id))
		return nil, v.replayFailure(id, err, failed)
	}
	if run.workspace != v.workspace {
		return nil, v.foreign(run.workspace)
	}
	k.runs.put(remembered{v.key(id), run, stamp})
	return run, nil
}

// replayFailure is the answer to a journal that is no history of a Run: a first
// record that is unusable is another matter than a later one (storage.md, 9).
func (v *visit) replayFailure(id string, err error, failed storageFailure) error {
	var invalid *journal.InvalidError
	if errors.As(err, &invalid) && invalid.Sequence <= 1 {
		return v.unusable(id, err)
	}
	if errors.As(err, &invalid) {
		return failed.mutation(journal.PhaseReplay, err)
	}
	return failed.of(err)
}

// decide asks for the decision, with an observation where it needs one.
func (k *Keeper) decide(ctx context.Context, v *visit, run *Run, cmd Command) (Decision, error) {
	facts := Facts{Now: k.instant(), ActionID: k.id()}
	d, err := Decide(run, cmd, facts)
	if errors.Is(err, ErrObservationNeeded) {
		if s := run.currentStep(); s != nil && s.kind == schema.Summarize {
			facts.Git = v.observeFinally(ctx)
		} else {
			facts.Git = v.observe(ctx)
		}
		d, err = Decide(run, cmd, facts)
	}
	return d, err
}

// repeat answers an exact repeat. What it rests on must be as durable as if it had
// just been recorded.
func (k *Keeper) repeat(v *visit, w *journal.Writer, d Decision, failed storageFailure) (*schema.ProtocolState, error) {
	stamp, err := w.Sync()
	if err != nil {
		return nil, failed.of(err)
	}
	k.runs.put(remembered{v.key(d.Run.ID()), d.Run, stamp})
	return v.answer(d)
}

// commitNext records the event of an existing Run.
func (k *Keeper) commitNext(ctx context.Context, v *visit, w *journal.Writer, d Decision, failed storageFailure) (*schema.ProtocolState, error) {
	record, err := v.record(ctx, d, d.Run.Sequence(), failed)
	if err != nil {
		return nil, err
	}
	return k.commit(v, w, d, record, failed)
}

// record encodes the event and makes the last checks before anything of it is
// written, its materials included: the workspace once more, then the size
// (errors.md, section 7, COMMIT).
func (v *visit) record(ctx context.Context, d Decision, sequence int64, failed storageFailure) (journal.Record, error) {
	record, err := d.Event.record(sequence)
	if err != nil {
		return record, failed.of(err)
	}
	if err := v.recheck(ctx); err != nil {
		return record, err
	}
	if err := journal.CheckSize(record); err != nil {
		return record, failed.of(err)
	}
	return record, nil
}

// commit appends the record. From then on the Run is what the decision made it.
func (k *Keeper) commit(v *visit, w *journal.Writer, d Decision, record journal.Record, failed storageFailure) (*schema.ProtocolState, error) {
	m := remembered{key: v.key(d.Run.ID()), run: d.Run}
	for _, material := range d.Materials {
		if err := w.PutMaterial(material.Digest, material.Content); err != nil {
			return nil, failed.of(err)
		}
	}
	stamp, err := w.Append(record)
	if err != nil {
		k.runs.forget(m.key)
		return nil, failed.of(err)
	}
	m.stamp = stamp
	k.runs.put(m)
	k.feeds.tell(m, d.Event)
	if err := k.refresh(w, m); err != nil {
		return nil, failed.of(err)
	}
	if d.Refusal != nil {
		return nil, d.Refusal
	}
	return v.answer(d)
}

// refresh brings the projection up to date: at once in embedded mode and for a new
// Run, whose directory holds its three files from the first answer on, later in
// all other cases (storage.md, section 5).
func (k *Keeper) refresh(w *journal.Writer, m remembered) error {
	if k.embedded {
		return projectNow(w, m.run)
	}
	if m.run.sequence > 1 || projectNow(w, m.run) != nil {
		k.projections.schedule(m)
	}
	return nil
}

func projectNow(w *journal.Writer, r *Run) error {
	data, err := r.Projection()
	if err != nil {
		return err
	}
	return w.Project(data)
}

// answer is the protocol state after a decision.
func (v *visit) answer(d Decision) (*schema.ProtocolState, error) {
	state, err := d.Run.ProtocolState()
	if err != nil {
		return nil, schema.Runtime(schema.CodeMutationCommittedOutputFailed, schema.NextInspectRun(v.place(), d.Run.ID()),
			schema.MutationDetails{Phase: journal.PhaseResponseOutput, Committed: true}, "the change is recorded, but the answer could not be made: %v", err)
	}
	if d.Resumed != nil {
		state.ResumeOperation, state.BudgetApplied = d.Resumed.Operation, &d.Resumed.BudgetApplied
	}
	return state, nil
}
