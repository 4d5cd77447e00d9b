package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
)

// detected reports whether a host is in use in the worktree: one of its markers
// is a folder, and no link. An error says that this cannot be decided, because
// what a marker is in is no folder or cannot be looked into.
func detected(root folder, h *host) (bool, error) {
	var undecided error
	for _, marker := range h.markers {
		info, err := lookAt(root, marker)
		switch {
		case isUnsafeItself(err), err == nil && info == nil:
			// A link or nothing: no detection.
		case err != nil:
			undecided = err
		case info.IsDir():
			return true, nil
		}
	}
	return false, undecided
}

// seenDetected is detected for reports: what cannot be decided counts as no, and
// a link in the place of the folder that a marker is in is looked through.
func seenDetected(root folder, rootPath string, h *host) bool {
	found, err := detected(root, h)
	if !isUnsafe(err) {
		return found
	}
	for _, marker := range h.markers {
		info, err := os.Lstat(filepath.Join(rootPath, filepath.FromSlash(marker)))
		if err == nil && info.Mode().Type() == fs.ModeDir {
			return true
		}
	}
	return false
}
