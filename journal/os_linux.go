package journal

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func syncDescriptor(fd int) error { return unix.Fsync(fd) }

// renameExclusive renames without replacing; some file systems only know links.
func renameExclusive(fd int, from, to string) error {
	err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return linkExclusive(fd, from, to)
	}
	return err
}

// restoreMode sets the mode of an entry that its owner can not open. Kernels
// before 6.6 can do that without following a link only by way of /proc.
func restoreMode(dir int, name string, mode uint32) error {
	err := unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
	if !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	fd, err := openAt(dir, name, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if infoOf(&st).Kind == Other {
		return unix.ELOOP
	}
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode)
}
