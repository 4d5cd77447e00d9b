package journal

import "io"

// Access says what a Store may do.
type Access int

const (
	// ReadOnly creates nothing, changes no mode and writes nothing.
	ReadOnly Access = iota
	// ReadWrite creates what is missing and sets modes back to owner-only.
	ReadWrite
)

// Opening says how a file is opened.
type Opening int

const (
	// Reading opens an existing file and leaves its mode alone.
	Reading Opening = iota
	// Writing opens an existing file for reading and writing and makes it
	// owner-only.
	Writing
	// Creating makes a new owner-only file and fails with fs.ErrExist where the
	// name is taken.
	Creating
)

// Kind is what a name stands for.
type Kind int

const (
	// Other is whatever is neither: a link or reparse point, a pipe, a device.
	Other Kind = iota
	// Directory is a real directory.
	Directory
	// Regular is a regular file.
	Regular
)

// Info describes a file or directory. Device and Inode, or the platform's equal,
// identify it as long as it is held open.
type Info struct {
	Device, Inode     uint64
	Kind              Kind
	Size              int64 // bytes
	Modified, Changed int64 // nanoseconds since 1970; Changed is Unix's ctime
}

// same reports whether i and j describe the same object.
func (i Info) same(j Info) bool {
	return i.Device == j.Device && i.Inode == j.Inode && i.Kind == j.Kind
}

// FS is the file system that a Store works on. [OS] is the real one.
//
// Errors of all three interfaces satisfy errors.Is for fs.ErrNotExist and
// fs.ErrExist where these apply. No method follows a link in the last element of
// a path or name, and names are single elements.
type FS interface {
	// Lstat describes what stands at an absolute path.
	Lstat(path string) (Info, error)
	// OpenRoot opens the directory at an absolute path for reading.
	OpenRoot(path string) (Dir, error)
}

// Dir is an opened directory.
type Dir interface {
	// Stat describes the opened directory itself.
	Stat() (Info, error)
	// Lstat describes an entry.
	Lstat(name string) (Info, error)
	// LstatIn describes an entry of a directory in this one without opening that,
	// which may as well be a link to a directory.
	LstatIn(directory, name string) (Info, error)
	// Names lists the entries in no order.
	Names() ([]string, error)
	// Mkdir makes a directory; its mode is right once OpenDir opened it with
	// ReadWrite.
	Mkdir(name string) error
	// OpenDir opens a directory; with ReadWrite it also makes it owner-only, and
	// fails where it can not be written to.
	OpenDir(name string, access Access) (Dir, error)
	// Open opens or creates a file.
	Open(name string, how Opening) (File, error)
	// Rename renames an entry and replaces what stands at the new name.
	Rename(from, to string) error
	// Publish renames an entry and fails with fs.ErrExist where the new name is
	// taken.
	Publish(from, to string) error
	// Remove removes a file or a link.
	Remove(name string) error
	// RemoveDir removes an empty directory.
	RemoveDir(name string) error
	// Sync makes the entries durable; nil where the platform can not.
	Sync() error
	// TryLock takes the lock of the directory without waiting and reports whether
	// it got it. mutex is the name of the lock on platforms that do not lock
	// directories.
	TryLock(mutex string, exclusive bool) (bool, error)
	// Close releases the lock and the directory.
	Close() error
}

// File is an opened regular file. WriteAt follows io.WriterAt: the count is right
// also where it fails.
type File interface {
	io.ReaderAt
	io.WriterAt
	Stat() (Info, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}
