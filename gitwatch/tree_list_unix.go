//go:build unix

package gitwatch

import "golang.org/x/sys/unix"

// listBufferBytes holds some hundred names.
const listBufferBytes = 32 << 10

// list looks at all that is in a folder, in no order. What goes away meanwhile is
// left out.
func (t *tree) list(path string, see func(name string, n node)) error {
	above, name := t.root, "."
	if path != "" {
		var err error
		if above, name, err = t.descend(path); err != nil {
			return err
		}
	}
	fd, err := openat(above, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return absentFolder(err)
	}
	defer unix.Close(fd)
	buffer := make([]byte, listBufferBytes)
	var names []string
	for {
		var read int
		err := uninterrupted(func() error {
			read, err = unix.ReadDirent(fd, buffer)
			return err
		})
		if err != nil {
			return err
		}
		if read == 0 {
			return nil
		}
		_, _, names = unix.ParseDirent(buffer[:read], -1, names[:0])
		for _, name := range names {
			var st unix.Stat_t
			err := uninterrupted(func() error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
			if err == nil {
				see(name, nodeOf(&st))
			}
		}
	}
}
