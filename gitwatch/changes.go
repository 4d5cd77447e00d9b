package gitwatch

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// The bounds of what is remembered between two observations. Beyond the first the
// whole worktree counts as changed, beyond the second the watch starts again.
const (
	maxChangedPaths = 4096
	maxNewFolders   = 4096
)

// changes are what happened in a watched worktree since it was looked at. A path
// stands for itself and all below it.
type changes struct {
	everything bool
	paths      map[string]struct{}
	folders    map[string]struct{} // that appeared and are to be looked into
}

func (c *changes) note(path string) {
	switch {
	case c.everything:
	case path == "" || len(c.paths) >= maxChangedPaths:
		c.all()
	default:
		c.paths = with(c.paths, path)
	}
}

// all: what changed can not be told.
func (c *changes) all() { c.everything, c.paths = true, nil }

// appeared notes a folder, in which anything may change until it is watched; false
// where there are too many.
func (c *changes) appeared(path string) bool {
	if len(c.folders) >= maxNewFolders {
		return false
	}
	c.note(path)
	c.folders = with(c.folders, path)
	return true
}

func with(set map[string]struct{}, path string) map[string]struct{} {
	if set == nil {
		set = make(map[string]struct{})
	}
	set[path] = struct{}{}
	return set
}

// outermost gives paths in order, without those that are below another.
func outermost(paths map[string]struct{}) []string {
	sorted := slices.SortedFunc(maps.Keys(paths), inTreeOrder)
	kept := sorted[:0]
	for _, path := range sorted {
		if len(kept) == 0 || !covers(kept[len(kept)-1], path) {
			kept = append(kept, path)
		}
	}
	return kept
}

// inTreeOrder puts a folder directly before all that is below it.
func inTreeOrder(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return cmp.Compare(orderOf(a[i]), orderOf(b[i]))
		}
	}
	return cmp.Compare(len(a), len(b))
}

func orderOf(c byte) int {
	if c == '/' {
		return -1
	}
	return int(c)
}

// covers reports whether path is folder or below it. A folder that Git reports
// with a slash at the end is below itself.
func covers(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (folder == "" || rest == "" || rest[0] == '/')
}

// maxGathering is how many levels up paths are gathered: further up, a folder is
// too much of the whole.
const maxGathering = 2

// gathered makes paths fewer, by naming the folders that they are in, until there
// are at most limit. It fails where that takes too much.
func gathered(paths []string, limit int) ([]string, bool) {
	for range maxGathering {
		if len(paths) <= limit {
			break
		}
		above := make(map[string]struct{}, len(paths))
		for _, path := range paths {
			if end := strings.LastIndexByte(path, '/'); end > 0 {
				path = path[:end]
			}
			above[path] = struct{}{}
		}
		paths = outermost(above)
	}
	return paths, len(paths) <= limit
}
