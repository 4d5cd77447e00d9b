//go:build unix

package gitwatch

import (
	"errors"
	"io"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is an opened folder in which paths are looked up without following any
// link. It keeps the folders on the way to the last path open, so paths are best
// asked for in order. It serves one goroutine; others get a branch each.
type tree struct {
	root  int
	owner bool
	way   []openFolder
}

type openFolder struct {
	name string
	fd   int
}

// openTree opens the root of a worktree.
func openTree(path string) (*tree, error) {
	fd, err := openat(unix.AT_FDCWD, path, folderFlags)
	if err != nil {
		return nil, err
	}
	return &tree{root: fd, owner: true}, nil
}

// branch returns a tree over the same root for another goroutine; it must be
// closed before the tree is.
func (t *tree) branch() *tree { return &tree{root: t.root} }

func (t *tree) close() {
	t.back(0)
	if t.owner {
		_ = unix.Close(t.root)
	}
}

// self looks at the opened root itself.
func (t *tree) self() (node, error) { return fstat(t.root) }

// examine looks at the last element of path. isAbsence tells where nothing is
// there.
func (t *tree) examine(path string) (node, error) {
	folder, name, err := t.descend(path)
	if err != nil {
		return node{}, err
	}
	var st unix.Stat_t
	err = uninterrupted(func() error { return unix.Fstatat(folder, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return nodeOf(&st), err
}

// maxLinkBytes bounds the target of a symbolic link; no system allows more.
const maxLinkBytes = 64 << 10

// readLink gives the text of a symbolic link.
func (t *tree) readLink(path string) (string, error) {
	folder, name, err := t.descend(path)
	if err != nil {
		return "", err
	}
	for size := 256; size <= maxLinkBytes; size *= 4 {
		buffer := make([]byte, size)
		n, err := unix.Readlinkat(folder, name, buffer)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buffer[:n]), nil
		}
	}
	return "", unix.ENAMETOOLONG
}

// open opens a file for reading; it neither follows a link nor waits for the
// other end of a pipe.
func (t *tree) open(path string) (*treeFile, error) {
	folder, name, err := t.descend(path)
	if err != nil {
		return nil, err
	}
	fd, err := openat(folder, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	return &treeFile{fd: fd}, nil
}

// descend opens the folder that holds path and gives the name in it.
func (t *tree) descend(path string) (folder int, name string, err error) {
	depth, folder := 0, t.root
	for {
		element, rest, more := strings.Cut(path, "/")
		if !more {
			t.back(depth)
			return folder, element, nil
		}
		if depth == len(t.way) || t.way[depth].name != element {
			t.back(depth)
			fd, err := openat(folder, element, folderFlags)
			if err != nil {
				return 0, "", absentFolder(err)
			}
			t.way = append(t.way, openFolder{element, fd})
		}
		folder, path = t.way[depth].fd, rest
		depth++
	}
}

// absentFolder: behind a symbolic link there is nothing, as Git sees it.
func absentFolder(err error) error {
	if errors.Is(err, unix.ELOOP) {
		return unix.ENOTDIR
	}
	return err
}

// restart forgets which folders were on the way: later looks see what is there by
// then.
func (t *tree) restart() { t.back(0) }

// back closes the folders below depth.
func (t *tree) back(depth int) {
	for _, folder := range t.way[depth:] {
		_ = unix.Close(folder.fd)
	}
	t.way = t.way[:depth]
}

func openat(folder int, name string, flags int) (fd int, err error) {
	err = uninterrupted(func() error {
		fd, err = unix.Openat(folder, name, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

func fstat(fd int) (node, error) {
	var st unix.Stat_t
	err := uninterrupted(func() error { return unix.Fstat(fd, &st) })
	return nodeOf(&st), err
}

// treeFile is an opened file of a tree.
type treeFile struct{ fd int }

func (f *treeFile) examine() (node, error) { return fstat(f.fd) }

// ReadAt reads as much as fits; what it can not read at all is io.EOF.
func (f *treeFile) ReadAt(buffer []byte, offset int64) (n int, err error) {
	err = uninterrupted(func() error {
		n, err = unix.Pread(f.fd, buffer, offset)
		return err
	})
	if err != nil {
		return 0, err
	}
	if n == 0 && len(buffer) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *treeFile) close() { _ = unix.Close(f.fd) }
