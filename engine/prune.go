package engine

import (
	"context"
	"errors"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// PruneRequest asks for Runs to be removed for good. Only Runs of the caller's
// worktree that have ended or are stopped are ever removed.
type PruneRequest struct {
	Run   string        // one Run; empty for all
	Older time.Duration // only what was changed last this long ago, or longer
	// Remove removes them. Without it nothing is changed: the report says what would
	// be removed.
	Remove bool
}

// Pruned is what was, or would be, removed, and what was kept and why.
type Pruned struct {
	Removed bool        `json:"removed"`     // false: nothing was changed
	Runs    []PrunedRun `json:"pruned_runs"` // by id
	Kept    []KeptRun   `json:"kept_runs"`   // by id; Runs of other worktrees are not mentioned
}

// PrunedRun is a Run that was, or would be, removed.
type PrunedRun struct {
	ID        string       `json:"id"`
	State     schema.State `json:"state"`
	UpdatedAt time.Time    `json:"updated_at"`
	Goal      string       `json:"goal"`
	Bytes     int64        `json:"journal_bytes"`
}

// KeptRun is a Run that stays.
type KeptRun struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Prune removes Runs that are over, or says which it would remove. Each is judged
// and removed under its exclusive lock, so a Run that is resumed meanwhile stays.
//
// A Run that was named and has to stay is refused (runtime_error). Other errors are
// those of a mutation. Where all were asked for, one of which nothing was removed is
// reported as kept; what was removed before an error stays removed.
func (k *Keeper) Prune(ctx context.Context, caller Caller, q PruneRequest) (*Pruned, error) {
	if q.Run != "" {
		if f := runIDFormFault(q.Run); f != nil {
			return nil, f.At(k.Place(ctx, caller))
		}
	}
	access := journal.ReadOnly
	if q.Remove {
		access = journal.ReadWrite
	}
	v, err := k.visit(ctx, caller, access)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	report := &Pruned{Removed: q.Remove, Runs: []PrunedRun{}, Kept: []KeptRun{}}
	ids := []string{q.Run}
	if q.Run == "" {
		if ids, err = v.store.RunIDs(); err != nil {
			return nil, v.notListed(err)
		}
	}
	for _, id := range ids {
		if err := k.pruneOne(ctx, v, id, q, report); err != nil {
			return nil, err
		}
	}
	if q.Remove {
		if _, err := v.store.Sweep(); err != nil {
			return nil, v.notListed(err)
		}
	}
	return report, nil
}

// pruneOne adds the fate of one Run to the report.
func (k *Keeper) pruneOne(ctx context.Context, v *visit, id string, q PruneRequest, report *Pruned) error {
	run, err := k.read(ctx, v, id)
	var foreign *foreignError
	switch {
	case err != nil && q.Run != "":
		return v.readFailure(id, err)
	case errors.As(err, &foreign), errors.Is(err, journal.ErrNoRun):
		return nil
	case err != nil:
		report.Kept = append(report.Kept, KeptRun{id, "it can not be read: " + printableFailure(err)})
		return nil
	}
	if reason := k.keeps(run, q.Older); reason != "" {
		return v.stays(id, reason, q, report)
	}
	pruned := PrunedRun{ID: id, State: run.state, UpdatedAt: run.updatedAt, Goal: run.goal, Bytes: v.recall(id).stamp.Size()}
	if q.Remove {
		reason, err := k.remove(ctx, v, id, q.Older)
		if err != nil && q.Run == "" && v.vanished(id, err) {
			return nil
		}
		if err != nil && q.Run == "" && leftWhole(err) {
			reason, err = "it can not be removed: "+printableFailure(err), nil
		}
		if err != nil {
			return err
		}
		if reason != "" {
			return v.stays(id, reason, q, report)
		}
	}
	report.Runs = append(report.Runs, pruned)
	return nil
}

// stays notes a Run among many as kept, and refuses one that was named.
func (v *visit) stays(id, reason string, q PruneRequest, report *Pruned) error {
	if q.Run != "" {
		return schema.Runtime(schema.CodeRuntimeError, schema.NextInspectRun(v.place(), id), nil, "the Run %s stays: %s", id, reason)
	}
	report.Kept = append(report.Kept, KeptRun{id, reason})
	return nil
}

// vanished tells whether a removal failed because somebody else removed the Run
// meanwhile. One that may have removed it itself has to be told of.
func (v *visit) vanished(id string, failure error) bool {
	var e *schema.Error
	if !errors.As(failure, &e) || e.Code != schema.CodeRuntimeError && !leftWhole(failure) {
		return false
	}
	_, err := v.store.First(id)
	return errors.Is(err, journal.ErrNoRun)
}

// leftWhole tells whether a failure is that of one Run and left it as it was.
func leftWhole(err error) bool {
	var e *schema.Error
	return errors.As(err, &e) && (e.Code == schema.CodeRunBusy || e.Code == schema.CodeMutationNotCommitted)
}

// keeps says why a Run stays; empty where nothing speaks for it.
func (k *Keeper) keeps(run *Run, older time.Duration) string {
	switch {
	case run.Live():
		return "it has not ended and is not stopped"
	case k.instant().Sub(run.updatedAt) < older:
		return "it was changed too lately"
	}
	return ""
}

// remove judges a Run once more, under the lock, and removes it.
func (k *Keeper) remove(ctx context.Context, v *visit, id string, older time.Duration) (kept string, err error) {
	failed := storageFailure{place: v.place(), next: schema.NextListRuns(v.place())}
	release, ok := k.turns.take(ctx, v.key(id))
	if !ok {
		return "", failed.of(journal.ErrBusy)
	}
	defer release()
	w, err := v.store.Lock(ctx, id)
	if err != nil {
		return "", v.lockFailure(id, err, failed)
	}
	defer w.Close()
	run, err := k.load(v, w, id, failed)
	if err != nil {
		return "", err
	}
	if reason := k.keeps(run, older); reason != "" {
		return reason, nil
	}
	if err := v.recheck(ctx); err != nil {
		return "", err
	}
	err = w.Remove()
	k.runs.forget(v.key(id))
	if err != nil {
		return "", failed.of(err)
	}
	return "", nil
}
