package rpc

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the user at the other end of a connection, as the kernel knows it.
func peerUID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var credentials *unix.Ucred
	var failure error
	err = raw.Control(func(fd uintptr) {
		credentials, failure = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	switch {
	case err != nil:
		return 0, err
	case failure != nil:
		return 0, failure
	}
	return int(credentials.Uid), nil
}
