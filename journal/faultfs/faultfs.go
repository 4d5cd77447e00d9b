// Package faultfs breaks a file system on purpose: it wraps a [journal.FS] and asks
// a hook before every operation. The hook can let the operation fail, cut a write
// short, or do something to the disk behind the caller's back.
//
//	faulty := &faultfs.FS{FS: journal.OS()}
//	faulty.Before = func(op faultfs.Op) error {
//		if op.Kind == "sync" && path.Base(op.Path) == "journal.jsonl" {
//			return syscall.EIO
//		}
//		return nil
//	}
//	store, err := journal.OpenStore(faulty, commonDir, journal.ReadWrite)
package faultfs

import (
	"path"
	"sync"

	"slipway/journal"
)

// Op is one operation.
type Op struct {
	Number int    // counts from 1
	Kind   string // the method's name in lower case: "openroot", "lstat", "writeat", ...
	Path   string // below the root, with slashes; "." for the root itself
}

// Short is an error of a hook that lets a write store its first Bytes bytes before
// it fails with Err; with a negative number all but so many.
type Short struct {
	Bytes int
	Err   error
}

func (s *Short) Error() string { return "short write: " + s.Err.Error() }

// Unwrap gives the cause.
func (s *Short) Unwrap() error { return s.Err }

// Done is an error of a hook that lets an operation happen before it fails with Err.
type Done struct{ Err error }

func (d *Done) Error() string { return "done, but: " + d.Err.Error() }

// Unwrap gives the cause.
func (d *Done) Unwrap() error { return d.Err }

// FS is a file system whose operations can fail. Closing never fails.
type FS struct {
	journal.FS
	// Before is called before every operation, one call at a time; with an error
	// the operation is not carried out and fails with it. Set it while no operation
	// runs.
	Before func(Op) error

	mu    sync.Mutex
	count int
}

// Count is the number of operations so far.
func (f *FS) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

func (f *FS) before(kind, at string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.Before == nil {
		return nil
	}
	return f.Before(Op{Number: f.count, Kind: kind, Path: at})
}

// Lstat describes what stands at a path.
func (f *FS) Lstat(name string) (journal.Info, error) {
	if err := f.before("lstat", "."); err != nil {
		return journal.Info{}, err
	}
	return f.FS.Lstat(name)
}

// OpenRoot opens the directory at a path.
func (f *FS) OpenRoot(name string) (journal.Dir, error) {
	if err := f.before("openroot", "."); err != nil {
		return nil, err
	}
	inner, err := f.FS.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &dir{Dir: inner, fs: f, path: "."}, nil
}

type dir struct {
	journal.Dir
	fs   *FS
	path string
}

func (d *dir) do(kind, name string, operation func() error) error {
	err := d.fs.before(kind, path.Join(d.path, name))
	if done, ok := err.(*Done); ok {
		if err := operation(); err != nil {
			return err
		}
		return done
	}
	if err != nil {
		return err
	}
	return operation()
}

func (d *dir) Stat() (info journal.Info, err error) {
	err = d.do("stat", "", func() (err error) { info, err = d.Dir.Stat(); return err })
	return info, err
}

func (d *dir) Lstat(name string) (info journal.Info, err error) {
	err = d.do("lstat", name, func() (err error) { info, err = d.Dir.Lstat(name); return err })
	return info, err
}

func (d *dir) LstatIn(directory, name string) (info journal.Info, err error) {
	err = d.do("lstat", path.Join(directory, name), func() (err error) { info, err = d.Dir.LstatIn(directory, name); return err })
	return info, err
}

func (d *dir) Names() (names []string, err error) {
	err = d.do("names", "", func() (err error) { names, err = d.Dir.Names(); return err })
	return names, err
}

func (d *dir) Mkdir(name string) error {
	return d.do("mkdir", name, func() error { return d.Dir.Mkdir(name) })
}

func (d *dir) OpenDir(name string, access journal.Access) (opened journal.Dir, err error) {
	err = d.do("opendir", name, func() error {
		inner, err := d.Dir.OpenDir(name, access)
		opened = &dir{Dir: inner, fs: d.fs, path: path.Join(d.path, name)}
		return err
	})
	return opened, err
}

func (d *dir) Open(name string, how journal.Opening) (opened journal.File, err error) {
	kind := "open"
	if how == journal.Creating {
		kind = "create"
	}
	err = d.do(kind, name, func() error {
		inner, err := d.Dir.Open(name, how)
		opened = &file{File: inner, in: d, name: name}
		return err
	})
	return opened, err
}

func (d *dir) Rename(from, to string) error {
	return d.do("rename", to, func() error { return d.Dir.Rename(from, to) })
}

func (d *dir) Publish(from, to string) error {
	return d.do("publish", to, func() error { return d.Dir.Publish(from, to) })
}

func (d *dir) Remove(name string) error {
	return d.do("remove", name, func() error { return d.Dir.Remove(name) })
}

func (d *dir) RemoveDir(name string) error {
	return d.do("removedir", name, func() error { return d.Dir.RemoveDir(name) })
}

func (d *dir) Sync() error { return d.do("sync", "", d.Dir.Sync) }

func (d *dir) TryLock(mutex string, exclusive bool) (taken bool, err error) {
	err = d.do("trylock", "", func() (err error) { taken, err = d.Dir.TryLock(mutex, exclusive); return err })
	return taken, err
}

type file struct {
	journal.File
	in   *dir
	name string
}

func (f *file) Stat() (info journal.Info, err error) {
	err = f.in.do("stat", f.name, func() (err error) { info, err = f.File.Stat(); return err })
	return info, err
}

func (f *file) ReadAt(b []byte, offset int64) (n int, err error) {
	err = f.in.do("readat", f.name, func() (err error) { n, err = f.File.ReadAt(b, offset); return err })
	return n, err
}

func (f *file) WriteAt(b []byte, offset int64) (n int, err error) {
	err = f.in.do("writeat", f.name, func() (err error) { n, err = f.File.WriteAt(b, offset); return err })
	if short, ok := err.(*Short); ok {
		stored := min(short.Bytes, len(b))
		if stored < 0 {
			stored = max(len(b)+stored, 0)
		}
		n, _ = f.File.WriteAt(b[:stored], offset)
	}
	return n, err
}

func (f *file) Truncate(size int64) error {
	return f.in.do("truncate", f.name, func() error { return f.File.Truncate(size) })
}

func (f *file) Sync() error { return f.in.do("sync", f.name, f.File.Sync) }
