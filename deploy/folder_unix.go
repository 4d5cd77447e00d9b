//go:build !windows

package deploy

import (
	"io/fs"
	"os"
	"syscall"
)

// openWithoutWaiting keeps the opening of a pipe from waiting for a writer.
const openWithoutWaiting = syscall.O_NONBLOCK

// setFolderMode gives an opened folder its mode, whatever the umask made of it.
func setFolderMode(opened *os.File, mode fs.FileMode) error { return opened.Chmod(mode) }
