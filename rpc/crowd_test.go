package rpc

import "testing"

// TestStrangersMakeRoomFirst: a flood of connections that never say who they are ends
// none that did.
func TestStrangersMakeRoomFirst(t *testing.T) {
	s := serve(t, &fakeRuns{})
	known := dialRaw(t, s.socket).greet()
	var strangers []*raw
	const more = 50
	for range maxConnections + more {
		strangers = append(strangers, dialRaw(t, s.socket))
	}
	dialRaw(t, s.socket).greet() // all before it were taken
	for _, r := range strangers[:more] {
		r.ended()
	}
	known.greet()
	strangers[maxConnections+more-1].greet()
}
