package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"slipway/schema"

	"github.com/sourcegraph/jsonrpc2"
)

// DefaultTimeout is how long a call may take, the way to the daemon included.
const DefaultTimeout = 30 * time.Second

// Options of the caller's side. The zero value of a field takes its default.
type Options struct {
	// Environment holds the caller's "NAME=value" entries: where the daemon is,
	// and what Git's answers depend on. Default: this process's.
	Environment []string
	// Executable is the path of this program; the daemon is looked for beside it.
	Executable string
	// Client is how this program introduces itself.
	Client string
	// Timeout bounds connecting, and then every call. Default: DefaultTimeout.
	Timeout time.Duration
	// Engine makes the engine for a command that runs it in this process; without
	// it there is no embedded mode.
	Engine func() (Runs, error)
	// Place is where the next of an error about the daemon applies; without it,
	// such errors offer nothing.
	Place func() schema.Place

	startable *Build // of the daemon that would be started; nil until it is asked for
}

func (o *Options) environment() environment { return orOwn(o.Environment) }

func (o *Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return DefaultTimeout
}

// answerTime is how long a call may take. Git gets as long to answer the daemon as
// a caller waits by default; what the daemon says of a Git that hangs has to come
// through nevertheless.
func (o *Options) answerTime() time.Duration { return o.timeout() + o.timeout()/15 }

// The modes of a [Call].
const (
	ModeDaemon   = "daemon"
	ModeEmbedded = "embedded"
)

// Mode says who answers, and why.
type Mode struct {
	Name   string // ModeDaemon or ModeEmbedded
	Reason string // for people; empty for the usual way
}

// Call makes calls: through a daemon or in this process.
type Call interface {
	// Call gives the result as it came; the room behind it is the caller's too. Its
	// error is always a *schema.Error.
	Call(ctx context.Context, method string, params any) (json.RawMessage, error)
	// Close ends the connection, or the engine in this process.
	Close() error
}

// Connect finds or starts the daemon, as SLIPWAY_DAEMON wants it (daemon.md, 3.1
// to 3.4), or runs the engine in this process. Its error is always a
// *schema.Error: daemon_unavailable or daemon_unresponsive, but for the usage
// error of a bad SLIPWAY_DAEMON.
func Connect(ctx context.Context, o Options) (Call, Mode, error) {
	mode, err := modeOf(o.environment())
	if err != nil {
		return nil, Mode{}, schema.Usage(schema.CodeInvalidUsage, o.next(schema.NextNone), "%v", err)
	}
	if mode == modeOff {
		return embed(&o, modeVariable+" is "+modeOff)
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	c, err := (&connector{options: &o}).connect(ctx)
	var blocked *blockedError
	switch {
	case err == nil:
		return &remote{options: &o, client: c}, Mode{Name: ModeDaemon}, nil
	case errors.As(err, &blocked) && mode == modeAuto:
		return embed(&o, blocked.Error())
	}
	return nil, Mode{}, o.connectFailure(err)
}

// connectFailure gives an error on the way to the daemon the form of the
// contract.
func (o *Options) connectFailure(err error) error {
	var (
		known   *schema.Error
		blocked *blockedError
		start   *startError
		fault   *protocolError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &blocked):
		return o.blockedFailure(blocked)
	case errors.As(err, &start):
		return o.startFailure(start)
	case errors.As(err, &fault):
		return o.unavailable(schema.DaemonDetails{}, "the daemon refused the connection: %v. `slipway daemon restart` starts a fresh one", fault)
	case isTimeout(err):
		return o.unresponsive("", schema.NextRunDoctor,
			"the daemon did not answer in time; nothing was changed. Repeat the command, or end the daemon with `slipway daemon stop` or by its process id")
	}
	return o.unavailable(schema.DaemonDetails{}, "the daemon can not be reached: %v", err)
}

func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.Canceled)
}

// maxAttempts bounds how often a client that always meets a daemon about to end
// looks for the next one.
const maxAttempts = 4

// connector is one search for a daemon to talk to.
type connector struct {
	options  *Options
	replaced bool // a daemon was replaced: whichever answers now is used
}

