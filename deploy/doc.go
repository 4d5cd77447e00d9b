// Package deploy puts Slipway's text capabilities where AI coding hosts look for
// commands that a user invokes, takes them away again, and says what it finds
// (adapters.md). It changes files of a worktree and knows nothing of Runs.
//
// # Changing
//
// [Install] writes the files of the chosen hosts under an ownership manifest,
// one per host, and refreshes them; [Uninstall] deletes what the manifests
// claim. Only a manifest gives authority over a file that exists, and only where
// the file still has the very bytes that this build generates. Everything else
// is left alone and reported as preserved.
//
//	report, fault := deploy.Install(ctx, workspace, deploy.Options{Tools: []string{"claude,kiro"}, ToolGiven: true, Surface: "ide"})
//	if fault != nil {
//		return fault // carries code, next and, with exit status 3, the report so far
//	}
//
// # Looking
//
// [List] and [Doctor] only read. What doctor says about GitHub's own tool belongs
// to the environment of the caller: [ProbeGitHub] finds the facts there, and they
// hold no credential and no answer of the tool, so a client may send them to a
// daemon that calls Doctor.
//
// # What a crash leaves
//
// All new files are staged before the first change. Host by host, the changes
// then are renames that never replace anything; where the platform can, an old
// file and its successor change places in one step. A host's files come before
// its manifest, so that at every moment
//
//   - a host without a manifest is not installed, and doctor names each generated
//     file that stands there;
//   - a host with a manifest has every file that the manifest claims, or doctor
//     counts those that are missing and install with refresh writes them;
//   - during a refresh of a sound installation no file is ever absent;
//   - what was staged or moved aside is in a folder whose name begins with
//     .slipway-recovery- (or .slipway-delete-), and doctor lists it.
//
// Where the platform has no exchange (Windows), a crash between the two renames
// of one replacement leaves that file in its recovery folder.
//
// Two commands at once on one worktree take turns: the opened root folder is
// locked from before the plan until after the last change. Where the file system
// has no locks, the conditions that every change checks right before it acts make
// one of them fail; it undoes what it did and names what it could not undo.
package deploy
