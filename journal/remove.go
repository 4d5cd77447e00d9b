package journal

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// These surround the id of a Run that is being started or removed. A name with a dot
// is no Run id, so nobody sees the directory.
const (
	hiddenPrefix   = "."
	startingSuffix = ".starting"
	removedSuffix  = ".removed"
)

// interruptedAfter is the age from which on a start whose lock is free was
// interrupted. A younger one may be about to take it.
const interruptedAfter = time.Minute

// Remove takes the Run away for good, with its recovery data (storage.md, section
// 14). It goes at once and durably: it is renamed to a name that is no Run id, and
// then emptied. What keeps it from being emptied is reported; nobody sees the rest
// as a Run, and [Store.Sweep] tries again. The Writer only serves Close afterwards.
// Its only error is a *MutationError, with Committed set once the Run is gone.
func (w *Writer) Remove() error {
	w.loaded = false
	if err := w.run.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	// On Windows an open file keeps its directory from being renamed and removed.
	w.materials.close()
	w.journal.close()
	w.lock.close()
	w.materials, w.journal, w.lock = nil, nil, nil
	name := hiddenPrefix + w.id + removedSuffix
	if err := w.rename(PhaseNamespaceVerify, name); err != nil {
		return err
	}
	if err := w.store.runs.dir.Sync(); err != nil {
		return &MutationError{Phase: PhaseDirectorySync, Ambiguous: true, Err: err}
	}
	if err := w.store.empty(name); err != nil {
		return &MutationError{Phase: PhaseNamespaceVerify, Committed: true, Err: err}
	}
	return nil
}

// Sweep removes what starts and removals that were interrupted left behind, and
// tells how many directories that were. The Store must be ReadWrite.
func (s *Store) Sweep() (int, error) {
	if s.access != ReadWrite {
		return 0, errReadOnly
	}
	if err := s.verify(); err != nil {
		return 0, err
	}
	names, err := s.runs.dir.Names()
	if err != nil {
		return 0, &StoreError{Path: s.path, Err: err}
	}
	swept := s.sweepStarts(names)
	for _, name := range names {
		id, removed := hiddenID(name, removedSuffix)
		if !removed {
			continue
		}
		if err := s.sweepRemoved(name, id); err != nil {
			return swept, err
		}
		swept++
	}
	return swept, nil
}

// startingName is the name of the directory of a new Run before it has its own.
func startingName(id string) string { return hiddenPrefix + id + startingSuffix }

// hiddenID is the id in the name of a Run that is being started or removed.
func hiddenID(name, suffix string) (id string, ok bool) {
	id, hidden := strings.CutPrefix(name, hiddenPrefix)
	id, ends := strings.CutSuffix(id, suffix)
	return id, hidden && ends
}

// sweepStarts removes what interrupted starts left behind, as far as it can: it is
// in nobody's way.
func (s *Store) sweepStarts(names []string) (swept int) {
	hidden := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, hiddenPrefix) })
	for _, name := range slices.Sorted(slices.Values(hidden)) {
		// A crash may leave a directory with both names; then it is a Run.
		if id, ok := hiddenID(name, startingSuffix); ok && s.vacant(id) == nil && s.sweepStart(name, id) == nil {
			swept++
		}
	}
	return swept
}

// sweepRemoved empties what an interrupted removal left. Whoever began it may not
// have made it durable that the Run lost its name: without that, a power cut would
// give the name back to a half of it. One that a crash left with both names is a Run.
func (s *Store) sweepRemoved(name, id string) error {
	gone, err := s.runs.openDir(name, ReadWrite)
	if err != nil {
		return unlessGone(err)
	}
	defer gone.close()
	if found, err := s.runs.dir.Lstat(id); err == nil && found.same(gone.info) {
		return nil
	}
	if err := s.runs.dir.Sync(); err != nil {
		return err
	}
	return s.emptyOpened(gone)
}

// sweepStart removes the directory of a start, unless that is under way.
func (s *Store) sweepStart(name, id string) error {
	left, err := s.runs.openDir(name, ReadWrite)
	if err != nil {
		return err
	}
	defer left.close()
	if time.Since(time.Unix(0, left.info.Modified)) < interruptedAfter {
		return ErrBusy
	}
	if taken, err := left.dir.TryLock(mutexName(s.path, id), true); err != nil || !taken {
		return ErrBusy
	}
	if err := left.verify(); err != nil {
		return err // it got its name before its lock was free
	}
	if err := s.runs.dir.Sync(); err != nil {
		return err // as in sweepRemoved: a start that failed late had a name
	}
	return s.emptyOpened(left)
}

// empty removes a directory of `runs` that was a Run.
func (s *Store) empty(name string) error {
	gone, err := s.runs.openDir(name, ReadWrite)
	if err != nil {
		return unlessGone(err)
	}
	defer gone.close()
	return s.emptyOpened(gone)
}

// unlessGone passes over that another process has removed a directory meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// emptyOpened removes a directory of `runs`. It follows no link and removes no
// directory in it but the one of the materials.
func (s *Store) emptyOpened(gone *place) error {
	materials, err := gone.openDir(materialsName, ReadWrite)
	if err == nil {
		err = removeLeaves(materials)
		materials.close()
		if err == nil {
			err = gone.dir.RemoveDir(materialsName)
		}
	}
	if err := unlessGone(err); err != nil {
		return err
	}
	if err := removeLeaves(gone); err != nil {
		return err
	}
	return unlessGone(s.runs.dir.RemoveDir(gone.name))
}

func removeLeaves(in *place) error {
	names, err := in.dir.Names()
	if err != nil {
		return unlessGone(err)
	}
	for _, name := range names {
		if err := unlessGone(in.dir.Remove(name)); err != nil {
			return err
		}
	}
	return nil
}
