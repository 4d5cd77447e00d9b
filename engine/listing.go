package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// Listing is a status list as it is sent (wire.md): a repository may have ten
// thousand Runs, and most of them are as they were when they were listed last. It
// is one JSON value in pieces, which belong to the Keeper and must not be changed.
type Listing [][]byte

// MarshalJSON puts the pieces together.
func (l Listing) MarshalJSON() ([]byte, error) { return bytes.Join(l, nil), nil }

// listed is a Run in a list, as it was when its journal looked like that.
type listed struct {
	look        journal.Info
	id          string
	createdAt   time.Time
	json        []byte // nil where there is nothing to show
	unavailable *schema.UnavailableRun
}

// Bounds of what is remembered of lists.
const (
	listingViews = 4        // worktrees
	listingBytes = 48 << 20 // of JSON, of each
)

// listings remembers the last list of each worktree.
type listings struct {
	mu    sync.Mutex
	views map[schema.WorkspaceIdentity]view
}

// view is a list that was shown. It never changes.
type view struct {
	runs   map[string]listed // by id
	ids    []string          // of all Runs, in the order of the list
	list   Listing           // nil where not all of them are remembered
	folder journal.Info      // that of the Runs, before they were listed
}

func (s *listings) last(w schema.WorkspaceIdentity) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views[w]
}

func (s *listings) remember(w schema.WorkspaceIdentity, runs []listed, list Listing, folder journal.Info) {
	now := view{runs: make(map[string]listed, len(runs)), ids: make([]string, len(runs)), list: list, folder: folder}
	size := 0
	for i, l := range runs {
		now.ids[i] = l.id
		size += len(l.json)
		if l.look != (journal.Info{}) && l.json != nil && size <= listingBytes {
			now.runs[l.id] = l
		}
	}
	if len(now.runs) < len(runs) {
		now.list = nil
	}
	s.put(w, now)
}

func (s *listings) put(w schema.WorkspaceIdentity, now view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.views == nil {
		s.views = map[schema.WorkspaceIdentity]view{}
	}
	delete(s.views, w)
	for other := range s.views {
		if len(s.views) < listingViews {
			break
		}
		delete(s.views, other)
	}
	s.views[w] = now
}

// List shows all Runs of the repository, those of other worktrees as stubs. It
// writes nothing.
func (k *Keeper) List(ctx context.Context, caller Caller) (*schema.StatusList, error) {
	listing, err := k.Listing(ctx, caller)
	if err != nil {
		return nil, err
	}
	list := new(schema.StatusList)
	return list, json.Unmarshal(bytes.Join(listing, nil), list)
}

// Listing is [Keeper.List] in the form in which it is sent.
func (k *Keeper) Listing(ctx context.Context, caller Caller) (Listing, error) {
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	before, folder := k.listings.last(v.workspace), v.store.Settled()
	if before.list != nil && folder != (journal.Info{}) && folder == before.folder && v.isCurrent(before) {
		return before.list, nil
	}
	ids, err := v.store.RunIDs()
	if err != nil {
		return nil, schema.Runtime(schema.CodeRuntimeError, schema.NextNone(v.place()), nil, "the Runs can not be listed: %v", err)
	}
	runs, others := v.unchanged(ids, before.runs)
	if before.list != nil && len(others) == 0 && len(ids) == len(before.ids) {
		before.folder = folder
		k.listings.put(v.workspace, before)
		return before.list, nil
	}
	inParts(len(others), func(from, to int) { v.listPart(ctx, ids, others[from:to], runs) })
	list, err := assemble(runs)
	if err != nil {
		return nil, err
	}
	k.listings.remember(v.workspace, runs, list, folder)
	return list, nil
}

// inParts has the processors share n pieces of work.
func inParts(n int, do func(from, to int)) {
	share := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var working sync.WaitGroup
	for from := 0; from < n; from += share {
		working.Go(func() { do(from, min(from+share, n)) })
	}
	working.Wait()
}

// isCurrent reports whether all Runs of a list look as they did, where no Run can
// have come or gone.
func (v *visit) isCurrent(before view) bool {
	var changed atomic.Bool
	inParts(len(before.ids), func(from, to int) {
		looks, err := v.store.Looks(before.ids[from:to], journal.LookPlain)
		if err != nil {
			changed.Store(true)
		}
		for i, look := range looks {
			if before.runs[before.ids[from+i]].look != look {
				changed.Store(true)
			}
		}
	})
	return !changed.Load()
}

