package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// step is a change that is being made. Its objects are known by identity, so that
// undoing can look where they are instead of trusting what an error said.
type step struct {
	change
	staged *recovery   // holds the new file until it takes its place; nil for a removal
	held   *recovery   // takes the old file; nil for a creation
	fresh  fs.FileInfo // the new file
	torn   bool        // it was not written whole
	old    fs.FileInfo // the old file, as seen right before the change
	begun  bool        // something may have been moved
	done   bool
}

func (s *step) base() string { return path.Base(s.path) }

// stage makes the recovery folders and the new file.
func (s *step) stage(root folder) error {
	parent, err := walk(root, s.path)
	if err != nil {
		return err
	}
	defer parent.Close()
	if s.after != nil {
		if s.staged, err = makeRecovery(parent, path.Dir(s.path)); err != nil {
			return err
		}
		if err = s.writeNew(root); err != nil {
			return err
		}
	}
	if s.before != "" {
		s.held, err = makeRecovery(parent, path.Dir(s.path))
	}
	return err
}

func (s *step) writeNew(root folder) error {
	staged, err := s.staged.open(root)
	if err != nil {
		return err
	}
	defer staged.Close()
	err = staged.WriteFile(entryNew, s.after, s.mode)
	s.torn = err != nil
	if info, lookErr := staged.Lstat(entryNew); lookErr == nil {
		s.fresh = info
	} else {
		err = cmp.Or(err, lookErr)
	}
	return err
}

// expect holds what stands at the path against what must be there and returns it;
// nil for nothing.
func (s *step) expect(parent folder) (fs.FileInfo, error) {
	info, err := parent.Lstat(s.base())
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.before == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.changed("was deleted meanwhile")
	case err != nil:
		return nil, err
	case s.before == "":
		return nil, s.changed("was created meanwhile")
	}
	return info, s.sameBytes(parent, s.base(), info, s.before)
}

// sameBytes fails where an entry is not the expected object with the expected
// content.
func (s *step) sameBytes(at folder, name string, expected fs.FileInfo, digest string) error {
	info, err := at.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !os.SameFile(info, expected) {
		return s.changed("was replaced meanwhile")
	}
	content, _, err := at.Read(name, maxGeneratedBytes+1)
	if err != nil {
		return err
	}
	if digestOf(content) != digest {
		return s.changed("was changed meanwhile")
	}
	return nil
}

func (s *step) changed(how string) error {
	return &changedError{s.path, fmt.Errorf("%s %s by somebody else", s.path, how)}
}

// places are the folders that a step moves between.
type places struct {
	parent, staged, held folder
}

func (s *step) open(root folder) (*places, error) {
	at := &places{}
	var err error
	if at.parent, err = walk(root, s.path); err == nil && s.staged != nil {
		at.staged, err = s.staged.open(root)
	}
	if err == nil && s.held != nil {
		at.held, err = s.held.open(root)
	}
	if err != nil {
		at.close()
		return nil, err
	}
	return at, nil
}

func (at *places) close() {
	for _, f := range []folder{at.parent, at.staged, at.held} {
		if f != nil {
			f.Close()
		}
	}
}

// apply makes the change, if its condition still holds.
func (s *step) apply(root folder) error {
	at, err := s.open(root)
	if err != nil {
		return err
	}
	defer at.close()
	if s.old, err = s.expect(at.parent); err != nil {
		return err
	}
	s.begun = true
	switch {
	case s.held == nil:
		err = s.place(at)
	case s.staged == nil:
		err = s.takeAway(at)
	default:
		err = s.replace(at)
	}
	s.done = err == nil
	return err
}

// place moves the new file to its path.
func (s *step) place(at *places) error {
	err := at.staged.Move(entryNew, at.parent, s.base())
	if errors.Is(err, fs.ErrExist) {
		return s.changed("was created meanwhile")
	}
	return explainMove(err)
}

// takeAway moves the old file out of the way and makes sure that it was that
// file.
func (s *step) takeAway(at *places) error {
	if err := at.parent.Move(s.base(), at.held, entrySnapshot); err != nil {
		return explainMove(err)
	}
	return s.sameBytes(at.held, entrySnapshot, s.old, s.before)
}

// replace lets the two files change places, so that the path never is without
// one; where that cannot be done the old file leaves first.
func (s *step) replace(at *places) error {
	err := at.staged.Exchange(entryNew, at.parent, s.base())
	if errors.Is(err, errors.ErrUnsupported) {
		if err := s.takeAway(at); err != nil {
			return err
		}
		return s.place(at)
	}
	if err != nil {
		return err
	}
	if err := at.staged.Move(entryNew, at.held, entrySnapshot); err != nil {
		return explainMove(err)
	}
	return s.sameBytes(at.held, entrySnapshot, s.old, s.before)
}

func explainMove(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("this file system has no rename that is sure not to replace anything: %w", err)
	}
	return err
}

// disposable is the disposal of the step's recovery folders.
func (s *step) disposable(committed bool) disposal {
	return func(info fs.FileInfo) (digest string, mine bool) {
		switch {
		case s.fresh != nil && os.SameFile(info, s.fresh) && s.torn:
			return "", true
		case s.fresh != nil && os.SameFile(info, s.fresh):
			return digestOf(s.after), true
		case committed && s.old != nil && os.SameFile(info, s.old):
			return s.before, true
		}
		return "", false
	}
}
