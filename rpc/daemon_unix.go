//go:build unix

package rpc

import (
	"os"
	"os/signal"
	"syscall"
)

// securePermissions makes every file of the daemon private from its making.
func securePermissions() { syscall.Umask(0o077) }

// watchSignals gives the signals that a daemon acts on.
func watchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// isReopen tells whether a signal asks for the log to be reopened only.
func isReopen(s os.Signal) bool { return s == syscall.SIGHUP }
