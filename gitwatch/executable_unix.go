//go:build unix

package gitwatch

import "golang.org/x/sys/unix"

// executable reports whether file is a program that this user may run.
func executable(_ []string, file string) (string, node, bool) {
	n, err := examine(file, followLinks)
	return file, n, err == nil && n.kind == regularFile && unix.Access(file, unix.X_OK) == nil
}
