package main

import (
	"context"

	"slipway/engine"
	"slipway/schema"
)

// resumeCommand is `slipway protocol resume`.
type resumeCommand struct {
	place
	Budget          *int    `placeholder:"N" help:"How many Actions the Run may still take, 1 to 1000 (default: what is left, or a fresh budget where nothing is)."`
	SourceFile      *string `placeholder:"FILE" help:"Bring the requirements up to this source envelope, a JSON file made of the Issue."`
	UsePinnedSource bool    `help:"Go on with the requirements as they are."`
	SourceChoice    *string `placeholder:"pinned|adopt" help:"While new requirements wait as a candidate: stay with the old ones (pinned) or take the new ones (adopt)."`
	Candidate       *string `placeholder:"CANDIDATE" help:"The id of the candidate that the choice is about."`
	Run             string  `arg:"" help:"The id of the Run."`
}

// resumeParams are the parameters of run/resume.
type resumeParams struct {
	Root            string  `json:"root"`
	Run             string  `json:"run"`
	Budget          *int    `json:"budget,omitempty"`
	Source          *[]byte `json:"source_base64,omitempty"`
	UsePinnedSource bool    `json:"use_pinned_source,omitempty"`
	SourceChoice    *string `json:"source_choice,omitempty"`
	Candidate       *string `json:"candidate,omitempty"`
}

func (c *resumeCommand) run(s *session) error {
	s.at(c.place)
	if err := c.check(); err != nil {
		return err
	}
	source, err := readSource(c.SourceFile)
	if err != nil {
		return c.unreadSource(s, err)
	}
	params := resumeParams{
		Root: s.root, Run: c.Run, Budget: c.Budget, Source: source,
		UsePinnedSource: c.UsePinnedSource, SourceChoice: c.SourceChoice,
	}
	if c.Candidate != nil {
		candidate := wireText(*c.Candidate)
		params.Candidate = &candidate
	}
	answer, err := s.call("run/resume", params)
	if err != nil {
		return err
	}
	return s.printState(answer, true, nil)
}

// request is the command for the engine, but for the source itself.
func (c *resumeCommand) request() engine.ResumeRequest {
	return engine.ResumeRequest{
		Run: c.Run, Budget: c.Budget, HasSource: c.SourceFile != nil,
		UsePinnedSource: c.UsePinnedSource, SourceChoice: c.SourceChoice, Candidate: c.Candidate,
	}
}

// check looks at the arguments alone.
func (c *resumeCommand) check() error {
	request := c.request()
	if err := argumentError(request.BudgetFault()); err != nil {
		return err
	}
	if c.SourceFile != nil && *c.SourceFile == "" {
		return fault{schema.CodeSourceFileRequired, inspectRun(c.Run), sourceFileNeeded}
	}
	return argumentError(request.SourceOptionFault())
}

// unreadSource is the error for a source file that cannot be read. What can be
// done instead is up to the Run, which the engine in this process looks at.
func (c *resumeCommand) unreadSource(s *session, cause error) error {
	if err := s.checkRoot(); err != nil {
		return err
	}
	return s.keeper().UnusableEnvelope(context.Background(), s.caller(), c.request(), inputReason("the source file", cause, maxSourceInput))
}
