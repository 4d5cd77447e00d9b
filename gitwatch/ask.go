package gitwatch

import "strings"

// The bounds of a question about some paths. Git compares every entry of the index
// with every path; beyond the second, asking about everything costs less.
const (
	maxAskedPaths       = 100
	maxAskedComparisons = 10_000_000
	maxAskedBytes       = 64 << 10
)

// maxLinkedFiles bounds the files with further names, which are looked at with
// every observation.
const maxLinkedFiles = 2000

var errManyLinked = &unwatchable{"many files have further names (hard links), through which they can change without a sign"}

// toAsk gives the paths to ask Git about: those that changed, and those that can
// change without an event. Not ok where they are too many, or where they do not
// tell which others changed with them.
func (l *lookout) toAsk(t *tree, b *base, changed map[string]struct{}) ([]string, bool) {
	changed, ok := l.relinked(t, changed)
	if !ok {
		return nil, false
	}
	for i := range b.sights {
		if s := &b.sights[i]; !s.isAsBefore(t) {
			changed = with(changed, strings.TrimSuffix(s.path, "/"))
		}
	}
	for _, path := range b.listing.gitlinks {
		// What is in a submodule is not watched.
		if _, err := t.examine(joinPath(path, dotGit)); !isAbsence(err) {
			changed = with(changed, path)
		}
	}
	if len(changed) == 0 {
		return nil, true
	}
	if !b.mergeable {
		return nil, false
	}
	asked, few := gathered(outermost(b.lifted(changed)), b.mostAsked())
	size := 0
	for _, path := range asked {
		size += len(path) + 1
	}
	return asked, few && size <= maxAskedBytes
}

func (b *base) mostAsked() int {
	return min(maxAskedPaths, maxAskedComparisons/max(b.listing.entries, 1))
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

// relinked adds the files with further names that changed. It is not ok where one
// got a further name, of which no event tells.
func (l *lookout) relinked(t *tree, changed map[string]struct{}) (map[string]struct{}, bool) {
	for path, before := range l.linked {
		n, err := t.examine(path)
		if err == nil && n == before {
			continue
		}
		changed = with(changed, path)
		switch {
		case err != nil || n.kind != regularFile || n.links == 1:
			delete(l.linked, path)
		case n.inode == before.inode && n.links <= before.links:
			l.linked[path] = n
		default:
			l.mu.Lock()
			l.startAgain()
			l.mu.Unlock()
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
	l.linked[path] = n
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

// lifted names, instead of paths in repositories of their own and in submodules,
// the folders of these: Git does not tell what is in there.
func (b *base) lifted(paths map[string]struct{}) map[string]struct{} {
	closed := b.nested()
	for _, path := range b.listing.gitlinks {
		closed = with(closed, path)
	}
	if len(closed) == 0 {
		return paths
	}
	lifted := make(map[string]struct{}, len(paths))
	for path := range paths {
		for end := range len(path) {
			if path[end] != '/' {
				continue
			}
			if _, ok := closed[path[:end]]; ok {
				path = path[:end]
				break
			}
		}
		lifted[path] = struct{}{}
	}
	return lifted
}
