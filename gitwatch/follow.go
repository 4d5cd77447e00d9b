package gitwatch

import (
	"context"

	"slipway/schema"
)

// Watch gives a channel on which something arrives after the worktree may have
// changed, at least one for any number of changes; an observation then tells
// whether it did. The channel is closed where the worktree is not watched (any
// more), and when ctx ends. For as long as it is open, the worktree is in use.
//
// Nothing is missed by whoever observes the worktree after this call: the watch
// begins with an observation, and something arrives when it is complete.
//
// The error is nil, or says why the worktree is scanned at present.
func (g *Git) Watch(ctx context.Context, env []string, ws schema.WorkspaceIdentity) (<-chan struct{}, error) {
	if g.lookouts == nil {
		return nil, &unwatchable{"worktrees are not watched by this process"}
	}
	for {
		l := g.lookouts.of(Scrub(env), ws)
		if err := l.take(ctx); err != nil {
			return nil, err
		}
		if !l.dead {
			defer l.release()
			return l.follow(ctx)
		}
		l.release()
	}
}

func (l *lookout) follow(ctx context.Context) (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set.running.Err() != nil || l.health.waiting() {
		return nil, &unwatchable{l.health.reason}
	}
	channel := make(chan struct{}, 1)
	if l.followers == nil {
		l.followers = make(map[chan struct{}]struct{})
	}
	l.followers[channel] = struct{}{}
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, open := l.followers[channel]; open {
			delete(l.followers, channel)
			close(channel)
		}
	})
	return channel, nil
}

// tell wakes the followers, with the lock held.
func (l *lookout) tell() {
	for channel := range l.followers {
		select {
		case channel <- struct{}{}:
		default: // one is waiting there already
		}
	}
}

// unfollow sends the followers away, with the lock held.
func (l *lookout) unfollow() {
	for channel := range l.followers {
		close(channel)
	}
	l.followers = nil
}
