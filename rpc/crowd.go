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

// makeRoom ends the connection that has been idle for longest, so that connections
// which nobody uses keep no command out. The peer notices when it sends again, and
// then knows that nothing was taken. It reports whether there was one. The caller
// holds mu.
func (s *Server) makeRoom() bool {
	var oldest *session
	var since time.Time
	for n := range s.sessions {
		if idle, at := n.idle(); idle && (oldest == nil || at.Before(since)) {
			oldest, since = n, at
		}
	}
	if oldest == nil {
		return false
	}
	delete(s.sessions, oldest)
	stopReading(oldest.conn)
	return true
}

// idle tells whether nobody waits for anything on the connection, and since when.
func (n *session) idle() (bool, time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.calls) == 0 && len(n.subscriptions) == 0, n.used
}
