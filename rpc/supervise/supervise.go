// Package supervise reads what a service manager gave this process: a listening
// socket, and how it wants to be told of readiness and life (daemon.md, 3.3). It is
// apart from rpc because only the daemon needs it, while every start of a client
// would pay for the libraries behind it.
package supervise

import (
	"net"
	"time"
)

// Given is what the manager gave. The zero value is for a process without one.
type Given struct {
	Listener net.Listener       // nil without
	Notify   func(state string) // sends a state of sd_notify(3); nil without
	Watchdog time.Duration      // a sign of life is due within this time; 0 = none
}
