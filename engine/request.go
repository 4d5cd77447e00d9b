package engine

// Caller is who asks and from where: the root that a command is about, and the
// part of the caller's environment that Git's answers depend on
// (git-observation.md, 2.1).
type Caller struct {
	Root        string   // absolute path, as given; a folder or file in a worktree
	Environment []string // "NAME=value" entries
}

// StartRequest starts a Run (run.md, 6.2).
type StartRequest struct {
	Goal   string
	Budget int
	Review bool
	Source []byte // the envelope's exact bytes; nil without a source
}

// SubmitRequest reports an Outcome (run.md, 6.3).
type SubmitRequest struct {
	Run, Action string
	Outcome     []byte // exact bytes
	Stdin       bool   // the Outcome came through stdin: errors offer that variant
}

// AnswerRequest answers a question (run.md, 6.4).
type AnswerRequest struct {
	Run, Action        string
	Text               string
	ConfirmDestructive bool
	ScopeSHA256        string
}

// SkipRequest skips the current Action (run.md, 6.5).
type SkipRequest struct {
	Run, Action string
}

// StopRequest stops a Run; without an id the only live one of the worktree
// (run.md, 6.6).
type StopRequest struct {
	Run string
	Any bool // no id was given
}

// ResumeRequest puts a Run back to work (run.md, 6.7; source.md, section 11).
type ResumeRequest struct {
	Run             string
	Budget          *int
	HasSource       bool   // a source is given; its bytes may not have been read yet
	Source          []byte // the envelope's exact bytes
	UsePinnedSource bool
	SourceChoice    *string
	Candidate       *string
}
