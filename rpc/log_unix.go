//go:build unix

package rpc

import (
	"os"

	"golang.org/x/sys/unix"
)

// openPrivate opens a file for appending that only its owner can read.
func openPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	// Best effort, as for the socket: the folder is the protection.
	_ = f.Chmod(0o600)
	return f, nil
}
