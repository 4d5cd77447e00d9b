package main

import (
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"slipway/engine"
	"slipway/schema"
)

// step is what the operations take that act on an Action of a Run.
type step struct {
	Run    string `placeholder:"RUN" help:"The id of the Run (required)."`
	Action string `placeholder:"ACTION" help:"The id of the Action (required)."`
}

// stepParams are the parameters that such operations have in common.
type stepParams struct {
	Root   string `json:"root"`
	Run    string `json:"run"`
	Action string `json:"action"`
}

func (s *session) stepParams(c step) stepParams {
	return stepParams{Root: s.root, Run: c.Run, Action: wireText(c.Action)}
}

// notUTF8 stands for an id that is not UTF-8 and so cannot be put into JSON. No
// id of Slipway has this form and no next ever shows it, which are the two
// things that hold for the original as well.
const notUTF8 = "<not UTF-8>"

// wireText is an id as it crosses the socket.
func wireText(id string) string {
	if utf8.ValidString(id) {
		return id
	}
	return notUTF8
}

// submitCommand is `slipway protocol submit`.
type submitCommand struct {
	place
	step
	OutcomeFile  *string `placeholder:"FILE" help:"Read the Outcome from this JSON file (this or --outcome-stdin is required)."`
	OutcomeStdin bool    `help:"Read the Outcome from standard input instead."`
}

// submitParams are the parameters of run/submit.
type submitParams struct {
	stepParams
	Outcome []byte `json:"outcome_base64"`
	Mode    string `json:"outcome_mode"`
}

func (c *submitCommand) run(s *session) error {
	s.at(c.place)
	if err := c.check(); err != nil {
		return err
	}
	params := submitParams{stepParams: s.stepParams(c.step), Mode: "file"}
	if c.OutcomeStdin {
		params.Mode = "stdin"
	}
	outcome, err := c.outcome(s)
	if err != nil {
		return err
	}
	params.Outcome = outcome
	answer, err := s.call("run/submit", params)
	if err != nil {
		return err
	}
	return s.printState(answer, true, nil)
}

// check looks at the arguments alone.
func (c *submitCommand) check() error {
	if err := argumentError(engine.SubmitRequest{Run: c.Run, Action: c.Action}.ArgumentFault()); err != nil {
		return err
	}
	switch {
	case (c.OutcomeFile != nil) == c.OutcomeStdin:
		return fault{schema.CodeOutcomeModeRequired, inspectRun(c.Run), "give the Outcome in one way: with --outcome-file or with --outcome-stdin"}
	case c.OutcomeFile != nil && schema.IsBlank(*c.OutcomeFile):
		return fault{schema.CodeOutcomeFileRequired, inspectRun(c.Run), "--outcome-file needs the path of a file"}
	}
	return nil
}

// outcome reads the Outcome. A root that leads nowhere is the graver fault: it
// is looked for before stdin is read, and wins over a file that cannot be.
func (c *submitCommand) outcome(s *session) ([]byte, error) {
	retry := func(p schema.Place) schema.Next { return schema.NextSubmitRetry(p, c.Run, c.Action, c.OutcomeStdin) }
	if c.OutcomeStdin {
		if !s.seemsInRepository() {
			if err := s.checkRoot(); err != nil {
				return nil, err
			}
		}
		outcome, err := readBounded(os.Stdin, maxOutcomeInput)
		if err != nil {
			return nil, s.afterRoot(inputFault(schema.CodeInvalidOutcome, retry, "the Outcome on stdin", err, maxOutcomeInput))
		}
		return outcome, nil
	}
	outcome, err := readInputFile(*c.OutcomeFile, maxOutcomeInput)
	if err != nil {
		code := schema.CodeOutcomeUnavailable
		if errors.Is(err, errTooLong) {
			code = schema.CodeInvalidOutcome
		}
		return nil, s.afterRoot(inputFault(code, retry, "the Outcome file", err, maxOutcomeInput))
	}
	return outcome, nil
}

// answerCommand is `slipway protocol answer`.
type answerCommand struct {
	place
	step
	Text               *string `placeholder:"TEXT" help:"The answer itself."`
	TextFile           *string `placeholder:"FILE" help:"Read the answer from this file."`
	TextStdin          bool    `help:"Read the answer from standard input."`
	ConfirmDestructive bool    `help:"Confirm the destructive request whose scope --scope-sha256 names."`
	ScopeSHA256        string  `name:"scope-sha256" placeholder:"DIGEST" help:"The digest of the scope that is confirmed, as the Run's next has it."`
}

// answerParams are the parameters of run/answer.
type answerParams struct {
	stepParams
	Text               string `json:"text,omitempty"`
	ConfirmDestructive bool   `json:"confirm_destructive,omitempty"`
	ScopeSHA256        string `json:"scope_sha256,omitempty"`
}

func (c *answerCommand) run(s *session) error {
	s.at(c.place)
	// The ids alone: they come before the text, and so before reading it.
	if err := argumentError(engine.AnswerRequest{Run: c.Run, Action: c.Action}.ArgumentFault()); err != nil {
		return err
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	request := engine.AnswerRequest{Run: c.Run, Action: c.Action, Text: string(text), ConfirmDestructive: c.ConfirmDestructive, ScopeSHA256: c.ScopeSHA256}
	if err := argumentError(request.ArgumentFault()); err != nil {
		return err
	}
	answer, err := s.call("run/answer", answerParams{s.stepParams(c.step), request.Text, c.ConfirmDestructive, wireText(c.ScopeSHA256)})
	if err != nil {
		return err
	}
	return s.printState(answer, true, nil)
}

// text reads the answer through the mode that the line chose; none is an empty
// text.
func (c *answerCommand) text() ([]byte, error) {
	refuse := func(code schema.Code, reason string) ([]byte, error) {
		return nil, fault{code, inspectRun(c.Run), reason}
	}
	switch modes := count(c.Text != nil, c.TextFile != nil, c.TextStdin); {
	case modes == 0:
		return nil, nil
	case modes > 1:
		return refuse(schema.CodeAnswerModeConflict, "give the answer in one way only: with --text, --text-file or --text-stdin")
	case c.TextFile != nil && schema.IsBlank(*c.TextFile):
		return refuse(schema.CodeAnswerFileRequired, "--text-file needs the path of a file")
	}
	text, err := readText(c.Text, c.TextFile)
	switch {
	case errors.Is(err, errTooLong):
		return refuse(schema.CodeAnswerTooLarge, fmt.Sprintf("the answer has more than %d bytes: shorten it", maxTextInput))
	case err != nil && c.TextFile != nil:
		return refuse(schema.CodeAnswerUnavailable, fmt.Sprintf("the answer file cannot be read: %v", err))
	case err != nil:
		return refuse(schema.CodeInvalidAnswer, fmt.Sprintf("the answer cannot be read from stdin: %v", err))
	}
	return text, nil
}

// skipCommand is `slipway protocol skip`.
type skipCommand struct {
	place
	step
}

func (c *skipCommand) run(s *session) error {
	s.at(c.place)
	if err := argumentError(engine.SkipRequest{Run: c.Run, Action: c.Action}.ArgumentFault()); err != nil {
		return err
	}
	answer, err := s.call("run/skip", s.stepParams(c.step))
	if err != nil {
		return err
	}
	return s.printState(answer, true, nil)
}
