//go:build unix

package faults

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// Row 13: 10,000 connections that say nothing and stay. Every command gets in
// meanwhile, one that is at work stays, and the daemon takes no more descriptors and
// memory than its limit of connections.
func TestTenThousandConnections(t *testing.T) {
	const connections = 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < connections+200 {
		t.Skipf("this process may open only %d files (%v)", limit.Cur, err)
	}
	h := newHouse(t)
	state := h.start()
	before := h.health()
	follower := dial(t, before.Socket)
	follower.call(t, "run/subscribe", map[string]any{"root": h.root, "run": state.RunID})
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for len(conns) < connections {
		conn, err := net.Dial("unix", before.Socket)
		if err != nil {
			time.Sleep(time.Millisecond) // the queue of connections is full for a moment
			continue
		}
		if conns = append(conns, conn); len(conns)%2500 == 0 {
			state = h.submit(state, "reported in the crowd")
			follower.exchange(t, "") // hears of it
		}
	}
	after := h.health()
	if after.PID != before.PID || after.OpenFiles > before.OpenFiles+1100 || after.RSSBytes > before.RSSBytes+100<<20 {
		t.Errorf("before %+v, with %d connections %+v", before, connections, after)
	}
	t.Logf("%d files and %d MiB, with %d connections %d files and %d MiB",
		before.OpenFiles, before.RSSBytes>>20, connections, after.OpenFiles, after.RSSBytes>>20)
}

// Row 14: what a submit takes does not depend on how many Actions the Run has. A new
// Run is measured beside the long one, in turns.
func TestLongRunIsAsQuickAsANewOne(t *testing.T) {
	if !soaking() {
		t.Skip("measures: runs in make soak")
	}
	const actions, measured = 1000, 200
	h := newHouse(t)
	long := h.start()
	p := dial(t, h.health().Socket)
	for range actions - measured - 1 {
		long, _ = p.submit(h, long)
	}
	next := h.start()
	var ofLong, ofNext []time.Duration
	for range measured {
		var took time.Duration
		long, took = p.submit(h, long)
		ofLong = append(ofLong, took)
		next, took = p.submit(h, next)
		ofNext = append(ofNext, took)
	}
	t.Logf("a submit takes %v with %d Actions and %v in a new Run; %d MiB", median(ofLong), actions, median(ofNext), h.health().RSSBytes>>20)
	if median(ofLong) > 2*median(ofNext) {
		t.Errorf("a submit takes %v with %d Actions and %v in a new Run", median(ofLong), actions, median(ofNext))
	}
}
