package gitwatch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"slipway/schema"
)

// lookout knows one worktree, as it looks in one environment, for as long as it is
// in use: the last observation, what it rests on, and what happened since.
//
// Observations take turns. What is before mu belongs to whoever has the turn;
// what is after it is shared with the goroutine that reads events.
type lookout struct {
	set  *lookouts
	key  answerKey
	ws   schema.WorkspaceIdentity
	env  []string // scrubbed
	turn chan struct{}

	dead     bool
	base     *base // nil: the next observation is a scan
	settings settings
	linked   map[string]node     // files with further names, as they looked last
	newLinks bool                // some were found since this was last false
	mounted  map[string]node     // files over which others are mounted, as they looked last
	forced   map[string]struct{} // folders that look like repositories, but not to Git
	foreign  map[string]node     // folders of other repositories that are watched

	lastUse atomic.Int64
	idle    *time.Timer

	mu sync.Mutex
	watch
	health health
}

// watch is the state of watching. The zero value is: it is not watched.
type watch struct {
	notes     notifier // nil: not watched
	ready     bool     // everything that has to be watched is
	restart   bool     // it has to start again
	failure   error    // it can not be relied on
	most      int      // folders that may be watched
	rules     string   // that decided which folders are watched
	folders   folders
	held      int                             // of the folders that all worktrees together may watch
	nested    map[string]struct{}             // folders taken for repositories of their own
	decisive  map[watchID]map[string]struct{} // what makes these folders such repositories, or not
	changes   changes
	open      map[string]node // files that were written and not yet closed, as they looked last
	followers map[chan struct{}]struct{}
}

func newLookout(set *lookouts, key answerKey, scrubbed []string, ws schema.WorkspaceIdentity) *lookout {
	l := &lookout{set: set, key: key, ws: ws, env: scrubbed, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	l.lastUse.Store(time.Now().UnixNano())
	l.idle = time.AfterFunc(set.pace.idle, l.giveUpIfIdle)
	return l
}

// take waits for the turn.
func (l *lookout) take(ctx context.Context) error {
	l.lastUse.Store(time.Now().UnixNano())
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *lookout) release() {
	if !l.dead {
		l.idle.Reset(l.set.pace.idle)
	}
	l.turn <- struct{}{}
}

func (l *lookout) files() *fileMemo { return l.set.git.files }

func (l *lookout) giveUpIfIdle() {
	l.mu.Lock()
	followed := len(l.followers) > 0
	l.mu.Unlock()
	unused := time.Duration(time.Now().UnixNano() - l.lastUse.Load())
	if followed || unused < l.set.pace.idle || !l.giveUp() {
		l.idle.Reset(l.set.pace.idle)
	}
}

// giveUp ends the lookout; false where somebody has the turn.
func (l *lookout) giveUp() bool {
	select {
	case <-l.turn:
	default:
		return false
	}
	l.bury()
	l.turn <- struct{}{}
	return true
}

// bury ends the lookout for who has the turn.
func (l *lookout) bury() {
	l.dead = true
	l.base = nil
	l.idle.Stop()
	l.mu.Lock()
	l.endWatch()
	l.unfollow()
	l.mu.Unlock()
	l.set.forget(l)
}

// isGone reports whether nothing is left at the root of the worktree.
func (l *lookout) isGone() bool {
	_, err := examine(l.ws.WorktreeRoot, keepLinks)
	return isAbsence(err)
}

// giveUpIfGone ends the lookout of a worktree that was deleted or moved. Where
// somebody has the turn, that observation finds out.
func (l *lookout) giveUpIfGone() {
	if l.isGone() {
		l.giveUp()
	}
}

// close ends the watch for good; what still observes scans.
func (l *lookout) close() {
	l.idle.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endWatch()
	l.unfollow()
}

// endWatch forgets everything about what is watched, with the lock held.
func (l *lookout) endWatch() {
	if l.notes == nil {
		return
	}
	l.notes.close()
	l.set.used.Add(-int64(l.held))
	l.watch = watch{followers: l.followers}
}

// fail ends a watch that can not be relied on, with the lock held. It is tried
// again after a while, with an observation.
func (l *lookout) fail(cause error) {
	l.endWatch()
	l.unfollow()
	l.health.failed(cause, l.set.pace)
}

// watching reports whether everything is watched.
func (l *lookout) watching() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.notes != nil && l.ready && !l.restart
}

// watchFolder watches a folder of the worktree; false where it is not there any
// more, or the one above is not.
func (l *lookout) watchFolder(path string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes == nil {
		return false, errStartAgain
	}
	f := &folder{role: ofWorktree}
	if path != "" {
		above, name := splitPath(path)
		if f.above = l.folders.find(above); f.above == nil {
			return false, nil
		}
		f.name = name
		if f.above.child(name) != nil {
			return true, nil
		}
	} else if l.folders.root != nil {
		return true, nil
	}
	return l.add(f, absolute(l.ws.WorktreeRoot, path))
}

