package gitwatch

import (
	"bytes"
	"context"
	"errors"
	"time"

	"slipway/schema"
)

// observe answers for whoever has the turn, and passes the turn on.
func (l *lookout) observe(ctx context.Context, deep depth) (schema.Observation, Mode, error) {
	began := time.Now()
	if deep == watchedDepth {
		if o, ok := l.increment(ctx); ok {
			l.observed(time.Since(began), nil)
			l.release()
			return o, Watched, nil
		}
	}
	o, next, err := l.rescan(ctx, deep)
	if ctx.Err() == nil {
		l.observed(time.Since(began), err)
	}
	if err != nil && l.isGone() {
		l.bury()
	}
	if next == nil || !l.set.start(func() { l.carryOut(next); l.release() }) {
		l.release()
	}
	return o, Scanned, err
}

// premises looks up what Git's answers rest on now.
func (l *lookout) premises(ctx context.Context, git program) (premises, error) {
	found := l.set.git.survey(git, l.ws.WorktreeRoot)
	if !found.sure || !found.place.describes(l.ws) {
		return premises{}, errUnsureLayout
	}
	if string(found.facts) != l.settings.facts {
		var err error
		if l.settings, err = l.set.git.settingsOf(ctx, git, l.ws, found); err != nil {
			return premises{}, err
		}
	}
	if l.settings.unfit != nil {
		return premises{}, l.settings.unfit
	}
	mounted, count, err := l.set.mounts.around(l.ws.WorktreeRoot, l.ws.GitDir, l.ws.GitCommonDir)
	if err != nil {
		return premises{}, err
	}
	p, err := l.set.git.premises(l.ws, found, l.settings, mounted)
	p.mounts = count
	return p, err
}

// increment observes by asking about what changed since the last observation. It
// is not ok where that is not possible, or fails; then a scan must follow.
func (l *lookout) increment(ctx context.Context) (schema.Observation, bool) {
	b := l.base
	if b == nil || !l.watching() {
		return schema.Observation{}, false
	}
	git, err := l.set.git.program(l.env)
	if err != nil {
		return schema.Observation{}, false
	}
	t, err := openTree(l.ws.WorktreeRoot)
	if err != nil {
		return schema.Observation{}, false
	}
	defer t.close()
	happened, ok := l.since(ctx, git, t, b)
	t.restart()
	if !ok {
		return schema.Observation{}, false
	}
	// Only now, so that what these say is not older than the events.
	if l.remain(ctx, git, b.premises) != nil {
		return schema.Observation{}, false
	}
	asked, ok := l.toAsk(t, b, happened.paths)
	switch {
	case !ok:
		return schema.Observation{}, false
	case len(asked) == 0 && b.firm:
		return b.observation, true
	}
	return l.bring(ctx, git, t, b, asked)
}

// since takes what happened since the last observation, when all new folders are
// watched.
func (l *lookout) since(ctx context.Context, git program, t *tree, b *base) (happened changes, ok bool) {
	root, err := t.self()
	if err != nil {
		return changes{}, false
	}
	mounts, err := l.set.mounts.count()
	if err != nil {
		return changes{}, false
	}
	settling, end := context.WithTimeout(ctx, l.set.pace.settle)
	defer end()
	p := &planner{lookout: l, git: git, tree: t, device: root.device, gitlinks: b.listing, mounts: mounts}
	l.newLinks = false
	err = l.finish(settling, p, func() { happened, l.changes = l.changes, changes{} })
	if err == nil && !happened.everything && !l.newLinks && !l.hasNewLinks(happened.paths) && l.areInPlace() {
		return happened, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.notes == nil:
	case settling.Err() != nil && ctx.Err() == nil:
		l.fail(errTooFast)
	case isUnwatchable(err):
		l.fail(err)
	default:
		// Some new folders are not watched, or a file may have got further names; only
		// a new plan finds which these are.
		l.startAgain()
	}
	return changes{}, false
}

var errTooFast = &unwatchable{"folders come and go faster than they can be watched"}

func isUnwatchable(err error) bool {
	var u *unwatchable
	return errors.As(err, &u)
}

// bring asks about the paths and makes the last observation the present one.
func (l *lookout) bring(ctx context.Context, git program, t *tree, b *base, asked []string) (schema.Observation, bool) {
	st := b.status
	mounts, err := l.set.mounts.count()
	if err != nil {
		return schema.Observation{}, false
	}
	if len(asked) > 0 {
		if st, err = git.askAbout(ctx, l.ws.WorktreeRoot, b, asked); err != nil {
			return schema.Observation{}, false
		}
	}
	t.restart()
	seen := scanned{st, look(t, l.set.git.limits.content, st.paths, b.sightsBut(asked))}
	if len(asked) > 0 && (l.remain(ctx, git, b.premises) != nil || !l.set.mounts.stoodStill(mounts)) || len(st.records) > maxKeptRecords {
		return schema.Observation{}, false
	}
	o := assemble(st, b.index, seen.sights)
	b.hold(seen, o)
	if b.hasNewLink(asked) {
		b.mergeable = false // it may be in the place of a folder with tracked files; a scan tells
	}
	l.checkNested(b.nested())
	return o, true
}

var errNotMergeable = errors.New("the answer about some paths does not fit into the one about all")

// askAbout asks for the status of some paths and gives what Git would answer about
// everything.
func (p program) askAbout(ctx context.Context, root string, b *base, asked []string) (status, error) {
	// Looking at few files takes no threads.
	p.options = []string{"-c", "core.preloadIndex=false", "--literal-pathspecs"}
	question := append([]string{"status", "--porcelain=v2", "-z", "--no-renames",
		"--branch", "--no-ahead-behind", "--untracked-files=all", "--"}, asked...)
	var out bytes.Buffer
	if err := p.ask(ctx, &out, root, question...); err != nil {
		return status{}, err
	}
	about, err := parseStatus(out.Bytes())
	if err != nil {
		return status{}, err
	}
	records, ok := updated(b.status.records, about.records, asked)
	if !ok || about.extra || about.head != b.status.head {
		return status{}, errNotMergeable
	}
	answer := rendered(about.head, records)
	if int64(len(answer)) > p.limits.answerBytes {
		return status{}, errAnswerTooLong
	}
	return parseStatus(answer)
}
