package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"slipway/schema"
)

// Create makes the directory of a new Run, owner-only, and takes its lock
// (storage.md, section 8, rows 1 and 2). The Run comes into being with the first
// Append, and nobody sees anything of it before; without one, Close removes the
// directory. The Store must be ReadWrite.
//
// Errors: ErrBusy; a *MutationError with phase validation (id), namespace_verify,
// directory_create (also for an id that is taken), directory_sync, lock_open or
// lock_sync.
func (s *Store) Create(ctx context.Context, id string) (*Writer, error) {
	if !schema.ValidRunID(id) {
		return nil, notCommitted(PhaseValidation, fmt.Errorf("%q is no Run id", id))
	}
	if s.access != ReadWrite {
		return nil, notCommitted(PhaseNamespaceVerify, errReadOnly)
	}
	if err := s.verify(); err != nil {
		return nil, notCommitted(PhaseNamespaceVerify, err)
	}
	if err := s.secureNamespace(); err != nil {
		return nil, err
	}
	if err := s.vacant(id); err != nil {
		return nil, notCommitted(PhaseDirectoryCreate, err)
	}
	for attempt := 1; ; attempt++ {
		w, err := s.create(ctx, id)
		if attempt == createAttempts || !errors.Is(err, fs.ErrNotExist) {
			return w, err
		}
	}
}

// createAttempts bounds how often a start begins anew whose directory another one
// took for the rest of an interrupted start: this process slept before it had the
// lock.
const createAttempts = 3

// create makes the directory and takes its lock.
func (s *Store) create(ctx context.Context, id string) (*Writer, error) {
	starting := startingName(id)
	if err := s.runs.dir.Mkdir(starting); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			s.runs.dir.RemoveDir(starting) // it may be there in spite of the error
		}
		return nil, notCommitted(PhaseDirectoryCreate, err)
	}
	run, err := s.runs.openDir(starting, ReadWrite)
	if err != nil {
		s.runs.dir.RemoveDir(starting)
		return nil, notCommitted(PhaseNamespaceVerify, err)
	}
	w := &Writer{store: s, run: run, id: id, fresh: true, loaded: true}
	if err := w.secureNewRun(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// vacant checks that nothing stands where a new Run will.
func (s *Store) vacant(id string) error {
	_, err := s.runs.dir.Lstat(id)
	switch {
	case err == nil:
		return &fs.PathError{Op: "start", Path: id, Err: fs.ErrExist}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// secureNamespace makes the place of `runs` durable before anything stands in it,
// and takes away what starts left behind that were interrupted.
func (s *Store) secureNamespace() error {
	names, err := s.runs.dir.Names()
	if err != nil {
		return notCommitted(PhaseDirectoryCreate, err)
	}
	if len(names) > 0 {
		s.sweepStarts(names) // what can not be removed disturbs nobody
		return nil
	}
	if err := s.namespace.dir.Sync(); err != nil {
		return notCommitted(PhaseDirectorySync, err)
	}
	return nil
}

// secureNewRun locks a new directory and makes what is in it durable. The journal
// is made before run.lock, so that one sync of the directory serves both.
func (w *Writer) secureNewRun(ctx context.Context) error {
	if err := w.store.acquireExclusive(ctx, w.run, w.id); err != nil {
		return err
	}
	var err error
	if w.journal, err = w.run.openFile(journalName, Creating); err != nil {
		return notCommitted(PhaseJournalOpen, err)
	}
	w.lock, err = openLockFile(w.run)
	return err
}

// publish gives a new Run its name, once all that is in its directory is durable,
// and makes that durable: from then on the Run is there.
func (w *Writer) publish() error {
	if err := w.run.dir.Sync(); err != nil {
		return w.ambiguous(PhaseDirectorySync, err)
	}
	if err := w.run.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	if err := w.store.vacant(w.id); err != nil {
		return notCommitted(PhaseDirectoryCreate, err)
	}
	w.closeLeaves()
	err := w.rename(PhaseDirectoryCreate, w.id)
	reopened := w.reopenLeaves()
	if err != nil {
		return err
	}
	if err := w.store.runs.dir.Sync(); err != nil {
		return &MutationError{Phase: PhaseDirectorySync, Ambiguous: true, Err: err} // Close takes the Run away again
	}
	w.fresh, w.committed = false, true
	if reopened != nil {
		return afterCommit(PhaseJournalVerify, reopened)
	}
	return nil
}

// rename gives the directory of the Run another name in `runs`. It may have it in
// spite of an error, so that is looked at.
func (w *Writer) rename(phase, name string) error {
	runs := w.store.runs.dir
	if err := runs.Rename(w.run.name, name); err != nil {
		found, lookErr := runs.Lstat(name)
		switch {
		case lookErr == nil && found.same(w.run.info):
		case lookErr == nil, errors.Is(lookErr, fs.ErrNotExist):
			return notCommitted(phase, err)
		default:
			return &MutationError{Phase: phase, Ambiguous: true, Err: err}
		}
	}
	w.run.name = name
	return nil
}

// closeLeaves closes all that is open in the directory: on Windows that would keep
// it from being renamed. What was open stays known.
func (w *Writer) closeLeaves() {
	w.materials.close()
	w.journal.close()
	w.lock.close()
}

// reopenLeaves opens again what closeLeaves closed.
func (w *Writer) reopenLeaves() error {
	if w.materials != nil {
		opened, err := w.run.openDir(materialsName, ReadWrite)
		if err := matches(materialsName, w.materials.info, opened.described(), err); err != nil {
			opened.close()
			return err
		}
		w.materials = opened
	}
	for _, l := range []*leaf{w.journal, w.lock} {
		opened, err := w.run.openFile(l.name, Writing)
		if err := matches(l.name, l.info, opened.described(), err); err != nil {
			opened.close()
			return err
		}
		*l = *opened
	}
	return nil
}

// abandon takes away a new Run that did not come into being: it would stay behind
// as one that can not be read. What can not be removed is left. One that has its
// name already loses that first, and durably: a crash must not leave half a Run.
func (w *Writer) abandon() {
	if w.run.verify() != nil {
		return
	}
	if w.run.name == w.id {
		w.closeLeaves()
		if w.rename(PhaseDirectoryCreate, startingName(w.id)) != nil || w.store.runs.dir.Sync() != nil || w.reopenLeaves() != nil {
			return // a later start sweeps what has no name
		}
	}
	if w.materials.isOpen() && w.materials.verify() == nil {
		for _, digest := range w.put {
			w.materials.dir.Remove(materialName(digest))
		}
	}
	w.materials.close()
	w.run.dir.RemoveDir(materialsName)
	w.removeOwn(journalName, w.journal)
	w.removeOwn(lockName, w.lock)
	w.materials, w.journal, w.lock = nil, nil, nil
	w.store.runs.dir.RemoveDir(w.run.name)
}

// removeOwn removes a file that this Writer made, and closes it first, because on
// Windows an open file keeps its directory from being removed. One that could not
// be opened when it was made is empty; any other file is somebody else's.
func (w *Writer) removeOwn(name string, own *leaf) {
	found, err := w.run.dir.Lstat(name)
	mine := err == nil && found.Kind == Regular &&
		(own != nil && found.same(own.info) || own == nil && found.Size == 0)
	own.close()
	if mine {
		w.run.dir.Remove(name)
	}
}
