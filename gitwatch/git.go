package gitwatch

import (
	"errors"
	"time"
)

// Git looks at worktrees. It is safe for concurrent use and keeps bounded
// caches, so a process needs one.
type Git struct {
	limits   limits
	files    *fileMemo
	known    *answerCache
	lookouts *lookouts // nil: it scans
}

// New returns a Git with empty caches that scans for every observation. It starts
// nothing and holds nothing that would have to be closed.
func New() *Git {
	return &Git{limits: standardLimits(), files: newFileMemo(), known: newAnswerCache()}
}

// NewWatching returns a Git that watches the worktrees which it is asked to
// observe, for as long as they are in use. Close it.
func NewWatching() *Git {
	g := New()
	g.lookouts = newLookouts(g)
	return g
}

// Close ends all watches and waits until nothing of them is left. A Git that
// scans needs no Close.
func (g *Git) Close() {
	if g.lookouts != nil {
		g.lookouts.close()
	}
}

// The limits of one question and of one discovery (git-observation.md, 2.2;
// storage.md, 11.1).
const (
	questionTime   = 30 * time.Second
	discoveryTime  = 30 * time.Second // for all questions of one discovery together
	maxAnswerBytes = 16 << 20         // of each of stdout and stderr
)

// limits holds what a test must be able to shrink.
type limits struct {
	question    time.Duration
	discovery   time.Duration
	answerBytes int64
	content     contentLimits
}

func standardLimits() limits {
	return limits{
		question:    questionTime,
		discovery:   discoveryTime,
		answerBytes: maxAnswerBytes,
		content:     standardContentLimits(),
	}
}

// ErrTimeout says that Git did not answer within 30 s; in a discovery it leads to
// git_repository_unavailable (cli.md, section 3).
var ErrTimeout = errors.New("git gave no answer within 30 s; look for a slow file system or a program that it waits for")

// NoWorkspaceError says that a path leads to no worktree (cli.md, section 3:
// git_repository_required).
type NoWorkspaceError struct {
	Path   string // as it was given
	Reason string // one line, for people
}

func (e *NoWorkspaceError) Error() string {
	return "no Git worktree at " + e.Path + ": " + e.Reason
}
