package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// place is an opened, identified directory and the name at which it was found.
type place struct {
	fs     FS     // set where parent is nil
	parent *place // nil for the common directory, whose name is its absolute path
	name   string
	dir    Dir
	info   Info
}

// openRootPlace opens the directory at an absolute path.
func openRootPlace(files FS, path string) (*place, error) {
	found, err := files.Lstat(path)
	if err != nil {
		return nil, err
	}
	if found.Kind != Directory {
		return nil, errNotDirectory
	}
	dir, err := files.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return identify(&place{fs: files, name: path, dir: dir})
}

// openDir opens the directory at name in p.
func (p *place) openDir(name string, access Access) (*place, error) {
	found, err := p.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if found.Kind != Directory {
		return nil, fmt.Errorf("%s %w", name, errNotDirectory)
	}
	dir, err := p.dir.OpenDir(name, access)
	if err != nil {
		return nil, err
	}
	return identify(&place{parent: p, name: name, dir: dir})
}

// identify completes an opened place; it closes it where it is not at its name.
func identify(p *place) (*place, error) {
	var err error
	if p.info, err = p.dir.Stat(); err == nil {
		err = p.verifySelf()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// verify checks that the directory and all above it are still where they were
// opened.
func (p *place) verify() error {
	if p.parent != nil {
		if err := p.parent.verify(); err != nil {
			return err
		}
	}
	return p.verifySelf()
}

func (p *place) verifySelf() error {
	if p.parent == nil {
		found, err := p.fs.Lstat(p.name)
		return matches(p.name, p.info, found, err)
	}
	found, err := p.parent.dir.Lstat(p.name)
	return matches(p.name, p.info, found, err)
}

// described is what the directory was found to be; the zero Info where there is none.
func (p *place) described() Info {
	if p == nil {
		return Info{}
	}
	return p.info
}

func (p *place) isOpen() bool { return p != nil && p.dir != nil }

func (p *place) close() {
	if p.isOpen() {
		p.dir.Close()
		p.dir = nil
	}
}

// matches turns the look at a name into an error unless want stands there. Where
// nothing stands there any more the error says both.
func matches(name string, want, found Info, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %w: %w", name, errDetached, err)
	case err == nil && !found.same(want):
		return fmt.Errorf("%s %w", name, errDetached)
	}
	return err
}

// leaf is an opened, identified regular file. Holding it open keeps its inode
// number from being given to another file.
type leaf struct {
	in   *place
	name string
	file File
	info Info
}

// openFile opens the file at name in p.
func (p *place) openFile(name string, how Opening) (*leaf, error) {
	if how != Creating {
		found, err := p.dir.Lstat(name)
		if err != nil {
			return nil, err
		}
		if found.Kind != Regular {
			return nil, fmt.Errorf("%s %w", name, errNotRegular)
		}
	}
	file, err := p.dir.Open(name, how)
	if err != nil {
		return nil, err
	}
	l := &leaf{in: p, name: name, file: file}
	if l.info, err = file.Stat(); err == nil {
		err = l.verify()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// verify checks that the file is still at its name.
func (l *leaf) verify() error {
	found, err := l.in.dir.Lstat(l.name)
	return matches(l.name, l.info, found, err)
}

// described is what the file was found to be; the zero Info where there is none.
func (l *leaf) described() Info {
	if l == nil {
		return Info{}
	}
	return l.info
}

func (l *leaf) close() {
	if l != nil && l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
