//go:build !linux

package gitwatch

import "runtime"

// newNotifier: the systems that watch through one handle for each folder do not
// order events across folders, and kqueue needs one for each file. So nothing
// proves there that every earlier change has been seen, and worktrees are scanned.
func newNotifier() (notifier, error) {
	return nil, &unwatchable{"worktrees are not watched on " + runtime.GOOS}
}

func mostWatches() int { return 0 }
