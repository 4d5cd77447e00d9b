package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"slipway/schema"

	"github.com/sourcegraph/jsonrpc2"
)

// protocolVersion is what every JSON-RPC message carries.
const protocolVersion = "2.0"

// cancelNotification cancels a call that has not committed.
const cancelNotification = "$/cancelRequest"

// session is one connection of a server. It is the object stream and the
// handler of a [jsonrpc2.Conn], which reads one message after the other.
//
// The library decodes a request into maps and encodes its parameters anew. An
// Outcome counts by its bytes, so the session keeps each request as it was
// received and shows the library only that there was one.
type session struct {
	server *Server
	conn   net.Conn
	stream *framed

	received received // the request that ReadObject found for Handle

	mu          sync.Mutex
	introduced  bool      // daemon/hello was answered
	used        time.Time // when it last became idle
	environment []string
	calls       map[string]*call // by the text of the id
	answered    sync.WaitGroup

	ctx              context.Context // of the subscriptions; ends with the connection
	end              context.CancelCauseFunc
	subscriptions    map[string]*subscription // by their id
	lastSubscription int
	feeding          sync.WaitGroup // running subscriptions
}

// received is a request and the memory that its message holds.
type received struct {
	request *request
	release func()
}

// call is one call in flight.
type call struct {
	began  time.Time
	cancel context.CancelFunc
}

// answer and errorAnswer are what a call gets.
type answer struct {
	Protocol string          `json:"jsonrpc"`
	ID       json.RawMessage `json:"id"`
	Result   any             `json:"result"`
}

type errorAnswer struct {
	Protocol string          `json:"jsonrpc"`
	ID       json.RawMessage `json:"id"`
	Error    *jsonrpc2.Error `json:"error"`
}

func newSession(s *Server, conn net.Conn) *session {
	stream := newFramed(conn, maxMessage)
	stream.memory, stream.patience = s.memory, messageTime
	n := &session{
		server: s, conn: conn, stream: stream, environment: s.environment, used: time.Now(),
		calls: make(map[string]*call), subscriptions: make(map[string]*subscription),
	}
	n.ctx, n.end = context.WithCancelCause(context.Background())
	return n
}

// start serves the connection until it ends.
func (n *session) start() {
	rpc := jsonrpc2.NewConn(context.Background(), n, n, jsonrpc2.SetLogger(noLog{}))
	go func() {
		<-rpc.DisconnectNotify()
		n.end(errEnding)
		n.server.leave(n)
	}()
}

// noLog keeps the library from writing what peers sent to stderr.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// standIn is what the library sees of every request.
var standIn = []byte(`{"jsonrpc":"2.0","id":0,"method":"call"}`)

// ReadObject implements [jsonrpc2.ObjectStream]. It answers messages that are no
// requests by itself. At the end of the stream it waits until all calls are
// answered, because the library closes the connection then, while the peer may
// have closed its sending half only.
func (n *session) ReadObject(v any) error {
	for {
		m, err := n.stream.read()
		var fault *protocolFault
		switch {
		case errors.As(err, &fault):
			if err := n.refuse(nil, &jsonrpc2.Error{Code: fault.code, Message: fault.message}); err != nil || fault.fatal {
				n.settle()
				return fault
			}
			continue
		case err != nil:
			n.settle()
			return io.EOF
		}
		r, refusal := parseRequest(m.data)
		if refusal == nil && r != nil {
			n.received = received{r, m.release}
			return json.Unmarshal(standIn, v)
		}
		m.release()
		if refusal != nil {
			if err := n.refuse(r, refusal); err != nil {
				return err
			}
		}
	}
}

// settle waits until everything that the peer is owed was sent.
func (n *session) settle() {
	n.answered.Wait()
	n.endSubscriptions()
}

// WriteObject implements [jsonrpc2.ObjectStream].
func (n *session) WriteObject(v any) error { return n.stream.write(v) }

// Close implements [jsonrpc2.ObjectStream].
func (n *session) Close() error { return n.conn.Close() }

// refuse answers a request with an error; where not even its id is known, r is
// nil.
func (n *session) refuse(r *request, e *jsonrpc2.Error) error {
	n.server.calls.refused(strconv.FormatInt(e.Code, 10))
	switch {
	case r == nil:
		return n.stream.write(errorAnswer{protocolVersion, nil, e})
	case r.id == nil:
		return nil // a notification gets no answer, whatever it was
	}
	return n.stream.write(errorAnswer{protocolVersion, r.id, e})
}

// Handle implements [jsonrpc2.Handler] for the request that was read last.
func (n *session) Handle(_ context.Context, _ *jsonrpc2.Conn, _ *jsonrpc2.Request) {
	got := n.received
	n.received = received{}
	r := got.request
	if r.id == nil {
		// Only cancelling makes sense without an answer.
		if r.method == cancelNotification {
			n.cancel(r.params)
		}
		got.release()
		return
	}
	m, serve, refusal := n.prepare(r)
	if refusal == nil {
		refusal = n.admit(r, m, serve, got.release)
	}
	if refusal != nil {
		got.release()
		if err := n.refuse(r, refusal); err != nil {
			n.conn.Close() // the reader finds out
		}
	}
}

// serveFunc is a decoded call.
type serveFunc func(context.Context, target) (any, error)

// prepare finds the method and decodes the parameters.
func (n *session) prepare(r *request) (method, serveFunc, *jsonrpc2.Error) {
	m, ok := findMethod(r.method)
	if !ok {
		return m, nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("there is no method %q", r.method)}
	}
	r.run = runNamed(r.params)
	serve, err := m.decode(r.params)
	r.params = nil // the decoded call holds what it needs of a message that may be long
	if err != nil {
		return m, nil, invalidParams(err)
	}
	return m, serve, nil
}

