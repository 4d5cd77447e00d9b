// Package gitwatch looks at Git worktrees: which worktree a path belongs to,
// and what stands in it right now. It changes nothing and knows no Runs.
//
// # Use
//
// One [Git] serves a whole process. Every call carries the environment of the
// person who asks, because Git's answers depend on it (HOME, PATH and so on);
// the environment of this process has no say.
//
//	git := gitwatch.NewWatching() // or New, for a process that ends soon
//	defer git.Close()
//	ws, err := git.Discover(ctx, env, "/srv/demo/docs")
//	// ws.WorktreeRoot == "/srv/demo"
//	seen, mode, err := git.Observe(ctx, env, ws)
//	// seen.Head, seen.DirtyFiles, seen.SnapshotHash
//
// # Discovering
//
// [Git.Discover] asks Git once. Later calls for the same path and environment
// are answered from memory as long as a survey of everything that the answer
// depends on (folders, gitfile, HEAD, configuration) finds the same facts as
// before. Where the survey is not sure that it saw everything, Git is asked
// again.
//
// # Observing
//
// [Git.Observe] puts two questions to Git side by side, looks at every dirty
// path without following a link, and returns digests (git-observation.md). It
// succeeds or fails as a whole.
//
// # Watching
//
// A Git of [NewWatching] does that once for a worktree, then watches it, and from
// then on asks Git about the paths that changed. What it answers is what a scan
// would answer, and as of the moment of the question: docs/architecture.md says
// why. Where it can not be sure of that, it scans. [Git.Worktrees] tells which
// worktrees are watched, and why others are not; [Git.Watch] tells when to look
// again. A watch that nobody used for ten minutes ends.
//
// No event tells of a file that is changed through a memory mapping until that is
// closed. A file that was written or cut by a call before, while it was watched, is
// known to be open, and is looked at every time. One that a program opened and
// mapped without such a call, or before the watch began, or that was renamed or
// written by another program since, is not. Nor does an event tell of a file that is
// changed through a hard link outside the watched folders that was made while it was
// watched. [Git.ObserveFresh] sees all of these.
//
// # How Git is run
//
// As the program on the caller's PATH, without a shell, without input, with the
// caller's environment minus everything that would point it elsewhere ([Scrub]),
// bounded in time and output. Nothing that it started is left behind.
package gitwatch
