package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"slipway/journal"
	"slipway/schema"
)

// RunEvent tells that a Run moved on: what happened, and how the Run stood
// afterwards (daemon.md, run/changed).
type RunEvent struct {
	Run         string             `json:"run"`
	Sequence    int64              `json:"sequence"`
	Type        EventType          `json:"type"`
	State       schema.State       `json:"state"`
	ActionID    string             `json:"action_id,omitempty"` // the Action that the event is about
	Kind        schema.Kind        `json:"kind,omitempty"`
	PauseReason schema.PauseReason `json:"pause_reason,omitempty"`
}

// FollowRequest says what to follow.
type FollowRequest struct {
	Run string // "" = every Run of the worktree, those that are started later too
	// After is the sequence after which a Run's events are told; nil = those from
	// now on. Sequences are a Run's own; without a Run it counts for each.
	After *int64
}

// ErrBehind ends a feed whose reader left more than maxBehind events waiting.
var ErrBehind = errors.New("more events are waiting than are kept for a reader")

// maxBehind is how many events wait for the reader of a feed that was up to date
// once. Catching up is not counted: that is read from the journals at the
// reader's pace.
const maxBehind = 1000

// Follow tells the events of Runs in the order of their sequences, none twice and
// none left out, whoever records them: this Keeper, a Keeper of another process,
// an earlier one. The iterator waits for the next event; it ends with ctx, or
// after an error, which is ErrBehind or a *[schema.Error]. It is for one use.
//
// What this Keeper records is handed over in memory. For other writers the
// lengths of the journals are looked at a few times a second, only while somebody
// follows: unlike watches, that costs no descriptor, works on every file system
// and misses nothing.
func (k *Keeper) Follow(ctx context.Context, caller Caller, q FollowRequest) (iter.Seq2[RunEvent, error], error) {
	if q.Run != "" {
		if f := runIDFormFault(q.Run); f != nil {
			return nil, f.At(k.Place(ctx, caller))
		}
	}
	f := &feed{
		keeper: k, caller: caller, run: q.Run, after: q.After, caughtUp: q.After == nil,
		runs: map[string]*followed{}, wake: make(chan struct{}, 1),
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	f.workspace = v.workspace
	k.feeds.open(f) // before looking: what is recorded meanwhile is told twice to the feed, not missed
	if err := f.begin(ctx, v); err != nil {
		k.feeds.close(f)
		return nil, err
	}
	context.AfterFunc(ctx, func() { k.feeds.close(f) })
	return func(yield func(RunEvent, error) bool) {
		defer k.feeds.close(f)
		for {
			events, err := f.next(ctx)
			for _, e := range events {
				if ctx.Err() != nil || !yield(e, nil) {
					return
				}
			}
			if err != nil && ctx.Err() == nil {
				yield(RunEvent{}, err)
			}
			if err != nil || ctx.Err() != nil {
				return
			}
		}
	}, nil
}

// feeds are the open feeds of a Keeper.
type feeds struct {
	mu    sync.Mutex
	feeds map[*feed]struct{}
}

func (s *feeds) open(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feeds == nil {
		s.feeds = map[*feed]struct{}{}
	}
	s.feeds[f] = struct{}{}
}

func (s *feeds) close(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.feeds, f)
}

// tell offers an event that was recorded to whoever follows. It never waits.
func (s *feeds) tell(m remembered, e *Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.feeds) == 0 {
		return
	}
	o := offer{m.run.event(m.run.sequence, e), m.stamp.Size()}
	for f := range s.feeds {
		if f.workspace == m.run.workspace && (f.run == "" || f.run == m.key.id) {
			f.offer(o)
		}
	}
}

// event is what a feed tells of an event of the Run.
func (r *Run) event(sequence int64, e *Event) RunEvent {
	told := RunEvent{
		Run: r.id, Sequence: sequence, Type: e.Type, State: e.Change.State,
		ActionID: e.subject(), PauseReason: e.Change.PauseReason,
	}
	if i := r.stepOf(told.ActionID); i != none {
		told.Kind = r.steps[i].kind
	}
	return told
}

// offer is an event and how long the journal was with it.
type offer struct {
	RunEvent
	size int64
}

// offer takes an event for the reader.
func (f *feed) offer(o offer) {
	f.mu.Lock()
	if len(f.offered) < maxBehind {
		f.offered = append(f.offered, o)
	} else {
		f.behind = true
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default: // it is awake
	}
}
