//go:build unix

package main

import (
	"os"
	"syscall"
)

// holdLock holds the lock of the Run until the test ends.
func (w *world) holdLock() {
	dir, err := os.Open(w.storage(w.vars["RUN"]))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { dir.Close() })
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		w.t.Fatal(err)
	}
}
