package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"slipway/engine"
	"slipway/rpc"
	"slipway/schema"
)

// watchCommand is `slipway watch`: all Runs of the repository, live. It asks the
// daemon only. Where stdout is no terminal it prints the board once.
type watchCommand struct {
	place
}

// plainWidth is the width of a board that is printed once, in cells.
const plainWidth = 120

func (c *watchCommand) run(s *session) error {
	s.at(c.place)
	s.daemonOnly = true
	answer, err := s.call("run/list", rootParams{s.root}) // also finds what is wrong before the screen is taken
	if err != nil {
		return err
	}
	list, err := decode[schema.StatusList](answer)
	if err != nil {
		return err
	}
	b := &board{root: s.root}
	b.show(list)
	if !term.IsTerminal(int(os.Stdout.Fd())) || os.Getenv("TERM") == "dumb" {
		head, body := painter{width: plainWidth}.lines(b, time.Now())
		return s.printAnswer([]byte(strings.Join(append(head, body...), "\n") + "\n"))
	}
	screen, err := openScreen()
	if err != nil {
		return err
	}
	defer screen.close()
	return watch(s, b, screen)
}

// watch shows the board until the user has seen enough.
func watch(s *session, b *board, screen *screen) error {
	ctx, cancel := context.WithCancel(context.Background())
	news := &news{session: s, updates: make(chan func(*board)), wake: make(chan struct{}, 1)}
	failed := make(chan error, 2)
	var working sync.WaitGroup
	working.Go(func() { failed <- news.follow(ctx) })
	working.Go(func() { failed <- news.fetch(ctx) })
	// The connection closes with the session: nobody may be using it then.
	defer working.Wait()
	defer cancel()
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	for {
		screen.show(b, time.Now())
		select {
		case change := <-news.updates:
			change(b)
		case <-clock.C:
		case <-screen.resized:
		case key := <-screen.keys:
			if screen.press(key) {
				return nil
			}
		case <-screen.ended:
			return nil
		case err := <-failed:
			return err
		}
	}
}

// gather is how long changes are gathered before they are asked for.
const gather = 100 * time.Millisecond

// news keeps a board up to date: it follows the Runs and fetches those that moved
// on.
type news struct {
	session *session
	updates chan func(*board)
	wake    chan struct{}

	mu    sync.Mutex
	all   bool
	moved map[string]bool // Runs to fetch
}

// follow notes which Runs moved on.
func (n *news) follow(ctx context.Context) error {
	return rpc.Follow(ctx, n.session.options(), rpc.Subscription{
		Method: "run/subscribe",
		Params: func() any { return subscribeParams{Root: n.session.root} },
		Subscribed: func() error {
			n.note("")
			return nil
		},
		Changed: func(params json.RawMessage) error {
			e, err := decode[engine.RunEvent](params)
			if err == nil {
				n.note(e.Run)
			}
			return err
		},
	})
}

// note wants a Run to be fetched; "" all of them.
func (n *news) note(run string) {
	n.mu.Lock()
	if run == "" {
		n.all = true
	} else if n.moved == nil {
		n.moved = map[string]bool{run: true}
	} else {
		n.moved[run] = true
	}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// fetch asks for what was noted.
func (n *news) fetch(ctx context.Context) error {
	for {
		select {
		case <-n.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
		n.mu.Lock()
		all, moved := n.all, n.moved
		n.all, n.moved = false, nil
		n.mu.Unlock()
		if all {
			moved = map[string]bool{"": true}
		}
		for run := range moved {
			change, err := n.ask(run)
			if err != nil {
				return err
			}
			select {
			case n.updates <- change:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		select {
		case <-time.After(gather):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ask fetches a Run, or all of them for "".
func (n *news) ask(run string) (func(*board), error) {
	if run == "" {
		answer, err := n.session.call("run/list", rootParams{n.session.root})
		if err != nil {
			return nil, err
		}
		list, err := decode[schema.StatusList](answer)
		return func(b *board) { b.show(list) }, err
	}
	answer, err := n.session.call("run/status", runParams{n.session.root, run})
	if err != nil {
		return n.ask("") // it may be gone; what is wrong with the rest shows there
	}
	status, err := decode[schema.RunStatus](answer)
	return func(b *board) { b.put(entryOf(status)) }, err
}
