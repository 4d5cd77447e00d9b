package engine

import (
	"context"
	"errors"

	"slipway/gitwatch"
	"slipway/journal"
	"slipway/schema"
)

// Status is the whole record of one Run. It writes nothing (run.md, section 2).
func (k *Keeper) Status(ctx context.Context, caller Caller, id string) (*schema.RunStatus, error) {
	if f := runIDFormFault(id); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	run, err := k.read(ctx, v, id)
	if err != nil {
		return nil, v.readFailure(id, err)
	}
	status, err := run.Status()
	if err != nil {
		return nil, v.readFailure(id, &journal.InvalidError{Err: err})
	}
	return status, nil
}

// foreignError says that a Run belongs to another worktree.
type foreignError struct {
	started Event
}

func (e *foreignError) Error() string { return "the Run belongs to another worktree" }

func (e *foreignError) owner() schema.WorkspaceIdentity {
	return e.started.Change.Started.WorkspaceIdentity
}

// read gives a Run of this worktree as its journal has it now, and remembers it.
// The error is a *foreignError or one of the journal's.
func (k *Keeper) read(ctx context.Context, v *visit, id string) (*Run, error) {
	have := v.recall(id)
	run, stamp, err := v.replayed(ctx, id, have)
	if err == nil && run != have.run {
		k.runs.put(remembered{v.key(id), run, stamp})
	}
	return run, err
}

// replayed gives a Run of this worktree as its journal has it now.
func (v *visit) replayed(ctx context.Context, id string, have remembered) (*Run, journal.Stamp, error) {
	refuse := func(err error) (*Run, journal.Stamp, error) { return nil, journal.Stamp{}, err }
	if have.run == nil {
		if err := v.admit(id); err != nil {
			return refuse(err)
		}
	}
	records, stamp, unchanged, err := v.store.Read(ctx, id, have.stamp)
	if err != nil {
		return refuse(err)
	}
	if unchanged {
		return have.run, have.stamp, nil
	}
	run, err := replay(id, records)
	if err != nil {
		return refuse(err)
	}
	if run.workspace != v.workspace {
		started, err := v.started(id)
		if err != nil {
			return refuse(err)
		}
		return refuse(&foreignError{started})
	}
	return run, stamp, nil
}

// admit checks from the first record, without the lock, that a Run is of this
// worktree.
func (v *visit) admit(id string) error {
	started, err := v.started(id)
	if err != nil {
		return err
	}
	if started.Change.Started.WorkspaceIdentity != v.workspace {
		return &foreignError{started}
	}
	return nil
}

// readFailure is what a status of one Run says (errors.md, section 7, READ).
func (v *visit) readFailure(id string, err error) error {
	var foreign *foreignError
	switch {
	case errors.As(err, &foreign):
		return v.foreign(foreign.owner())
	case errors.Is(err, journal.ErrNoRun):
		return schema.Runtime(schema.CodeRunNotFound, schema.NextListRuns(v.place()), nil, "there is no Run %s in this repository; `slipway status` lists the Runs there are", id)
	case errors.Is(err, journal.ErrBusy):
		return schema.Runtime(schema.CodeRunBusy, schema.NextInspectRun(v.place(), id), nil, "another operation holds the Run; repeat later")
	}
	return schema.Runtime(schema.CodeRunJournalInvalid, schema.NextListRuns(v.place()), nil,
		"the Run %s can not be read: %s; `slipway journal verify %s` says more", id, damageOf(err), id)
}

// damageOf words what is wrong with a Run for a sentence that names it.
func damageOf(err error) string {
	var invalid *journal.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Reason()
	}
	return err.Error()
}

// entry is one folder below runs/: exactly one of its fields is set.
type entry struct {
	run         *Run
	stub        *schema.RunStub
	unavailable *schema.UnavailableRun
}

// entries looks at every Run of the repository (storage.md, section 10).
func (k *Keeper) entries(ctx context.Context, v *visit) ([]entry, error) {
	ids, err := v.store.RunIDs()
	if err != nil {
		return nil, schema.Runtime(schema.CodeRuntimeError, schema.NextNone(v.place()), nil, "the Runs can not be listed: %v", err)
	}
	var entries []entry
	for _, id := range ids {
		run, err := k.read(ctx, v, id)
		if errors.Is(err, journal.ErrNoRun) {
			continue // removed since it was listed
		}
		entries = append(entries, entryOf(id, run, err))
	}
	return entries, nil
}

func entryOf(id string, run *Run, err error) entry {
	var foreign *foreignError
	switch {
	case err == nil:
		return entry{run: run}
	case errors.As(err, &foreign):
		stub, err := Stub(id, foreign.started)
		if err == nil {
			return entry{stub: stub}
		}
	case errors.Is(err, journal.ErrBusy):
		return entry{unavailable: &schema.UnavailableRun{ID: id, Code: schema.CodeRunBusy, Detail: "another operation holds the Run"}}
	}
	return entry{unavailable: &schema.UnavailableRun{ID: id, Code: schema.CodeRunJournalInvalid, Detail: printableFailure(err)}}
}

// Seen is an observation and what it rests on.
type Seen struct {
	*schema.Observation
	Mode gitwatch.Mode
}

// Observe looks at the caller's worktree.
func (k *Keeper) Observe(ctx context.Context, caller Caller) (*Seen, error) {
	w, err := k.workspace(ctx, caller)
	if err != nil {
		return nil, err
	}
	o, mode, err := k.git.Observe(ctx, caller.Environment, w)
	if err != nil {
		return nil, schema.Runtime(schema.CodeGitObservationFailed, schema.NextNone(w.Place()), nil, "the worktree can not be observed: %v", err)
	}
	return &Seen{&o, mode}, nil
}
