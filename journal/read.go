package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// First returns the first record of a Run, which tells whose it is. It takes no
// lock.
//
// Errors: ErrNoRun; an *InvalidError where the directory, the journal or its first
// record is unusable (storage.md, section 9); a *StoreError.
func (s *Store) First(id string) (Record, error) {
	run, err := s.openRun(id, ReadOnly)
	if err != nil {
		return Record{}, err
	}
	defer run.close()
	record, err := firstOf(run)
	if err != nil && errors.Is(run.verify(), fs.ErrNotExist) {
		return Record{}, ErrNoRun // it was removed meanwhile
	}
	return record, err
}

func firstOf(run *place) (Record, error) {
	journal, err := run.openFile(journalName, Reading)
	if err != nil {
		return Record{}, invalidJournal(err)
	}
	defer journal.close()
	record, err := firstRecordNow(journal)
	if err == nil {
		err = unmoved(run, journal)
	}
	if err != nil {
		return Record{}, asInvalid(err)
	}
	return record, nil
}

// firstRecordNow reads without the lock: whoever has it may cut off an interrupted
// tail meanwhile, and the file ends before the size that it had.
func firstRecordNow(journal *leaf) (Record, error) {
	for size := journal.info.Size; ; {
		record, err := firstRecord(journal.file, size)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return record, err
		}
		now, statErr := journal.file.Stat()
		if statErr != nil || now.Size >= size {
			return record, err
		}
		size = now.Size
	}
}

// Read returns all records of a Run and the Stamp of that state. Where have is
// the Stamp of the present state it returns no records and unchanged = true,
// without reading the journal. It takes the shared lock meanwhile, writes nothing
// and ignores an interrupted tail (storage.md, section 4).
//
// Errors: ErrNoRun; ErrBusy after LockWait; an *InvalidError; a *StoreError; that
// of ctx.
func (s *Store) Read(ctx context.Context, id string, have Stamp) (records []Record, stamp Stamp, unchanged bool, err error) {
	run, err := s.openRun(id, ReadOnly)
	if err != nil {
		return nil, Stamp{}, false, err
	}
	defer run.close()
	if err := s.acquire(ctx, run, id, false); err != nil {
		if errors.Is(err, ErrBusy) || ctx.Err() != nil {
			return nil, Stamp{}, false, err
		}
		return nil, Stamp{}, false, &InvalidError{Err: fmt.Errorf("its lock: %w", err)}
	}
	if err := run.verify(); errors.Is(err, fs.ErrNotExist) {
		return nil, Stamp{}, false, ErrNoRun // it was removed meanwhile
	} else if err != nil {
		return nil, Stamp{}, false, &InvalidError{Err: err}
	}
	if found, err := run.dir.Lstat(journalName); err == nil && have.describes(found) {
		return nil, have, true, nil
	}
	journal, err := run.openFile(journalName, Reading)
	if err != nil {
		return nil, Stamp{}, false, invalidJournal(err)
	}
	defer journal.close()
	got, stamp, err := readJournal(journal)
	if err == nil {
		err = unmoved(run, journal)
	}
	if err != nil {
		return nil, Stamp{}, false, asInvalid(err)
	}
	return got.records, stamp, false, nil
}

// invalidJournal says why a journal could not be opened.
func invalidJournal(err error) *InvalidError {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it has no journal")
	}
	return &InvalidError{Err: err}
}

// readJournal reads an opened journal whose lock is held.
func readJournal(journal *leaf) (content, Stamp, error) {
	before, err := journal.file.Stat()
	if err != nil {
		return content{}, Stamp{}, err
	}
	got, err := replayFile(journal.file, before.Size)
	if err != nil {
		return content{}, Stamp{}, err
	}
	after, err := journal.file.Stat()
	if err != nil {
		return content{}, Stamp{}, err
	}
	if after != before {
		return content{}, Stamp{}, errors.New("its journal was changed while it was read")
	}
	return got, stampOf(after, state{last: got.last(), chain: got.chain, begin: got.begin, ragged: got.tail != whole}), nil
}

// unmoved checks a Run's directory and journal after they were read.
func unmoved(run *place, journal *leaf) error {
	if err := run.verify(); err != nil {
		return err
	}
	return journal.verify()
}

// asInvalid makes whatever kept a Run from being read an *InvalidError.
func asInvalid(err error) error {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return err
	}
	return &InvalidError{Err: err}
}
