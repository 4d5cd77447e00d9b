package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// A command waits for another one on the same worktree up to lockWait, which is
// below the time that clients give a daemon. It tries again after a pause that
// grows from firstPause to longestPause.
const (
	lockWait     = 20 * time.Second
	firstPause   = time.Millisecond
	longestPause = 50 * time.Millisecond
)

// lockSite lets one command at a time change the adapters of a worktree: it locks
// the root folder itself, so that nothing is left behind. Where the file system
// has no locks it goes on without: the conditions of the changes hold all the same.
func lockSite(ctx context.Context, ws schema.WorkspaceIdentity, wait time.Duration) (io.Closer, error) {
	dir, err := journal.OS().OpenRoot(ws.WorktreeRoot)
	if err != nil {
		return nil, err
	}
	mutex := `Global\slipway-adapters-` + digestOf([]byte(ws.ID))
	deadline := time.Now().Add(wait)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		taken, err := dir.TryLock(mutex, true)
		switch {
		case taken || hasNoLocks(err):
			return dir, nil
		case err == nil && time.Now().After(deadline):
			err = fmt.Errorf("another install or uninstall has been at work in %s for %v; try again when it has ended", ws.WorktreeRoot, wait)
		}
		if err != nil {
			dir.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			dir.Close()
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// hasNoLocks reports whether the file system cannot lock a folder. NFS would want
// it to be open for writing (EBADF).
func hasNoLocks(err error) bool {
	for _, cause := range []error{errors.ErrUnsupported, syscall.ENOLCK, syscall.EINVAL, syscall.EBADF} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
