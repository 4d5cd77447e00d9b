package main

import (
	"os"

	"slipway/schema"
)

// statusCommand is `slipway status` (cli.md, section 7).
type statusCommand struct {
	place
	format
	Section *string `placeholder:"KEY" help:"Show the text of this section of the requirements of the Run, which has to be named."`
	Run     *string `arg:"" optional:"" help:"The id of a Run; without one, all Runs are listed."`
}

// runParams name one Run of a worktree.
type runParams struct {
	Root string `json:"root"`
	Run  string `json:"run"`
}

// rootParams name a worktree.
type rootParams struct {
	Root string `json:"root"`
}

func (c *statusCommand) run(s *session) error {
	s.at(c.place)
	if c.Run != nil {
		if err := checkRunArgument(*c.Run); err != nil {
			return err
		}
	}
	switch {
	case c.Section != nil:
		return c.showSection(s)
	case c.Run != nil:
		return show(s, "run/status", runParams{s.root, *c.Run}, c.JSON, paperOf(os.Stdout).status)
	default:
		return show(s, "run/list", rootParams{s.root}, c.JSON, paperOf(os.Stdout).list)
	}
}

// checkRunArgument holds the argument of status and stop against the form of a
// Run id; here an empty one is malformed, not missing.
func checkRunArgument(run string) error {
	if schema.ValidRunID(run) {
		return nil
	}
	return fault{schema.CodeInvalidRunID, schema.NextInspectRuns, "a Run id has 1 to 128 characters of A-Z a-z 0-9 - _"}
}
