package journal

import (
	"errors"

	"golang.org/x/sys/unix"
)

// syncDescriptor asks for more than fsync, which leaves the data in the drive's
// own cache.
func syncDescriptor(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTTY) {
		return unix.Fsync(fd)
	}
	return err
}

// renameExclusive renames without replacing; some file systems only know links.
func renameExclusive(fd int, from, to string) error {
	err := unix.RenameatxNp(fd, from, fd, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return linkExclusive(fd, from, to)
	}
	return err
}

// restoreMode sets the mode of an entry that its owner can not open.
func restoreMode(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}
