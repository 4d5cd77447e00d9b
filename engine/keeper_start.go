package engine

import (
	"context"

	"slipway/journal"
	"slipway/schema"
	"slipway/source"
)

// Start starts a Run (run.md, 6.2).
func (k *Keeper) Start(ctx context.Context, caller Caller, q StartRequest) (*schema.ProtocolState, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	head, err := k.head(ctx, caller, q)
	if err != nil {
		return nil, err
	}
	v, err := k.visit(ctx, caller, journal.ReadWrite)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	retry := schema.NextStart(v.place(), q.Budget, q.Review, head != nil)
	git := v.observe(ctx)
	if git.Observation == nil {
		return nil, schema.Runtime(schema.CodeGitObservationFailed, retry, nil, "the worktree can not be observed: %s", git.Failure)
	}
	id := k.id()
	d, err := DecideStart(
		Start{RunID: id, Goal: q.Goal, Budget: q.Budget, Review: q.Review, Workspace: v.workspace, Head: head},
		Facts{Now: k.instant(), ActionID: k.id(), Git: git},
	)
	if err != nil {
		return nil, err
	}
	return k.create(ctx, v, id, d)
}

// head reads the envelope of an issue-backed start; nil without one. Only a valid
// Change can be a source (source.md, section 8).
func (k *Keeper) head(ctx context.Context, caller Caller, q StartRequest) (*source.Head, error) {
	if q.Source == nil {
		return nil, nil
	}
	w, err := k.workspace(ctx, caller)
	if err != nil {
		return nil, err
	}
	refuse := func(reason string) error {
		return schema.Usage(schema.CodeInvalidSource, schema.NextStart(w.Place(), q.Budget, q.Review, true), "the source can not be used: %s", reason)
	}
	envelope, err := source.DecodeEnvelope(q.Source)
	if err != nil {
		return nil, refuse(err.Error())
	}
	head := source.Judge(envelope)
	if !head.Usable() {
		return nil, refuse(head.Reason)
	}
	return &head, nil
}

// create commits the first event of a Run.
func (k *Keeper) create(ctx context.Context, v *visit, id string, d Decision) (*schema.ProtocolState, error) {
	failed := storageFailure{place: v.place(), next: schema.NextInspectRuns(v.place())}
	record, err := v.record(ctx, d, 1, failed)
	if err != nil {
		return nil, err
	}
	release, ok := v.turn(ctx, id)
	if !ok {
		return nil, failed.of(journal.ErrBusy)
	}
	defer release()
	w, err := v.store.Create(ctx, id)
	if err != nil {
		return nil, failed.of(err)
	}
	defer w.Close()
	return k.commit(v, w, d, record, failed)
}
