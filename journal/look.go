package journal

// Looks tells how the journals of Runs look now, one for each id, without reading
// any. A journal only grows, so who remembers how one looked before it was read
// learns for a few system calls whether it has to be read again. Where there is no
// journal to look at, or the Run can not be used, the Info is zero: Read says why.
//
// With locked it looks under the shared lock of each Run, which is what an answer
// needs; one whose lock is not free at once has a zero Info. Without, a record may
// be seen that is not durable yet: good enough to know that Read has something.
//
// Its only error is a *StoreError.
func (s *Store) Looks(ids []string, locked bool) ([]Info, error) {
	if err := s.verify(); err != nil {
		return nil, err
	}
	looks := make([]Info, len(ids))
	if s.runs == nil {
		return looks, nil
	}
	for i, id := range ids {
		looks[i] = s.look(id, locked)
	}
	return looks, s.verify()
}

// look gives the zero Info where there is nothing to look at. It opens the Run's
// directory plainly, without identifying it: the identity of the journal in it is
// what counts.
func (s *Store) look(id string, locked bool) Info {
	dir, err := s.runs.dir.OpenDir(id, ReadOnly)
	if err != nil {
		return Info{}
	}
	defer dir.Close()
	if locked {
		if taken, err := dir.TryLock(mutexName(s.path, id), false); !taken || err != nil {
			return Info{}
		}
	}
	found, err := dir.Lstat(journalName)
	if err != nil {
		return Info{}
	}
	return found
}
