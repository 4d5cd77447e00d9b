package main

import "os"

// stopCommand is `slipway stop` (cli.md, section 8).
type stopCommand struct {
	place
	format
	Run *string `arg:"" optional:"" help:"The id of a Run; without one, the only active or paused Run of the worktree."`
}

func (c *stopCommand) run(s *session) error {
	s.at(c.place)
	var params any = rootParams{s.root}
	if c.Run != nil {
		if err := checkRunArgument(*c.Run); err != nil {
			return err
		}
		params = runParams{s.root, *c.Run}
	}
	answer, err := s.call("run/stop", params)
	if err != nil {
		return err
	}
	return s.printState(answer, c.JSON, paperOf(os.Stdout).stopped)
}
