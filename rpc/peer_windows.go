package rpc

import "net"

// ownPeer has nothing to ask: the pipe's access list lets nobody else in.
func ownPeer(net.Conn) bool { return true }
