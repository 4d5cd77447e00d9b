package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Pauses between attempts to subscribe again where each is lost at once.
const (
	firstAgain   = 50 * time.Millisecond
	longestAgain = 2 * time.Second
)

// Subscription is what [Follow] wants to hear.
type Subscription struct {
	// Method is run/subscribe or workspace/subscribe.
	Method string
	// Params are asked for at every attempt, so that one after a lost connection
	// can go on behind what was delivered.
	Params func() any
	// Subscribed, where there is one, is called when a subscription begins: what
	// happens from now on is delivered.
	Subscribed func() error
	// Changed gets the params of each notification.
	Changed func(params json.RawMessage) error
}

// Follow keeps a subscription alive until ctx ends: where the daemon ends, is
// replaced, or has let the reader go, it subscribes again. Its error is the
// context's, one of the two functions', or a *[schema.Error] of a daemon that can
// not be had or refuses.
func Follow(ctx context.Context, o Options, s Subscription) error {
	o.Engine = nil // there is nothing to follow in this process
	for pause := firstAgain; ; {
		began := time.Now()
		err := followOnce(ctx, &o, s)
		if !errors.Is(err, errNotTaken) {
			return err
		}
		if time.Since(began) > longestAgain {
			pause = firstAgain
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, longestAgain)
	}
}

// followOnce is one subscription, up to its end. Its error is errNotTaken where
// another one can go on.
func followOnce(ctx context.Context, o *Options, s Subscription) error {
	call, _, err := Connect(ctx, *o)
	if err != nil {
		return err
	}
	defer call.Close()
	if _, err := call.Call(ctx, s.Method, s.Params()); err != nil {
		return err
	}
	r, ok := call.(*remote)
	if !ok {
		return fmt.Errorf("%s needs the daemon", s.Method)
	}
	if s.Subscribed != nil {
		if err := s.Subscribed(); err != nil {
			return err
		}
	}
	for {
		method, params, err := r.client.heard(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return errNotTaken
		case method == lostNotification:
			return lossOf(params)
		}
		if err := s.Changed(params); err != nil {
			return err
		}
	}
}

// lossOf is the error of a lost subscription.
func lossOf(params json.RawMessage) error {
	var lost struct {
		Reason string           `json:"reason"`
		Error  *json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(params, &lost); err != nil || lost.Error == nil {
		return errNotTaken
	}
	return failureOf(&jsonrpc2.Error{Code: codeRuntime, Message: "the subscription was lost: " + lost.Reason, Data: lost.Error})
}

// heard waits for the next notification.
func (c *client) heard(ctx context.Context) (method string, params json.RawMessage, err error) {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		m, err := c.stream.read()
		if err != nil {
			return "", nil, err
		}
		var n struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(m.data, &n); err != nil {
			return "", nil, err
		}
		if n.Method != "" {
			return n.Method, n.Params, nil
		}
	}
}
