package journal

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"slipway/schema"
)

// Inspection is everything that is stored of a Run, good or bad, as it was at one
// moment. It serves those who examine or export a Run; reading one is what Read is
// for.
type Inspection struct {
	Journal []byte // as it is; nil where there is none
	Records []InspectedRecord
	Tail    Tail
	// Fault says why the Run can not be read beyond the Records; nil where all of it
	// can. That it makes sense is for the caller to find out.
	Fault *InvalidError
	// Projection is the content of run.json; nil where there is none, or where
	// ProjectionFault says why it can not be read.
	Projection      []byte
	ProjectionFault error
	Obstacles       []string        // what keeps the Run from going on until it is moved away
	Materials       []schema.Digest // by their names, sorted; [Store.Material] checks them
	Strays          []string        // what else lies in the Run's directory, sorted
}

// InspectedRecord is a record and its place in the journal.
type InspectedRecord struct {
	Record
	Offset, Size int64  // bytes, with its LF
	Chain        string // the checksum over it and all before it, 32 hex digits
}

// Tail is the state of the end of a journal (storage.md, section 4).
type Tail string

const (
	// TailWhole ends with the LF of a record.
	TailWhole Tail = "whole"
	// TailUnterminated ends with a record that counts but lacks its LF.
	TailUnterminated Tail = "unterminated"
	// TailTorn ends with bytes that are no record and do not count.
	TailTorn Tail = "torn"
)

var tails = map[tail]Tail{whole: TailWhole, unterminated: TailUnterminated, torn: TailTorn}

// Inspect looks at everything that is stored of a Run, under the shared lock. It
// changes nothing. Errors: ErrNoRun; ErrBusy after LockWait; a *StoreError; that of
// ctx. All that is wrong with the Run itself is in the Inspection.
func (s *Store) Inspect(ctx context.Context, id string) (*Inspection, error) {
	run, err := s.openRun(id, ReadOnly)
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return &Inspection{Fault: invalid, Tail: TailWhole}, nil
	}
	if err != nil {
		return nil, err
	}
	defer run.close()
	if err := s.acquire(ctx, run, id, false); err != nil {
		return nil, err
	}
	if err := run.verify(); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoRun
	}
	i := &Inspection{Tail: TailWhole}
	i.inspectJournal(run)
	i.inspectProjection(run)
	i.inspectMaterials(run)
	if err := i.inspectKinds(run); err != nil {
		return nil, err
	}
	return i, i.inspectStrays(run)
}

// maxInspected is the largest file that is taken into memory to be examined, in bytes.
// A file system that lost its bearings makes files that are larger than any memory.
const maxInspected = 1 << 30

// wholeFile gives all that an opened file holds.
func wholeFile(l *leaf) ([]byte, error) {
	if l.info.Size > maxInspected {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that can be examined", l.name, l.info.Size, maxInspected)
	}
	content := make([]byte, l.info.Size)
	if err := readFull(l.file, content, 0); err != nil {
		return nil, err
	}
	return content, nil
}

func (i *Inspection) inspectJournal(run *place) {
	journal, err := run.openFile(journalName, Reading)
	if err != nil {
		i.Fault = invalidJournal(err)
		return
	}
	defer journal.close()
	if i.Journal, err = wholeFile(journal); err != nil {
		i.Fault = &InvalidError{Err: err}
		return
	}
	var c content
	lines := lineReader{file: bytes.NewReader(i.Journal), size: journal.info.Size}
	for {
		l, err := lines.next()
		if err != nil {
			err = c.complete(journal.info.Size)
		} else if err = c.add(l); err == nil {
			i.take(&c)
			continue
		}
		if errors.As(err, &i.Fault) {
			return
		}
		break
	}
	i.Tail = tails[c.tail]
}

// take notes the record that was read last, if it is a new one.
func (i *Inspection) take(c *content) {
	if n := len(c.records); n > len(i.Records) {
		i.Records = append(i.Records, InspectedRecord{
			Record: c.records[n-1], Offset: c.begin, Size: c.end - c.begin, Chain: hex.EncodeToString(c.chain[:]),
		})
	}
}

func (i *Inspection) inspectProjection(run *place) {
	projection, err := run.openFile(projectionName, Reading)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		defer projection.close()
		i.Projection, err = wholeFile(projection)
	}
	i.ProjectionFault = err
}

// inspectKinds finds what stands where something of another kind belongs.
func (i *Inspection) inspectKinds(run *place) error {
	for _, leaf := range []struct {
		name string
		kind Kind
		why  error
	}{
		{projectionName, Regular, errNotRegular}, {lockName, Regular, errNotRegular}, {materialsName, Directory, errNotDirectory},
	} {
		found, err := run.dir.Lstat(leaf.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("the directory of the Run: %w", err)
		case found.Kind != leaf.kind:
			i.Obstacles = append(i.Obstacles, fmt.Sprintf("%s %v", leaf.name, leaf.why))
		}
	}
	return nil
}

func (i *Inspection) inspectMaterials(run *place) {
	materials, err := run.openDir(materialsName, ReadOnly)
	if err != nil {
		return // whoever misses one gets the reason with it
	}
	defer materials.close()
	names, err := materials.dir.Names()
	if err != nil {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if digest := schema.Digest("sha256:" + name); digest.Valid() {
			i.Materials = append(i.Materials, digest)
		} else if !strings.HasPrefix(name, ".") {
			i.Strays = append(i.Strays, materialsName+"/"+name)
		}
	}
}

// inspectStrays finds what does not belong there. Leaves whose names begin with a
// dot are left over by crashes and belong (storage.md, section 1).
func (i *Inspection) inspectStrays(run *place) error {
	names, err := run.dir.Names()
	if err != nil {
		return fmt.Errorf("the directory of the Run: %w", err)
	}
	for _, name := range names {
		known := slices.Contains([]string{journalName, projectionName, lockName, materialsName}, name)
		if !known && !strings.HasPrefix(name, ".") {
			i.Strays = append(i.Strays, name)
		}
	}
	slices.Sort(i.Strays)
	return nil
}
