package rpc

import (
	"os"
	"os/signal"
	"syscall"
)

// securePermissions has nothing to do: files get the access list of their folder.
func securePermissions() {}

// watchSignals gives the signals that a daemon acts on.
func watchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

func isReopen(os.Signal) bool { return false }
