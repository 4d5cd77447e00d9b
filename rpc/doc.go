// Package rpc is the way between a command and the engine: one daemon per user,
// a local socket, JSON-RPC 2.0 over it (daemon.md).
//
// # The caller's side
//
// [Connect] gives a [Call]. It finds the daemon's socket, starts the daemon where
// nobody listens, compares builds in daemon/hello, and falls back to the engine
// in this very process where a sandbox forbids sockets:
//
//	calls, mode, err := rpc.Connect(ctx, rpc.Options{Engine: openKeeper})
//	if err != nil {
//		return err // always a *schema.Error
//	}
//	defer calls.Close()
//	answer, err := calls.Call(ctx, "run/status", map[string]string{"root": root, "run": id})
//
// The answer is the JSON of the contract as it came. [Ask] is both with the first
// call, and the way of every command: a question then costs one wait.
//
// [Status], [Start], [Stop], [Restart] and [LogTail] are what an operator does with
// the daemon; of them only Start and Restart start one.
//
// # The daemon's side
//
// [RunDaemon] is the whole life of the process: the endpoint, the lock that makes
// it the only one, the log, signals, idle exit and drain. [Server] is what it
// serves: connections, limits and the method table, of which the rows about Runs
// also work without any socket ([Local]).
//
// # Where things are
//
// [Endpoint] is the socket and the files beside it. Client and daemon choose it
// by the same rules from the same variables. [Build] is the identity that a
// handshake compares.
//
// The package knows nothing of what a Run is: it decodes parameters, calls
// [Runs], and encodes what comes back.
package rpc

// Version of the methods and of the handshake. It is part of the socket's name,
// so incompatible versions never meet.
const rpcVersion = 1
