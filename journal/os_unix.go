//go:build unix

package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// SyncsDirectories tells whether the entries of a directory can be made durable
// (storage.md, section 8).
const SyncsDirectories = true

// Modes of what is stored (storage.md, section 2).
const (
	ownerDirectory = 0o700
	ownerFile      = 0o600
	modeBits       = 0o7777
)

type osFS struct{}

// OS is the file system of the operating system.
func OS() FS { return osFS{} }

func (osFS) Lstat(path string) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Lstat(path, &st) })
	return infoOf(&st), pathError("lstat", path, err)
}

func (osFS) OpenRoot(path string) (Dir, error) {
	fd, err := openAt(unix.AT_FDCWD, path, openDirectory, 0)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &unixDir{fd: fd, path: path}, nil
}

const (
	openDirectory = unix.O_RDONLY | unix.O_DIRECTORY
	// A pipe that took the place of a file must not block its opening.
	openFile = unix.O_NONBLOCK
)

// unixDir is an open directory; path serves messages only.
type unixDir struct {
	fd   int
	path string
}

func (d *unixDir) Stat() (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(d.fd, &st) })
	return infoOf(&st), pathError("stat", d.path, err)
}

func (d *unixDir) Lstat(name string) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return infoOf(&st), d.fault("lstat", name, err)
}

func (d *unixDir) LstatIn(directory, name string) (Info, error) {
	return d.Lstat(directory + "/" + name)
}

func (d *unixDir) Names() ([]string, error) {
	fd, err := openAt(d.fd, ".", openDirectory, 0)
	if err != nil {
		return nil, pathError("list", d.path, err)
	}
	list := os.NewFile(uintptr(fd), d.path)
	defer list.Close()
	return list.Readdirnames(-1)
}

func (d *unixDir) Mkdir(name string) error {
	return d.fault("mkdir", name, again(func() error { return unix.Mkdirat(d.fd, name, ownerDirectory) }))
}

func (d *unixDir) OpenDir(name string, access Access) (Dir, error) {
	fd, err := d.openOwn(name, openDirectory, access == ReadWrite, ownerDirectory)
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	if access == ReadWrite {
		// A place that can not be written to is better refused before the work.
		if err := again(func() error { return unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, 0) }); err != nil {
			unix.Close(fd)
			return nil, d.fault("write to", name, err)
		}
	}
	return &unixDir{fd: fd, path: d.join(name)}, nil
}

func (d *unixDir) Open(name string, how Opening) (File, error) {
	flags := openFile | unix.O_RDONLY
	switch how {
	case Writing:
		flags = openFile | unix.O_RDWR
	case Creating:
		flags = openFile | unix.O_RDWR | unix.O_CREAT | unix.O_EXCL
	}
	fd, err := d.openOwn(name, flags, how != Reading, ownerFile)
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	return &unixFile{fd: fd, path: d.join(name)}, nil
}

// openOwn opens an entry; where it is to be secured it also gets the mode,
// whatever the umask or somebody else made of it.
func (d *unixDir) openOwn(name string, flags int, secure bool, mode uint32) (int, error) {
	fd, err := openAt(d.fd, name, flags, mode)
	if secure && errors.Is(err, unix.EACCES) && restoreMode(d.fd, name, mode) == nil {
		fd, err = openAt(d.fd, name, flags, mode)
	}
	if err != nil || !secure {
		return fd, err
	}
	var st unix.Stat_t
	err = again(func() error { return unix.Fstat(fd, &st) })
	if err == nil && uint32(st.Mode)&modeBits != mode {
		err = again(func() error { return unix.Fchmod(fd, mode) })
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (d *unixDir) Rename(from, to string) error {
	return d.fault("rename", from, again(func() error { return unix.Renameat(d.fd, from, d.fd, to) }))
}

func (d *unixDir) Publish(from, to string) error {
	return d.fault("publish", from, again(func() error { return renameExclusive(d.fd, from, to) }))
}

// linkExclusive renames without replacing where the system has no call for it.
func linkExclusive(fd int, from, to string) error {
	if err := unix.Linkat(fd, from, fd, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(fd, from, 0)
}

func (d *unixDir) Remove(name string) error {
	return d.fault("remove", name, again(func() error { return unix.Unlinkat(d.fd, name, 0) }))
}

func (d *unixDir) RemoveDir(name string) error {
	return d.fault("remove", name, again(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) }))
}

func (d *unixDir) Sync() error {
	err := again(func() error { return syncDescriptor(d.fd) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // this file system has no such thing
	}
	return pathError("sync", d.path, err)
}

// TryLock uses flock, which belongs to the open directory: each opening has its
// own, also within one process.
func (d *unixDir) TryLock(_ string, exclusive bool) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	err := again(func() error { return unix.Flock(d.fd, how|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, pathError("lock", d.path, err)
}

// Close unlocks explicitly: a child that is just being started may hold a copy of
// the descriptor for a moment.
func (d *unixDir) Close() error {
	unix.Flock(d.fd, unix.LOCK_UN)
	return pathError("close", d.path, unix.Close(d.fd))
}

func (d *unixDir) fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return pathError(op, d.join(name), err)
}

// join is the path of an entry.
func (d *unixDir) join(name string) string { return d.path + "/" + name }

// unixFile is an open regular file; path serves messages only.
type unixFile struct {
	fd   int
	path string
}

func (f *unixFile) Stat() (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(f.fd, &st) })
	return infoOf(&st), pathError("stat", f.path, err)
}

func (f *unixFile) ReadAt(b []byte, offset int64) (done int, err error) {
	for done < len(b) {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Pread(f.fd, b[done:], offset+int64(done))
			return err
		})
		if err != nil {
			return done, pathError("read", f.path, err)
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

func (f *unixFile) WriteAt(b []byte, offset int64) (done int, err error) {
	for done < len(b) {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Pwrite(f.fd, b[done:], offset+int64(done))
			return err
		})
		if err != nil {
			return done, pathError("write", f.path, err)
		}
		if n == 0 {
			return done, pathError("write", f.path, io.ErrShortWrite)
		}
		done += n
	}
	return done, nil
}

func (f *unixFile) Truncate(size int64) error {
	return pathError("truncate", f.path, again(func() error { return unix.Ftruncate(f.fd, size) }))
}

func (f *unixFile) Sync() error {
	return pathError("sync", f.path, again(func() error { return syncDescriptor(f.fd) }))
}

func (f *unixFile) Close() error { return pathError("close", f.path, unix.Close(f.fd)) }

func openAt(dir int, name string, flags int, mode uint32) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

func infoOf(st *unix.Stat_t) Info {
	kind := Other
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		kind = Directory
	case unix.S_IFREG:
		kind = Regular
	}
	return Info{
		Device: uint64(st.Dev), Inode: uint64(st.Ino), Kind: kind, Size: int64(st.Size),
		Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(),
	}
}

// again repeats a call as long as a signal interrupts it.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
