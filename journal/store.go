package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"slipway/schema"
)

// Names below the Git common directory (storage.md, section 1).
const (
	namespaceName  = "slipway"
	runsName       = "runs"
	journalName    = "journal.jsonl"
	projectionName = "run.json"
	lockName       = "run.lock"
	materialsName  = "materials"
)

// DefaultLockWait bounds the wait for a Run's lock (storage.md, section 6).
const DefaultLockWait = 5 * time.Second

// Store is the Run storage of one repository. Its methods may be called
// concurrently, but for Close, which comes after the last of them and after the
// last Close of a Writer.
//
// A Store holds on to the directories that it opened. Where one of them is
// replaced, every method fails with a *StoreError or, for a mutation, a
// *MutationError; open a new Store then.
type Store struct {
	// LockWait bounds the wait for a Run's lock; OpenStore sets it to
	// DefaultLockWait.
	LockWait time.Duration

	access    Access
	path      string // of the common directory
	common    *place
	namespace *place // nil where there is none
	runs      *place // nil where there are no Runs
}

// OpenStore opens the Run storage below a Git common directory, given as an
// absolute path without links.
//
// With ReadWrite it creates what is missing and sets the modes of `slipway` and
// `runs` back to owner-only, independent of the umask (storage.md, section 2).
// With ReadOnly it changes nothing, and where there is no storage the Store is
// empty and stays so. Its only error is a *StoreError.
func OpenStore(files FS, commonDir string, access Access) (*Store, error) {
	s := &Store{LockWait: DefaultLockWait, access: access, path: commonDir}
	var err error
	if s.common, err = openRootPlace(files, commonDir); err != nil {
		return nil, &StoreError{Path: commonDir, Err: err}
	}
	if s.namespace, err = openNamespace(s.common, namespaceName, access); err != nil {
		s.Close()
		return nil, &StoreError{Path: filepath.Join(commonDir, namespaceName), Err: err}
	}
	if s.namespace == nil {
		return s, nil
	}
	if s.runs, err = openNamespace(s.namespace, runsName, access); err != nil {
		s.Close()
		return nil, &StoreError{Path: filepath.Join(commonDir, namespaceName, runsName), Err: err}
	}
	return s, nil
}

// openNamespace opens the directory at name. A missing one is created with
// ReadWrite and nil with ReadOnly.
//
// What stands in a directory shows that the directory is durable, so a process that
// dies leaves nothing for others to make up for: the common directory is synchronised
// before `runs` is made, and `slipway` before the first Run is (see Create).
func openNamespace(parent *place, name string, access Access) (*place, error) {
	opened, err := parent.openDir(name, access)
	if !errors.Is(err, fs.ErrNotExist) {
		return opened, err
	}
	if access == ReadOnly {
		return nil, nil
	}
	if parent.parent != nil {
		if err := parent.parent.dir.Sync(); err != nil {
			return nil, err
		}
	}
	if err := parent.dir.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return parent.openDir(name, access)
}

// Close releases the directories.
func (s *Store) Close() {
	s.runs.close()
	s.namespace.close()
	s.common.close()
}

// verify checks that the directories are still the opened ones.
func (s *Store) verify() error {
	at := s.common
	for _, below := range []*place{s.namespace, s.runs} {
		if below != nil {
			at = below
		}
	}
	if err := at.verify(); err != nil {
		return &StoreError{Path: s.path, Err: err}
	}
	return nil
}

// RunIDs lists every entry of `runs` whose name is a valid Run id, in byte order,
// whatever kind of entry it is (storage.md, section 10): First and Read say what
// is unusable. Its only error is a *StoreError.
func (s *Store) RunIDs() ([]string, error) {
	if err := s.verify(); err != nil {
		return nil, err
	}
	if s.runs == nil {
		return nil, nil
	}
	names, err := s.runs.dir.Names()
	if err != nil {
		return nil, &StoreError{Path: filepath.Join(s.path, namespaceName, runsName), Err: err}
	}
	ids := slices.DeleteFunc(names, func(name string) bool { return !schema.ValidRunID(name) })
	slices.Sort(ids)
	return ids, s.verify()
}

// openRun opens the directory of a Run; the error is ErrNoRun, an *InvalidError
// or, where the directory of Runs itself is not usable, a *StoreError.
func (s *Store) openRun(id string, access Access) (*place, error) {
	if err := s.verify(); err != nil {
		return nil, err
	}
	if s.runs == nil || !schema.ValidRunID(id) {
		return nil, ErrNoRun
	}
	run, err := s.runs.openDir(id, access)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoRun
	case err != nil:
		return nil, &InvalidError{Err: fmt.Errorf("its directory: %w", err)}
	}
	return run, nil
}
