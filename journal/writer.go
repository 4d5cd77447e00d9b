package journal

import (
	"context"
	"errors"
	"io/fs"

	"slipway/schema"
)

// Writer is one Run under its exclusive lock, for one mutation. It is not for
// concurrent use, and it ends with Close.
type Writer struct {
	store *Store
	run   *place // has another name than the id until a new Run is published
	id    string
	lock  *leaf

	journal *leaf // nil before Load of an existing Run
	loaded  bool  // stamp, tail and end are known to be those of the journal
	stamp   Stamp
	tail    tail
	end     int64 // where a torn tail begins

	fresh     bool // made by Create, and not yet durable under its name
	committed bool // a record was appended

	materials         *place          // nil before the first PutMaterial
	put               []schema.Digest // materials that this mutation relies on
	materialsUnsynced bool
}

// Lock takes the exclusive lock of an existing Run, opens or creates its run.lock
// and makes its directory owner-only. The Store must be ReadWrite.
//
// Errors: ErrNoRun; ErrBusy after LockWait; an *InvalidError where the directory is
// a link or none; a *MutationError with phase namespace_verify, lock_open (also
// where ctx ended) or lock_sync; a *StoreError.
func (s *Store) Lock(ctx context.Context, id string) (*Writer, error) {
	if s.access != ReadWrite {
		return nil, notCommitted(PhaseNamespaceVerify, errReadOnly)
	}
	run, err := s.openRun(id, ReadWrite)
	if err != nil {
		var invalid *InvalidError
		if errors.As(err, &invalid) && !errors.Is(err, errNotDirectory) {
			err = notCommitted(PhaseNamespaceVerify, invalid.Err)
		}
		return nil, err
	}
	if err := s.acquireExclusive(ctx, run, id); err != nil {
		run.close()
		return nil, err
	}
	lock, err := openLockFile(run)
	if err != nil {
		run.close()
		return nil, err
	}
	return &Writer{store: s, run: run, id: id, lock: lock}, nil
}

// acquireExclusive takes the lock of a mutation and checks that the locked
// directory is still the Run's.
func (s *Store) acquireExclusive(ctx context.Context, run *place, id string) error {
	err := s.acquire(ctx, run, id, true)
	if errors.Is(err, ErrBusy) {
		return err
	}
	if err != nil {
		return notCommitted(PhaseLockOpen, err)
	}
	if err := run.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	return nil
}

// Load returns all records of the Run and the Stamp of that state. Where have is
// the Stamp of the present state and nothing needs a repair, it returns no records
// and unchanged = true, without reading the journal.
//
// An interrupted tail is left as it is until Repair, so that a Run whose records
// turn out to make no Run is not touched (storage.md, section 4).
//
// Errors: an *InvalidError, whose Sequence is 0 where not even the first record is
// usable; a *MutationError with phase namespace_verify or replay.
func (w *Writer) Load(have Stamp) (records []Record, stamp Stamp, unchanged bool, err error) {
	w.loaded = false
	if err := w.run.verify(); err != nil {
		return nil, Stamp{}, false, notCommitted(PhaseNamespaceVerify, err)
	}
	if err := w.openForLoad(); err != nil {
		return nil, Stamp{}, false, err
	}
	info, err := w.journal.file.Stat()
	if err != nil {
		return nil, Stamp{}, false, notCommitted(PhaseReplay, err)
	}
	if have.describes(info) && !have.ragged {
		w.loaded, w.stamp, w.tail = true, have, whole
		return nil, have, true, nil
	}
	got, stamp, err := readJournal(w.journal)
	if err == nil {
		err = unmoved(w.run, w.journal)
	}
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return nil, Stamp{}, false, err
	}
	if err != nil {
		return nil, Stamp{}, false, notCommitted(PhaseReplay, err)
	}
	w.loaded, w.stamp, w.tail, w.end = true, stamp, got.tail, got.end
	return got.records, stamp, false, nil
}

