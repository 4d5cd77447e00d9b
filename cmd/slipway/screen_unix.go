//go:build unix

package main

import (
	"os"
	"syscall"
)

// Signals that matter while the screen is taken.
var (
	resizeSignals = []os.Signal{syscall.SIGWINCH}
	endSignals    = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
)

// prepareOutput has nothing to do: a terminal understands control sequences.
func prepareOutput() (restore func(), err error) { return func() {}, nil }
