// Package engine is what a Run does.
//
// One half is pure: a [Run] is an immutable value, a command and the facts that
// it needs come in as values, and a [Decision] comes out: the [Event] to record,
// or the refusal. Applying an event to a Run gives the next Run. The rules are
// those of run.md, chapter by chapter.
//
// The other half is the [Keeper], which gives each Run its one writer: it takes
// the Run's lock, replays or trusts what it has in memory, asks for a decision,
// appends the event, and only then lets the in-memory Run advance.
package engine
