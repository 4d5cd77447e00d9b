package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"slipway/gitwatch"
	"slipway/schema"

	"github.com/sourcegraph/jsonrpc2"
)

// client is a connection to a daemon. Calls of one client take turns.
type client struct {
	endpoint Endpoint
	conn     net.Conn
	stream   *framed

	mu       sync.Mutex
	last     int64 // id
	ownBuild bool  // the daemon is of the build that this client would start
}

func newClient(e Endpoint, conn net.Conn) *client {
	stream := newFramed(conn, maxAnswer)
	stream.believed = believedOfDaemon
	return &client{endpoint: e, conn: conn, stream: stream}
}

func (c *client) close() { c.conn.Close() }

// clientRequest and clientAnswer are the messages of a client's side.
type clientRequest struct {
	Protocol string `json:"jsonrpc"`
	ID       int64  `json:"id"`
	Method   string `json:"method"`
	Params   any    `json:"params,omitempty"`
}

type clientAnswer struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc2.Error `json:"error"`
}

// Fates of a call that was not answered.
var (
	// errNotTaken: the daemon has certainly not begun it.
	errNotTaken = errors.New("the connection ended before the call was taken")
	// errFateUnknown: the connection ended when the call was out.
	errFateUnknown = errors.New("the connection ended before the call was answered")
)

// exchange makes one call. Its error is a *schema.Error or a *protocolError, if
// there was an answer; errNotTaken, errFateUnknown or the context's, if not.
func (c *client) exchange(ctx context.Context, method string, params any) (json.RawMessage, error) {
	defer c.turn(ctx)()
	id, err := c.send(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return c.await(ctx, id)
}

// turn takes the connection for one caller, until done is called. The context ends
// every wait on it, also one that has begun.
func (c *client) turn(ctx context.Context) (done func()) {
	c.mu.Lock()
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		stop()
		c.mu.Unlock()
	}
}

// send sends a call and gives its id.
func (c *client) send(ctx context.Context, method string, params any) (id int64, err error) {
	c.last++
	err = c.stream.write(clientRequest{protocolVersion, c.last, method, params})
	switch {
	case err == nil:
		return c.last, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	// Half a message is never taken. A daemon that refused it may have said why.
	if answer, err := c.receive(c.last); err == nil && answer.Error != nil {
		return 0, failureOf(answer.Error)
	}
	return 0, fmt.Errorf("%w: %w", errNotTaken, err)
}

// await waits for the answer to a call.
func (c *client) await(ctx context.Context, id int64) (json.RawMessage, error) {
	for {
		answer, err := c.receive(id)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errFateUnknown, err)
		case answer.Error != nil && (answer.ID == nil || *answer.ID == id):
			return nil, failureOf(answer.Error)
		case answer.ID != nil && *answer.ID == id:
			return answer.Result, nil
		}
	}
}

// receive gives the next answer, which is most likely that to call id.
func (c *client) receive(id int64) (*clientAnswer, error) {
	m, err := c.stream.read()
	if err != nil {
		return nil, err
	}
	if result, ok := plainResult(m.data, id); ok && c.ownBuild {
		return &clientAnswer{ID: &id, Result: result}, nil
	}
	a, err := parseAnswer(m.data)
	if err != nil {
		return nil, fmt.Errorf("the answer is not of this protocol: %w", err)
	}
	return a, nil
}

// plainResult takes the result out of a message in the one form in which a daemon of
// the client's own build answers call id with success. A result can be long, and that
// daemon belongs to the same user, so it is not gone through: only that it is one line,
// as the client prints it, is looked at. What follows it in the message is its
// capacity, so that putting a line end behind it costs no copy.
func plainResult(data []byte, id int64) (result json.RawMessage, ok bool) {
	rest, begins := bytes.CutPrefix(data, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":`, id))
	result, ends := bytes.CutSuffix(rest, []byte("}"))
	return result, begins && ends && !bytes.Contains(result, []byte("\n"))
}

// parseAnswer takes an answer of any form apart.
func parseAnswer(data []byte) (*clientAnswer, error) {
	if err := schema.CheckJSON(data, len(data)); err != nil {
		return nil, err
	}
	data = skipSpace(data)
	if data[0] != '{' {
		return nil, errors.New("it is no object")
	}
	fields, err := members(data)
	if err != nil {
		return nil, err
	}
	var a clientAnswer
	for _, f := range fields {
		switch f.name {
		case "id":
			err = json.Unmarshal(f.value, &a.ID)
		case "result":
			a.Result = f.value
		case "error":
			err = json.Unmarshal(f.value, &a.Error)
		}
		if err != nil {
			return nil, err
		}
	}
	return &a, nil
}

// failureOf is the error of an answer: the CLI error that it carries, as it came.
func failureOf(e *jsonrpc2.Error) error {
	if e.Code == codeDraining {
		return errNotTaken
	}
	if (e.Code == codeUsage || e.Code == codeRuntime) && e.Data != nil {
		var failure struct {
			schema.Error
			Details json.RawMessage `json:"details"`
		}
		if err := json.Unmarshal(*e.Data, &failure); err == nil && failure.Code != "" {
			if failure.Details != nil {
				failure.Error.Details = failure.Details
			}
			return &failure.Error
		}
	}
	return &protocolError{e.Code, e.Message}
}

// awaitEnd waits until the daemon has closed the connection.
func (c *client) awaitEnd(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.Copy(io.Discard, c.conn); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil // closed or broken: nobody is at the other end
}

// greet is daemon/hello.
func (c *client) greet(ctx context.Context, o *Options) (Build, error) {
	raw, err := c.exchange(ctx, helloMethod, o.greeting())
	if err != nil {
		return Build{}, err
	}
	return c.met(raw, o)
}

// greetAndCall is daemon/hello and a call that only reads, sent without waiting in
// between. running is nil where the greeting was not answered.
func (c *client) greetAndCall(ctx context.Context, o *Options, onlySameBuild bool, method string, params any) (running *Build, result json.RawMessage, err error) {
	defer c.turn(ctx)()
	greeting := o.greeting()
	greeting.OnlySameBuild = onlySameBuild
	greeted, err := c.send(ctx, helloMethod, greeting)
	if err != nil {
		return nil, nil, err
	}
	called, err := c.send(ctx, method, params)
	if err != nil {
		return nil, nil, err
	}
	raw, err := c.await(ctx, greeted)
	if err != nil {
		return nil, nil, err
	}
	build, err := c.met(raw, o)
	if err != nil {
		return nil, nil, err
	}
	result, err = c.await(ctx, called)
	return &build, result, err
}

// greeting introduces this client.
func (o *Options) greeting() helloParams {
	return helloParams{
		Client: cmp.Or(o.Client, "slipway"), Version: stamps().Version, Build: o.introducedBuild().String(),
		RPCVersion: rpcVersion, Environment: gitwatch.RelevantEnvironment(o.environment()),
	}
}

// met takes note of the daemon that answered the greeting, and gives its build.
func (c *client) met(raw json.RawMessage, o *Options) (Build, error) {
	build, err := buildOf(raw)
	c.ownBuild = err == nil && build.Same(o.introducedBuild())
	return build, err
}

// buildOf is the build that the answer to a greeting names.
func buildOf(raw json.RawMessage) (Build, error) {
	var answer helloAnswer
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Build{}, &protocolError{message: "the answer to " + helloMethod + " is malformed"}
	}
	build, err := ParseBuild(answer.Build)
	if err != nil {
		return Build{Version: answer.Version}, nil // of another kind: not comparable
	}
	return build, nil
}
