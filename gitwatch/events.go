package gitwatch

import (
	"path/filepath"
	"strings"
)

func splitPath(path string) (folder, name string) {
	slash := strings.LastIndexByte(path, '/')
	return path[:max(slash, 0)], path[slash+1:]
}

func absolute(root, path string) string { return filepath.Join(root, filepath.FromSlash(path)) }

// listen takes in events as they come, so that the queue does not overflow while
// nobody observes.
func (l *lookout) listen(n notifier) {
	n.wait(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.notes == n && l.drain() != nil {
			l.endWatch()
		}
	})
}

// happened takes in one event, with the lock held.
func (l *lookout) happened(e event) {
	l.health.events++
	l.tell()
	if e.what&lost != 0 {
		l.health.overflows++
		l.failure = errOverflow
	}
	if l.restart || l.failure != nil {
		return // it does not matter any more
	}
	f := l.folders.byID[e.id]
	if paths, ok := l.decisive[e.id]; ok {
		l.decisiveChanged(e, paths, f == nil)
	}
	switch {
	case f == nil: // of a folder that is no longer watched
	case f.role == ofRepository:
		if e.what&(ended|displaced) != 0 {
			l.detach(f)
		}
	case e.what&(ended|displaced) != 0:
		l.folderEnded(f, e)
	case e.name == "":
		l.lookInto(f.path())
	default:
		l.nameChanged(f, e)
	}
}

// decisiveChanged: these folders may have become repositories of their own, or
// ceased to be.
func (l *lookout) decisiveChanged(e event, paths map[string]struct{}, only bool) {
	for path := range paths {
		l.lookInto(path)
	}
	if e.what&(ended|displaced) != 0 {
		if delete(l.decisive, e.id); only {
			l.letGo(e.id)
		}
	}
}

var errOverflow = &unwatchable{"overflow: more happened at a time than the queue of events holds (fs.inotify.max_queued_events)"}

// folderEnded: of a folder that is deleted, the one above tells.
func (l *lookout) folderEnded(f *folder, e event) {
	if f == l.folders.root {
		l.failure = &unwatchable{"the root of the worktree was moved, deleted or unmounted"}
		l.set.start(l.giveUpIfGone)
		return
	}
	path := f.path()
	l.detach(f)
	if e.what&displaced != 0 {
		l.lookInto(path)
	}
}

func (l *lookout) nameChanged(f *folder, e event) {
	if e.name == dotGit {
		l.lookInto(f.path())
		return
	}
	folder := f.path()
	if e.what&ofFolder != 0 {
		child := f.child(e.name)
		if child != nil && e.what&(arrived|left) != 0 {
			l.detach(child)
		}
		// What left may have been exchanged for something that is there already. What
		// was deleted has told so itself.
		if (e.what&left == 0 || child != nil) && !l.changes.appeared(joinPath(folder, e.name)) {
			l.startAgain()
			return
		}
	}
	l.noteOpen(joinPath(folder, e.name), e.what)
	l.note(folder, e.name)
}

// lookInto notes that a folder may hold anything by now, and is to be watched with
// all that is in it.
func (l *lookout) lookInto(path string) {
	if path == "" {
		l.changes.all()
	} else if !l.changes.appeared(path) {
		l.startAgain()
	}
}

// note notes that a name in a folder changed. A file with rules changes what
// others mean.
func (l *lookout) note(folder, name string) {
	switch {
	case !isRuleFile(name):
		l.changes.note(joinPath(folder, name))
	case name == ignoreFile:
		l.startAgain() // other folders may have to be watched
	default:
		l.changes.all()
	}
}

// startAgain has the watch begin anew with the next observation.
func (l *lookout) startAgain() {
	l.restart = true
	l.changes.all()
}
