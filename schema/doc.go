// Package schema holds contract version 2: every JSON value that crosses the
// boundary between Slipway and a host, how a bad one is refused, and the pure
// rules that belong to a single message.
//
// # What comes in
//
// A host reports about one Action with an [Outcome]. [DecodeOutcome] turns its
// exact bytes into the value, strictly (wire.md, section 2), and
// [Outcome.Validate] holds it against the Action that it answers (section 3).
//
// # What goes out
//
// A successful operation answers a [ProtocolState]; reading answers a
// [RunStatus] or a [StatusList]. Whatever fails is an [Error], which is at once
// the JSON object of the contract and a Go error. States, statuses and errors
// carry a [Next]: the complete list of commands that can move things on.
//
// # What is compared
//
// [WorkspaceIdentity] and [Observation] are facts about a worktree. Their
// digests, their validity and the question whether two of them differ are
// decided here; looking at the worktree is not.
//
// The package knows no file, no Git and no socket. Everything in it is a pure
// function over values.
package schema
