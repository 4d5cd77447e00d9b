package rpc

import (
	"context"
	"errors"
	"os"
)

// errLocked says that another process holds a lock.
var errLocked = errors.New("another process holds the lock")

// fileLock is an exclusive lock on a file, which the system takes back when the
// process ends, however it ends. The file stays: removing it would let two
// processes lock two files of one name.
type fileLock struct{ file *os.File }

// tryLock takes the lock at once or fails with errLocked.
func tryLock(path string) (*fileLock, error) {
	f, err := openLockFile(path)
	if err != nil {
		return nil, err
	}
	if err := lockNow(f); err != nil {
		f.Close()
		return nil, err
	}
	return &fileLock{f}, nil
}

// waitLock takes the lock as soon as it is free, or fails with the context's
// error.
func waitLock(ctx context.Context, path string) (*fileLock, error) {
	lock, err := tryLock(path)
	if !errors.Is(err, errLocked) {
		return lock, err
	}
	f, err := openLockFile(path)
	if err != nil {
		return nil, err
	}
	// The system's wait can not be cut short. Given up, it ends by itself when
	// the lock is free, and the closing of the file frees it again.
	result := make(chan error)
	go func() {
		err := lockWhenFree(f)
		select {
		case result <- err:
		case <-ctx.Done():
			f.Close()
		}
	}()
	select {
	case err := <-result:
		if err != nil {
			f.Close()
			return nil, err
		}
		return &fileLock{f}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// release gives the lock back.
func (l *fileLock) release() { l.file.Close() }