// add watches a folder of the worktree, with the lock held.
func (l *lookout) add(f *folder, path string) (bool, error) {
	id, there, err := l.hold(path)
	if err != nil || !there {
		return false, err
	}
	f.id = id
	other := l.folders.byID[id]
	l.folders.put(f)
	if other == nil || other.role == ofRepository {
		return true, nil
	}
	// The same folder under another path: it was moved, and the event of that is
	// still to come; or both paths lead to it, and an event does not tell which is
	// meant.
	if l.isStillAt(other, path) {
		return false, &unwatchable{"the same folder is at two places: " + path}
	}
	l.changes.note(other.path())
	l.detach(other)
	return true, nil
}

// hold has the folder at path watched; false where it is not there.
func (l *lookout) hold(path string) (id watchID, there bool, err error) {
	if !l.set.reserve(l.most) {
		return 0, false, errWatchLimit
	}
	id, err = l.notes.add(path)
	if err == nil && l.folders.byID[id] == nil && l.decisive[id] == nil {
		l.held++
		return id, true, nil
	}
	l.set.used.Add(-1) // there is none, or it is one that is held already
	if isAbsence(err) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// letGo ends the watch of a folder unless something else needs it.
func (l *lookout) letGo(id watchID) {
	if l.folders.byID[id] == nil && l.decisive[id] == nil {
		l.notes.remove(id)
		l.held--
		l.set.used.Add(-1)
	}
}

func (l *lookout) isStillAt(f *folder, path string) bool {
	one, err := examine(absolute(l.ws.WorktreeRoot, f.path()), keepLinks)
	other, otherErr := examine(path, keepLinks)
	return err == nil && otherErr == nil && one.device == other.device && one.inode == other.inode
}

// detach stops watching a folder and all below, with the lock held.
func (l *lookout) detach(f *folder) {
	l.folders.detach(f, l.letGo)
}

func (l *lookout) isWatched(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folders.find(path) != nil
}

// unwatchedIn gives the paths of those names in a folder that are not watched yet.
func (l *lookout) unwatchedIn(path string, names []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.folders.find(path)
	if f == nil {
		return nil
	}
	var paths []string
	for _, name := range names {
		if f.child(name) == nil {
			paths = append(paths, joinPath(path, name))
		}
	}
	return paths
}

// watchNested watches a folder that decides whether the one at path is a
// repository of its own.
func (l *lookout) watchNested(path, decisive string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes == nil {
		return errStartAgain
	}
	id, there, err := l.hold(decisive)
	if isForbidden(err) {
		return errStartAgain
	}
	if err != nil || !there {
		return err
	}
	if l.decisive == nil {
		l.decisive = make(map[watchID]map[string]struct{})
	}
	l.decisive[id] = with(l.decisive[id], path)
	if !within(decisive, l.ws.WorktreeRoot) && !within(decisive, l.ws.GitCommonDir) {
		l.foreign[decisive], err = examine(decisive, keepLinks)
	}
	return err
}

// areInPlace reports whether the folders of other repositories are where they
// were: what is above them is not watched.
func (l *lookout) areInPlace() bool {
	for path, before := range l.foreign {
		n, err := examine(path, keepLinks)
		if err != nil || n.device != before.device || n.inode != before.inode {
			return false
		}
	}
	return true
}

// takeForNested notes that the folder at path is taken for a repository of its
// own, unless Git is known to see it differently.
func (l *lookout) takeForNested(path string) bool {
	if _, forced := l.forced[path]; forced {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nested = with(l.nested, path)
	return true
}

// checkNested makes sure that Git sees repositories of their own where the watch
// does: Git then reports the folder as one path.
func (l *lookout) checkNested(reported map[string]struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.compareNested(reported)
}

// compareNested is checkNested with the lock held.
func (l *lookout) compareNested(reported map[string]struct{}) {
	for path := range l.nested {
		if _, ok := reported[path]; ok {
			continue
		}
		delete(l.nested, path)
		if l.folders.find(path) != nil {
			l.forced = with(l.forced, path)
			l.lookInto(path)
		}
	}
}

// finish calls done, with the lock held, once all that happened is known and all
// new folders are watched.
func (l *lookout) finish(ctx context.Context, p *planner, done func()) error {
	for {
		l.mu.Lock()
		if err := l.drain(); err != nil {
			l.mu.Unlock()
			return err
		}
		folders := slices.Sorted(maps.Keys(l.changes.folders))
		if l.changes.folders = nil; len(folders) == 0 {
			if p.walked && !l.set.mounts.stoodStill(p.mounts) {
				l.mu.Unlock()
				return errStartAgain // what is watched may have been there for a moment only
			}
			done()
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		if err := p.walk(ctx, folders); err != nil {
			return err
		}
	}
}

// drain takes in all that happened, with the lock held.
func (l *lookout) drain() error {
	if l.notes == nil {
		return errStartAgain
	}
	err := l.notes.drain(l.happened)
	if err = cmp.Or(l.failure, err); err != nil {
		l.fail(err)
		return err
	}
	if l.restart {
		return errStartAgain
	}
	return nil
}
