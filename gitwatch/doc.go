// Package gitwatch looks at Git worktrees: which worktree a path belongs to,
// and what stands in it right now. It changes nothing and knows no Runs.
//
// # Use
//
// One [Git] serves a whole process. Every call carries the environment of the
// person who asks, because Git's answers depend on it (HOME, PATH and so on);
// the environment of this process has no say.
//
//	git := gitwatch.New()
//	ws, err := git.Discover(ctx, env, "/srv/demo/docs")
//	// ws.WorktreeRoot == "/srv/demo"
//	seen, err := git.Observe(ctx, env, ws)
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
// # How Git is run
//
// As the program on the caller's PATH, without a shell, without input, with the
// caller's environment minus everything that would point it elsewhere ([Scrub]),
// bounded in time and output. Nothing that it started is left behind.
package gitwatch
