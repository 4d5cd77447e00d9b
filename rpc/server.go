package rpc

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Limits of a server (daemon.md, section 4).
const (
	maxConnections   = 1024
	maxCallsInFlight = 256 // of one connection
	// maxHeldBytes bounds the received messages that are being read or served,
	// of all connections together.
	maxHeldBytes = 512 << 20
)

// sendBuffer has room for the longest material in one go, in bytes: every time that
// an answer waits for its reader costs both sides a turn of the processor.
const sendBuffer = 512 << 10

// DrainTime is how long a drain waits for running calls.
const DrainTime = 10 * time.Second

// acceptPause is the pause after a failed accept: what failed is the whole
// process's supply of descriptors, and trying at once would only burn CPU. An idle
// connection makes room meanwhile.
const acceptPause = 100 * time.Millisecond

// ServerOptions say what a Server serves. Runs and Log are required.
type ServerOptions struct {
	Runs        Runs
	Log         *slog.Logger
	Build       Build
	Socket      string        // for daemon/health
	Environment []string      // of clients that send none
	Idle        time.Duration // without a connection until the server drains; 0 = never
	Gauges      func() Gauges // figures of the engine; nil = none
}

// Server serves connections: it reads their messages, looks methods up, calls
// [Runs] and answers, within the limits of daemon.md, section 4.
type Server struct {
	runs        Runs
	log         *slog.Logger
	build       Build
	socket      string
	environment []string
	gauges      func() Gauges
	methods     []string
	started     time.Time
	memory      *allowance
	connections int // as many are taken
	calls       callFigures

	subscriptions atomic.Int64 // running

	idle     time.Duration
	draining chan struct{} // closed when a drain began

	mu        sync.Mutex
	listeners []net.Listener
	sessions  map[*session]struct{}
	empty     chan struct{} // closed when the last session has ended; nil while nobody waits
	idleTimer *time.Timer
	ending    bool
}

// NewServer makes a server that serves nothing yet.
func NewServer(o ServerOptions) *Server {
	s := &Server{
		runs: o.Runs, log: o.Log, build: o.Build, socket: o.Socket, environment: o.Environment,
		gauges: o.Gauges, methods: methodNames(), started: time.Now(), memory: newAllowance(maxHeldBytes),
		connections: connectionLimit(maxOpenFiles()),
		idle:        o.Idle, draining: make(chan struct{}), sessions: make(map[*session]struct{}),
	}
	if s.gauges == nil {
		s.gauges = func() Gauges { return Gauges{} }
	}
	s.calls.init()
	if s.idle > 0 {
		s.mu.Lock() // a short time may be over before the timer is here
		s.idleTimer = time.AfterFunc(s.idle, s.idleEnded)
		s.mu.Unlock()
	}
	return s
}

// Serve accepts connections until a drain begins. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.ending {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			s.welcome(conn)
		case s.isDraining():
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			s.log.Error("accept failed", "error", err.Error())
			s.mu.Lock()
			s.makeRoom()
			s.mu.Unlock()
			s.pause(acceptPause)
		}
	}
}

func (s *Server) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.draining:
	}
}

// welcome starts a session, or refuses it: another user without a word, one too
// many with the reason.
func (s *Server) welcome(conn net.Conn) {
	if !ownPeer(conn) {
		s.log.Warn("refused a connection of another user")
		conn.Close()
		return
	}
	if c, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = c.SetWriteBuffer(sendBuffer) // with a smaller one an answer only takes more turns
	}
	session := newSession(s, conn)
	if refusal := s.join(session); refusal != nil {
		_ = session.stream.write(errorAnswer{protocolVersion, nil, refusal}) // it is closed in any case
		conn.Close()
		return
	}
	session.start()
}

// join counts a session in.
func (s *Server) join(n *session) *jsonrpc2.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ending:
		return drainingError()
	case len(s.sessions) >= s.connections && !s.makeRoom():
		return &jsonrpc2.Error{Code: codeBusy, Message: "the daemon has as many connections at work as it takes: end some"}
	}
	s.sessions[n] = struct{}{}
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
	return nil
}

// leave counts a session out.
func (s *Server) leave(n *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, n)
	if len(s.sessions) > 0 {
		return
	}
	if s.idleTimer != nil && !s.ending {
		s.idleTimer.Reset(s.idle)
	}
	if s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

func (s *Server) idleEnded() {
	s.mu.Lock()
	idle := len(s.sessions) == 0
	if idle {
		s.endLocked()
	}
	s.mu.Unlock()
	if idle {
		s.log.Info("draining", "reason", "idle")
	}
}

// alive returns unless the server is stuck.
func (s *Server) alive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
}

// Draining is closed when the server wants to end: it was asked to, or idle for
// long enough. [Server.Drain] does the rest.
func (s *Server) Draining() <-chan struct{} { return s.draining }

func (s *Server) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// beginDrain stops accepting connections and calls.
func (s *Server) beginDrain(reason string) {
	s.mu.Lock()
	began := s.endLocked()
	s.mu.Unlock()
	if began {
		s.log.Info("draining", "reason", reason)
	}
}

func (s *Server) endLocked() bool {
	if s.ending {
		return false
	}
	s.ending = true
	close(s.draining)
	for _, l := range s.listeners {
		l.Close()
	}
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
	return true
}

func drainingError() *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: codeDraining, Message: "the daemon is ending and has not begun this call: connect again"}
}

// Drain begins a drain where none has, lets running calls finish and be
// answered, and ends all connections. Calls that arrive meanwhile are told that
// they were not begun; whatever a client sends later fails on its side. So every
// client knows the fate of every call. It gives up with the context.
func (s *Server) Drain(ctx context.Context) error {
	s.beginDrain("asked by the process")
	s.mu.Lock()
	empty := make(chan struct{})
	if len(s.sessions) == 0 {
		close(empty)
	} else {
		s.empty = empty
	}
	for n := range s.sessions {
		stopReading(n.conn)
	}
	s.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.sessions)
	for n := range s.sessions {
		n.conn.Close()
	}
	s.log.Error("drain was cut short", "connections", left)
	return cmp.Or(context.Cause(ctx), ctx.Err())
}
