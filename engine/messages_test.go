package engine_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"slipway/engine"
	"slipway/schema"
)

// messageShapes compiles the published schema once.
var messageShapes = sync.OnceValue(func() *jsonschema.Compiler {
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.MessagesSchema()))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(messagesURL, content); err != nil {
		panic(err)
	}
	return c
})

const messagesURL = "https://slipway.test/messages.json"

// shapes remembers the compiled definitions.
var shapes sync.Map // string to *jsonschema.Schema

// wantShape holds a message against its definition in the published schema.
func wantShape(t tester, shape string, message any) {
	t.Helper()
	known, ok := shapes.Load(shape)
	if !ok {
		known, _ = shapes.LoadOrStore(shape, messageShapes().MustCompile(messagesURL+"#/$defs/"+shape))
	}
	data := encode(t, message)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = known.(*jsonschema.Schema).Validate(value)
	}
	if err != nil {
		t.Fatalf("no %s: %v\n%s", shape, err, data)
	}
}

// wantPublishedShapes holds everything that a Run shows against the schema.
func wantPublishedShapes(t tester, r *engine.Run) {
	t.Helper()
	s, err := r.Status()
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	wantShape(t, "run_status", s)
	p, err := r.ProtocolState()
	if err != nil {
		t.Fatalf("protocol state: %v", err)
	}
	wantShape(t, "protocol_state", p)
}

func TestMessagesHaveTheirShapes(t *testing.T) {
	exhausted, confirmation := exhaustedConfirmation(t)
	skippedReview := atKind(t, schema.Review)
	skippedReview.must(engine.Skip{ActionID: skippedReview.action().ActionID})
	for name, h := range map[string]*history{
		"active": activeRun(t), "decision": decisionRun(t), "destructive": destructiveRun(t), "environment": environmentRun(t),
		"blind": blindRun(t), "exhausted": exhausted, "stopped": stoppedRun(t), "ended": endedRun(t), "granted": grantedRun(t),
		"eventful": eventful(t), "superseded": supersededRun(t), "skipped Review": skippedReview,
		"dirty": startWith(t, truncated).submitSeeing(seen(deleted)), "queue": startWith(t, clean).submitSeeing(unseen("x"), suggesting(schema.Clarify, "ask")),
		"many": startWith(t, clean).submit(numbered(0, 300)), "resumed": stoppedRun(t).must(resume),
	} {
		t.Run(name, func(t *testing.T) {
			wantPublishedShapes(t, h.run)
			wantPublishedShapes(t, h.replayed())
		})
	}
	_, refusal := exhausted.try(confirmation, nil)
	wantShape(t, "cli_error", refusal)
	_, refusal = activeRun(t).try(resume, nil)
	wantShape(t, "cli_error", refusal)
}

// The stub of a Run is made of its first event alone.
func TestStub(t *testing.T) {
	h := eventful(t)
	stub, err := engine.Stub(testRunID, h.decoded()[0])
	if err != nil {
		t.Fatal(err)
	}
	wantShape(t, "run_stub", stub)
	if stub.State != schema.Active || !stub.WorkspaceForeign || stub.Goal != h.status().Goal || !stub.CreatedAt.Equal(h.status().CreatedAt) {
		t.Errorf("%+v", stub)
	}
	argv := strings.Join(stub.Next.Variants[0].BaseArgv, " ")
	if want := "slipway status " + testRunID + " --root " + testWorkspace.WorktreeRoot; argv != want {
		t.Errorf("got %q, want %q", argv, want)
	}
	for _, e := range []engine.Event{h.decoded()[1], {}} {
		if _, err := engine.Stub(testRunID, e); err == nil {
			t.Errorf("a stub of %q", e.Type)
		}
	}
	if _, err := engine.Stub("other", h.decoded()[0]); err == nil {
		t.Error("a stub under another name")
	}
}
