package gitwatch

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"time"

	"slipway/schema"
)

// plan is what a scan says about what has to be watched.
type plan struct {
	git     program
	listing *listing
	rules   string
	mounts  uint64 // as mounts count their changes
	nested  map[string]struct{}
}

// rescan observes by asking about everything. It gives a plan where the worktree
// is to be watched from now on.
func (l *lookout) rescan(ctx context.Context, deep depth) (schema.Observation, *plan, error) {
	before := l.base
	l.base = nil
	// An increment that came to nothing has taken what happened.
	quiet := l.beginScan() && deep == freshDepth
	g := l.set.git
	git, err := g.program(l.env)
	if err != nil {
		return schema.Observation{}, nil, err
	}
	rests, doubt := l.premises(ctx, git)
	listing := newListing()
	seen, err := g.scan(ctx, git, l.ws, listing)
	if err != nil {
		return schema.Observation{}, nil, err
	}
	o := assemble(seen.status, digestOf(listing.sum), seen.sights)
	if doubt == nil {
		doubt = l.remain(ctx, git, rests)
	}
	if doubt == nil && !l.set.mounts.stoodStill(rests.mounts) {
		doubt = errUnsettled
	}
	var b *base
	if doubt == nil {
		b, doubt = newBase(rests, listing, seen, o)
	}
	if doubt != nil {
		l.doubt(doubt)
		return o, nil, nil
	}
	if quiet && !l.hasSilent() && before != nil && before.contradicts(b) && l.isQuiet() {
		l.missed()
		return o, nil, nil
	}
	if l.goOn(b) {
		l.base = b
		return o, nil, nil
	}
	return o, l.toPlan(git, b), nil
}

// remain fails where the premises are not what they were.
func (l *lookout) remain(ctx context.Context, git program, before premises) error {
	now, err := l.premises(ctx, git)
	if err == nil && !now.same(before) {
		err = errUnsettled
	}
	return err
}

// beginScan forgets what happened before now: the scan sees it. It reports whether
// it was nothing since the last observation.
func (l *lookout) beginScan() (quiet bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.health.rescans++
	if l.notes == nil || l.drain() != nil {
		return false
	}
	happened := l.changes
	// What comes into a folder that is not watched yet may come after the scan.
	l.changes = changes{folders: happened.folders, paths: maps.Clone(happened.folders)}
	if happened.everything || l.hasNewLinks(happened.paths) {
		l.startAgain() // there may be files with further names that are not known
	}
	return l.ready && !l.restart && len(happened.paths) == 0 && len(happened.folders) == 0
}

// isQuiet reports whether nothing happened since the scan began.
func (l *lookout) isQuiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drain() == nil && !l.changes.everything && len(l.changes.paths) == 0 && len(l.changes.folders) == 0
}

// missed: nothing happened, and yet everything is not as it was.
func (l *lookout) missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail(&unwatchable{"a scan found a change that no event told of, as of a file that is written through a memory mapping"})
}

// doubt: nothing can build upon this scan. What is only for a moment does not end
// a watch.
func (l *lookout) doubt(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if isUnwatchable(cause) {
		l.endWatch()
		l.unfollow()
		l.health.reason = cause.Error()
	}
}

// goOn reports whether the watch that is there is right for what was scanned. What
// Git has to look into since is watched, too.
func (l *lookout) goOn(b *base) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes == nil || !l.ready || l.restart || l.rules != b.rules() {
		return false
	}
	for path := range b.listing.folders {
		if l.adopt(path) == symbolicLink {
			b.mergeable = false
		}
	}
	b.listing.folders = nil
	l.compareNested(b.nested())
	return true
}

// toPlan ends what there is of a watch and says how another one is to begin; nil
// where it is not time for one.
func (l *lookout) toPlan(git program, b *base) *plan {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endWatch()
	if l.health.waiting() || l.set.running.Err() != nil {
		return nil
	}
	l.health.reason = ""
	return &plan{git: git, listing: b.listing, rules: b.rules(), mounts: b.premises.mounts, nested: b.nested()}
}

// adopt has a folder with tracked files looked into if it is not watched, with the
// lock held, and tells what stands in its place.
//
// In the place of a link, Git takes tracked files for present, or not, by what
// stands where the link leads to. So a change there can be one of these files.
func (l *lookout) adopt(path string) nodeKind {
	if l.folders.find(path) != nil {
		return directory
	}
	n, err := examine(absolute(l.ws.WorktreeRoot, path), keepLinks)
	if err != nil || n.kind != directory {
		return n.kind
	}
	if !l.changes.appeared(path) {
		l.startAgain()
	}
	return directory
}

// carryOut watches the worktree as planned. It has the turn.
func (l *lookout) carryOut(p *plan) {
	ctx, end := context.WithTimeout(l.set.running, l.set.pace.plan)
	defer end()
	err := l.begin(ctx, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil, l.notes == nil && l.health.waiting(): // all is well, or what is wrong is told already
	case errors.Is(err, errStartAgain):
		l.endWatch()
	case ctx.Err() != nil && l.set.running.Err() == nil:
		l.fail(errTooFast)
	default:
		l.fail(err)
	}
}

// begin sets all watches. What was scanned before counts no more: the next
// observation scans once more, and from that on events tell of every change.
func (l *lookout) begin(ctx context.Context, p *plan) error {
	for _, path := range []string{l.ws.WorktreeRoot, l.ws.GitDir, l.ws.GitCommonDir} {
		if err := watchableAt(path); err != nil {
			return err
		}
	}
	t, err := openTree(l.ws.WorktreeRoot)
	if err != nil {
		return err
	}
	defer t.close()
	root, err := t.self()
	if err != nil {
		return err
	}
	notes, err := l.set.notify()
	if err != nil {
		return err
	}
	l.linked, l.forced, l.foreign = make(map[string]node), nil, make(map[string]node)
	l.mu.Lock()
	l.watch = watch{notes: notes, most: l.set.most(), rules: p.rules, followers: l.followers}
	l.health.began = time.Now()
	l.mu.Unlock()
	if !l.set.start(func() { l.listen(notes) }) {
		return context.Canceled
	}
	w := &planner{lookout: l, git: p.git, tree: t, device: root.device, tracked: p.listing.folders, gitlinks: p.listing, mounts: p.mounts}
	if err := w.walk(ctx, []string{""}); err != nil {
		return err
	}
	if len(l.linked) > maxLinkedFiles {
		return errManyLinked
	}
	t.restart()
	if err := l.findMounted(t); err != nil {
		return err
	}
	if err := l.watchRepository(); err != nil {
		return err
	}
	l.checkNested(p.nested)
	return l.finish(ctx, w, func() {
		l.ready = true
		l.tell()
	})
}

// watchRepository watches where commands of Git write, so that followers hear of
// it. Observations do not rest on that.
func (l *lookout) watchRepository() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	folders := append(distinct(l.ws.GitCommonDir, l.ws.GitDir),
		filepath.Join(l.ws.GitCommonDir, "info"), filepath.Join(l.ws.GitCommonDir, "refs", "heads"))
	for _, path := range folders {
		if l.notes == nil {
			return errStartAgain
		}
		id, there, err := l.hold(path)
		if err != nil {
			return err
		}
		if there && l.folders.byID[id] == nil {
			l.folders.put(&folder{id: id, role: ofRepository})
		}
	}
	return nil
}
