package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"slipway/schema"
)

// Status tells how the daemon is, and which mode a command would use here and
// why. It starts nothing; a daemon that does not run is an answer. Its error is
// a *schema.Error.
func Status(ctx context.Context, o Options) (*Health, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	mode, err := modeOf(o.environment())
	if err != nil {
		return nil, schema.Usage(schema.CodeInvalidUsage, o.next(schema.NextNone), "%v", err)
	}
	places, err := endpoints(o.environment())
	if err != nil {
		return nil, o.connectFailure(err)
	}
	var h *Health
	for range maxAttempts { // a daemon may end while it is asked
		h, err = o.status(ctx, mode, places)
		if !errors.Is(err, errNotTaken) && !errors.Is(err, errFateUnknown) {
			break
		}
	}
	if err != nil {
		return nil, o.connectFailure(err)
	}
	return h, nil
}

// status is one attempt at [Status].
func (o *Options) status(ctx context.Context, mode string, places []Endpoint) (*Health, error) {
	h := &Health{
		Mode: ModeDaemon, Socket: places[0].Socket, ClientBuild: o.startableBuild().String(),
		RPCVersion: rpcVersion, ContractVersion: schema.ContractVersion, Problems: []Problem{},
	}
	c, err := dialFirst(ctx, places)
	if c == nil && err == nil {
		err = o.couldStart(h, places)
	}
	var blocked *blockedError
	switch {
	case errors.As(err, &blocked):
		h.blocked(blocked, o.environment())
	case err != nil:
		return nil, err
	}
	if c != nil {
		defer c.close()
		h.Socket = c.endpoint.Socket
	}
	h.decide(mode, c != nil, blocked)
	if c == nil {
		return h, nil
	}
	return h, o.fillHealth(ctx, h, c)
}

// decide says which mode a command would use here, and why.
func (h *Health) decide(mode string, running bool, blocked *blockedError) {
	switch {
	case mode == modeOff:
		h.Mode, h.ModeReason = ModeEmbedded, modeVariable+" is "+modeOff
	case blocked != nil && mode == modeRequire:
		h.ModeReason = blocked.Error() + "; commands fail, because " + modeVariable + " is " + modeRequire
	case blocked != nil:
		h.Mode, h.ModeReason = ModeEmbedded, blocked.Error()
	case running:
		h.ModeReason = "a daemon listens at " + h.Socket
	case len(h.Problems) > 0:
		h.ModeReason = "no daemon is running, and none can be started"
	default:
		h.ModeReason = "no daemon is running; the next command starts one"
	}
}

// couldStart tells whether a command that finds no daemon could start one, without
// making anything.
func (o *Options) couldStart(h *Health, places []Endpoint) error {
	var last error
	for _, e := range places {
		err := e.couldPrepare()
		if err == nil {
			h.Socket = e.Socket
			break
		}
		if reachOf(err) == reachBlocked {
			return &blockedError{e.Socket, err}
		}
		last = err
	}
	if last != nil && reachOf(last) == reachUnsafe {
		return last
	}
	if _, err := o.program(); err != nil {
		h.Problems = append(h.Problems, Problem{problemNoProgram, err.Error(), "install slipwayd beside slipway"})
	}
	return nil
}

// blocked notes that the socket can not be reached from here, which says nothing
// about whether a daemon runs.
func (h *Health) blocked(e *blockedError, env environment) {
	h.Problems = append(h.Problems, Problem{
		Code: problemSocketBlocked, Message: e.Error() + "; whether a daemon runs can not be seen from here",
		Remedy: sandboxRemedy(env, e.socket),
	})
}

// fillHealth asks the daemon.
func (o *Options) fillHealth(ctx context.Context, h *Health, c *client) error {
	running, raw, err := c.greetAndCall(ctx, o, false, healthMethod, struct{}{})
	if err != nil {
		return err
	}
	mode, reason, build := h.Mode, h.ModeReason, h.ClientBuild
	if err := json.Unmarshal(raw, h); err != nil {
		return &protocolError{message: "the answer to " + healthMethod + " is malformed"}
	}
	h.Mode, h.ModeReason, h.ClientBuild = mode, reason, build
	if h.Socket == "" {
		h.Socket = c.endpoint.Socket
	}
	switch {
	case o.isKept(c.endpoint, *running):
		h.Problems = append(h.Problems, olderService(*running, o.startableBuild()))
	case o.wouldReplace(ctx, c.endpoint, *running):
		h.Problems = append(h.Problems, olderBuild())
	}
	return nil
}

// Start starts the daemon where none runs.
func Start(ctx context.Context, o Options) (*Health, error) {
	within, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	c, err := (&connector{options: &o}).connect(within)
	if err != nil {
		return nil, o.connectFailure(err)
	}
	c.close()
	return Status(ctx, o)
}

// Stop makes the daemon end, waits until it is gone and tells whether there was
// one. Where none runs, that is success.
func Stop(ctx context.Context, o Options) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	places, err := endpoints(o.environment())
	if err != nil {
		return false, o.connectFailure(err)
	}
	c, err := dialFirst(ctx, places)
	if err == nil && c != nil {
		err = o.end(ctx, c)
	}
	if err != nil {
		return false, o.connectFailure(err)
	}
	return c != nil, nil
}

// end makes the daemon at the other end of a connection go, and waits for it.
func (o *Options) end(ctx context.Context, c *client) error {
	defer c.close()
	_, err := c.greet(ctx, o)
	switch {
	case errors.Is(err, errNotTaken), errors.Is(err, errFateUnknown):
		// It is about to end already.
	case err != nil:
		return err
	default:
		if err := endDaemon(ctx, c, "stopped by the operator"); err != nil {
			return err
		}
	}
	return awaitSeat(ctx, c.endpoint)
}

// Restart is Stop and Start.
func Restart(ctx context.Context, o Options) (*Health, error) {
	if _, err := Stop(ctx, o); err != nil {
		return nil, err
	}
	return Start(ctx, o)
}

// Place is where the daemon listens that runs under env (nil = this process's
// variables); without one, where the next command would start it or fail to.
func Place(ctx context.Context, env []string) (Endpoint, error) {
	places, err := endpoints(orOwn(env))
	if err != nil {
		return Endpoint{}, err
	}
	return placeOf(ctx, places), nil
}

func placeOf(ctx context.Context, places []Endpoint) Endpoint {
	for _, e := range places {
		if conn, err := e.dial(ctx); err == nil {
			conn.Close()
			return e
		}
	}
	for _, e := range places {
		switch err := e.couldPrepare(); {
		case err == nil, reachOf(err) == reachBlocked, reachOf(err) == reachUnsafe:
			return e // the last two are not passed over for another place
		}
	}
	return places[0]
}
