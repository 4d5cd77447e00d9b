package engine

import (
	"context"
	"sync"
	"time"
)

// turnWait bounds the waiting for other operations of this process on the same
// Run, as the journal bounds that for other processes (storage.md, section 6).
const turnWait = 5 * time.Second

// turns lets operations on one Run pass one at a time, in the order of arrival
// as far as the runtime keeps it. Without it they would compete for the Run's
// file lock, which knows no order.
type turns struct {
	mu   sync.Mutex
	runs map[key]*turn
}

type turn struct {
	free    chan struct{} // holds a token while nobody has the turn
	waiting int           // holders and waiters; the last one removes the turn
}

// take waits for the turn and returns how to give it back; false when it did not
// come in time.
func (t *turns) take(ctx context.Context, k key) (release func(), ok bool) {
	own := t.enter(k)
	timer := time.NewTimer(turnWait)
	defer timer.Stop()
	select {
	case <-own.free:
		return func() { own.free <- struct{}{}; t.leave(k, own) }, true
	case <-ctx.Done():
	case <-timer.C:
	}
	t.leave(k, own)
	return nil, false
}

func (t *turns) enter(k key) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs == nil {
		t.runs = map[key]*turn{}
	}
	own := t.runs[k]
	if own == nil {
		own = &turn{free: make(chan struct{}, 1)}
		own.free <- struct{}{}
		t.runs[k] = own
	}
	own.waiting++
	return own
}

func (t *turns) leave(k key, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.waiting--; own.waiting == 0 {
		delete(t.runs, k)
	}
}

// turn waits for the Run's turn. What the wait took is not left for the wait for
// its lock: a caller waits for both together (cli.md, section 11).
func (v *visit) turn(ctx context.Context, id string) (release func(), ok bool) {
	began := time.Now()
	release, ok = v.keeper.turns.take(ctx, v.key(id))
	v.store.LockWait = max(v.store.LockWait-time.Since(began), 0)
	return release, ok
}
