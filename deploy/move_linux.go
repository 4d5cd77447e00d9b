package deploy

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func moveExclusive(from *os.File, name string, to *os.File, as string) error {
	return renameWith(from, name, to, as, unix.RENAME_NOREPLACE)
}

func exchange(from *os.File, name string, with *os.File, other string) error {
	return renameWith(from, name, with, other, unix.RENAME_EXCHANGE)
}

func renameWith(from *os.File, name string, to *os.File, as string, flags uint) error {
	for {
		err := unix.Renameat2(int(from.Fd()), name, int(to.Fd()), as, flags)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			return errors.ErrUnsupported
		}
		return err
	}
}
