package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"slipway/journal"
	"slipway/schema"
)

// exitNoError is the exit status where not even the error could be written
// (errors.md, section 2).
const exitNoError = 1

// printAnswer prints the answer of a command that changes nothing.
func (s *session) printAnswer(text []byte) error {
	if err := writeAnswer(text); err != nil {
		return s.runtimeError("%v", err)
	}
	return nil
}

// writeAnswer writes to stdout. Where nothing was changed, a closed pipe ends
// the process by its signal; every other failure is an error.
func writeAnswer(text []byte) error {
	if _, err := os.Stdout.Write(text); err != nil {
		return fmt.Errorf("the answer could not be written to stdout: %w", reason(err))
	}
	return nil
}

// show asks for something and prints it, as it came or as a text made of it.
func show[T any](s *session, method string, params any, asJSON bool, text func(*T) string) error {
	answer, err := s.call(method, params)
	if err != nil {
		return err
	}
	if asJSON {
		return s.printAnswer(jsonLine(answer))
	}
	value, err := decode[T](answer)
	if err != nil {
		return err
	}
	return s.printAnswer([]byte(text(value)))
}

// printState prints the answer of an operation that changed a Run: the bytes
// as they came, or a text made of them. The change is recorded, so from here
// on a closed pipe is a failure like a full disk, and the error says that the
// change stands (cli.md, 5.2).
func (s *session) printState(answer json.RawMessage, asJSON bool, text func(*schema.ProtocolState) string) error {
	ignoreBrokenPipe()
	if asJSON {
		return s.outputLost(answer, writeAnswer(jsonLine(answer)))
	}
	state, err := decode[schema.ProtocolState](answer)
	if err == nil {
		err = writeAnswer([]byte(text(state)))
	}
	return s.outputLost(answer, err)
}

// outputLost is the error for an answer that did not get out, for whatever cause.
func (s *session) outputLost(answer json.RawMessage, cause error) error {
	if cause == nil {
		return nil
	}
	var about struct {
		RunID string `json:"run_id"`
	}
	_ = json.Unmarshal(answer, &about) // an answer that names no Run leads to no next
	next := schema.NextInspectRun(s.place(), about.RunID)
	details := schema.MutationDetails{Phase: journal.PhaseResponseOutput, Committed: true}
	return schema.Runtime(schema.CodeMutationCommittedOutputFailed, next, details,
		"the change is recorded, but %v: look at the Run before you go on", cause)
}

// decode reads an answer that is to be shown to people.
func decode[T any](answer json.RawMessage) (*T, error) {
	value := new(T)
	if err := json.Unmarshal(answer, value); err != nil {
		return nil, fmt.Errorf("the answer is not what this version of slipway knows: %w", err)
	}
	return value, nil
}

func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }

// jsonLine is a JSON answer as it is printed: the bytes as they came, one LF, which
// takes the room behind them.
func jsonLine(value json.RawMessage) []byte { return append(value, '\n') }

// fail prints an error to stderr and gives the exit status.
func (s *session) fail(err error) int {
	failure := s.failure(err)
	if recorded(failure) {
		ignoreBrokenPipe()
	}
	text, err := s.failureText(failure)
	if err != nil {
		return exitNoError
	}
	if _, err := os.Stderr.Write(text); err != nil {
		return exitNoError
	}
	return failure.ExitCode
}

// failureText is an error as its reader wants it: a person at a terminal reads a
// sentence, everyone else one line of JSON.
func (s *session) failureText(failure *schema.Error) ([]byte, error) {
	if s.people && term.IsTerminal(int(os.Stderr.Fd())) {
		return []byte(paperOf(os.Stderr).failure(failure)), nil
	}
	text, err := schema.Marshal(failure)
	return jsonLine(text), err
}

// failure gives an error the form of the contract.
func (s *session) failure(err error) *schema.Error {
	var (
		failure   *schema.Error
		argument  fault
		usage     usageFault
		operation operationRequired
	)
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &argument):
		return schema.Usage(argument.code, argument.next(s.place()), "%s", argument.reason)
	case errors.As(err, &usage):
		return schema.Usage(schema.CodeInvalidUsage, schema.NextNone(s.place()), "%s", usage.reason)
	case errors.As(err, &operation):
		return schema.Usage(schema.CodeProtocolOperationRequired, schema.NextNone(s.place()), "%s", operation.Error())
	default:
		return s.runtimeError("%v", err)
	}
}

func (s *session) runtimeError(format string, args ...any) *schema.Error {
	return schema.Runtime(schema.CodeRuntimeError, schema.NextNone(s.place()), nil, format, args...)
}

// recorded tells whether an error is about a change that stands nevertheless.
func recorded(failure *schema.Error) bool {
	switch failure.Code {
	case schema.CodeMutationCommittedProjectionStale, schema.CodeMutationCommittedVerificationFailed,
		schema.CodeMutationCommittedOutputFailed, schema.CodeBudgetExhausted:
		return true
	}
	return false
}
