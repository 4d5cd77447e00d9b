//go:build unix

package rpc

import (
	"net"
	"os"
)

// ownPeer tells whether the other end belongs to the user of this process. Root
// is another user too.
func ownPeer(conn net.Conn) bool {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return false
	}
	uid, err := peerUID(c)
	return err == nil && uid == os.Geteuid()
}
