package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"sync"
	"syscall"

	"slipway/journal"
	"slipway/journal/faultfs"
)

// ErrForgets is an error of Before that makes a sync forget: see [Forgets].
var ErrForgets = errors.New("the sync lost what it should have written")

// ErrDead is the error of every operation of a process that was killed.
var ErrDead = errors.New("the process is dead")

// locks are those of one directory.
type locks struct {
	exclusive *dir
	shared    map[*dir]bool
}

// Process is what one process sees of a disk; it implements [journal.FS]. It is
// safe for concurrent use.
type Process struct {
	// Before is called before every operation, concurrently where operations are. With
	// an error the operation is not carried out and fails with it; a *[faultfs.Done], a
	// *[faultfs.Short] and [ErrForgets] let a part of it happen. It may kill the
	// process. Set it while nothing runs.
	Before func(kind, at string) error

	disk *Disk

	mu     sync.Mutex
	dead   bool
	opened map[*dir]bool
}

// Process starts a process that uses the disk.
func (d *Disk) Process() *Process { return &Process{disk: d, opened: map[*dir]bool{}} }

// Kill ends the process at once: all its locks are free, and whatever it still
// tries fails.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for d := range p.opened {
		p.disk.unlock(d)
	}
}

// extent is how much of an operation is to happen.
type extent struct {
	bytes   int  // of a write
	forgets bool // a sync
}

// operation carries out as much of an operation as is to happen.
type operation func(extent) (changes bool, err error)

// do lets one operation happen as far as Before allows. It tells the disk's After,
// unless the process died before.
func (p *Process) do(kind, at string, o operation) error {
	e, fault := p.before(kind, at)
	if e == nil {
		return &fs.PathError{Op: kind, Path: at, Err: fault}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return &fs.PathError{Op: kind, Path: at, Err: ErrDead}
	}
	d := p.disk
	d.mu.Lock()
	d.count++
	op := Op{Number: d.count, Kind: kind, Path: at}
	changes, err := o(*e)
	op.Changes = changes && (err == nil || kind == "sync")
	d.mu.Unlock()
	if d.After != nil {
		d.After(op)
	}
	if err == nil {
		err = fault
	}
	if err != nil {
		return &fs.PathError{Op: kind, Path: at, Err: err}
	}
	return nil
}

// before asks Before: how much is to happen, nil for nothing, and the error then.
func (p *Process) before(kind, at string) (*extent, error) {
	all := &extent{bytes: math.MaxInt}
	if p.Before == nil {
		return all, nil
	}
	fault := p.Before(kind, at)
	var done *faultfs.Done
	var short *faultfs.Short
	switch {
	case fault == nil || errors.As(fault, &done):
		return all, fault
	case errors.As(fault, &short) && kind == "writeat":
		return &extent{bytes: max(short.Bytes, 0)}, fault
	case errors.Is(fault, ErrForgets) && kind == "sync":
		return &extent{forgets: true}, fault
	}
	return nil, fault
}

// look is an operation that changes nothing.
func look(work func() error) operation {
	return func(extent) (bool, error) { return false, work() }
}

// change is one that changes what a crash may leave.
func change(work func() error) operation {
	return func(extent) (bool, error) { return true, work() }
}

// Lstat describes the root.
func (p *Process) Lstat(at string) (info journal.Info, err error) {
	err = p.do("lstat", ".", look(func() error {
		if at != p.disk.root {
			return fs.ErrNotExist
		}
		info = p.disk.top.info()
		return nil
	}))
	return info, err
}

// OpenRoot opens the root.
func (p *Process) OpenRoot(at string) (opened journal.Dir, err error) {
	err = p.do("openroot", ".", look(func() error {
		if at != p.disk.root {
			return fs.ErrNotExist
		}
		opened = p.open(p.disk.top, ".")
		return nil
	}))
	return opened, err
}

func (p *Process) open(n *node, at string) *dir {
	d := &dir{process: p, node: n, path: at}
	p.opened[d] = true
	return d
}

// device is the number of the disk, the same everywhere.
const device = 1

func (n *node) info() journal.Info {
	return journal.Info{
		Device: device, Inode: n.number, Kind: n.kind, Size: int64(len(n.live)), Modified: n.modified, Changed: n.modified,
	}
}

// dir is an opened directory.
type dir struct {
	process *Process
	node    *node
	path    string
}

func (d *dir) do(kind, name string, o operation) error {
	return d.process.do(kind, path.Join(d.path, name), o)
}

func (d *dir) touch(n *node) {
	d.process.disk.clock++
	n.modified = d.process.disk.clock
}

func (d *dir) Stat() (info journal.Info, err error) {
	err = d.do("stat", "", look(func() error { info = d.node.info(); return nil }))
	return info, err
}

// entry is what stands at a name.
func (d *dir) entry(name string, kind journal.Kind) (*node, error) {
	n := d.node.entries[name]
	switch {
	case n == nil:
		return nil, fs.ErrNotExist
	case n.kind != kind && kind == journal.Directory:
		return nil, syscall.ENOTDIR
	case n.kind != kind && kind == journal.Regular:
		return nil, syscall.EISDIR
	}
	return n, nil
}

func (d *dir) Lstat(name string) (info journal.Info, err error) {
	err = d.do("lstat", name, look(func() error {
		n, err := d.entry(name, journal.Other)
		if err == nil {
			info = n.info()
		}
		return err
	}))
	return info, err
}

func (d *dir) LstatIn(directory, name string) (info journal.Info, err error) {
	err = d.do("lstat", directory, look(func() error {
		in, err := d.entry(directory, journal.Directory)
		if err != nil {
			return err
		}
		n, err := (&dir{process: d.process, node: in}).entry(name, journal.Other)
		if err == nil {
			info = n.info()
		}
		return err
	}))
	return info, err
}

