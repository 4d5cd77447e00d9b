package journal

import (
	"io/fs"
	"time"
)

// Look says what a look at a Run goes by.
type Look int

const (
	// LookPlain takes the Run's directory for what it was: see Settled. A record may
	// be seen that is not durable yet: good enough to know that there is nothing new
	// since a look under the lock, or that Read has something.
	LookPlain Look = iota
	// LookPlaced makes sure of the directory first.
	LookPlaced
	// LookLocked looks under the shared lock of each Run, so that what is seen is
	// durable. One whose lock is not free at once has a zero Info.
	LookLocked
)

// Looks tells how the journals of Runs look now, one for each id, without reading
// any. A journal only grows, so who remembers how one looked before it was read
// learns for a few system calls whether it has to be read again. Where there is no
// journal to look at, or the Run can not be used, the Info is zero: Read says why.
//
// Its only error is a *StoreError.
func (s *Store) Looks(ids []string, how Look) ([]Info, error) {
	if err := s.verify(); err != nil {
		return nil, err
	}
	looks := make([]Info, len(ids))
	if s.runs == nil {
		return looks, nil
	}
	look := s.look
	switch how {
	case LookPlaced:
		look = s.lookPlaced
	case LookLocked:
		look = s.lookLocked
	}
	for i, id := range ids {
		if found, err := look(id); err == nil {
			looks[i] = found
		}
	}
	return looks, s.verify()
}

func (s *Store) look(id string) (Info, error) { return s.runs.dir.LstatIn(id, journalName) }

func (s *Store) lookPlaced(id string) (Info, error) {
	if run, err := s.runs.dir.Lstat(id); err != nil || run.Kind != Directory {
		return Info{}, fs.ErrNotExist
	}
	return s.look(id)
}

// lookLocked opens the Run's directory plainly, without identifying it: the
// identity of the journal in it is what counts.
func (s *Store) lookLocked(id string) (Info, error) {
	dir, err := s.runs.dir.OpenDir(id, ReadOnly)
	if err != nil {
		return Info{}, err
	}
	defer dir.Close()
	if taken, err := dir.TryLock(mutexName(s.path, id), false); !taken || err != nil {
		return Info{}, err
	}
	return dir.Lstat(journalName)
}

// settleTime is more than what times of files are exact to, on any file system that
// keeps the modes and locks of Runs.
const settleTime = 1200 * time.Millisecond

// Settled describes the directory of all Runs if its last change is long enough
// ago that another one gives it another time. While it looks the same, no Run's
// directory comes, goes or is replaced. It is the zero Info otherwise, and where
// the platform does not tell.
func (s *Store) Settled() Info {
	if s.runs == nil {
		return Info{}
	}
	found, err := s.runs.dir.Stat()
	if err != nil || found.Changed == 0 || time.Since(time.Unix(0, found.Changed)) < settleTime {
		return Info{}
	}
	return found
}
