package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// Signals that matter while the screen is taken. A console tells of no resizing:
// the next picture, a second later, has the new size.
var (
	resizeSignals []os.Signal
	endSignals    = []os.Signal{os.Interrupt}
)

// prepareOutput makes the console understand control sequences.
func prepareOutput() (restore func(), err error) {
	console := windows.Handle(os.Stdout.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(console, before|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.ENABLE_PROCESSED_OUTPUT); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, nil // it is the user's again
}
