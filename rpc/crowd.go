package rpc

import "time"

// minConnections are taken however few files the process may open.
const minConnections = 16

// connectionLimit is how many connections a process takes that may open that many
// files (0 = unknown): Runs and worktrees need theirs too.
func connectionLimit(files int) int {
	if files == 0 {
		return maxConnections
	}
	return min(maxConnections, max(files/2, minConnections))
}

// makeRoom ends a connection that nobody uses, so that such connections keep no
// command out: one that never said who it is before one that did, and of these the
// one that has been idle for longest. The peer notices when it sends again, and then
// knows that nothing was taken. It reports whether there was one. The caller holds mu.
func (s *Server) makeRoom() bool {
	var least *session
	var use usage
	for n := range s.sessions {
		if now := n.usage(); !now.busy && (least == nil || now.lessThan(use)) {
			least, use = n, now
		}
	}
	if least == nil {
		return false
	}
	delete(s.sessions, least)
	stopReading(least.conn)
	return true
}

// usage is what a connection is used for.
type usage struct {
	busy       bool // somebody waits for something on it
	introduced bool
	last       time.Time // when it became idle
}

func (u usage) lessThan(other usage) bool {
	if u.introduced != other.introduced {
		return other.introduced
	}
	return u.last.Before(other.last)
}

func (n *session) usage() usage {
	n.mu.Lock()
	defer n.mu.Unlock()
	return usage{len(n.calls) > 0 || len(n.subscriptions) > 0, n.introduced, n.used}
}
