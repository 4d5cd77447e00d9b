package gitwatch

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// tree is an opened folder in which paths are looked up without following any
// link. It serves one goroutine; others get a branch each.
type tree struct {
	root  *os.Root
	owner bool
}

// openTree opens the root of a worktree.
func openTree(path string) (*tree, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, owner: true}, nil
}

// branch returns a tree over the same root for another goroutine; it must be
// closed before the tree is.
func (t *tree) branch() *tree { return &tree{root: t.root} }

func (t *tree) close() {
	if t.owner {
		_ = t.root.Close()
	}
}

// restart is for trees that keep folders open.
func (t *tree) restart() {}

// self looks at the opened root itself.
func (t *tree) self() (node, error) {
	info, err := t.root.Stat(".")
	if err != nil {
		return node{}, err
	}
	return nodeOf(info), nil
}

// examine looks at the last element of path. isAbsence tells where nothing is
// there.
func (t *tree) examine(path string) (node, error) {
	if err := t.checkWay(path); err != nil {
		return node{}, err
	}
	info, err := t.root.Lstat(path)
	if err != nil {
		return node{}, err
	}
	return nodeOf(info), nil
}

// readLink gives the text of a symbolic link.
func (t *tree) readLink(path string) (string, error) {
	if err := t.checkWay(path); err != nil {
		return "", err
	}
	return t.root.Readlink(path)
}

// open opens a file for reading. A link that takes its place in this moment is
// found out by the look that follows the reading.
func (t *tree) open(path string) (*treeFile, error) {
	if err := t.checkWay(path); err != nil {
		return nil, err
	}
	file, err := t.root.Open(path)
	if err != nil {
		return nil, err
	}
	return &treeFile{file}, nil
}

// checkWay makes sure that the way to path leads through folders only.
func (t *tree) checkWay(path string) error {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		info, err := t.root.Lstat(path[:i])
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return windows.ERROR_DIRECTORY
		}
	}
	return nil
}

// treeFile is an opened file of a tree.
type treeFile struct{ file *os.File }

func (f *treeFile) examine() (node, error) {
	info, err := f.file.Stat()
	if err != nil {
		return node{}, err
	}
	return nodeOf(info), nil
}

// ReadAt reads as much as fits; what it can not read at all is io.EOF.
func (f *treeFile) ReadAt(buffer []byte, offset int64) (int, error) {
	n, err := f.file.ReadAt(buffer, offset)
	if n > 0 && errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}

func (f *treeFile) close() { _ = f.file.Close() }

// list looks at all that is in a folder, in no order. What goes away meanwhile is
// left out.
func (t *tree) list(path string, see func(name string, n node)) error {
	if path == "" {
		path = "."
	}
	if err := t.checkWay(path); err != nil {
		return err
	}
	folder, err := t.root.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			see(entry.Name(), nodeOf(info))
		}
	}
	return err
}