// unchanged fills in the Runs that look as they did when they were listed last,
// and says where the others are.
func (v *visit) unchanged(ids []string, before map[string]listed) (runs []listed, others []int) {
	runs = make([]listed, len(ids))
	if len(before) > 0 {
		inParts(len(ids), func(from, to int) {
			looks, err := v.store.Looks(ids[from:to], journal.LookPlaced)
			for i, look := range looks {
				if known, ok := before[ids[from+i]]; ok && known.look == look && err == nil {
					runs[from+i] = known
				}
			}
		})
	}
	for i := range runs {
		if runs[i].id == "" {
			others = append(others, i)
		}
	}
	return runs, others
}

// listPart fills in the Runs at some places.
func (v *visit) listPart(ctx context.Context, ids []string, places []int, runs []listed) {
	wanted := make([]string, len(places))
	for i, at := range places {
		wanted[i] = ids[at]
	}
	looks, err := v.store.Looks(wanted, journal.LookLocked)
	if err != nil {
		looks = make([]journal.Info, len(wanted)) // reading says what is wrong
	}
	for i, at := range places {
		runs[at] = v.listOne(ctx, ids[at], looks[i] != journal.Info{})
		runs[at].look = looks[i]
	}
}

// listOne reads a Run for a list. It is not remembered: a list would drive all
// Runs out that are worked on.
func (v *visit) listOne(ctx context.Context, id string, free bool) listed {
	e, ok := entry{}, false
	if free {
		e, ok = v.readFree(ctx, id)
	}
	if !ok {
		run, _, err := v.replayed(ctx, id, v.recall(id))
		if errors.Is(err, journal.ErrNoRun) {
			return listed{} // removed since it was listed
		}
		e = entryOf(id, run, err)
	}
	var err error
	l := listed{id: id, unavailable: e.unavailable}
	switch {
	case e.stub != nil:
		l.createdAt = e.stub.CreatedAt
		l.json, err = schema.Marshal(e.stub)
	case e.run != nil:
		var status *schema.RunStatus
		l.createdAt = e.run.createdAt
		if status, err = e.run.Status(); err == nil {
			l.json, err = schema.Marshal(status)
		}
	default:
		return l
	}
	if err != nil {
		return listed{id: id, unavailable: entryOf(id, nil, err).unavailable}
	}
	return l
}

// readFree reads a Run whose lock was free a moment ago, without finding out first
// whose it is. Where anything is out of the ordinary it says so, and the usual way
// finds out what.
func (v *visit) readFree(ctx context.Context, id string) (entry, bool) {
	if have := v.recall(id); have.run != nil {
		return entry{}, false
	}
	records, _, _, err := v.store.Read(ctx, id, journal.Stamp{})
	if err != nil {
		return entry{}, false
	}
	run, err := replay(id, records)
	if err != nil || run.workspace != v.workspace {
		return entry{}, false
	}
	return entry{run: run}, true
}

// assemble puts a list together, in the order of the contract.
func assemble(list []listed) (Listing, error) {
	list = slices.SortedFunc(slices.Values(list), func(a, b listed) int {
		return cmp.Or(a.createdAt.Compare(b.createdAt), cmp.Compare(a.id, b.id))
	})
	empty := schema.StatusList{
		ContractVersion: schema.ContractVersion, Runs: []schema.ListedRun{}, UnavailableRuns: []schema.UnavailableRun{},
	}
	chunks := make(Listing, 1, 2*len(list)+2)
	for _, l := range list {
		switch {
		case l.json != nil && len(chunks) > 1:
			chunks = append(chunks, comma, l.json)
		case l.json != nil:
			chunks = append(chunks, l.json)
		case l.unavailable != nil:
			empty.UnavailableRuns = append(empty.UnavailableRuns, *l.unavailable)
		}
	}
	frame, err := schema.Marshal(empty)
	if err != nil {
		return nil, err
	}
	head, tail, _ := bytes.Cut(frame, emptyRuns)
	chunks[0] = slices.Concat(head, emptyRuns[:len(emptyRuns)-1])
	return append(chunks, slices.Concat(emptyRuns[len(emptyRuns)-1:], tail)), nil
}

var (
	comma     = []byte{','}
	emptyRuns = []byte(`"runs":[]`)
)
