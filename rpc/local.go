package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"slipway/schema"
)

// local runs the method table in this process (daemon.md, 3.4).
type local struct {
	options *Options
	runs    Runs
}

// Local gives the methods about Runs without a daemon. Close of the Call closes
// the engine.
func Local(runs Runs, o Options) Call { return &local{&o, runs} }

// embed is Local as the way that Connect found.
func embed(o *Options, reason string) (Call, Mode, error) {
	if o.Engine == nil {
		return nil, Mode{}, o.unavailable(schema.DaemonDetails{}, "%s, and this command can not do without the daemon", reason)
	}
	runs, err := o.Engine()
	if err != nil {
		return nil, Mode{}, o.localFailure(err)
	}
	return Local(runs, *o), Mode{ModeEmbedded, reason}, nil
}

// Call makes a call as a daemon would: through encoded parameters and results, so
// that nothing differs for the caller.
func (l *local) Call(ctx context.Context, name string, params any) (json.RawMessage, error) {
	m, ok := runMethods[name]
	if !ok {
		return nil, l.options.unavailable(schema.DaemonDetails{}, "%s needs the daemon, and this command runs without one", name)
	}
	raw, err := schema.Marshal(params)
	if err != nil {
		return nil, l.options.localFailure(err)
	}
	serve, err := m.decode(raw)
	if err != nil {
		return nil, l.options.localFailure(err)
	}
	// No deadline: it is for a daemon that may be wedged, and the engine has its
	// own limits.
	result, err := serve(ctx, target{runs: l.runs, environment: l.options.environment()})
	if err != nil {
		return nil, l.options.localFailure(err)
	}
	answer, err := encodeResult(result)
	if err != nil {
		return nil, l.options.localFailure(err)
	}
	return answer, nil
}

// Close finishes what the engine has to do after its answers.
func (l *local) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return l.runs.Close(ctx)
}

// localFailure gives an error the form of the contract, which the engine's
// errors have already.
func (o *Options) localFailure(err error) error {
	var known *schema.Error
	if errors.As(err, &known) {
		return known
	}
	return schema.Runtime(schema.CodeRuntimeError, o.next(schema.NextNone), nil, "%v", err)
}
