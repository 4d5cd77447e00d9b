package main

import (
	"errors"
	"fmt"

	"slipway/engine"
	"slipway/schema"
)

// fault is a wrong argument or a wrong input: exit 2. Which place its next is
// about is found out only when the error is printed.
type fault struct {
	code   schema.Code
	next   func(schema.Place) schema.Next
	reason string
}

func (f fault) Error() string { return f.reason }

// argumentError is the engine's verdict on arguments as an error; nil for nil.
func argumentError(f *engine.ArgumentFault) error {
	if f == nil {
		return nil
	}
	return fault{f.Code, f.Next, f.Message}
}

// inspectRun makes the next of most faults of the protocol operations.
func inspectRun(run string) func(schema.Place) schema.Next {
	return func(p schema.Place) schema.Next { return schema.NextInspectRun(p, run) }
}

// inputFault is the fault of an input channel that is refused.
func inputFault(code schema.Code, next func(schema.Place) schema.Next, what string, err error, limit int) fault {
	return fault{code, next, inputReason(what, err, limit)}
}

// inputReason words why an input channel is refused.
func inputReason(what string, err error, limit int) string {
	if errors.Is(err, errTooLong) {
		return fmt.Sprintf("%s has more than %d bytes", what, limit)
	}
	return fmt.Sprintf("%s cannot be read: %v", what, err)
}