// openForLoad opens the journal, or checks the one that is open already.
func (w *Writer) openForLoad() error {
	if w.journal != nil {
		if err := w.journal.verify(); err != nil {
			return notCommitted(PhaseReplay, err)
		}
		return nil
	}
	journal, err := w.run.openFile(journalName, Writing)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular):
		return invalidJournal(err)
	case err != nil:
		return notCommitted(PhaseReplay, err)
	}
	w.journal = journal
	return nil
}

// Repair mends the interrupted tail that Load found: a record that lacks its LF
// gets it, bytes that are no record are cut off, and the journal is synchronised
// (storage.md, section 4). Call it once the records were found to make a Run. It
// costs nothing where the tail is whole; Append does it where it was not called.
// Its only error is a *MutationError with phase namespace_verify or replay.
func (w *Writer) Repair() (Stamp, error) {
	if !w.loaded {
		return Stamp{}, notCommitted(PhaseReplay, errNotLoaded)
	}
	if w.tail == whole {
		return w.stamp, nil
	}
	if err := w.run.verify(); err != nil {
		return Stamp{}, notCommitted(PhaseNamespaceVerify, err)
	}
	w.loaded = false
	if err := w.mendTail(); err != nil {
		return Stamp{}, notCommitted(PhaseReplay, err)
	}
	w.loaded, w.tail = true, whole
	return w.stamp, nil
}

func (w *Writer) mendTail() error {
	if err := w.journal.verify(); err != nil {
		return err
	}
	var err error
	if w.tail == torn {
		w.stamp.size = w.end
		err = w.journal.file.Truncate(w.end)
	} else {
		w.stamp.size = w.end + 1
		_, err = w.journal.file.WriteAt([]byte("\n"), w.end)
	}
	if err != nil {
		return err
	}
	return w.secure()
}

// Sync makes durable what Load returned. An answer that rests on the journal
// without appending to it needs this (an exact retry, say): whoever wrote the last
// record may have died before it was synchronised. It costs nothing where this
// process knows the state to be durable. Its only error is a *MutationError with
// phase journal_sync, and nothing was recorded then.
func (w *Writer) Sync() (Stamp, error) {
	if _, err := w.Repair(); err != nil {
		return Stamp{}, err
	}
	if w.stamp.synced {
		return w.stamp, nil
	}
	w.loaded = false
	if err := w.secure(); err != nil {
		return Stamp{}, notCommitted(PhaseJournalSync, err)
	}
	w.loaded = true
	return w.stamp, nil
}

// secure synchronises a journal of which this process does not know that it is
// durable, and takes its new stamp.
func (w *Writer) secure() error {
	last, err := w.unsynced()
	if err != nil {
		return err
	}
	if _, err := w.journal.file.WriteAt(last, w.stamp.begin); err != nil {
		return err
	}
	if err := w.journal.file.Sync(); err != nil {
		return err
	}
	info, err := w.journal.file.Stat()
	if err != nil {
		return err
	}
	w.stamp = stampOf(info, w.stamp.durable())
	return nil
}

// unsynced is the last record where this process does not know it to be durable, so
// that it can be written again where it stands. A sync alone does not reach it for
// sure: after one that failed, in a process that is gone, the system may take what
// it could not write for written, and the next sync succeeds without it.
func (w *Writer) unsynced() ([]byte, error) {
	if w.stamp.synced || w.stamp.last == 0 {
		return nil, nil
	}
	if err := w.secureName(); err != nil {
		return nil, err
	}
	last := make([]byte, w.stamp.size-w.stamp.begin)
	return last, readFull(w.journal.file, last, w.stamp.begin)
}

// secureName makes the name of the Run durable where nothing shows that it is: whoever
// started the Run may have died before. A projection and a second record come later.
func (w *Writer) secureName() error {
	if w.stamp.last > 1 {
		return nil
	}
	_, err := w.run.dir.Lstat(projectionName)
	if errors.Is(err, fs.ErrNotExist) {
		return w.store.runs.dir.Sync()
	}
	return err
}

// Close releases the lock. A new Run whose first record did not become durable is
// taken away again as far as that is possible.
func (w *Writer) Close() {
	if w.fresh && !w.committed {
		w.abandon()
	}
	w.materials.close()
	w.journal.close()
	w.lock.close()
	w.run.close()
}
