package engine

import (
	"context"
	"iter"
	"time"

	"slipway/schema"
)

// Watcher is a [Git] that notices by itself when a worktree may look different.
type Watcher interface {
	// Watch gives a channel on which something arrives after every change, at
	// least one for any number of them. It is closed where the worktree can not be
	// watched (any more), and when ctx ends.
	Watch(ctx context.Context, env []string, w schema.WorkspaceIdentity) (<-chan struct{}, error)
}

// The pace of telling how a worktree looks.
const (
	// changeEvery gathers changes: at most 10 a second are told (daemon.md,
	// section 5).
	changeEvery = 100 * time.Millisecond
	// observeEvery is for worktrees that are not watched.
	observeEvery = 2 * time.Second
	// observeShare bounds the time spent on looking at a large one.
	observeShare = 20
)

// FollowWorkspace tells how the caller's worktree looks, each time that it looks
// different. The iterator waits for the next difference; it ends with ctx, or
// after a *[schema.Error]. It is for one use.
//
// Where [Git] is a [Watcher], a change is noticed at once; elsewhere the worktree
// is looked at every now and then, only while somebody follows.
func (k *Keeper) FollowWorkspace(ctx context.Context, caller Caller) (iter.Seq2[*schema.Observation, error], error) {
	w, err := k.workspace(ctx, caller)
	if err != nil {
		return nil, err
	}
	var changes <-chan struct{}
	if watcher, ok := k.git.(Watcher); ok {
		changes, _ = watcher.Watch(ctx, caller.Environment, w) // nil where it can not
	}
	before, err := k.Observe(ctx, caller) // after the watch began: nothing is missed
	if err != nil {
		return nil, err
	}
	f := &worktreeFeed{keeper: k, caller: caller, workspace: w, changes: changes, told: before.SnapshotHash}
	return func(yield func(*schema.Observation, error) bool) {
		for f.wait(ctx) {
			o, err := f.look(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				yield(nil, err)
				return
			case o != nil && !yield(o, nil):
				return
			}
		}
	}, nil
}

// worktreeFeed is one reader of how a worktree looks.
type worktreeFeed struct {
	keeper    *Keeper
	caller    Caller
	workspace schema.WorkspaceIdentity
	changes   <-chan struct{} // nil where nobody tells
	told      schema.Digest
	took      time.Duration // the last look
	again     bool          // the last look failed
}

// wait returns when it is time to look; false when ctx has ended.
func (f *worktreeFeed) wait(ctx context.Context) bool {
	pause := time.NewTimer(max(changeEvery, f.took))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return false
	}
	if f.changes != nil && !f.again {
		select {
		case _, open := <-f.changes:
			if !open {
				f.changes = nil
			}
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
	pause.Reset(max(observeEvery, observeShare*f.took))
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// look gives the observation if it is a new one. One that fails is tried again:
// Git may be in the middle of something.
func (f *worktreeFeed) look(ctx context.Context) (*schema.Observation, error) {
	v := visit{keeper: f.keeper, caller: f.caller, workspace: f.workspace}
	if err := v.recheck(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	o, _, err := f.keeper.git.Observe(ctx, f.caller.Environment, f.workspace)
	f.took = time.Since(began)
	f.again = err != nil
	if err != nil || o.SnapshotHash == f.told {
		return nil, nil
	}
	f.told = o.SnapshotHash
	return &o, nil
}
