//go:build unix

package main

import (
	"os"
	"syscall"
)

// openInput opens a file for reading, but neither through a link nor waiting
// for the other end of a FIFO that came in between.
func openInput(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
