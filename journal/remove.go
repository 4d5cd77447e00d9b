package journal

import (
	"errors"
	"io/fs"
	"strings"
)

// removedPrefix and removedSuffix surround the id of a Run that is being removed. A
// name with a dot is no Run id, so nobody sees the directory any more.
const (
	removedPrefix = "."
	removedSuffix = ".removed"
)

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
	runs, name := w.store.runs, removedPrefix+w.run.name+removedSuffix
	if err := runs.dir.Rename(w.run.name, name); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	if err := runs.dir.Sync(); err != nil {
		return &MutationError{Phase: PhaseDirectorySync, Ambiguous: true, Err: err}
	}
	if err := w.store.empty(name); err != nil {
		return &MutationError{Phase: PhaseNamespaceVerify, Committed: true, Err: err}
	}
	return nil
}

// Sweep removes what removals that were interrupted left behind, and tells how many
// directories that were. The Store must be ReadWrite.
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
	swept := 0
	for _, name := range names {
		if !strings.HasPrefix(name, removedPrefix) || !strings.HasSuffix(name, removedSuffix) {
			continue
		}
		if err := s.empty(name); err != nil {
			return swept, err
		}
		swept++
	}
	return swept, nil
}

// empty removes a directory of `runs` that was a Run. It follows no link and
// removes no directory in it but the one of the materials.
func (s *Store) empty(name string) error {
	gone, err := s.runs.openDir(name, ReadWrite)
	if err != nil {
		return err
	}
	defer gone.close()
	materials, err := gone.openDir(materialsName, ReadWrite)
	if err == nil {
		err = removeLeaves(materials)
		materials.close()
		if err == nil {
			err = gone.dir.RemoveDir(materialsName)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := removeLeaves(gone); err != nil {
		return err
	}
	return s.runs.dir.RemoveDir(name)
}

func removeLeaves(in *place) error {
	names, err := in.dir.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := in.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
