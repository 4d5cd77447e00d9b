package journal

import (
	"context"
)

// temporaryProjection is where a projection is written before it replaces
// run.json; readers ignore names that begin with a dot.
const temporaryProjection = "." + projectionName

// Project replaces run.json as a whole (storage.md, section 5). It is not
// synchronised, because the journal can always give it anew. Its only error is a
// *MutationError with phase projection_rename, whichever step failed, and with
// ProjectionStale; Committed tells whether this Writer appended a record.
func (w *Writer) Project(data []byte) error {
	if err := w.replaceProjection(data); err != nil {
		return &MutationError{Phase: PhaseProjectionRename, Committed: w.committed, ProjectionStale: true, Err: err}
	}
	return nil
}

func (w *Writer) replaceProjection(data []byte) error {
	if err := w.run.verify(); err != nil {
		return err
	}
	if err := w.verifyProjection(); err != nil {
		return err
	}
	file, err := replaceLeftover(w.run, temporaryProjection)
	if err != nil {
		return err
	}
	defer file.close()
	if _, err = file.file.WriteAt(data, 0); err == nil {
		err = w.run.verify()
	}
	if err == nil {
		err = file.verify()
	}
	if err == nil {
		err = w.run.dir.Rename(temporaryProjection, projectionName)
	}
	if err != nil {
		w.run.dir.Remove(temporaryProjection)
	}
	return err
}

// Project replaces run.json later, off the path of an answer. It takes the lock
// and does so only where the journal is still in the state at, from which data was
// made; otherwise it fails with ErrStale and whoever moved the journal has to
// project it. Other errors: those of [Store.Lock] and [Writer.Project].
func (s *Store) Project(ctx context.Context, id string, data []byte, at Stamp) error {
	w, err := s.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer w.Close()
	found, err := w.run.dir.Lstat(journalName)
	if err != nil || !at.describes(found) {
		return ErrStale
	}
	return w.Project(data)
}
