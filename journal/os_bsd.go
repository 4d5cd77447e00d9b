//go:build freebsd || netbsd || openbsd || dragonfly

package journal

import "golang.org/x/sys/unix"

func syncDescriptor(fd int) error { return unix.Fsync(fd) }

// renameExclusive renames without replacing.
func renameExclusive(fd int, from, to string) error { return linkExclusive(fd, from, to) }

// restoreMode sets the mode of an entry that its owner can not open.
func restoreMode(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}
