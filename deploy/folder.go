package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// folder is an opened folder. Names are single elements and links are never
// followed. It is an interface so that tests can make every operation fail or be
// the last one of the process.
//
// Errors satisfy errors.Is for fs.ErrNotExist and fs.ErrExist where these apply.
type folder interface {
	// Self describes the opened folder.
	Self() (fs.FileInfo, error)
	// Lstat describes an entry.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens a folder; errNoFolder where the entry is something else.
	Open(name string) (folder, error)
	// Read reads a regular file, at most limit bytes of it, and describes it.
	Read(name string, limit int) ([]byte, fs.FileInfo, error)
	// Names lists the entries in no order.
	Names() ([]string, error)
	// MakeFolder makes a folder of exactly this mode.
	MakeFolder(name string, mode fs.FileMode) error
	// WriteFile makes a file of exactly this mode and brings it to the disk. What
	// it made before it failed stays.
	WriteFile(name string, content []byte, mode fs.FileMode) error
	// Move renames an entry into another folder and never replaces anything.
	// errors.ErrUnsupported: it cannot be done without that risk.
	Move(name string, to folder, as string) error
	// Exchange lets two entries change places in one step.
	// errors.ErrUnsupported: the platform or file system cannot.
	Exchange(name string, with folder, other string) error
	// RemoveFile removes an entry that is no folder.
	RemoveFile(name string) error
	// RemoveFolder removes an empty folder.
	RemoveFolder(name string) error
	// Sync brings the entries to the disk; nil where the platform cannot.
	Sync() error
	Close() error
}

// errNoFolder says that a folder component of a path is a link or no folder.
var errNoFolder = errors.New("is no folder; links are not followed")

// unsafeError is a path that nothing is read, written or deleted through
// (adapters.md, section 8).
type unsafeError struct {
	path      string // the whole path
	component string // what is refused
	reason    string
}

func (e *unsafeError) Error() string {
	if e.component == e.path {
		return fmt.Sprintf("%s %s", e.path, e.reason)
	}
	return fmt.Sprintf("%s is refused: %s %s", e.path, e.component, e.reason)
}

func isUnsafe(err error) bool {
	var unsafe *unsafeError
	return errors.As(err, &unsafe)
}

// isUnsafeItself reports whether the path is refused for what stands at the path
// itself, not for something on the way.
func isUnsafeItself(err error) bool {
	var unsafe *unsafeError
	return errors.As(err, &unsafe) && unsafe.component == unsafe.path
}

// walk opens the folder that a path is in. Errors: *unsafeError, fs.ErrNotExist
// for a missing folder, and those of the file system. The caller closes it.
func walk(root folder, file string) (folder, error) {
	parts := strings.Split(file, "/")
	if len(parts) == 1 {
		return root.Open(".")
	}
	at := root
	for i, name := range parts[:len(parts)-1] {
		next, err := at.Open(name)
		if at != root {
			at.Close()
		}
		if errors.Is(err, errNoFolder) {
			return nil, &unsafeError{path: file, component: strings.Join(parts[:i+1], "/"), reason: errNoFolder.Error()}
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// lookAt describes what stands at a path; nil where nothing does. Errors as for
// walk; a link at the path itself is an *unsafeError too.
func lookAt(root folder, file string) (fs.FileInfo, error) {
	at, err := walk(root, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer at.Close()
	info, err := at.Lstat(path.Base(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case isLink(info):
		return nil, &unsafeError{path: file, component: file, reason: "is a symbolic link"}
	}
	return info, nil
}

// isLink reports whether an entry leads elsewhere. Windows shows some reparse
// points as irregular.
func isLink(info fs.FileInfo) bool { return info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// readAt reads a regular file, at most limit bytes. Errors as for walk.
func readAt(root folder, file string, limit int) ([]byte, error) {
	at, err := walk(root, file)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	content, _, err := at.Read(path.Base(file), limit)
	return content, err
}
