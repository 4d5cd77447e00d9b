package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"slipway/schema"
)

// Status tells how the daemon is, and which mode a command would use here and
// why. It starts nothing; a daemon that does not run is an answer. Its error is
// a *schema.Error.
func Status(ctx context.Context, o Options) (*Health, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	h := &Health{
		Mode: ModeDaemon, ClientBuild: o.startableBuild().String(),
		RPCVersion: rpcVersion, ContractVersion: schema.ContractVersion, Problems: []Problem{},
	}
	mode, err := modeOf(o.environment())
	if err != nil {
		return nil, schema.Usage(schema.CodeInvalidUsage, o.next(schema.NextNone), "%v", err)
	}
	if mode == modeOff {
		h.Mode, h.ModeReason = ModeEmbedded, modeVariable+" is "+modeOff
	}
	places, err := endpoints(o.environment())
	if err != nil {
		return nil, o.connectFailure(err)
	}
	h.Socket = places[0].Socket
	c, err := dialFirst(ctx, places)
	var blocked *blockedError
	switch {
	case errors.As(err, &blocked):
		h.blocked(blocked, mode)
		return h, nil
	case err != nil:
		return nil, o.connectFailure(err)
	case c == nil:
		if h.ModeReason == "" {
			h.ModeReason = "the next command starts the daemon"
		}
		return h, nil
	}
	defer c.close()
	if err := o.fillHealth(ctx, h, c); err != nil {
		return nil, o.connectFailure(err)
	}
	return h, nil
}

// blocked notes that the socket can not be reached from here, which says nothing
// about whether a daemon runs.
func (h *Health) blocked(e *blockedError, mode string) {
	h.Mode = ModeEmbedded
	if h.ModeReason == "" {
		h.ModeReason = e.Error()
	}
	problem := Problem{
		Code: "socket_blocked", Message: e.Error() + "; whether a daemon runs can not be seen from here",
		Remedy: "allow the path " + e.socket + " in the settings of the sandbox",
	}
	if mode == modeRequire {
		problem.Remedy += fmt.Sprintf(", or set %s=%s", modeVariable, modeAuto)
	}
	h.Problems = append(h.Problems, problem)
}

// fillHealth asks the daemon.
func (o *Options) fillHealth(ctx context.Context, h *Health, c *client) error {
	running, err := c.greet(ctx, o)
	if err != nil {
		return err
	}
	raw, err := c.exchange(ctx, healthMethod, struct{}{})
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
	if o.wouldReplace(ctx, running) {
		h.Problems = append(h.Problems, Problem{
			Code: "older_build", Message: "the daemon is of an older build than this program",
			Remedy: "nothing to do: the next command replaces it",
		})
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

// Stop makes the daemon end and waits until it is gone. Where none runs, that is
// success.
func Stop(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	if err := o.stop(ctx); err != nil {
		return o.connectFailure(err)
	}
	return nil
}

func (o *Options) stop(ctx context.Context) error {
	places, err := endpoints(o.environment())
	if err != nil {
		return err
	}
	c, err := dialFirst(ctx, places)
	if err != nil || c == nil {
		return err
	}
	defer c.close()
	_, err = c.greet(ctx, o)
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
	if err := Stop(ctx, o); err != nil {
		return nil, err
	}
	return Start(ctx, o)
}

// LogPath is the log of the daemon that runs or would be started under env (nil =
// this process's variables).
func LogPath(ctx context.Context, env []string) (string, error) {
	places, err := Places(env)
	if err != nil {
		return "", err
	}
	for _, e := range places {
		if conn, err := e.dial(ctx); err == nil {
			conn.Close()
			return e.LogPath(), nil
		}
	}
	return places[0].LogPath(), nil
}
