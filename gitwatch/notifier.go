package gitwatch

// notifier reports what happens in the folders that it was told to watch, in the
// order in which it happened. Its methods need a lock around them, save wait.
type notifier interface {
	// add watches the folder at path, no link, and not what is below its folders. A
	// folder that is watched already keeps its number. An error is an
	// [*unwatchable], or says that no such folder is there (isAbsence), or that it
	// may not be read (isForbidden).
	add(path string) (watchID, error)
	remove(watchID)
	// wait calls ready whenever something happened, and returns after close.
	wait(ready func())
	// drain hands on everything that happened before it was called. So it is the
	// barrier of an observation: what a program did before it asked is among the
	// events of this and earlier drains.
	drain(take func(event)) error
	close()
}

// watchID numbers the watched folders of a notifier.
type watchID int32

// event says that something happened to a name in a watched folder; without a
// name, to the folder itself.
type event struct {
	id   watchID
	name string
	what happening
}

type happening uint8

const (
	written   happening = 1 << iota // content
	closed                          // by a program that could write
	arrived                         // created, or moved here
	left                            // deleted, or moved away
	ofFolder                        // the name is one of a folder
	ended                           // the folder is gone
	displaced                       // the folder is somewhere else, or another one is in its place
	lost                            // events were dropped, of any folder
)

// unwatchable says why a worktree is scanned instead of watched.
type unwatchable struct{ reason string }

func (u *unwatchable) Error() string { return u.reason }
