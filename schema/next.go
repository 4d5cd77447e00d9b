package schema

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Next is the complete list of commands that can move things on from here
// (next.md). It is made by the constructors of this package only: they hold the
// grammar of every command, and where a value would make a command that no
// program should run they give the Next of [NextNone] instead.
type Next struct {
	Operation         Operation `json:"operation"`
	WorkspaceIdentity Digest    `json:"workspace_identity"`
	Variants          []Variant `json:"variants"`
}

// Operation says what kind of step the variants of a Next are.
type Operation string

// The operations of a Next (next.md, section 1).
const (
	OperationAction  Operation = "action"
	OperationAnswer  Operation = "answer"
	OperationResume  Operation = "resume"
	OperationStart   Operation = "start"
	OperationCommand Operation = "command"
	OperationNone    Operation = "none"
)

// Variant is one command, complete but for its inputs.
type Variant struct {
	ID       string   `json:"id"`
	BaseArgv []string `json:"base_argv"`
	Inputs   []Input  `json:"inputs"`
}

// Input is a value that the caller must or may add to a Variant.
type Input struct {
	Name     string    `json:"name"`
	Type     InputType `json:"type"`
	Flag     string    `json:"flag"`
	Required bool      `json:"required"`
	Choices  []string  `json:"choices,omitempty"`
}

// InputType is the type of an Input.
type InputType string

// The types of an Input.
const (
	InputString InputType = "string"
	InputPath   InputType = "path"
	InputEnum   InputType = "enum"
	InputDigest InputType = "digest"
)

// MarshalJSON writes the variants as an array, also where there are none. It does
// theirs as well: every answer has a next, and encoding/json reads anew what each
// marshaler wrote.
func (n Next) MarshalJSON() ([]byte, error) {
	type plain Next
	shown := struct {
		plain
		Variants []plainVariant `json:"variants"`
	}{plain(n), make([]plainVariant, len(n.Variants))}
	for i, v := range n.Variants {
		shown.Variants[i] = v.plain()
	}
	return Marshal(shown)
}

// MarshalJSON writes the inputs as an array, also where there are none.
func (v Variant) MarshalJSON() ([]byte, error) { return Marshal(v.plain()) }

type plainVariant Variant

func (v Variant) plain() plainVariant {
	v.BaseArgv, v.Inputs = present(v.BaseArgv), present(v.Inputs)
	return plainVariant(v)
}

// present turns an absent array into an empty one, so that JSON shows [] where
// the contract wants an array always.
func present[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// Validate checks everything that a host may rely on (next.md, section 1): the
// operation, its variants and their order, and that every command is one of
// section 4, with safe values in it.
func (n Next) Validate() error {
	if !n.WorkspaceIdentity.Valid() {
		return errors.New("next: workspace_identity is no digest")
	}
	ids := make([]string, 0, len(n.Variants))
	roots := map[string]bool{}
	for _, v := range n.Variants {
		root, err := v.check(n.Operation)
		if err != nil {
			return fmt.Errorf("next: variant %q: %w", v.ID, err)
		}
		roots[root] = true
		ids = append(ids, v.ID)
	}
	if !slices.Contains(variantLists[n.Operation], strings.Join(ids, " ")) {
		return fmt.Errorf("next: operation %q has no such list of variants: %q", n.Operation, ids)
	}
	if len(roots) > 1 {
		return errors.New("next: the variants name different roots")
	}
	return nil
}

// check holds a variant against the forms of its id and returns its root.
func (v Variant) check(operation Operation) (root string, err error) {
	for _, element := range v.BaseArgv {
		if !safeElement(element) {
			return "", fmt.Errorf("unsafe element %q", element)
		}
	}
	for _, form := range variantForms {
		if values, ok := form.match(v); ok && slices.Contains(form.operations, operation) {
			return values["ROOT"], values.fault(operation)
		}
	}
	return "", errors.New("not a command of next.md, section 4")
}

// safeElement is guarantees 2 and 4.
func safeElement(s string) bool {
	if s == "" || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return false
	}
	bare := strings.Trim(TrimWhiteSpace(s), "\"'`")
	return bare != "FILE" && !(strings.HasPrefix(bare, "<") && strings.HasSuffix(bare, ">"))
}

var decimalBudget = Pattern(`^([1-9][0-9]{0,2}|1000)$`)

// fault says which value may not stand in a command of the operation.
func (values variantValues) fault(operation Operation) error {
	for name, value := range values {
		ok := true
		switch name {
		case "ROOT":
			ok = filepath.IsAbs(value)
		case "N":
			ok = decimalBudget(value)
		case "DIGEST":
			ok = Digest(value).Valid()
		case "RUN", "ACTION", "CANDIDATE":
			// A command takes an id that looks like a flag, but "--" and a second
			// --root would change what its --root means (guarantee 3).
			ok = value != "--" && value != "--root" && (operation == OperationCommand || !strings.HasPrefix(value, "--"))
		}
		if !ok {
			return fmt.Errorf("unfit value %q", value)
		}
	}
	return nil
}

// Resolve makes the command of a variant: BaseArgv and, for every input with a
// value, its flag and the value (next.md, section 2). Values are given by input
// name. Whether a path can be opened is not looked at.
func (v Variant) Resolve(values map[string]string) ([]string, error) {
	var added []string
	for _, input := range v.Inputs {
		value, given := values[input.Name]
		if !given {
			if input.Required {
				return nil, fmt.Errorf("%s: the input %q is missing", v.ID, input.Name)
			}
			continue
		}
		if err := input.accepts(value); err != nil {
			return nil, fmt.Errorf("%s: the input %q %w", v.ID, input.Name, err)
		}
		added = append(added, input.Flag, value)
	}
	for name := range values {
		if !slices.ContainsFunc(v.Inputs, func(input Input) bool { return input.Name == name }) {
			return nil, fmt.Errorf("%s: there is no input %q", v.ID, name)
		}
	}
	end := slices.Index(v.BaseArgv, "--")
	if end < 0 {
		end = len(v.BaseArgv)
	}
	return slices.Concat(v.BaseArgv[:end], added, v.BaseArgv[end:]), nil
}

func (input Input) accepts(value string) error {
	switch {
	case value == "" || !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return errors.New("is empty, not UTF-8, or holds a NUL")
	case input.Type == InputEnum && !slices.Contains(input.Choices, value):
		return fmt.Errorf("is none of %s", strings.Join(input.Choices, ", "))
	case input.Type == InputDigest && !Digest(value).Valid():
		return errors.New("is no digest")
	case input.Flag == "--budget" && !decimalBudget(value):
		return fmt.Errorf("is no decimal number from %d to %d", MinBudget, MaxBudget)
	}
	return nil
}
