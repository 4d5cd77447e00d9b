package gitwatch

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openRegular opens a file for reading.
func openRegular(path string) (*os.File, error) { return os.Open(path) }

// isNoFolder reports whether err says that something on the way to a path is no
// folder.
func isNoFolder(err error) bool {
	return errors.Is(err, windows.ERROR_DIRECTORY) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND)
}
