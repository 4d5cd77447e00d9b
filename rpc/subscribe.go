package rpc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"slipway/engine"
	"slipway/schema"

	"github.com/sourcegraph/jsonrpc2"
)

// The methods of subscriptions (daemon.md, section 5).
const (
	runSubscribeMethod       = "run/subscribe"
	workspaceSubscribeMethod = "workspace/subscribe"
	unsubscribeMethod        = "unsubscribe"

	runChangedNotification       = "run/changed"
	workspaceChangedNotification = "workspace/changed"
	lostNotification             = "subscription/lost"
)

// Limits of subscriptions.
const (
	maxSubscriptions    = 64   // of one connection
	maxAllSubscriptions = 1024 // of a server
	// farewellTime is how long a connection that ends waits for its subscriptions
	// to say so.
	farewellTime = time.Second
)

// Reasons of subscription/lost.
const (
	lostSlow     = "slow_reader" // too much was waiting for the reader
	lostDraining = "draining"    // the daemon or the connection ends
	lostFailed   = "failed"      // see error
)

// Causes of the end of a subscription.
var (
	errUnsubscribed = errors.New("unsubscribed")
	errEnding       = errors.New("the connection ends")
)

// subscription is a feed that goes to the peer of a session. It is also the
// answer of the method that made it.
type subscription struct {
	ID string `json:"subscription"`

	session *session
	method  string                  // of its notifications
	feed    iter.Seq2[any, error]   // their params
	end     context.CancelCauseFunc // ends the feed
	ctx     context.Context
	ended   chan struct{} // closed when nothing more is sent
}

// notification is a message without an answer.
type notification struct {
	Protocol string `json:"jsonrpc"`
	Method   string `json:"method"`
	Params   any    `json:"params"`
}

// runChanged and workspaceChanged are the params of notifications.
type runChanged struct {
	Subscription string `json:"subscription"`
	engine.RunEvent
}

type workspaceChanged struct {
	Subscription string        `json:"subscription"`
	SnapshotHash schema.Digest `json:"snapshot_hash"`
	PathCount    int           `json:"path_count"`
}

// subscriptionLost says that nothing more will come, and why. What was missed
// comes with a new subscription after the last sequence that was received.
type subscriptionLost struct {
	Subscription string        `json:"subscription"`
	Reason       string        `json:"reason"`
	Error        *schema.Error `json:"error,omitempty"`
}

type runSubscribeParams struct {
	Root  string  `json:"root"`
	Run   *string `json:"run,omitempty"`
	After *int64  `json:"after,omitempty"`
}

func (p runSubscribeParams) check() error {
	if p.After != nil && *p.After < 0 {
		return errors.New("after can not be negative")
	}
	return checkRoot(p.Root)
}

func subscribeToRuns(_ context.Context, t target, p runSubscribeParams) (any, error) {
	return t.session.subscribe(runChangedNotification, func(s *subscription) (iter.Seq2[any, error], error) {
		q := engine.FollowRequest{After: p.After}
		if p.Run != nil {
			q.Run = *p.Run
		}
		events, err := t.runs.Follow(s.ctx, t.caller(p.Root), q)
		return mapped(events, func(e engine.RunEvent) any { return runChanged{s.ID, e} }), err
	})
}

func subscribeToWorkspace(_ context.Context, t target, p rootParams) (any, error) {
	return t.session.subscribe(workspaceChangedNotification, func(s *subscription) (iter.Seq2[any, error], error) {
		changes, err := t.runs.FollowWorkspace(s.ctx, t.caller(p.Root))
		return mapped(changes, func(o *schema.Observation) any { return workspaceChanged{s.ID, o.SnapshotHash, o.PathCount} }), err
	})
}

// mapped turns what a feed tells into params.
func mapped[V any](feed iter.Seq2[V, error], params func(V) any) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for v, err := range feed {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(params(v), nil) {
				return
			}
		}
	}
}

type unsubscribeParams struct {
	Subscription string `json:"subscription"`
}

// unsubscribe answers when the last notification is out.
func unsubscribe(ctx context.Context, t target, p unsubscribeParams) (any, error) {
	n := t.session
	n.mu.Lock()
	s := n.subscriptions[p.Subscription]
	n.mu.Unlock()
	if s == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "there is no such subscription on this connection"}
	}
	s.end(errUnsubscribed)
	select {
	case <-s.ended:
		return struct{}{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// subscribe makes a subscription. Its notifications begin after the answer.
func (n *session) subscribe(method string, open func(*subscription) (iter.Seq2[any, error], error)) (*subscription, error) {
	s := &subscription{session: n, method: method, ended: make(chan struct{})}
	s.ctx, s.end = context.WithCancelCause(n.ctx)
	if refusal := n.enter(s); refusal != nil {
		s.end(refusal)
		return nil, refusal
	}
	var err error
	if s.feed, err = open(s); err != nil {
		s.end(err)
		n.exit(s)
		return nil, err
	}
	return s, nil
}

// enter counts a subscription in.
func (n *session) enter(s *subscription) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case len(n.subscriptions) >= maxSubscriptions:
		return &jsonrpc2.Error{Code: codeBusy, Message: fmt.Sprintf("this connection has %d subscriptions: end some", maxSubscriptions)}
	case n.server.subscriptions.Add(1) > maxAllSubscriptions:
		n.server.subscriptions.Add(-1)
		return &jsonrpc2.Error{Code: codeBusy, Message: "the daemon has as many subscriptions as it takes: end some"}
	}
	n.lastSubscription++
	s.ID = strconv.Itoa(n.lastSubscription)
	n.subscriptions[s.ID] = s
	n.feeding.Add(1)
	return nil
}

// exit counts a subscription out. Nothing is sent for it any more.
func (n *session) exit(s *subscription) {
	n.mu.Lock()
	delete(n.subscriptions, s.ID)
	n.used = time.Now()
	n.mu.Unlock()
	n.server.subscriptions.Add(-1)
	close(s.ended)
	n.feeding.Done()
}

// answered begins to send; until then nobody knows the subscription's name.
func (s *subscription) answered() { go s.run() }

// run sends what the feed tells. A reader that does not take it makes this
// goroutine wait, and nobody else.
func (s *subscription) run() {
	defer s.session.exit(s)
	for params, err := range s.feed {
		switch {
		case err != nil:
			s.lose(err)
			return
		case s.session.stream.write(notification{protocolVersion, s.method, params}) != nil:
			s.session.conn.Close() // half a message may be out
			return
		}
	}
	if context.Cause(s.ctx) != errUnsubscribed {
		s.lose(errEnding)
	}
}

// lose tells the peer that the subscription is over.
func (s *subscription) lose(err error) {
	lost := subscriptionLost{Subscription: s.ID, Reason: lostFailed}
	switch {
	case errors.Is(err, errEnding):
		lost.Reason = lostDraining
	case errors.Is(err, engine.ErrBehind):
		lost.Reason = lostSlow
		s.session.server.log.Warn("a subscription was lost", "reason", lost.Reason)
	case !errors.As(err, &lost.Error):
		s.session.server.log.Error("a subscription failed", "error", fmt.Sprintf("%T", err))
	}
	_ = s.session.stream.write(notification{protocolVersion, lostNotification, lost}) // the connection may be gone
}

// endSubscriptions ends all of them, and waits a little for their last words.
func (n *session) endSubscriptions() {
	n.end(errEnding)
	over := make(chan struct{})
	go func() { n.feeding.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(farewellTime):
	}
}
