package rpc

import "os"

// openPrivate opens a file for appending. Its folder is the user's own.
func openPrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}
