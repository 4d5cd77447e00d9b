package gitwatch

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// What can change without an event: a file with further names, through one of them;
// a file over which another is mounted, through the name of that; a file that is
// mapped into the memory of a program, by writing there. The system is asked about
// these with every observation, so their numbers are bounded.

// maxLinkedFiles bounds the files with further names.
const maxLinkedFiles = 2000

var errManyLinked = &unwatchable{"many files have further names (hard links), through which they can change without a sign"}

// hasSilent reports whether something is known that can change without an event.
func (l *lookout) hasSilent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.linked)+len(l.mounted)+len(l.open) > 0
}

// changedSilently gives the paths that look different without an event. It is not
// ok where these change what others mean.
func (l *lookout) changedSilently(t *tree, b *base) (changed []string, ok bool) {
	changed, ok = l.relinked(t)
	changed = append(changed, l.changedMounts(t)...)
	changed = append(changed, l.changedWhileOpen(t)...)
	for i := range b.sights {
		if s := &b.sights[i]; !s.isAsBefore(t) {
			changed = append(changed, strings.TrimSuffix(s.path, "/"))
		}
	}
	ok = ok && !slices.ContainsFunc(changed, func(name string) bool { return isRuleFile(path.Base(name)) })
	if !ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.startAgain()
	}
	return changed, ok
}

// isAsBefore reports whether the system says the same of the path as then.
func (s *sight) isAsBefore(t *tree) bool {
	path, _ := strings.CutSuffix(s.path, "/")
	n, err := t.examine(path)
	if isAbsence(err) {
		return s.seen == node{}
	}
	return err == nil && n == s.seen
}

// remembered is n as it is compared later: different from anything, where a change
// right now would not show.
func remembered(n node) node {
	if !n.settled(time.Now()) {
		n.changed = 0
	}
	return n
}

// relinked gives the files with further names that changed. It is not ok where one
// got a further name, of which no event tells.
func (l *lookout) relinked(t *tree) (changed []string, ok bool) {
	for path, before := range l.linked {
		n, err := t.examine(path)
		if err == nil && n == before {
			continue
		}
		changed = append(changed, path)
		switch {
		case err != nil || n.kind != regularFile || n.links == 1:
			delete(l.linked, path)
		case n.inode == before.inode && n.links <= before.links:
			l.linked[path] = remembered(n)
		default:
			return nil, false
		}
	}
	return changed, true
}

// link notes a file that has further names.
func (l *lookout) link(path string, n node) {
	if l.linked[path].inode != n.inode {
		l.newLinks = true
	}
	l.linked[path] = remembered(n)
}

// hasNewLinks reports whether a changed file has further names that are not known:
// these changed with it.
func (l *lookout) hasNewLinks(changed map[string]struct{}) bool {
	for path := range changed {
		n, err := examine(absolute(l.ws.WorktreeRoot, path), keepLinks)
		if err == nil && n.kind == regularFile && n.links > 1 && n.inode != l.linked[path].inode {
			return true
		}
	}
	return false
}

// findMounted finds the files of the worktree over which others are mounted. The
// events of such a file are those of the folder that it comes from.
func (l *lookout) findMounted(t *tree) error {
	l.mounted = nil
	points, err := l.set.mounts.below(l.ws.WorktreeRoot)
	if err != nil {
		return err
	}
	for _, path := range points {
		n, err := t.examine(path)
		if err != nil || n.kind == directory {
			continue
		}
		if err := watchableAt(absolute(l.ws.WorktreeRoot, path)); err != nil {
			return err
		}
		if l.mounted == nil {
			l.mounted = make(map[string]node)
		}
		l.mounted[path] = remembered(n)
	}
	return nil
}

func (l *lookout) changedMounts(t *tree) (changed []string) {
	for path, before := range l.mounted {
		if n, err := t.examine(path); err != nil || n != before {
			changed = append(changed, path)
			l.mounted[path] = remembered(n)
		}
	}
	return changed
}

// maxOpenFiles bounds the files that are written and not yet closed; of more, some
// are forgotten.
const maxOpenFiles = 512

// noteOpen notes, of an event, which files a program may hold open for writing, with
// the lock held. A mapping is among what keeps a file open, so after the file was
// written, or cut to its length, the event of its closing is missing for as long as
// the mapping stays.
//
// Of a program that opens a file, maps it and never calls the system to write, only
// IN_OPEN would tell. Every search through the worktree would fill the queue with
// these.
func (l *lookout) noteOpen(path string, what happening) {
	switch {
	case what&closed != 0:
		delete(l.open, path)
	case what&written != 0:
		if _, known := l.open[path]; known {
			return
		}
		if l.open == nil {
			l.open = make(map[string]node)
		}
		dropOne(l.open, maxOpenFiles)
		l.open[path] = node{}
	}
}

// writeBackTime is after how long the system has written a changed page of a mapping
// to the disk, and stamps a file anew when the page is changed again; until then it
// does not (vm.dirty_expire_centisecs, vm.dirty_writeback_centisecs).
const writeBackTime = time.Minute

// changedWhileOpen gives the open files that changed, or may have.
func (l *lookout) changedWhileOpen(t *tree) (changed []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(l.open)) {
		n, err := t.examine(path)
		if err != nil || n.kind != regularFile {
			delete(l.open, path)
			continue
		}
		if n != l.open[path] || time.Since(time.Unix(0, n.changed)) < writeBackTime {
			changed = append(changed, path)
		}
		l.open[path] = n
	}
	return changed
}
