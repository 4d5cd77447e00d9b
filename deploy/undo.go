package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// spot is an entry of an opened folder.
type spot struct {
	in   folder
	name string
	path string
}

// undo restores what stood at the path before the step, wherever the step
// stopped. It reports what is kept for the user and whether the former state is
// back.
func (s *step) undo(root folder) (kept []artifact, complete bool) {
	at, err := s.open(root)
	if err != nil {
		return s.unreachable(err), false
	}
	defer at.close()
	held, err := s.findHeld(at)
	if err != nil {
		return s.unreachable(err), false
	}
	here, err := at.parent.Lstat(s.base())
	switch {
	case errors.Is(err, fs.ErrNotExist) && held == nil:
		// Nothing was placed, or somebody deleted it. A removal or replacement that
		// was done must have left the old file somewhere.
		return nil, s.held == nil || !s.done
	case errors.Is(err, fs.ErrNotExist):
		return s.putBack(at, held, func() error { return held.in.Move(held.name, at.parent, s.base()) })
	case err != nil:
		return s.lost(held, err), false
	case s.fresh != nil && os.SameFile(here, s.fresh):
		return s.takeBack(at, held)
	case s.old != nil && os.SameFile(here, s.old):
		return nil, true // it never left
	}
	// Somebody else's object: it wins.
	cause := s.changed("was taken")
	return append(s.lost(held, cause), artifact{s.path, s.path, cause}), held == nil && !s.done
}

// findHeld looks for what was at the path: in its recovery folder, or, between
// the two moves of an exchange, where the new file was. nil: it was not moved.
func (s *step) findHeld(at *places) (*spot, error) {
	if s.held == nil {
		return nil, nil
	}
	_, err := at.held.Lstat(entrySnapshot)
	if err == nil {
		return &spot{at.held, entrySnapshot, s.held.path + "/" + entrySnapshot}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.staged == nil {
		return nil, nil
	}
	info, err := at.staged.Lstat(entryNew)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(info, s.fresh):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &spot{at.staged, entryNew, s.staged.path + "/" + entryNew}, nil
}

// takeBack removes the new file from the path, unless somebody wrote to it.
func (s *step) takeBack(at *places, held *spot) ([]artifact, bool) {
	if err := s.sameBytes(at.parent, s.base(), s.fresh, digestOf(s.after)); err != nil {
		return append(s.lost(held, err), artifact{s.path, s.path, err}), false
	}
	if held == nil {
		if err := at.parent.Move(s.base(), at.staged, entryNew); err != nil {
			return []artifact{{s.path, s.path, err}}, false
		}
		return nil, true
	}
	return s.putBack(at, held, func() error {
		err := held.in.Exchange(held.name, at.parent, s.base())
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		if err := at.parent.Move(s.base(), at.staged, entryNew); err != nil {
			return err
		}
		return held.in.Move(held.name, at.parent, s.base())
	})
}

// putBack moves the held object back. Where it is not the one that was expected,
// somebody else changed it; it is named.
func (s *step) putBack(at *places, held *spot, move func() error) ([]artifact, bool) {
	if err := move(); err != nil {
		return s.lost(held, fmt.Errorf("it could not be moved back: %w", err)), false
	}
	if err := s.sameBytes(at.parent, s.base(), s.old, s.before); err != nil {
		return []artifact{{s.path, s.path, err}}, true
	}
	return nil, true
}

// lost names a held object that stays in its recovery folder.
func (s *step) lost(held *spot, cause error) []artifact {
	if held == nil {
		return nil
	}
	return []artifact{{s.path, held.path, cause}}
}

// unreachable names the recovery folders of a step that cannot be looked into.
func (s *step) unreachable(cause error) (kept []artifact) {
	for _, r := range []*recovery{s.held, s.staged} {
		if r != nil {
			kept = append(kept, artifact{s.path, r.path, cause})
		}
	}
	return kept
}