// admit begins a call, unless a limit or a drain forbids it.
func (n *session) admit(r *request, m method, serve serveFunc, release func()) *jsonrpc2.Error {
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{time.Now(), cancel}
	if refusal := n.register(r, m, c); refusal != nil {
		cancel()
		return refusal
	}
	run := func() {
		defer n.answered.Done()
		defer release()
		n.serve(ctx, r, m, serve, c)
	}
	if m.inline {
		run()
	} else {
		go run()
	}
	return nil
}

// register counts a call in.
func (n *session) register(r *request, m method, c *call) *jsonrpc2.Error {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := string(r.id)
	switch {
	case n.server.isDraining() && m.name != shutdownMethod:
		return drainingError()
	case !n.introduced && m.name != helloMethod:
		return invalidRequest(helloMethod + " must be the first call of a connection")
	case len(n.calls) >= maxCallsInFlight:
		return &jsonrpc2.Error{Code: codeBusy, Message: fmt.Sprintf("%d calls are in flight on this connection: wait for an answer", maxCallsInFlight)}
	case n.calls[id] != nil:
		return invalidRequest("a call with this id is in flight")
	}
	n.calls[id] = c
	n.answered.Add(1)
	n.server.calls.began(c)
	return nil
}

// serve runs a call, answers it, and writes down how it went.
func (n *session) serve(ctx context.Context, r *request, m method, serve serveFunc, c *call) {
	defer c.cancel()
	result, err := n.run(ctx, m, serve)
	elapsed := time.Since(c.began)
	code := ""
	var reply any = answer{protocolVersion, r.id, result}
	if err != nil {
		failure := asError(ctx, err)
		code = codeOf(err, failure)
		reply = errorAnswer{protocolVersion, r.id, failure}
	}
	// Counted out as the answer leaves: whoever has it may use the id again, and
	// answers that wait for a slow reader still count.
	err = n.stream.send(reply, func() {
		n.unregister(r)
		n.server.calls.ended(c, m.name, elapsed, code)
	})
	if err != nil {
		n.conn.Close() // half an answer may be out: nothing can follow it
	}
	if s, ok := result.(*subscription); ok && s != nil {
		s.answered()
	}
	n.log(r, m, elapsed, code, result)
}

func (n *session) unregister(r *request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.calls, string(r.id))
	n.used = time.Now()
}

// run makes the call. A panic ends that call only; its value may hold what the
// user wrote, so the log gets its place alone.
func (n *session) run(ctx context.Context, m method, serve serveFunc) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			n.server.log.Error("panic", "method", m.name, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = errors.New("the daemon has a defect: see its log")
		}
	}()
	n.mu.Lock()
	t := target{n.server.runs, n.environment, n}
	n.mu.Unlock()
	return serve(ctx, t)
}

// introduce opens the connection for other calls.
func (n *session) introduce(environment []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.introduced = true
	if environment != nil {
		n.environment = environment
	}
}

// cancel cancels the call that a notification names.
func (n *session) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if decodeParams(params, &p) != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.calls[string(p.ID)]; c != nil {
		c.cancel()
	}
}

// asError is the JSON-RPC error of a failed call.
func asError(ctx context.Context, err error) *jsonrpc2.Error {
	var refused *jsonrpc2.Error
	var failure *schema.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &failure):
		code := int64(codeRuntime)
		if failure.ExitCode == schema.ExitUsage {
			code = codeUsage
		}
		data, err := schema.Marshal(failure)
		if err == nil {
			return &jsonrpc2.Error{Code: code, Message: failure.Message, Data: (*json.RawMessage)(&data)}
		}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &jsonrpc2.Error{Code: codeCancelled, Message: "cancelled"}
	}
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
}

// codeOf is how health and log name a failure: the code of the contract where it
// has one.
func codeOf(err error, failure *jsonrpc2.Error) string {
	var known *schema.Error
	if errors.As(err, &known) {
		return string(known.Code)
	}
	return strconv.FormatInt(failure.Code, 10)
}

// log writes one line about a call, without anything that is private.
func (n *session) log(r *request, m method, elapsed time.Duration, code string, result any) {
	level := slog.LevelInfo
	fields := []slog.Attr{slog.String("method", m.name), slog.Int64("us", elapsed.Microseconds())}
	if run := runOf(r, result); run != "" {
		fields = append(fields, slog.String("run", run))
	}
	if code != "" {
		level = slog.LevelWarn
		fields = append(fields, slog.String("code", code))
	}
	n.server.log.LogAttrs(context.Background(), level, "call", fields...)
}

// runOf is the id of the Run that a call was about. Only what has the form of an
// id gets into the log.
func runOf(r *request, result any) string {
	id := r.run
	if state, ok := result.(*schema.ProtocolState); ok && state != nil {
		id = state.RunID
	}
	if !schema.ValidRunID(id) {
		return ""
	}
	return id
}

// runNamed is the Run that parameters name; empty where they name none or are no
// parameters at all.
func runNamed(params json.RawMessage) string {
	if params == nil || params[0] != '{' {
		return ""
	}
	given, err := members(params)
	if err != nil {
		return ""
	}
	var id string
	if raw, ok := lookUp(given, "run"); ok && json.Unmarshal(raw, &id) != nil {
		return ""
	}
	return id
}
