package main

import (
	"os"

	"slipway/engine"
	"slipway/schema"
)

// materialCommand is `slipway protocol material`.
type materialCommand struct {
	place
	step
	Section string `placeholder:"KEY" help:"The key of the section; the Action's requirements list them."`
}

// materialParams are the parameters of run/material.
type materialParams struct {
	stepParams
	Section string `json:"section"`
}

func (c *materialCommand) run(s *session) error {
	s.at(c.place)
	request := engine.MaterialRequest{Run: c.Run, Action: c.Action, Section: c.Section}
	if err := argumentError(request.ArgumentFault()); err != nil {
		return err
	}
	answer, err := s.call("run/material", materialParams{s.stepParams(c.step), wireText(c.Section)})
	if err != nil {
		return err
	}
	if err := writeAnswer(jsonLine(answer)); err != nil {
		return schema.Runtime(schema.CodeRuntimeError, schema.NextInspectRun(s.place(), c.Run), nil, "%v", err)
	}
	return nil
}

// sectionParams are the parameters of run/section.
type sectionParams struct {
	runParams
	Section string `json:"section"`
}

// showSection is `slipway status RUN --section KEY`.
func (c *statusCommand) showSection(s *session) error {
	request := engine.SectionRequest{Section: *c.Section}
	if c.Run != nil {
		request.Run = *c.Run
	}
	if err := argumentError(request.ArgumentFault()); err != nil {
		return err
	}
	return show(s, "run/section", sectionParams{runParams{s.root, request.Run}, wireText(request.Section)}, c.JSON, paperOf(os.Stdout).section)
}
