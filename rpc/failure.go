package rpc

import (
	"fmt"
	"strings"

	"slipway/schema"
)

// tailLines is how many lines of the daemon's log an error shows.
const tailLines = 10

// blockedError says that sockets can not be used here. It is no failure where
// the engine may run in this process.
type blockedError struct {
	socket string
	err    error
}

func (e *blockedError) Error() string {
	return fmt.Sprintf("the daemon's socket %s can not be used here (%v)", e.socket, e.err)
}

// startError says that a daemon could not be started.
type startError struct {
	endpoint Endpoint
	reason   string
	output   []string // what the daemon itself said
}

func (e *startError) Error() string {
	return strings.Join(append([]string{e.reason}, e.output...), ": ")
}

// protocolError is an answer that is no answer of the contract.
type protocolError struct {
	code    int64
	message string
}

func (e *protocolError) Error() string { return e.message }

// unavailable is the error of a daemon that can not be reached.
func (o *Options) unavailable(details schema.DaemonDetails, format string, args ...any) *schema.Error {
	return schema.Runtime(schema.CodeDaemonUnavailable, o.next(schema.NextRunDoctor), detailsOf(details), format, args...)
}

// unresponsive is the error of a daemon that does not answer.
func (o *Options) unresponsive(socket string, next func(schema.Place) schema.Next, format string, args ...any) *schema.Error {
	return schema.Runtime(schema.CodeDaemonUnresponsive, o.next(next), schema.DaemonDetails{Socket: socket}, format, args...)
}

func detailsOf(d schema.DaemonDetails) schema.Details {
	if d.Socket == "" && len(d.LogTail) == 0 {
		return nil
	}
	return d
}

func (o *Options) next(make func(schema.Place) schema.Next) schema.Next {
	if o.Place == nil {
		return schema.NextNone(schema.UnavailablePlace("/"))
	}
	return make(o.Place())
}

// startFailure gives a startError the form of the contract.
func (o *Options) startFailure(e *startError) *schema.Error {
	tail, _ := LogTail(e.endpoint.LogPath(), tailLines) // without a log, what the daemon said is all
	tail = append(tail, e.output...)
	lastWords := ""
	if len(tail) > 0 {
		lastWords = "; what it said last is in log_tail"
	}
	return o.unavailable(schema.DaemonDetails{Socket: e.endpoint.Socket, LogTail: tail},
		"the daemon could not be started: %s%s. Mend that, or set %s=%s to work without a daemon", e.reason, lastWords, modeVariable, modeOff)
}

// blockedFailure is for callers that must have the daemon.
func (o *Options) blockedFailure(e *blockedError) *schema.Error {
	return o.unavailable(schema.DaemonDetails{Socket: e.socket},
		"%v: a sandbox or a read-only folder is in the way. Allow this path in the settings of the sandbox, or set %s=%s to let commands do without the daemon where they must",
		e, modeVariable, modeAuto)
}
