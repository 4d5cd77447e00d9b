package gitwatch

// The bounds of a question about some paths. Git compares every entry of the index
// with every path; beyond the second, asking about everything costs less.
const (
	maxAskedPaths       = 100
	maxAskedComparisons = 10_000_000
	maxAskedBytes       = 64 << 10
)

// toAsk gives the paths to ask Git about: those that changed, and those that can
// change without an event. Not ok where they are too many, or where they do not
// tell which others changed with them.
func (l *lookout) toAsk(t *tree, b *base, changed map[string]struct{}) ([]string, bool) {
	silently, ok := l.changedSilently(t, b)
	if !ok {
		return nil, false
	}
	for _, path := range silently {
		changed = with(changed, path)
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
