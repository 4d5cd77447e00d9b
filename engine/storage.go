package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// instant is now, as the contract writes it.
func (k *Keeper) instant() time.Time { return k.now().UTC().Round(0) }

// record is the event as a line of the journal.
func (e *Event) record(sequence int64) (journal.Record, error) {
	data, err := e.Encode()
	return journal.Record{Sequence: sequence, Type: string(e.Type), At: e.At, Data: data}, err
}

// replay makes the Run of a journal. Every fault is an *journal.InvalidError that
// names the record.
func replay(id string, records []journal.Record) (*Run, error) {
	events := make([]Event, len(records))
	for i, r := range records {
		e, err := DecodeEvent(r.Type, r.At, r.Data)
		if err != nil {
			return nil, &journal.InvalidError{Sequence: int64(i + 1), Err: err}
		}
		events[i] = e
	}
	run, err := Replay(id, events)
	var history *HistoryError
	if errors.As(err, &history) {
		return nil, &journal.InvalidError{Sequence: history.Event, Err: history.Err}
	}
	return run, err
}

// storageFailure turns a failure of the journal into the answer of a mutation
// (storage.md, section 12).
type storageFailure struct {
	place schema.Place
	next  schema.Next // of everything that may have changed something
}

func (f storageFailure) of(err error) error {
	var tooLarge *journal.RecordTooLargeError
	var failed *journal.MutationError
	switch {
	case errors.As(err, &tooLarge):
		return schema.Runtime(schema.CodeJournalRecordTooLarge, f.next,
			schema.RecordDetails{Context: tooLarge.Context, Size: tooLarge.Size, Limit: tooLarge.Limit}, "%v; nothing was recorded", err)
	case errors.Is(err, journal.ErrBusy):
		return schema.Runtime(schema.CodeRunBusy, f.next, schema.MutationDetails{Phase: journal.PhaseLockOpen},
			"another operation holds the Run; repeat later")
	case errors.As(err, &failed):
		return f.classified(failed)
	}
	return f.mutation(journal.PhaseCallback, err)
}

// mutation is a failure before anything was written.
func (f storageFailure) mutation(phase string, err error) error {
	return f.classified(&journal.MutationError{Phase: phase, Err: err})
}

func (f storageFailure) classified(m *journal.MutationError) error {
	code, next := schema.CodeMutationNotCommitted, schema.NextNone(f.place)
	switch {
	case m.Ambiguous || m.NamespaceDetached:
		code, next = schema.CodeMutationOutcomeAmbiguous, f.next
	case m.Committed && m.ProjectionStale:
		code, next = schema.CodeMutationCommittedProjectionStale, f.next
	case m.Committed:
		code, next = schema.CodeMutationCommittedVerificationFailed, f.next
	}
	return schema.Runtime(code, next, schema.MutationDetails{
		Phase: m.Phase, Committed: m.Committed, ProjectionStale: m.ProjectionStale,
		NamespaceDetached: m.NamespaceDetached, Ambiguous: m.Ambiguous,
	}, "%s", explain(code, m))
}

func explain(code schema.Code, m *journal.MutationError) string {
	switch code {
	case schema.CodeMutationNotCommitted:
		return fmt.Sprintf("nothing was recorded, the operation can be repeated: %v", m.Err)
	case schema.CodeMutationOutcomeAmbiguous:
		return fmt.Sprintf("it is not known whether the operation was recorded; look at the Run before repeating: %v", m.Err)
	case schema.CodeMutationCommittedProjectionStale:
		return fmt.Sprintf("the operation was recorded, but run.json is behind the journal: %v", m.Err)
	}
	return fmt.Sprintf("the operation was recorded, but a later check failed: %v", m.Err)
}

// sandboxHint names the likely reason why storage can not be written, where the
// caller's environment shows that a tool put it into a sandbox (daemon.md, 3.4).
func sandboxHint(env []string) string {
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if strings.Contains(name, "SANDBOX") {
			return fmt.Sprintf(" (%s is set: the command seems to run in a sandbox; allow the daemon's socket, or writing to slipway/ in the Git common directory)", name)
		}
	}
	return ""
}