func (d *dir) Names() (names []string, err error) {
	err = d.do("names", "", look(func() error {
		for name := range d.node.entries {
			names = append(names, name)
		}
		return nil
	}))
	return names, err
}

func (d *dir) Mkdir(name string) error {
	return d.do("mkdir", name, change(func() error { return d.add(name, journal.Directory) }))
}

func (d *dir) add(name string, kind journal.Kind) error {
	if d.node.entries[name] != nil {
		return fs.ErrExist
	}
	d.node.entries[name] = d.process.disk.newNode(kind)
	d.touch(d.node)
	return nil
}

func (d *dir) OpenDir(name string, _ journal.Access) (opened journal.Dir, err error) {
	err = d.do("opendir", name, look(func() error {
		n, err := d.entry(name, journal.Directory)
		if err == nil {
			opened = d.process.open(n, path.Join(d.path, name))
		}
		return err
	}))
	return opened, err
}

func (d *dir) Open(name string, how journal.Opening) (opened journal.File, err error) {
	open := func() error {
		n, err := d.entry(name, journal.Regular)
		opened = &file{in: d, name: name, node: n, writable: how != journal.Reading}
		return err
	}
	if how != journal.Creating {
		err = d.do("open", name, look(open))
	} else {
		err = d.do("create", name, change(func() error {
			if err := d.add(name, journal.Regular); err != nil {
				return err
			}
			return open()
		}))
	}
	return opened, err
}

func (d *dir) Rename(from, to string) error {
	return d.do("rename", to, change(func() error { return d.move(from, to) }))
}

func (d *dir) Publish(from, to string) error {
	return d.do("publish", to, change(func() error {
		if d.node.entries[to] != nil {
			return fs.ErrExist
		}
		return d.move(from, to)
	}))
}

func (d *dir) move(from, to string) error {
	n, err := d.entry(from, journal.Other)
	if err != nil {
		return err
	}
	delete(d.node.entries, from)
	d.node.entries[to] = n
	d.touch(d.node)
	return nil
}

func (d *dir) Remove(name string) error {
	return d.do("remove", name, change(func() error {
		_, err := d.entry(name, journal.Regular)
		if err == nil {
			delete(d.node.entries, name)
			d.touch(d.node)
		}
		return err
	}))
}

func (d *dir) RemoveDir(name string) error {
	return d.do("removedir", name, change(func() error {
		n, err := d.entry(name, journal.Directory)
		if err == nil && len(n.entries) > 0 {
			err = syscall.ENOTEMPTY
		}
		if err == nil {
			delete(d.node.entries, name)
			d.touch(d.node)
		}
		return err
	}))
}

func (d *dir) Sync() error { return d.sync(d.node, "") }

// sync is the sync of the directory or of a file in it.
func (d *dir) sync(n *node, name string) error {
	fate := Works
	if decide := d.process.disk.Fate; decide != nil {
		fate = decide(path.Join(d.path, name))
	}
	return d.do("sync", name, func(e extent) (bool, error) {
		switch {
		case e.forgets || fate == Forgets:
			n.forget()
			return true, syscall.EIO
		case fate == Works:
			n.sync()
		case fate == Fails:
			return true, syscall.EIO
		}
		return true, nil
	})
}

func (d *dir) TryLock(_ string, exclusive bool) (taken bool, err error) {
	err = d.do("trylock", "", look(func() error {
		taken = d.node.locks.take(d, exclusive)
		return nil
	}))
	return taken, err
}

func (l *locks) take(d *dir, exclusive bool) bool {
	if l.exclusive != nil || exclusive && len(l.shared) > 0 {
		return false
	}
	if exclusive {
		l.exclusive = d
		return true
	}
	if l.shared == nil {
		l.shared = map[*dir]bool{}
	}
	l.shared[d] = true
	return true
}

func (d *Disk) unlock(of *dir) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of.node.locks.exclusive == of {
		of.node.locks.exclusive = nil
	}
	delete(of.node.locks.shared, of)
}

// Close is no operation: it never fails and changes nothing on the disk.
func (d *dir) Close() error {
	d.process.mu.Lock()
	defer d.process.mu.Unlock()
	delete(d.process.opened, d)
	d.process.disk.unlock(d)
	return nil
}

// file is an opened file.
type file struct {
	in       *dir
	name     string
	node     *node
	writable bool
}

func (f *file) Stat() (info journal.Info, err error) {
	err = f.in.do("stat", f.name, look(func() error { info = f.node.info(); return nil }))
	return info, err
}

func (f *file) ReadAt(b []byte, offset int64) (n int, err error) {
	end := false
	err = f.in.do("readat", f.name, look(func() error {
		if offset < int64(len(f.node.live)) {
			n = copy(b, f.node.live[offset:])
		}
		end = n < len(b)
		return nil
	}))
	if err == nil && end {
		return n, io.EOF
	}
	return n, err
}

func (f *file) WriteAt(b []byte, offset int64) (n int, err error) {
	err = f.in.do("writeat", f.name, func(e extent) (bool, error) {
		if !f.writable {
			return true, syscall.EBADF
		}
		n = min(len(b), e.bytes)
		f.node.write(b[:n], int(offset))
		f.in.touch(f.node)
		return true, nil
	})
	return n, err
}

func (f *file) Truncate(size int64) error {
	return f.in.do("truncate", f.name, change(func() error {
		if !f.writable {
			return syscall.EBADF
		}
		f.node.truncate(int(size))
		f.in.touch(f.node)
		return nil
	}))
}

func (f *file) Sync() error { return f.in.sync(f.node, f.name) }

func (f *file) Close() error { return nil }
