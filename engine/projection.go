package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// projectionDelay gathers mutations into one refresh of a projection; the bound
// that callers may rely on is 1 s (storage.md, section 5).
const projectionDelay = 300 * time.Millisecond

// projectionRetry is the pause after a failed refresh: what failed is usually a
// full disk or something foreign at run.json, and does not go away at once.
const projectionRetry = 5 * time.Second

// Projection is the content of run.json: the record of the Run without what can
// be derived from it, the contexts of its Actions and its next.
func (r *Run) Projection() ([]byte, error) {
	actions := make([]*schema.Action, len(r.steps))
	for i, s := range r.steps {
		actions[i] = r.actionWith(s, "")
	}
	return schema.Marshal(struct {
		Revision int64             `json:"revision"`
		Data     *schema.RunStatus `json:"data"`
	}{r.sequence, r.statusWith(actions)})
}

// projections refreshes run.json off the path of the answers.
type projections struct {
	keeper  *Keeper
	mu      sync.Mutex
	due     map[key]remembered
	failed  map[key]error
	timer   *time.Timer // of the next round; nil when none is due
	roundAt time.Time
	work    chan struct{} // holds one while a round is under way
}

func (p *projections) init(k *Keeper) {
	p.keeper = k
	p.due, p.failed, p.work = map[key]remembered{}, map[key]error{}, make(chan struct{}, 1)
}

// schedule notes that a Run moved on.
func (p *projections) schedule(m remembered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due[m.key] = m
	p.arm(projectionDelay)
}

// arm makes sure that a round comes within delay. The caller holds mu.
func (p *projections) arm(delay time.Duration) {
	at := time.Now().Add(delay)
	if p.timer != nil && p.roundAt.Before(at) {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.roundAt = at
	p.timer = time.AfterFunc(delay, func() { _ = p.round(context.Background()) })
}

// flush writes everything that is due.
func (p *projections) flush(ctx context.Context) error { return p.round(ctx) }

// round writes what is due now. What fails is due again.
func (p *projections) round(ctx context.Context) error {
	select {
	case p.work <- struct{}{}:
		defer func() { <-p.work }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	due := p.due
	p.due = map[key]remembered{}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.mu.Unlock()
	var failures []error
	for _, k := range slices.SortedFunc(maps.Keys(due), key.compare) {
		m := due[k]
		err := p.keeper.project(ctx, m)
		failures = append(failures, err)
		p.note(k, m, err)
	}
	return errors.Join(failures...)
}

// note remembers a failure for the health report and lets the Run be tried again,
// unless it moved on meanwhile or is gone.
func (p *projections) note(k key, m remembered, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.failed, k)
		return
	}
	p.failed[k] = err
	if _, newer := p.due[k]; !newer {
		p.due[k] = m
	}
	p.arm(projectionRetry)
}

// project writes the projection of a Run, if its journal still is what the Run
// was built from: otherwise another process wrote it, and its projection too.
func (k *Keeper) project(ctx context.Context, m remembered) error {
	data, err := m.run.Projection()
	if err != nil {
		return err
	}
	if !k.stored(m.key) {
		return nil
	}
	store, err := journal.OpenStore(k.fs, m.key.commonDir, journal.ReadWrite)
	if err != nil {
		return err
	}
	defer store.Close()
	err = store.Project(ctx, m.key.id, data, m.stamp)
	if errors.Is(err, journal.ErrStale) || errors.Is(err, journal.ErrNoRun) {
		return nil
	}
	return err
}

// stored says whether the Run still is where it was. Opening storage for writing
// would bring back a namespace that the user has removed.
func (k *Keeper) stored(of key) bool {
	store, err := journal.OpenStore(k.fs, of.commonDir, journal.ReadOnly)
	if err != nil {
		return false
	}
	defer store.Close()
	_, err = store.First(of.id)
	return err == nil
}

// Stale tells which projections are behind and why, for the health report.
func (k *Keeper) Stale() []string {
	k.projections.mu.Lock()
	defer k.projections.mu.Unlock()
	var stale []string
	for run, err := range k.projections.failed {
		stale = append(stale, fmt.Sprintf("%s: %v", run.id, err))
	}
	return stale
}
