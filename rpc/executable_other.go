//go:build !linux

package rpc

import "os"

// ownExecutable names the file that runs. It is asked right after the start,
// before an upgrade can have put another file there.
func ownExecutable() (string, error) { return os.Executable() }
