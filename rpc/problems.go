package rpc

import (
	"fmt"
	"strings"
	"time"
)

// Problem is something that is not as it should be, and that a person can do
// something about (daemon.md, section 6).
type Problem struct {
	Code    string `json:"code"` // one of those below
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// The codes of problems. A daemon that is well has none of them.
const (
	problemCallStuck       = "call_stuck"       // a call takes longer than any client waits
	problemDescriptors     = "descriptors_low"  // few open files are left
	problemLog             = "log_unwritable"   // the log can not be written
	problemOlderBuild      = "older_build"      // the daemon is to be replaced
	problemOlderService    = "older_service"    // the service manager keeps an older daemon
	problemNoProgram       = "program_missing"  // there is no slipwayd to start
	problemProjectionStale = "projection_stale" // a run.json is behind its journal
	problemSocketBlocked   = "socket_blocked"   // a sandbox keeps the socket away
	problemSyncSlow        = "sync_slow"        // the disk makes every change wait
	problemScanned         = "worktree_scanned" // a worktree can not be watched
)

// From where on a figure is a problem.
const (
	stuckCall       = DefaultTimeout
	slowSync        = time.Second
	descriptorShare = 0.8 // of the open files that the process may have
)

// problems are those that the figures of a daemon show. limit is how many files
// the process may open; 0 = unknown.
func (f *Figures) problems(limit int) []Problem {
	problems := []Problem{}
	add := func(code, remedy, format string, args ...any) {
		problems = append(problems, Problem{code, fmt.Sprintf(format, args...), remedy})
	}
	if oldest := time.Duration(f.OldestCallMS) * time.Millisecond; oldest > stuckCall {
		add(problemCallStuck, "look at `slipway daemon logs`; `slipway daemon restart` ends it, and an exact repeat of the command is safe",
			"a call has been running for %v", oldest.Round(time.Second))
	}
	if limit > 0 && float64(f.OpenFiles) > descriptorShare*float64(limit) {
		add(problemDescriptors, "close clients that are not needed, or allow more open files (`ulimit -n`) and run `slipway daemon restart`",
			"%d of %d files are open", f.OpenFiles, limit)
	}
	if slowest := time.Duration(f.JournalSyncP99US) * time.Microsecond; slowest > slowSync {
		add(problemSyncSlow, "move the repository to a faster disk, or find out what else keeps this one busy",
			"one change in a hundred waits %v for the disk", slowest.Round(time.Millisecond))
	}
	for _, w := range f.Worktrees {
		if w.Reason != "" {
			add(problemScanned, scanRemedy(w.Reason), "%s is scanned instead of watched: %s", w.Root, w.Reason)
		}
	}
	return problems
}

func scanRemedy(reason string) string {
	if strings.HasPrefix(reason, "the last observation failed") {
		return "do what the reason asks for, and see that `git status` works there; then repeat the command"
	}
	if strings.Contains(reason, "limit") {
		return "allow more watches: sysctl fs.inotify.max_user_watches=1048576 fs.inotify.max_user_instances=1024 (below /etc/sysctl.d/ to keep it)"
	}
	return "nothing has to be done: answers are right, and take a little longer"
}

// StaleProjection is the problem of a run.json that could not be refreshed; what
// names the Run and the reason.
func StaleProjection(what string) Problem {
	return Problem{
		problemProjectionStale, "run.json is behind the journal, which is complete: " + what,
		"make the folder of the Run writable, or space on its disk; it is tried again by itself",
	}
}

func logProblem(err error) Problem {
	return Problem{problemLog, fmt.Sprintf("the daemon's log can not be written: %v", err), "make space on its disk, or the folder writable; `kill -HUP` reopens the log"}
}

func olderBuild() Problem {
	return Problem{problemOlderBuild, "the daemon is of an older build than this program", "nothing has to be done: the next command replaces it"}
}

func olderService(running, own Build) Problem {
	return Problem{
		problemOlderService,
		fmt.Sprintf("the service manager starts an older slipwayd (%s) than this program's own (%s), and brings it back when it is replaced; commands use it", running.Name(), own.Name()),
		"run `slipway daemon install` with the newer program, so that the service names its slipwayd, or `slipway daemon uninstall`",
	}
}
