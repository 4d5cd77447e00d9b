package main

import (
	"errors"
	"fmt"
	"os"

	"slipway/schema"
)

// runCommand is `slipway run` (cli.md, section 6).
type runCommand struct {
	place
	format
	Budget     *int    `placeholder:"N" help:"How many Actions the Run may take, 1 to 1000 (default: 8)."`
	NoReview   bool    `help:"Never issue a Review, whatever has changed."`
	GoalFile   *string `placeholder:"FILE" help:"Read the goal from this file."`
	GoalStdin  bool    `help:"Read the goal from standard input."`
	SourceFile *string `placeholder:"FILE" help:"Take the requirements from this source envelope, a JSON file made of an Issue."`
	Goal       *string `arg:"" optional:"" help:"The goal, in quotes where it has several words, and behind -- where it begins with a dash."`
}

// startParams are the parameters of run/start.
type startParams struct {
	Root   string  `json:"root"`
	Goal   string  `json:"goal"`
	Budget int     `json:"budget"`
	Review bool    `json:"review"`
	Source *[]byte `json:"source_base64,omitempty"`
}

func (c *runCommand) run(s *session) error {
	s.at(c.place)
	goal, err := c.goal()
	if err != nil {
		return err
	}
	params := startParams{Root: s.root, Goal: string(goal), Budget: schema.DefaultBudget, Review: !c.NoReview}
	if c.Budget != nil {
		params.Budget = *c.Budget
	}
	if !schema.ValidBudget(params.Budget) {
		return fault{schema.CodeInvalidBudget, schema.NextNone, budgetRange}
	}
	if c.SourceFile != nil && *c.SourceFile == "" {
		return fault{schema.CodeSourceFileRequired, schema.NextNone, sourceFileNeeded}
	}
	if params.Source, err = readSource(c.SourceFile); err != nil {
		retry := func(p schema.Place) schema.Next { return schema.NextStart(p, params.Budget, params.Review, true) }
		return s.afterRoot(inputFault(schema.CodeInvalidSource, retry, "the source file", err, maxSourceInput))
	}
	answer, err := s.call("run/start", params)
	if err != nil {
		return err
	}
	return s.printState(answer, c.JSON, paperOf(os.Stdout).started)
}

var budgetRange = fmt.Sprintf("the budget is a number of Actions from %d to %d", schema.MinBudget, schema.MaxBudget)

// goal reads the goal through the one mode that the line chose and checks it.
func (c *runCommand) goal() ([]byte, error) {
	refuse := func(code schema.Code, reason string) ([]byte, error) {
		return nil, fault{code, schema.NextNone, reason}
	}
	switch modes := count(c.Goal != nil, c.GoalFile != nil, c.GoalStdin); {
	case modes == 0:
		return refuse(schema.CodeGoalRequired, "give a goal: as an argument, with --goal-file or with --goal-stdin")
	case modes > 1:
		return refuse(schema.CodeGoalModeConflict, "give the goal in one way only: as an argument, with --goal-file or with --goal-stdin")
	case c.GoalFile != nil && schema.IsBlank(*c.GoalFile):
		return refuse(schema.CodeGoalFileRequired, "--goal-file needs the path of a file")
	}
	goal, err := readText(c.Goal, c.GoalFile)
	switch {
	case errors.Is(err, errTooLong):
		return refuse(schema.CodeActionTooLarge, fmt.Sprintf("the goal has more than %d bytes: shorten it", maxTextInput))
	case err != nil && c.GoalFile != nil:
		return refuse(schema.CodeGoalUnavailable, fmt.Sprintf("the goal file cannot be read: %v", err))
	case err != nil:
		return refuse(schema.CodeInvalidGoal, fmt.Sprintf("the goal cannot be read from stdin: %v", err))
	}
	if code, reason := schema.GoalFault(goal); code != "" {
		return refuse(code, reason)
	}
	return goal, nil
}

// readText reads a goal or an answer: the argument, the file, or stdin.
func readText(argument, file *string) ([]byte, error) {
	switch {
	case argument != nil:
		return []byte(*argument), nil
	case file != nil:
		return readInputFile(*file, maxTextInput)
	default:
		return readBounded(os.Stdin, maxTextInput)
	}
}

// count says how many of the conditions hold.
func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

const sourceFileNeeded = "--source-file needs the path of a file"

// readSource reads a source file; without one it is nil.
func readSource(file *string) (*[]byte, error) {
	if file == nil {
		return nil, nil
	}
	content, err := readInputFile(*file, maxSourceInput)
	return &content, err
}
