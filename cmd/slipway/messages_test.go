package main

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"slipway/schema"
)

// messageShapes are the schemas of every shape of wire.md by its name.
var messageShapes = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.MessagesSchema()))
	if err != nil {
		return nil, err
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, shape := range []string{"protocol_state", "run_status", "status_list", "action_material", "pinned_material", "cli_error", "list_report", "doctor_report", "change_report"} {
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("messages.json", document); err != nil {
			return nil, err
		}
		if compiled[shape], err = compiler.Compile("messages.json#/$defs/" + shape); err != nil {
			return nil, err
		}
	}
	return compiled, nil
})

// compileMessages gives the schema of a shape; nil where there is none.
func compileMessages(t *testing.T) func(shape string) *jsonschema.Schema {
	shapes, err := messageShapes()
	if err != nil {
		t.Fatal(err)
	}
	return func(shape string) *jsonschema.Schema { return shapes[shape] }
}

// checkMessage holds what a command wrote to a stream against the schema of what
// it is. Text, and what is no message of the contract, passes.
func checkMessage(stream string, output []byte) error {
	var value map[string]any
	if !bytes.HasPrefix(output, []byte("{")) || decodeNumbers(output, &value) != nil {
		return nil
	}
	shape := "cli_error"
	if stream == "stdout" {
		shape = shapeOfMessage(value)
	}
	shapes, err := messageShapes()
	if err != nil || shape == "" {
		return err
	}
	if err := shapes[shape].Validate(value); err != nil {
		return fmt.Errorf("%s is no %s: %w", stream, shape, err)
	}
	return nil
}

// shapeOfMessage tells the answers of the contract apart by what only they have.
func shapeOfMessage(value map[string]any) string {
	if name, ok := value["message_type"].(string); ok {
		return name
	}
	for _, mark := range []struct{ key, shape string }{
		{"runs", "status_list"}, {"workspace_identity", "run_status"}, {"run_id", "protocol_state"}, {"checks", "doctor_report"},
		{"transaction_outcome", "change_report"}, {"hosts", "list_report"},
	} {
		if _, ok := value[mark.key]; ok {
			return mark.shape
		}
	}
	return ""
}
