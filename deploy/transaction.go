package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// site is the worktree that a command works on, opened once.
type site struct {
	root folder
	path string // absolute
}

// check fails where the root path does not name the opened folder any more.
func (s *site) check() error {
	opened, err := s.root.Self()
	if err != nil {
		return err
	}
	named, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if !os.SameFile(opened, named) {
		return fmt.Errorf("%s is another folder than at the start of the command", s.path)
	}
	return nil
}

// transaction makes the planned changes, all or none (adapters.md, section 7).
type transaction struct {
	site       *site
	steps      []*step
	assertions []assertion
	artifacts  []artifact
	unsynced   []string // folders with changes that may not be on the disk yet
}

// artifact is an object that is kept for the user: what belongs at original is, or
// stays, at kept.
type artifact struct {
	original, kept string
	cause          error
}

// changedError is a path that somebody else changed after it was looked at.
type changedError struct {
	path string
	err  error
}

func (e *changedError) Error() string { return e.err.Error() }
func (e *changedError) Unwrap() error { return e.err }

func newTransaction(s *site, plans []*hostPlan) *transaction {
	t := &transaction{site: s}
	for _, p := range plans {
		for _, c := range p.changes {
			t.steps = append(t.steps, &step{change: c})
		}
		t.assertions = append(t.assertions, p.assertions...)
	}
	return t
}

// run makes the changes. The error says why it is not simply committed.
func (t *transaction) run(ctx context.Context) (Outcome, error) {
	if len(t.steps) == 0 {
		return OutcomeCommitted, nil
	}
	if err := errors.Join(ctx.Err(), t.precheck()); err != nil {
		return OutcomeNotCommitted, err
	}
	if err := t.stage(); err != nil {
		// What cannot be deleted is listed; the cause stays the error.
		_ = t.cleanUp(false)
		return OutcomeRolledBack, err
	}
	if err := t.apply(); err != nil {
		return t.rollBack(err), err
	}
	if err := t.cleanUp(true); err != nil {
		return OutcomeCommitted, fmt.Errorf("every change is in place, but cleaning up failed: %w", err)
	}
	if err := t.site.check(); err != nil {
		return OutcomeAmbiguous, fmt.Errorf("the changes were made in a folder that was then replaced: %w", err)
	}
	return OutcomeCommitted, nil
}

// precheck looks at every condition before the first change.
func (t *transaction) precheck() error {
	for _, s := range t.steps {
		at, err := walk(t.site.root, s.path)
		if errors.Is(err, fs.ErrNotExist) && s.before == "" {
			continue
		}
		if err != nil {
			return err
		}
		_, err = s.expect(at)
		at.Close()
		if err != nil {
			return err
		}
	}
	return errors.Join(t.checkAssertions(), t.site.check())
}

func (t *transaction) checkAssertions() error {
	for _, a := range t.assertions {
		content, err := readAt(t.site.root, a.path, maxGeneratedBytes+1)
		if err == nil && digestOf(content) != a.digest {
			err = errors.New("its bytes are not those that were generated")
		}
		if err != nil {
			return fmt.Errorf("%s has to stay as it is: %w", a.path, err)
		}
	}
	return nil
}

// stage prepares every step, so that the changes themselves are renames only.
func (t *transaction) stage() error {
	for _, s := range t.steps {
		err := t.makeParents(s.path)
		if err == nil {
			err = s.stage(t.site.root)
		}
		if err != nil {
			return fmt.Errorf("%s could not be prepared: %w", s.path, err)
		}
	}
	return nil
}

// makeParents makes the folders that a path needs. They stay after a rollback.
func (t *transaction) makeParents(file string) error {
	parent := path.Dir(file)
	at, err := walk(t.site.root, file)
	if err == nil {
		return at.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := t.makeParents(parent); err != nil {
		return err
	}
	if at, err = walk(t.site.root, parent); err != nil {
		return err
	}
	defer at.Close()
	if err := at.MakeFolder(path.Base(parent), folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return at.Sync()
}

func (t *transaction) apply() error {
	for _, s := range t.steps {
		if err := t.site.check(); err != nil {
			return err
		}
		if s.record {
			if err := t.sync(); err != nil {
				return err
			}
		}
		if err := s.apply(t.site.root); err != nil {
			return fmt.Errorf("%s could not be changed: %w", s.path, err)
		}
		t.unsynced = append(t.unsynced, path.Dir(s.path))
	}
	return errors.Join(t.sync(), t.checkAssertions())
}

// sync brings the changes so far to the disk.
func (t *transaction) sync() error {
	for _, name := range inOrder(t.unsynced) {
		at, err := walk(t.site.root, name+"/.")
		if err != nil {
			return err
		}
		err = at.Sync()
		at.Close()
		if err != nil {
			return fmt.Errorf("%s could not be brought to the disk: %w", name, err)
		}
	}
	t.unsynced = nil
	return nil
}

// rollBack undoes what was done, the last change first.
func (t *transaction) rollBack(cause error) Outcome {
	outcome := OutcomeNotCommitted
	for i := len(t.steps) - 1; i >= 0; i-- {
		s := t.steps[i]
		if !s.begun {
			continue
		}
		if outcome == OutcomeNotCommitted {
			outcome = OutcomeRolledBack
		}
		kept, complete := s.undo(t.site.root)
		if !complete {
			outcome = OutcomeAmbiguous
		}
		for _, a := range kept {
			t.keep(a)
		}
	}
	var changed *changedError
	if errors.As(cause, &changed) && outcome != OutcomeNotCommitted {
		t.keep(artifact{changed.path, changed.path, cause})
	}
	_ = t.cleanUp(false)
	return outcome
}

// keep lists an object for the user, once.
func (t *transaction) keep(a artifact) {
	for _, known := range t.artifacts {
		if known.kept == a.kept {
			return
		}
	}
	t.artifacts = append(t.artifacts, a)
}

// cleanUp empties and deletes the recovery folders. Objects that are not known to
// be Slipway's own are kept.
func (t *transaction) cleanUp(committed bool) error {
	var faults []error
	for _, s := range t.steps {
		for _, r := range []*recovery{s.staged, s.held} {
			if r == nil {
				continue
			}
			kept, err := r.discard(t.site.root, s.disposable(committed))
			if err == nil {
				continue
			}
			faults = append(faults, fmt.Errorf("%s: %w", r.path, err))
			for _, where := range kept {
				t.keep(artifact{s.path, where, err})
			}
		}
	}
	return errors.Join(faults...)
}
