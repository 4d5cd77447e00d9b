package engine

import (
	"sync"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// Figures are what a Keeper knows about itself, for the health report (daemon.md,
// section 6).
type Figures struct {
	Cached  int           // Runs in memory
	Active  int           // of these, those in the state active
	SyncP50 time.Duration // of the syncs that answers waited for
	SyncP99 time.Duration
	Stale   []string // projections that are behind, each with its Run and why
}

// Figures as of now.
func (k *Keeper) Figures() Figures {
	f := Figures{Stale: k.Stale()}
	f.Cached, f.Active = k.runs.count()
	f.SyncP50, f.SyncP99 = k.syncs.quantiles()
	return f
}

// count tells how many Runs are remembered, and how many of them are active.
func (c *cache) count() (all, active int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; e = e.Next() {
		if e.Value.(*remembered).run.state == schema.Active {
			active++
		}
	}
	return c.order.Len(), active
}

// syncTimes are how long the disk took to make files durable.
type syncTimes struct {
	mu    sync.Mutex
	times Latencies
}

func (s *syncTimes) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times.Add(d)
}

func (s *syncTimes) quantiles() (p50, p99 time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.times.Quantile(0.50)) * time.Microsecond, time.Duration(s.times.Quantile(0.99)) * time.Microsecond
}

// timedFS is a file system whose syncs of files are timed.
type timedFS struct {
	journal.FS
	syncs *syncTimes
}

func (t timedFS) OpenRoot(path string) (journal.Dir, error) {
	dir, err := t.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return timedDir{dir, t.syncs}, nil
}

type timedDir struct {
	journal.Dir
	syncs *syncTimes
}

func (t timedDir) OpenDir(name string, access journal.Access) (journal.Dir, error) {
	dir, err := t.Dir.OpenDir(name, access)
	if err != nil {
		return nil, err
	}
	return timedDir{dir, t.syncs}, nil
}

func (t timedDir) Open(name string, how journal.Opening) (journal.File, error) {
	file, err := t.Dir.Open(name, how)
	if err != nil {
		return nil, err
	}
	return timedFile{file, t.syncs}, nil
}

type timedFile struct {
	journal.File
	syncs *syncTimes
}

func (t timedFile) Sync() error {
	began := time.Now()
	err := t.File.Sync()
	t.syncs.add(time.Since(began))
	return err
}
