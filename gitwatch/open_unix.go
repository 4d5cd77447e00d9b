//go:build unix

package gitwatch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openRegular opens a file for reading and never waits for a writer, should a
// pipe have taken its place.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// isNoFolder reports whether err says that something on the way to a path is no
// folder.
func isNoFolder(err error) bool { return errors.Is(err, unix.ENOTDIR) }
