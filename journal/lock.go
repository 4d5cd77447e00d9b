package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"time"
)

// A lock is tried again after a pause that grows from firstPause to longestPause.
// A blocking flock would hand over sooner, but can neither be given up after
// LockWait nor when ctx ends: its thread would stay behind and take the lock after
// nobody wants it any more.
const (
	firstPause   = 250 * time.Microsecond
	longestPause = 16 * time.Millisecond
)

// acquire takes the lock of an opened Run directory and waits for it up to
// LockWait. Errors: ErrBusy, that of ctx, and the platform's.
func (s *Store) acquire(ctx context.Context, run *place, id string, exclusive bool) error {
	mutex := mutexName(s.path, id)
	var deadline *time.Timer
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if taken, err := run.dir.TryLock(mutex, exclusive); taken || err != nil {
			return err
		}
		if deadline == nil {
			deadline = time.NewTimer(s.LockWait)
			defer deadline.Stop()
		}
		select {
		case <-ctx.Done():
		case <-deadline.C:
			return ErrBusy
		case <-time.After(pause):
		}
	}
}

// mutexName names the lock of a Run where directories can not be locked
// (storage.md, section 6).
func mutexName(commonDir, id string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(commonDir) + "\x00" + id))
	return `Global\slipway-run-` + hex.EncodeToString(sum[:])
}

// openLockFile opens run.lock and creates it durably where it is missing. It is
// not the lock but must stay the same file during a mutation.
func openLockFile(run *place) (*leaf, error) {
	lock, err := run.openFile(lockName, Writing)
	if err == nil {
		return lock, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, notCommitted(PhaseLockOpen, err)
	}
	if lock, err = run.openFile(lockName, Creating); err != nil {
		return nil, notCommitted(PhaseLockOpen, err)
	}
	if err = lock.file.Sync(); err == nil {
		err = run.dir.Sync()
	}
	if err != nil {
		run.dir.Remove(lockName)
		lock.close()
		return nil, notCommitted(PhaseLockSync, err)
	}
	return lock, nil
}
