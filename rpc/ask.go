package rpc

import (
	"context"
	"encoding/json"
	"errors"
)

// Ask is [Connect] and a first call. Its error is always a *schema.Error.
//
// A call that only reads goes right behind the greeting: waiting for one answer takes
// half as long as waiting for two. It is meant for a daemon of the build that this
// client would start. Any other does not take it, and the usual way is gone.
func Ask(ctx context.Context, o Options, method string, params any) (Call, json.RawMessage, error) {
	if mode, err := modeOf(o.environment()); err == nil && mode != modeOff && !runMethods[method].mutates {
		call, result, err := o.askAtOnce(ctx, method, params)
		if !errors.Is(err, errNotTaken) {
			return call, result, err
		}
	}
	call, _, err := Connect(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	result, err := call.Call(ctx, method, params)
	return call, result, err
}

// askAtOnce greets and asks a daemon that listens already. Its error is errNotTaken
// where there is none, or none that takes the call.
func (o *Options) askAtOnce(ctx context.Context, method string, params any) (Call, json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, o.answerTime())
	defer cancel()
	places, err := endpoints(o.environment())
	if err != nil {
		return nil, nil, errNotTaken
	}
	c, err := dialFirst(ctx, places)
	if c == nil || err != nil {
		return nil, nil, errNotTaken
	}
	running, result, err := c.greetAndCall(ctx, o, true, method, params)
	call := &remote{options: o, client: c}
	switch {
	case running == nil && isTimeout(err):
		err = o.connectFailure(err)
	case running == nil || !c.ownBuild || errors.Is(err, errNotTaken) || errors.Is(err, errFateUnknown):
		err = errNotTaken
	case err != nil:
		err = o.callFailure(c.endpoint, method, params, err)
	default:
		return call, result, nil
	}
	c.close()
	return nil, nil, err
}
