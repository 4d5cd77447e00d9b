//go:build unix && !darwin

package rpc

import (
	"path/filepath"
	"syscall"
)

// maxSocketPath is the longest path of a socket, in bytes: what a sockaddr_un
// holds without its final NUL.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// userEndpoint is below the runtime folder of the session, or below the user's
// state folder where there is none.
func userEndpoint(env environment) (Endpoint, bool) {
	if runtime := env.absolute("XDG_RUNTIME_DIR"); runtime != "" {
		return at(filepath.Join(runtime, productFolder, socketName), runtime), true
	}
	if state := env.absolute("XDG_STATE_HOME"); state != "" {
		return at(filepath.Join(state, productFolder, socketName), ""), true
	}
	if home := env.absolute("HOME"); home != "" {
		return at(filepath.Join(home, ".local", "state", productFolder, socketName), home), true
	}
	return Endpoint{}, false
}
