package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"slipway/schema"
)

// Create makes the directory of a new Run, owner-only and durable, and takes its
// lock (storage.md, section 8, rows 1 and 2). The Run comes into being with the
// first Append; without one, Close removes the directory. The Store must be
// ReadWrite.
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
	if err := s.runs.dir.Mkdir(id); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			s.runs.dir.RemoveDir(id) // it may be there in spite of the error
		}
		return nil, notCommitted(PhaseDirectoryCreate, err)
	}
	run, err := s.runs.openDir(id, ReadWrite)
	if err != nil {
		s.runs.dir.RemoveDir(id)
		return nil, notCommitted(PhaseNamespaceVerify, err)
	}
	w := &Writer{store: s, run: run, fresh: true, loaded: true}
	if err := w.secureNewRun(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// secureNamespace makes the place of `runs` durable before anything stands in it.
func (s *Store) secureNamespace() error {
	names, err := s.runs.dir.Names()
	if err != nil {
		return notCommitted(PhaseDirectoryCreate, err)
	}
	if len(names) > 0 {
		return nil
	}
	if err := s.namespace.dir.Sync(); err != nil {
		return notCommitted(PhaseDirectorySync, err)
	}
	return nil
}

// secureNewRun locks a new directory and makes it durable. The lock comes first:
// whoever lists the Runs meanwhile waits for the start instead of finding a Run
// without a record.
//
// All names of a Run are durable before its first record is written: whoever finds
// a record, because the process that wrote it died, may rely on them. The journal
// is made before run.lock, so that one sync of the directory serves both.
func (w *Writer) secureNewRun(ctx context.Context) error {
	if err := w.store.acquireExclusive(ctx, w.run); err != nil {
		return err
	}
	var err error
	if w.journal, err = w.run.openFile(journalName, Creating); err != nil {
		return notCommitted(PhaseJournalOpen, err)
	}
	if w.lock, err = openLockFile(w.run); err != nil {
		return err
	}
	if err := w.store.runs.dir.Sync(); err != nil {
		return notCommitted(PhaseDirectorySync, err)
	}
	return nil
}

// abandon takes away a new Run that did not come into being: it would stay behind
// as one that can not be read. What can not be removed is left.
func (w *Writer) abandon() {
	if w.run.verify() != nil {
		return
	}
	if w.materials != nil && w.materials.verify() == nil {
		for _, digest := range w.put {
			w.materials.dir.Remove(materialName(digest))
		}
	}
	w.materials.close()
	w.run.dir.RemoveDir(materialsName)
	w.removeOwn(journalName, w.journal)
	w.removeOwn(lockName, w.lock)
	w.materials, w.journal, w.lock = nil, nil, nil
	if w.store.runs.dir.RemoveDir(w.run.name) == nil {
		w.store.runs.dir.Sync() // or it would be back after a power cut
	}
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
