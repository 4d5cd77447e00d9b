package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// Append records one event with one write and one sync (storage.md, section 8).
// Its Sequence must be the next one: [Stamp.Sequence] of the present state and one,
// or 1 for a new Run. It takes one record, because a crash may cut a write
// anywhere, and only within a line does the cut leave no half to be replayed.
//
// A new Run gets its name then, and its directory and `runs` are synchronised.
//
// Errors: a *RecordTooLargeError, and else a *MutationError, whose flags say what
// is left of the record. After a *MutationError with a phase other than validation
// the journal must be loaded again before another Append; a new Run that was not
// committed then has to be created anew.
func (w *Writer) Append(record Record) (Stamp, error) {
	if !w.loaded {
		return Stamp{}, notCommitted(PhaseReplay, errNotLoaded)
	}
	if want := w.stamp.last + 1; record.Sequence != want {
		return Stamp{}, notCommitted(PhaseValidation, fmt.Errorf("the record is numbered %d, the next one is %d", record.Sequence, want))
	}
	line, next, err := encodeRecord(record, w.stamp.chain)
	if err != nil {
		var large *RecordTooLargeError
		if errors.As(err, &large) {
			return Stamp{}, err
		}
		return Stamp{}, notCommitted(PhaseValidation, err)
	}
	if _, err := w.Repair(); err != nil {
		return Stamp{}, err
	}
	w.loaded = false
	for _, step := range []func() error{
		w.verifyBefore,
		w.verifyUnchanged,
		func() error { return w.commit(line, next) },
		w.verifyAfter,
	} {
		if err := step(); err != nil {
			return Stamp{}, err
		}
	}
	w.loaded = true
	return w.stamp, nil
}

// verifyBefore checks all that must hold before a byte is written.
func (w *Writer) verifyBefore() error {
	if err := w.run.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	if err := w.lock.verify(); err != nil {
		return notCommitted(PhaseLockVerify, err)
	}
	if err := w.syncMaterials(); err != nil {
		return err
	}
	if err := w.verifyMaterials(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	if err := w.verifyProjection(); err != nil {
		return notCommitted(PhaseProjectionPrepare, err)
	}
	return nil
}

// verifyProjection checks that what stands at run.json can be replaced.
func (w *Writer) verifyProjection() error {
	found, err := w.run.dir.Lstat(projectionName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && found.Kind != Regular:
		return fmt.Errorf("%s %w: move it away", projectionName, errNotRegular)
	}
	return err
}

// verifyUnchanged checks that the journal is as it was loaded.
func (w *Writer) verifyUnchanged() error {
	if err := w.verifyJournal(w.stamp.size); err != nil {
		return notCommitted(PhaseJournalVerify, err)
	}
	return nil
}

// verifyJournal checks that the journal is at its place and has the size.
func (w *Writer) verifyJournal(size int64) error {
	found, err := w.run.dir.Lstat(journalName)
	if err := matches(journalName, w.journal.info, found, err); err != nil {
		return err
	}
	if found.Size != size {
		return fmt.Errorf("%s has %d bytes instead of %d: something wrote to it without the lock", journalName, found.Size, size)
	}
	return nil
}

// commit writes the line with the chain next and makes it durable.
func (w *Writer) commit(line []byte, next chain) error {
	last, err := w.unsynced()
	if err != nil {
		return notCommitted(PhaseJournalVerify, err)
	}
	if _, err := w.journal.file.WriteAt(append(last, line...), w.stamp.size-int64(len(last))); err != nil {
		if info, statErr := w.journal.file.Stat(); statErr == nil && info.Size == w.stamp.size {
			return notCommitted(PhaseJournalWrite, err)
		}
		return w.ambiguous(PhaseJournalWrite, err)
	}
	if err := w.journal.file.Sync(); err != nil {
		return w.ambiguous(PhaseJournalSync, err)
	}
	if w.fresh {
		if err := w.publish(); err != nil {
			return err
		}
	}
	w.committed = true
	return w.takeStamp(state{last: w.stamp.last + 1, chain: next, begin: w.stamp.size, synced: true}, int64(len(line)))
}

// takeStamp is the state after a record of that many bytes was appended.
func (w *Writer) takeStamp(s state, added int64) error {
	info, err := w.journal.file.Stat()
	if err != nil {
		return afterCommit(PhaseJournalVerify, err)
	}
	if want := w.stamp.size + added; info.Size != want {
		return afterCommit(PhaseJournalVerify, fmt.Errorf("%s has %d bytes instead of %d: something wrote to it without the lock", journalName, info.Size, want))
	}
	w.stamp = stampOf(info, s)
	return nil
}

// ambiguous takes back what was written, as far as that is possible, and reports
// that the outcome is not known. What the disk holds after a failed sync can not
// be asked: a later sync would succeed without the lost pages, and the journal
// would break in the middle. Cut back and written again, the pages are new.
func (w *Writer) ambiguous(phase string, err error) error {
	if w.journal.file.Truncate(w.stamp.size) == nil {
		w.journal.file.Sync()
	}
	return &MutationError{Phase: phase, Ambiguous: true, Err: err}
}

// verifyAfter checks that the record went where it belongs.
func (w *Writer) verifyAfter() error {
	if err := w.run.verify(); err != nil {
		return afterCommit(PhaseNamespaceVerify, err)
	}
	if err := w.verifyJournal(w.stamp.size); err != nil {
		return afterCommit(PhaseJournalVerify, err)
	}
	for _, check := range []struct {
		phase string
		run   func() error
	}{
		{PhaseLockVerify, w.lock.verify},
		{PhaseNamespaceVerify, w.verifyMaterials},
	} {
		if err := check.run(); err != nil {
			return &MutationError{Phase: check.phase, Committed: true, Err: err}
		}
	}
	return nil
}
