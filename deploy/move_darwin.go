package deploy

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func moveExclusive(from *os.File, name string, to *os.File, as string) error {
	return renameWith(from, name, to, as, unix.RENAME_EXCL)
}

func exchange(from *os.File, name string, with *os.File, other string) error {
	return renameWith(from, name, with, other, unix.RENAME_SWAP)
}

func renameWith(from *os.File, name string, to *os.File, as string, flag uint32) error {
	for {
		err := unix.RenameatxNp(int(from.Fd()), name, int(to.Fd()), as, flag)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			return errors.ErrUnsupported
		}
		return err
	}
}
