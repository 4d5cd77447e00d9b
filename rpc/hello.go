package rpc

import (
	"context"
	"fmt"
	"os"

	"slipway/schema"

	"github.com/sourcegraph/jsonrpc2"
)

// The methods about the daemon itself.
const (
	helloMethod    = "daemon/hello"
	healthMethod   = "daemon/health"
	shutdownMethod = "daemon/shutdown"
)

// helloParams introduce a client.
type helloParams struct {
	Client     string `json:"client"`
	Version    string `json:"version"`
	Build      string `json:"build"`
	RPCVersion int    `json:"rpc_version"`
	// Environment holds the "NAME=value" entries that Git's answers depend on,
	// for all calls of the connection; without it the daemon's own count.
	Environment []string `json:"environment,omitempty"`
	// OnlySameBuild opens the connection only where Build is the daemon's own.
	OnlySameBuild bool `json:"only_same_build,omitempty"`
}

// helloAnswer introduces the daemon.
type helloAnswer struct {
	Version         string   `json:"version"`
	Build           string   `json:"build"`
	PID             int      `json:"pid"`
	RPCVersion      int      `json:"rpc_version"`
	ContractVersion int      `json:"contract_version"`
	Methods         []string `json:"methods"`
}

// hello opens the connection for other calls. It is handled in the order of the
// stream, so a call sent right behind it is taken.
func hello(_ context.Context, t target, p helloParams) (any, error) {
	if p.RPCVersion != rpcVersion {
		return nil, &jsonrpc2.Error{
			Code:    jsonrpc2.CodeInvalidRequest,
			Message: fmt.Sprintf("this daemon speaks version %d of the methods, not %d", rpcVersion, p.RPCVersion),
		}
	}
	server := t.session.server
	client, err := ParseBuild(p.Build)
	if !p.OnlySameBuild || err == nil && client.Same(server.build) {
		t.session.introduce(p.Environment)
	}
	return helloAnswer{
		Version: server.build.Version, Build: server.build.String(), PID: os.Getpid(),
		RPCVersion: rpcVersion, ContractVersion: schema.ContractVersion, Methods: server.methods,
	}, nil
}

type shutdownParams struct {
	Reason string `json:"reason,omitempty"`
}

// shutdown answers once draining began. The reason is the caller's text and so
// not for the log.
func shutdown(_ context.Context, t target, _ shutdownParams) (any, error) {
	t.session.server.beginDrain("asked by a client")
	return struct{}{}, nil
}
