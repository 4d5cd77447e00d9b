package deploy

import (
	"errors"
	"io/fs"
	"os"
)

// saboteur sits between a command and the file system: it counts the operations
// and can make some of them fail, or be the last that happens.
type saboteur struct {
	count     int             // operations so far
	mutations int             // those among them that change something
	before    func(op string) // called before every operation

	beforeMutation func() // called before every operation that changes something
	failAt         int    // the operation that fails; 0: none
	failMutate     int    // the mutation that fails; 0: none
	lasting        bool   // and all operations after it
	afterwards     bool   // what fails is carried out nevertheless
	failed         bool
	crashAt        int  // the mutation that is not carried out any more; 0: none
	torn           bool // it is carried out by half, where that is possible
	noExchange     bool
	noMove         bool // the file system has no rename that never replaces
}

var (
	errSabotage = errors.New("sabotaged")
	errCrash    = errors.New("crashed")
)

// open is an opener with the saboteur in between.
func (s *saboteur) open(path string) (folder, error) {
	root, err := openFolder(path)
	if err != nil {
		return nil, err
	}
	return &sabotaged{root, s}, nil
}

// openFast leaves out bringing files to the disk, which tests need not wait for.
func openFast(path string) (folder, error) { return (&saboteur{}).open(path) }

// crashes runs a command and reports whether it was cut off.
func crashes(command func()) (crashed bool) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case errCrash:
			crashed = true
		default:
			panic(r)
		}
	}()
	command()
	return false
}

// step counts an operation and carries it out or not.
func (s *saboteur) step(op string, mutates bool, operation, half func() error) error {
	if s.before != nil {
		s.before(op)
	}
	if s.beforeMutation != nil && mutates {
		s.beforeMutation()
	}
	s.count++
	if mutates {
		if s.mutations++; s.mutations == s.crashAt {
			if s.torn && half != nil {
				half()
			}
			panic(errCrash)
		}
	}
	now := s.count == s.failAt || mutates && s.mutations == s.failMutate
	if s.failed && s.lasting || now {
		s.failed = true
		if s.afterwards {
			operation()
		}
		return errSabotage
	}
	return operation()
}

type sabotaged struct {
	folder
	s *saboteur
}

func (f *sabotaged) inner() *osFolder { return f.folder.(*osFolder) }

func (f *sabotaged) Lstat(name string) (info fs.FileInfo, err error) {
	err = f.s.step("lstat", false, func() (err error) { info, err = f.folder.Lstat(name); return err }, nil)
	return info, err
}

func (f *sabotaged) Open(name string) (opened folder, err error) {
	err = f.s.step("open", false, func() (err error) { opened, err = f.folder.Open(name); return err }, nil)
	if err != nil {
		if opened != nil {
			opened.Close()
		}
		return nil, err
	}
	return &sabotaged{opened, f.s}, nil
}

func (f *sabotaged) Read(name string, limit int) (content []byte, info fs.FileInfo, err error) {
	err = f.s.step("read", false, func() (err error) { content, info, err = f.folder.Read(name, limit); return err }, nil)
	return content, info, err
}

func (f *sabotaged) Names() (names []string, err error) {
	err = f.s.step("names", false, func() (err error) { names, err = f.folder.Names(); return err }, nil)
	return names, err
}

func (f *sabotaged) MakeFolder(name string, mode fs.FileMode) error {
	return f.s.step("mkdir", true, func() error { return f.folder.MakeFolder(name, mode) }, nil)
}

func (f *sabotaged) WriteFile(name string, content []byte, mode fs.FileMode) error {
	unsynced := func(*os.File) error { return nil }
	return f.s.step("write", true,
		func() error { return f.inner().write(name, content, mode, unsynced) },
		func() error { return f.inner().write(name, content[:len(content)/2], mode, unsynced) })
}

func (f *sabotaged) Move(name string, to folder, as string) error {
	if f.s.noMove {
		return errors.ErrUnsupported
	}
	return f.s.step("move", true, func() error { return f.folder.Move(name, to.(*sabotaged).folder, as) }, nil)
}

func (f *sabotaged) Exchange(name string, with folder, other string) error {
	if f.s.noExchange || f.s.noMove {
		return errors.ErrUnsupported
	}
	return f.s.step("exchange", true, func() error { return f.folder.Exchange(name, with.(*sabotaged).folder, other) }, nil)
}

func (f *sabotaged) RemoveFile(name string) error {
	return f.s.step("remove", true, func() error { return f.folder.RemoveFile(name) }, nil)
}

func (f *sabotaged) RemoveFolder(name string) error {
	return f.s.step("rmdir", true, func() error { return f.folder.RemoveFolder(name) }, nil)
}

func (f *sabotaged) Sync() error {
	return f.s.step("sync", false, func() error { return nil }, nil)
}
