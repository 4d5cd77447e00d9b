package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/gitwatch"
	"slipway/journal"
	"slipway/schema"
)

// Git finds worktrees and looks at them. Both answers are as of now.
type Git interface {
	// Discover says which worktree a path is in.
	Discover(ctx context.Context, env []string, path string) (schema.WorkspaceIdentity, error)
	// Observe looks at the worktree. What it knows already it need not look up
	// again, where nothing that it is told of has changed since.
	Observe(ctx context.Context, env []string, w schema.WorkspaceIdentity) (schema.Observation, gitwatch.Mode, error)
	// ObserveFresh looks at the worktree and relies on nothing that it knows.
	ObserveFresh(ctx context.Context, env []string, w schema.WorkspaceIdentity) (schema.Observation, error)
}

// Options of a Keeper. The zero value of a field takes its default.
type Options struct {
	Git Git              // required
	FS  journal.FS       // default: the disk
	Now func() time.Time // default: the system's clock
	ID  func() string    // default: random UUIDs
	// Embedded refreshes the projection before the answer, because the process
	// ends with it (storage.md, section 5).
	Embedded bool
}

// Keeper gives each Run its one writer. It is safe for concurrent use: operations
// on one Run take turns, different Runs do not wait for each other.
//
// Every error that it returns is a *[schema.Error].
type Keeper struct {
	git      Git
	fs       journal.FS
	now      func() time.Time
	id       func() string
	embedded bool

	runs        *cache
	turns       turns
	projections projections
	feeds       feeds
	listings    listings
	lately      texts
	syncs       syncTimes
}

// NewKeeper makes a Keeper. Close it when it is done.
func NewKeeper(o Options) *Keeper {
	k := &Keeper{git: o.Git, fs: o.FS, now: o.Now, id: o.ID, embedded: o.Embedded, runs: newCache(cacheBytes)}
	if k.fs == nil {
		k.fs = journal.OS()
	}
	k.fs = timedFS{k.fs, &k.syncs}
	if k.now == nil {
		k.now = time.Now
	}
	if k.id == nil {
		k.id = uuid.NewString
	}
	k.projections.init(k)
	return k
}

// Close writes the projections that are still due and ends the Keeper's work.
func (k *Keeper) Close(ctx context.Context) error { return k.projections.flush(ctx) }

// key names a Run on this machine: ids are unique in a repository only.
type key struct{ commonDir, id string }

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.commonDir, other.commonDir), cmp.Compare(k.id, other.id))
}
