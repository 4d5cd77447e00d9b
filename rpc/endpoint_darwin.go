package rpc

import (
	"path/filepath"
	"syscall"
)

// maxSocketPath is the longest path of a socket, in bytes: what a sockaddr_un
// holds without its final NUL.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// userEndpoint is below the user's Application Support folder.
func userEndpoint(env environment) (Endpoint, bool) {
	home := env.absolute("HOME")
	if home == "" {
		return Endpoint{}, false
	}
	return at(filepath.Join(home, "Library", "Application Support", productFolder, socketName), home), true
}
