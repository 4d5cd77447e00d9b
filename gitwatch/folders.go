package gitwatch

import (
	"cmp"
	"slices"
	"strings"
)

// folder is a watched folder. Thousands of them are kept, so it is small.
type folder struct {
	name   string
	above  *folder   // nil for the root
	inside []*folder // by name
	id     watchID
	role   folderRole
}

// folderRole says what an event in a folder means.
type folderRole uint8

const (
	ofWorktree   folderRole = iota // what is in it may be dirty
	ofRepository                   // of a Git directory
)

// path is relative to the root, which is "".
func (f *folder) path() string {
	size := -1
	for at := f; at.above != nil; at = at.above {
		size += len(at.name) + 1
	}
	if size < 0 {
		return ""
	}
	path := make([]byte, size)
	for at := f; at.above != nil; at = at.above {
		size -= len(at.name)
		copy(path[size:], at.name)
		if size--; size >= 0 {
			path[size] = '/'
		}
	}
	return string(path)
}

// child finds a folder in f; nil where none is watched.
func (f *folder) child(name string) *folder {
	if i, found := f.search(name); found {
		return f.inside[i]
	}
	return nil
}

func (f *folder) search(name string) (int, bool) {
	return slices.BinarySearchFunc(f.inside, name, func(c *folder, name string) int { return cmp.Compare(c.name, name) })
}

// folders are all watched folders of one worktree: the tree below its root, and
// a few of its repository.
type folders struct {
	root *folder
	byID map[watchID]*folder
}

// find looks up a folder of the worktree; nil where it is not watched.
func (t *folders) find(path string) *folder {
	at := t.root
	for at != nil && path != "" {
		var name string
		name, path, _ = strings.Cut(path, "/")
		at = at.child(name)
	}
	return at
}

// put adds a folder. One that has its number is detached: the same folder can not
// be at two places.
func (t *folders) put(f *folder) {
	if t.byID == nil {
		t.byID = make(map[watchID]*folder)
	}
	t.byID[f.id] = f
	switch {
	case f.above != nil:
		i, _ := f.above.search(f.name)
		f.above.inside = slices.Insert(f.above.inside, i, f)
	case f.role == ofWorktree:
		t.root = f
	}
}

// detach takes f and all below it out, and calls gone for the number of each that
// no other folder has taken over.
func (t *folders) detach(f *folder, gone func(watchID)) {
	if f.above != nil {
		if i, found := f.above.search(f.name); found && f.above.inside[i] == f {
			f.above.inside = slices.Delete(f.above.inside, i, i+1)
		}
	}
	t.forget(f, gone)
}

func (t *folders) forget(f *folder, gone func(watchID)) {
	for _, below := range f.inside {
		t.forget(below, gone)
	}
	f.inside = nil
	if t.byID[f.id] == f {
		delete(t.byID, f.id)
		gone(f.id)
	}
	if t.root == f {
		t.root = nil
	}
}
