package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"slipway/schema"
)

// seat is the daemon's place: the endpoint, the lock that makes it the only
// daemon there, and the listener.
type seat struct {
	endpoint Endpoint
	lock     *fileLock
	listener net.Listener
	info     []byte // what was written for people
}

// lookAtSocket is how often a daemon makes sure that it can still be found.
const lookAtSocket = time.Second

// lost tells that the socket is no longer at its path: nobody will find this
// daemon again, and while it holds the lock nobody can start another.
func (s *seat) lost() bool {
	l, ok := s.listener.(interface{ lost() bool })
	return ok && l.lost()
}

// leave takes away what is this daemon's.
func (s *seat) leave() {
	s.listener.Close()
	if now, err := os.ReadFile(s.endpoint.infoPath()); err == nil && bytes.Equal(now, s.info) {
		_ = os.Remove(s.endpoint.infoPath())
	}
	s.lock.release()
}

// takeSeat takes the first place that can hold a socket.
func takeSeat(ctx context.Context, o *DaemonOptions) (*seat, error) {
	if passed := o.Supervision.Listener; passed != nil {
		return passedSeat(ctx, passed)
	}
	places, err := daemonPlaces(o.Socket)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, e := range places {
		s, err := sit(ctx, e)
		if err == nil {
			return s, nil
		}
		failures = append(failures, err)
		if errors.Is(err, errRunning) || reachOf(err) == reachUnsafe {
			break
		}
	}
	return nil, errors.Join(failures...)
}

func daemonPlaces(socket string) ([]Endpoint, error) {
	if socket == "" {
		return endpoints(orOwn(nil))
	}
	e, err := explicitEndpoint(socket)
	return []Endpoint{e}, err
}

// sit takes the place at an endpoint.
func sit(ctx context.Context, e Endpoint) (*seat, error) {
	if err := e.prepare(); err != nil {
		return nil, err
	}
	lock, err := onlyDaemon(ctx, e)
	if err != nil {
		return nil, err
	}
	listener, err := e.listen()
	if err != nil {
		lock.release()
		return nil, fmt.Errorf("listen at %s: %w", e.Socket, err)
	}
	return &seat{endpoint: e, lock: lock, listener: listener}, nil
}

// passedSeat takes a place whose socket a service manager holds.
func passedSeat(ctx context.Context, l net.Listener) (*seat, error) {
	e := at(l.Addr().String(), "")
	if err := e.prepare(); err != nil {
		return nil, err
	}
	lock, err := onlyDaemon(ctx, e)
	if err != nil {
		return nil, err
	}
	return &seat{endpoint: e, lock: lock, listener: l}, nil
}

// onlyDaemon takes the daemon's lock. Where another one has it but does not
// listen any more, it is draining, and the lock will be free soon.
func onlyDaemon(ctx context.Context, e Endpoint) (*fileLock, error) {
	lock, err := tryLock(e.lockPath())
	if !errors.Is(err, errLocked) {
		return lock, err
	}
	if conn, err := e.dial(ctx); err == nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %s", errRunning, e.Socket)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, handOver, fmt.Errorf("%s is held by a process that does not listen", e.lockPath()))
	defer cancel()
	return waitLock(ctx, e.lockPath())
}

// info is the content of d1.json: for people and doctor, nothing trusts it.
type info struct {
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	Build     string    `json:"build"`
	StartedAt time.Time `json:"started_at"`
}

func (s *seat) describe(build Build) error {
	text, err := schema.Marshal(info{os.Getpid(), build.Version, build.String(), time.Now().UTC()})
	if err != nil {
		return err
	}
	s.info = append(text, '\n')
	// Not replaced in place: a link there would be followed.
	if err := os.Remove(s.endpoint.infoPath()); err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(s.endpoint.infoPath(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(s.info)
	return errors.Join(err, f.Close())
}
