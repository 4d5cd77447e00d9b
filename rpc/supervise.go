package rpc

import (
	"log/slog"
	"net"
	"time"
)

// Supervision is what a service manager gave the daemon and wants to hear
// (package slipway/rpc/supervise reads it). The zero value is for a daemon
// without one.
type Supervision struct {
	Listener net.Listener       // passed socket; nil without
	Notify   func(state string) // tells the manager; nil without
	Watchdog time.Duration      // a ping is due within this time; 0 = none
}

// States of sd_notify(3).
const (
	stateReady    = "READY=1"
	stateStopping = "STOPPING=1"
	stateAlive    = "WATCHDOG=1"
)

func (s Supervision) tell(state string) {
	if s.Notify != nil {
		s.Notify(state)
	}
}

// watch pings the manager until stop is closed. Each ping comes after alive has
// returned, so a daemon that is stuck is one that does not ping.
func (s Supervision) watch(log *slog.Logger, alive func(), stop <-chan struct{}) {
	if s.Notify == nil || s.Watchdog <= 0 {
		return
	}
	log.Info("watchdog", "every", s.Watchdog/2)
	ticker := time.NewTicker(s.Watchdog / 2)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			alive()
			s.tell(stateAlive)
		case <-stop:
			return
		}
	}
}

func (s Supervision) close() {
	if s.Listener != nil {
		s.Listener.Close()
	}
}
