package main

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/rpc"
	"slipway/schema"
)

// session is one run of the program: where the command applies, and the ways
// to the engine.
type session struct {
	root      string // absolute; the working directory where --root gave none
	rootFault error  // of a root that no call can name
	timeout   time.Duration
	people    bool // errors are for a person, where there is a terminal
	// daemonOnly is for commands that have nothing to ask without a daemon.
	daemonOnly bool
	calls      rpc.Call // made by the first call

	making sync.Once
	local  *engine.Keeper // made by the first question that no daemon is needed for
}

// at sets the place of the command.
func (s *session) at(p place) {
	s.setRoot(p.Root)
	s.timeout = p.Timeout
}

// setRoot takes a root as it was spelled.
func (s *session) setRoot(root string) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		// The working directory is gone; the shell's word for it still names the place.
		absolute = filepath.Join(cmp.Or(os.Getenv("PWD"), "/"), root)
	}
	s.root = absolute
	if utf8.ValidString(absolute) {
		return
	}
	// Such a path can not be put into JSON. A link may lead from it to one that can.
	var w schema.WorkspaceIdentity
	if w, s.rootFault = s.keeper().Workspace(context.Background(), s.caller()); s.rootFault == nil {
		s.root = w.WorktreeRoot
	}
}

func (s *session) caller() engine.Caller {
	return engine.Caller{Root: s.root, Environment: os.Environ()}
}

// keeper is the engine in this process. It answers what is asked about the
// place itself, and everything where no daemon may be used.
func (s *session) keeper() *engine.Keeper {
	s.making.Do(func() { s.local = engine.NewKeeper(engine.Options{Git: gitwatch.New(), Embedded: true}) })
	return s.local
}

// place is where the next of an error applies.
func (s *session) place() schema.Place {
	return s.keeper().Place(context.Background(), s.caller())
}

// haste is enough for a Git that answers at all.
const haste = 3 * time.Second

// placeInHaste is the same where the daemon has used up the caller's patience: a
// Git that hangs is not waited for once more.
func (s *session) placeInHaste() schema.Place {
	ctx, cancel := context.WithTimeout(context.Background(), haste)
	defer cancel()
	return s.keeper().Place(ctx, s.caller())
}

// checkRoot fails where the root leads to no worktree.
func (s *session) checkRoot() error {
	_, err := s.keeper().Workspace(context.Background(), s.caller())
	return err
}

// afterRoot is the fault of an input, or the root's where that one fails too.
func (s *session) afterRoot(input error) error {
	if err := s.checkRoot(); err != nil {
		return err
	}
	return input
}

// seemsInRepository looks for a worktree on the way up, which costs no process.
// Only Git knows for sure; this is enough to know that asking it first is not
// worth its price.
func (s *session) seemsInRepository() bool {
	if !exists(s.root) {
		return false
	}
	for dir := s.root; ; dir = filepath.Dir(dir) {
		switch {
		case exists(dir, "HEAD") && exists(dir, "objects"): // inside of a Git directory
			return false
		case exists(dir, ".git", "HEAD"), isFile(filepath.Join(dir, ".git")):
			return true
		case dir == filepath.Dir(dir):
			return false
		}
	}
}

func exists(names ...string) bool {
	_, err := os.Lstat(filepath.Join(names...))
	return err == nil
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// options are those of every way to the daemon.
func (s *session) options() rpc.Options {
	o := rpc.Options{Timeout: s.timeout, Place: s.placeInHaste}
	if !s.daemonOnly {
		o.Engine = func() (rpc.Runs, error) { return s.keeper(), nil }
	}
	return o
}

// call asks the daemon, or the engine in this process (daemon.md, 3.4).
func (s *session) call(method string, params any) (json.RawMessage, error) {
	if s.rootFault != nil {
		return nil, s.rootFault
	}
	ctx := context.Background()
	if s.calls == nil {
		var answer json.RawMessage
		var err error
		s.calls, answer, err = rpc.Ask(ctx, s.options(), method, params)
		return answer, err
	}
	return s.calls.Call(ctx, method, params)
}

// close ends what the calls have opened.
func (s *session) close() {
	if s.calls != nil {
		// The answer is out; what is left to do is made up for by the next command.
		_ = s.calls.Close()
	}
}
