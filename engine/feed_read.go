package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// The pace of looking for what other processes recorded.
const (
	lookEvery = 250 * time.Millisecond
	// lookShare bounds the time spent on looking: a look that takes long, because
	// there are many Runs, is followed by a pause of this many times its length.
	lookShare = 50
)

// feed is one reader of the events of Runs. Its first part belongs to the reader,
// the second is shared with the Keeper.
type feed struct {
	keeper    *Keeper
	caller    Caller
	workspace schema.WorkspaceIdentity
	run       string // "" = all
	after     *int64
	runs      map[string]*followed
	caughtUp  bool      // what was missed is told
	lookAt    time.Time // when to look next

	mu      sync.Mutex
	offered []offer
	behind  bool // there was no room for an offer
	wake    chan struct{}
}

// followed is how far the reader is in one Run.
type followed struct {
	sequence int64 // of the last event that was told; fromNow = of the one that is read first
	size     int64 // of the journal with that event; unknown = it has to be read
	over     bool  // of another worktree, or at an end: nothing will follow
}

const (
	fromNow = -1
	unknown = -1
)

// begin notes how the Runs stand. It reads as little as a list of Runs does.
func (f *feed) begin(ctx context.Context, v *visit) error {
	if f.run != "" {
		return f.beginWith(ctx, v, f.run)
	}
	ids, err := v.store.RunIDs()
	if err != nil {
		return schema.Runtime(schema.CodeRuntimeError, schema.NextNone(v.place()), nil, "the Runs can not be listed: %v", err)
	}
	for _, id := range ids {
		// One that can not be read now is read when it changes.
		_ = f.beginWith(ctx, v, id)
	}
	return nil
}

// beginWith notes how one Run stands.
func (f *feed) beginWith(ctx context.Context, v *visit, id string) error {
	run, err := f.keeper.read(ctx, v, id)
	var foreign *foreignError
	switch {
	case errors.As(err, &foreign):
		f.runs[id] = &followed{over: true}
		return v.readFailure(id, err)
	case err != nil:
		f.runs[id] = &followed{sequence: f.start(fromNow), size: unknown}
		return v.readFailure(id, err)
	}
	r := &followed{sequence: f.start(run.sequence), size: unknown}
	if have := v.recall(id); have.run == run && r.sequence >= run.sequence {
		r.size, r.over = have.stamp.Size(), run.state == schema.Ended
	}
	f.runs[id] = r
	return nil
}

// start is the sequence after which a Run's events are told.
func (f *feed) start(now int64) int64 {
	if f.after != nil {
		return *f.after
	}
	return now
}

// next waits for events.
func (f *feed) next(ctx context.Context) ([]RunEvent, error) {
	for {
		events, err := f.take(ctx)
		if len(events) > 0 || err != nil {
			return events, err
		}
		if !time.Now().Before(f.lookAt) {
			events, err := f.look(ctx)
			if len(events) > 0 || err != nil {
				return events, err
			}
		}
		timer := time.NewTimer(time.Until(f.lookAt))
		select {
		case <-f.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// take gives what the Keeper offered.
func (f *feed) take(ctx context.Context) ([]RunEvent, error) {
	f.mu.Lock()
	offered, behind := f.offered, f.behind
	f.offered, f.behind = nil, false
	f.mu.Unlock()
	switch {
	case behind && f.caughtUp:
		return nil, ErrBehind
	case behind:
		f.lookAt = time.Time{} // what found no room is in the journals
	case !f.lookAt.IsZero():
		f.caughtUp = true
	}
	var events []RunEvent
	for _, o := range offered {
		r := f.of(o.Run)
		switch {
		case r.sequence == fromNow, o.Sequence > r.sequence+1:
			f.lookAt, r.size = time.Time{}, unknown // something is missing before it
			return events, nil
		case o.Sequence == r.sequence+1:
			r.sequence, r.size, r.over = o.Sequence, o.size, o.State == schema.Ended
			events = append(events, o.RunEvent)
		}
	}
	return events, nil
}

// of is how far the reader is in a Run. One that nobody knew is new.
func (f *feed) of(id string) *followed {
	r := f.runs[id]
	if r == nil {
		r = &followed{sequence: f.start(0), size: unknown}
		f.runs[id] = r
	}
	return r
}

// look finds what others recorded.
func (f *feed) look(ctx context.Context) ([]RunEvent, error) {
	began := time.Now()
	defer func() { f.lookAt = time.Now().Add(max(lookEvery, lookShare*time.Since(began))) }()
	v, err := f.keeper.visit(ctx, f.caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	if v.workspace != f.workspace {
		return nil, v.foreign(f.workspace)
	}
	if f.run != "" {
		events, err := f.lookAtRun(ctx, v, f.run)
		if err != nil && !errors.Is(err, journal.ErrBusy) {
			return events, v.readFailure(f.run, err)
		}
		return events, nil
	}
	ids, err := v.store.RunIDs()
	if err != nil {
		return nil, schema.Runtime(schema.CodeRuntimeError, schema.NextNone(v.place()), nil, "the Runs can not be listed: %v", err)
	}
	var events []RunEvent
	for _, id := range ids {
		// One that can not be read now is read when it changes again.
		missed, _ := f.lookAtRun(ctx, v, id)
		events = append(events, missed...)
	}
	return events, nil
}

// lookAtRun gives what the journal of a Run has beyond what was told.
func (f *feed) lookAtRun(ctx context.Context, v *visit, id string) ([]RunEvent, error) {
	r := f.of(id)
	if r.over {
		return nil, nil
	}
	looks, err := v.store.Looks([]string{id}, journal.LookPlaced)
	if err != nil || r.size != unknown && looks[0].Size == r.size {
		return nil, err
	}
	events, err := f.read(ctx, v, id, r)
	var foreign *foreignError
	switch {
	case errors.As(err, &foreign):
		r.over = true
	case err != nil && !errors.Is(err, journal.ErrBusy):
		r.size = looks[0].Size
	}
	return events, err
}

func (f *feed) read(ctx context.Context, v *visit, id string, r *followed) ([]RunEvent, error) {
	records, stamp, _, err := v.store.Read(ctx, id, journal.Stamp{})
	if err != nil {
		return nil, err
	}
	run, err := f.keeper.read(ctx, v, id) // not older than the records, and of this worktree
	if err != nil {
		return nil, err
	}
	if r.sequence == fromNow {
		r.sequence = stamp.Sequence()
	}
	var events []RunEvent
	for _, record := range records[min(r.sequence, int64(len(records))):] {
		e, err := DecodeEvent(record.Type, record.At, record.Data)
		if err != nil {
			return events, &journal.InvalidError{Sequence: record.Sequence, Err: err}
		}
		events = append(events, run.event(record.Sequence, &e))
		r.sequence, r.over = record.Sequence, e.Change.State == schema.Ended
	}
	r.size = stamp.Size()
	return events, nil
}
