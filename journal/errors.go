package journal

import (
	"errors"
	"fmt"
)

// Phases of a mutation that can fail (storage.md, section 12). PhaseCallback,
// PhaseProjectionEncode and PhaseResponseOutput are steps of this package's callers.
// A projection is made after the commit only, so its phases before it do not occur.
const (
	PhaseValidation        = "validation"
	PhaseNamespaceVerify   = "namespace_verify"
	PhaseDirectoryCreate   = "directory_create"
	PhaseDirectorySync     = "directory_sync"
	PhaseLockOpen          = "lock_open"
	PhaseLockSync          = "lock_sync"
	PhaseLockVerify        = "lock_verify"
	PhaseReplay            = "replay"
	PhaseCallback          = "callback"
	PhaseProjectionEncode  = "projection_encode"
	PhaseProjectionPrepare = "projection_prepare"
	PhaseJournalOpen       = "journal_open"
	PhaseJournalWrite      = "journal_write"
	PhaseJournalSync       = "journal_sync"
	PhaseJournalVerify     = "journal_verify"
	PhaseProjectionRename  = "projection_rename"
	PhaseResponseOutput    = "response_output"
)

// ErrBusy means that the Run's lock was not free in time (storage.md, section 6).
var ErrBusy = errors.New("the Run is busy: another operation holds its lock; try again")

// ErrNoRun means that there is no entry of that name.
var ErrNoRun = errors.New("there is no such Run")

// ErrStale means that the journal has moved on since the projection was made.
var ErrStale = errors.New("the projection is older than the journal")

// Why an object is refused.
var (
	errDetached     = errors.New("is no longer the object that was opened")
	errNotDirectory = errors.New("is a link or no directory")
	errNotRegular   = errors.New("is a link or no regular file")
	errReadOnly     = errors.New("the storage was opened for reading only")
	errNotLoaded    = errors.New("the journal must be loaded first")
)

// StoreError means that the storage of a repository can not be used at all
// (storage.md, section 9; runstore_unavailable).
type StoreError struct {
	Path string // the directory that is at fault
	Err  error
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("Run storage can not be used: %s: %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// InvalidError means that a Run can not be read as one (storage.md, sections 3.3,
// 4 and 9). Nothing was changed.
type InvalidError struct {
	// Sequence is the number of the first unusable record after the first one; 0
	// where the directory, the journal as a whole or its first record is unusable.
	Sequence int64
	Err      error
}

func (e *InvalidError) Error() string { return "the Run can not be read: " + e.Reason() }

// Reason is the error for a sentence that names the Run itself.
func (e *InvalidError) Reason() string {
	if e.Sequence == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("record %d: %v", e.Sequence, e.Err)
}

// Unwrap gives the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// RecordTooLargeError means that a record exceeds a limit and that nothing was
// written (storage.md, 3.2; journal_record_too_large).
type RecordTooLargeError struct {
	Context     string // what is too large
	Size, Limit int    // bytes
}

func (e *RecordTooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the %d that the journal takes", e.Context, e.Size, e.Limit)
}

// MutationError says in which phase a mutation failed and what is left of it
// (storage.md, section 12). With all flags false nothing of it will ever be seen.
type MutationError struct {
	Phase string
	// Committed: the record is durable in the journal that was opened.
	Committed bool
	// ProjectionStale: run.json is behind the journal.
	ProjectionStale bool
	// NamespaceDetached: the record was written into an object that is no longer
	// at its path.
	NamespaceDetached bool
	// Ambiguous: bytes were written, and whether they last is not known.
	Ambiguous bool
	Err       error
}

func (e *MutationError) Error() string {
	state := "nothing was recorded"
	switch {
	case e.NamespaceDetached:
		state = "recorded in a directory that is no longer at its path"
	case e.Ambiguous:
		state = "it is not known whether it was recorded"
	case e.Committed:
		state = "recorded"
	}
	return fmt.Sprintf("%s (%s): %v", e.Phase, state, e.Err)
}

// Unwrap gives the cause.
func (e *MutationError) Unwrap() error { return e.Err }

// notCommitted is the error of a step before anything of the record was written.
func notCommitted(phase string, err error) *MutationError {
	return &MutationError{Phase: phase, Err: err}
}

// afterCommit is the error of a check that failed on a durable record. Where the
// object is no longer at its path, that is what the caller must know.
func afterCommit(phase string, err error) *MutationError {
	return &MutationError{Phase: phase, Committed: true, NamespaceDetached: errors.Is(err, errDetached), Err: err}
}
