package rpc

import (
	"log/slog"
	"net"
	"time"
)

// supervision is what a service manager gave the daemon and wants to hear. The
// zero value is for a daemon without one.
type supervision struct {
	listener net.Listener       // passed socket; nil without
	notify   func(state string) // tells the manager; nil without
	watchdog time.Duration      // a ping is due within this time; 0 = none
	stop     chan struct{}      // ends the pings
}

// States of sd_notify(3).
const (
	stateReady    = "READY=1"
	stateStopping = "STOPPING=1"
	stateAlive    = "WATCHDOG=1"
)

// ready reports that the daemon listens and begins the watchdog pings.
func (s supervision) ready(log *slog.Logger) {
	if s.notify == nil {
		return
	}
	s.notify(stateReady)
	if s.watchdog <= 0 {
		return
	}
	log.Info("watchdog", "every", s.watchdog/2)
	go func() {
		ticker := time.NewTicker(s.watchdog / 2)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.notify(stateAlive)
			case <-s.stop:
				return
			}
		}
	}()
}

func (s supervision) stopping() {
	if s.notify != nil {
		s.notify(stateStopping)
	}
}

func (s supervision) close() {
	if s.stop != nil {
		close(s.stop)
	}
	if s.listener != nil {
		s.listener.Close()
	}
}
