package engine

import (
	"context"

	"slipway/journal"
	"slipway/schema"
	"slipway/source"
)

// Resume puts a Run back to work (run.md, 6.7; source.md, section 11).
func (k *Keeper) Resume(ctx context.Context, caller Caller, q ResumeRequest) (*schema.ProtocolState, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	cmd := Resume{Budget: q.Budget, UsePinned: q.UsePinnedSource}
	if q.SourceChoice != nil {
		cmd.Choice, cmd.Candidate = *q.SourceChoice, *q.Candidate
	}
	if q.HasSource {
		if _, err := k.workspace(ctx, caller); err != nil {
			return nil, err
		}
		envelope, err := source.DecodeEnvelope(q.Source)
		if err != nil {
			return nil, k.UnusableEnvelope(ctx, caller, q, err.Error())
		}
		head := source.Judge(envelope)
		cmd.Head = &head
	}
	return k.mutate(ctx, caller, q.Run, cmd)
}

// UnusableEnvelope is the error of a resume whose envelope can not be read. What
// can be done instead is up to the Run, where it can be read here (next.md, 6.3).
func (k *Keeper) UnusableEnvelope(ctx context.Context, caller Caller, q ResumeRequest, reason string) *schema.Error {
	next := schema.NextRefreshStatic(k.Place(ctx, caller), q.Run, q.Budget)
	if v, err := k.visit(ctx, caller, journal.ReadOnly); err == nil {
		defer v.store.Close()
		if run, err := k.read(ctx, v, q.Run); err == nil {
			next = run.resumeChoices()
		}
	}
	return schema.Usage(schema.CodeInvalidSourceCandidate, next, "the source can not be used: %s", reason)
}