// connect gives a client that has greeted its daemon and may use it.
func (k *connector) connect(ctx context.Context) (*client, error) {
	var last error
	for range maxAttempts {
		c, err := k.reach(ctx)
		if err != nil {
			return nil, err
		}
		running, err := c.greet(ctx, k.options)
		switch {
		case errors.Is(err, errNotTaken), errors.Is(err, errFateUnknown):
			c.close() // it was about to end; a greeting has no fate to care about
			last = err
			continue
		case err != nil:
			c.close()
			return nil, err
		case k.replaced || !k.options.wouldReplace(ctx, c.endpoint, running):
			return c, nil
		}
		k.replaced = true
		if err := k.replace(ctx, c, running); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%d daemons in turn ended while they were asked: %w", maxAttempts, last)
}

// reach connects to the daemon, starting one where nobody listens.
func (k *connector) reach(ctx context.Context) (*client, error) {
	places, err := endpoints(k.options.environment())
	if err != nil {
		return nil, err
	}
	c, err := dialFirst(ctx, places)
	if c != nil || err != nil {
		return c, err
	}
	return k.start(ctx, places)
}

// dialFirst connects to the first place where someone listens; nil without an
// error where nobody does.
func dialFirst(ctx context.Context, places []Endpoint) (*client, error) {
	for i, e := range places {
		conn, err := e.dial(ctx)
		if err == nil {
			return newClient(e, conn), nil
		}
		switch reachOf(err) {
		case reachNobody:
		case reachBlocked:
			return nil, &blockedError{e.Socket, bare(err)}
		case reachUnsafe:
			if i == 0 {
				return nil, err
			}
			// A foreign folder at the fallback concerns nobody who can do without.
		default:
			return nil, fmt.Errorf("%s: %w", e.Socket, bare(err))
		}
	}
	return nil, nil
}

// bare takes the address off the error of a socket; the messages name it.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// wouldReplace tells whether the daemon that this client would start is a newer
// build than the one that runs (daemon.md, 3.2), and can take its place. Only where
// it seems so is the program itself asked, which costs a process.
func (o *Options) wouldReplace(ctx context.Context, e Endpoint, running Build) bool {
	if o.introducedBuild().Same(running) || !o.startableBuild().Newer(running) || o.isKept(e, running) {
		return false
	}
	program, err := o.program()
	if err != nil {
		return false
	}
	build, err := askBuild(ctx, program)
	return err == nil && build.Newer(running)
}

// introducedBuild is what a daemon has to know of the startable build: its stamps
// where it has them, which cost no look at its file.
func (o *Options) introducedBuild() Build {
	if b := stamps(); b.stamped() {
		return b
	}
	return o.startableBuild()
}

// startableBuild is the identity of the daemon that this client would start, as
// far as it can be had without starting it: the stamps of this program, which was
// made with it, and the file itself.
func (o *Options) startableBuild() Build {
	if o.startable != nil {
		return *o.startable
	}
	b := stamps()
	if program, err := o.program(); err == nil {
		b.Digest, b.Modified, _ = fileIdentity(program)
	}
	o.startable = &b
	return b
}

// remote calls a daemon.
type remote struct {
	options *Options
	client  *client
}

// Close ends the connection.
func (r *remote) Close() error {
	r.client.close()
	return nil
}

// Call makes a call. One that was certainly not begun, because the daemon was about
// to end, and one that only reads, is made again, of its successor.
func (r *remote) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, r.options.answerTime())
	defer cancel()
	result, err := r.client.exchange(ctx, method, params)
	for attempt := 1; attempt < maxAttempts && r.mayRepeat(method, err); attempt++ {
		next, failure := (&connector{options: r.options}).connect(ctx)
		if failure != nil {
			return nil, r.options.connectFailure(failure)
		}
		r.client.close()
		r.client = next
		result, err = r.client.exchange(ctx, method, params)
	}
	if err != nil {
		return nil, r.options.callFailure(r.client.endpoint, method, params, err)
	}
	return result, nil
}

// mayRepeat: a call that was not begun, or one that only reads.
func (r *remote) mayRepeat(method string, err error) bool {
	return errors.Is(err, errNotTaken) || errors.Is(err, errFateUnknown) && !runMethods[method].mutates
}

// callFailure gives the error of a call the form of the contract.
func (o *Options) callFailure(e Endpoint, method string, params any, err error) error {
	var known *schema.Error
	var fault *protocolError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &fault):
		return o.protocolFailure(e, fault)
	case errors.Is(err, errNotTaken):
		return o.unresponsive(e.Socket, inspecting(params), "the daemon ended before it took the call: nothing was changed. Repeat the command")
	}
	what := "the daemon did not answer in time"
	if errors.Is(err, errFateUnknown) {
		what = "the daemon ended without an answer"
	}
	return o.unresponsive(e.Socket, inspecting(params), "%s. %s. If it stays so, end it with `slipway daemon stop`, or by its process id, and repeat", what, fateOf(method))
}

// inspecting offers to look at what a call was about: the Run that it names, or all.
func inspecting(params any) func(schema.Place) schema.Next {
	text, err := json.Marshal(params)
	if err != nil {
		return schema.NextInspectRuns
	}
	run := runNamed(text)
	if !schema.ValidRunID(run) {
		return schema.NextInspectRuns
	}
	return func(p schema.Place) schema.Next { return schema.NextInspectRun(p, run) }
}

// fateOf says what is known of a call without an answer.
func fateOf(method string) string {
	switch {
	case !runMethods[method].mutates:
		return "Nothing was changed"
	case method == "run/start":
		return "Whether the Run was started is unknown: look with `slipway status` before you start it again"
	}
	return "Whether the change was made is unknown: the exact repeat of the command is safe, and so is `slipway status`"
}

// protocolFailure is for answers that the contract does not have.
func (o *Options) protocolFailure(e Endpoint, fault *protocolError) *schema.Error {
	details := schema.DaemonDetails{Socket: e.Socket}
	if fault.code == codeBusy {
		return o.unavailable(details, "the daemon is at a limit and did not take the call: %v. Repeat the command later", fault)
	}
	if fault.code == jsonrpc2.CodeMethodNotFound {
		return o.unavailable(details, "the daemon is of another build: %v. `slipway daemon restart` starts the one of this build", fault)
	}
	return schema.Runtime(schema.CodeRuntimeError, o.next(schema.NextNone), nil, "the daemon refused the call: %v", fault)
}
