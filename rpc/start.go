package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"slipway/gitwatch"
)

// startTime is how long a daemon may take until it listens (daemon.md, 3.1).
const startTime = 5 * time.Second

// lastMoment is how long a program that can not be a daemon any more may take to end.
const lastMoment = time.Second

// maxStartOutput bounds what a daemon that can not start may say about it.
const maxStartOutput = 16 << 10

// start starts a daemon at the first place that can hold a socket, and connects
// to it, unless another client was faster.
func (k *connector) start(ctx context.Context, places []Endpoint) (*client, error) {
	var last error
	for _, e := range places {
		c, err := k.startAt(ctx, e)
		if err == nil {
			return c, nil
		}
		var unsuited *unsuitedError
		if !errors.As(err, &unsuited) {
			return nil, err
		}
		last = &blockedError{e.Socket, unsuited.err}
		if reachOf(unsuited.err) != reachBlocked {
			last = fmt.Errorf("%s: %w", e.Socket, unsuited.err)
		}
	}
	return nil, last
}

// unsuitedError says that a place can not hold a socket, but another one might.
type unsuitedError struct{ err error }

func (e *unsuitedError) Error() string { return e.err.Error() }
func (e *unsuitedError) Unwrap() error { return e.err }

// startAt starts a daemon at one place, under the start lock of that place.
func (k *connector) startAt(ctx context.Context, e Endpoint) (*client, error) {
	lock, err := startLock(ctx, e)
	if err != nil {
		return nil, err
	}
	defer lock.release()
	return k.startLocked(ctx, e)
}

// startLock makes the folder of a place and takes its start lock. A folder that
// only can not be written here, while it may elsewhere, is not passed over for
// another place: client and daemon would disagree.
func startLock(ctx context.Context, e Endpoint) (*fileLock, error) {
	err := e.prepare()
	var lock *fileLock
	if err == nil {
		lock, err = waitLock(ctx, e.startLockPath())
	}
	switch {
	case err == nil:
		return lock, nil
	case isTimeout(err):
		return nil, err
	}
	switch reachOf(err) {
	case reachBlocked:
		return nil, &blockedError{e.Socket, err}
	case reachUnsafe:
		return nil, err
	}
	return nil, &unsuitedError{err}
}

// startLocked connects again, now that no other client can start one, and starts
// a daemon if there is still none. One that is draining is waited for.
func (k *connector) startLocked(ctx context.Context, e Endpoint) (*client, error) {
	if c, err := dialFirst(ctx, []Endpoint{e}); c != nil || err != nil {
		return c, err
	}
	if err := e.probe(); err != nil {
		return nil, &unsuitedError{err}
	}
	if err := awaitSeat(ctx, e); err != nil {
		return nil, err
	}
	if c, err := dialFirst(ctx, []Endpoint{e}); c != nil || err != nil {
		return c, err // started by hand or by a service manager meanwhile
	}
	program, err := k.options.program()
	if err != nil {
		return nil, &startError{endpoint: e, reason: err.Error()}
	}
	if err := launch(ctx, program, e, k.options.environment()); err != nil {
		return nil, err
	}
	forgetReturn(e)
	c, err := dialFirst(ctx, []Endpoint{e})
	if c == nil && err == nil {
		err = &startError{endpoint: e, reason: "it ended as soon as it was there"}
	}
	return c, err
}

// awaitSeat waits until no daemon holds the place.
func awaitSeat(ctx context.Context, e Endpoint) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handOver,
		&startError{endpoint: e, reason: e.lockPath() + " is held by a process that does not listen; end that process (its id may be in " + e.infoPath() + ")"})
	defer cancel()
	lock, err := waitLock(ctx, e.lockPath())
	if err != nil {
		return err
	}
	lock.release()
	return nil
}

// replace makes a daemon of an older build end, so that the next attempt starts
// its successor. Where another client was faster, the connection is gone already.
func (k *connector) replace(ctx context.Context, c *client, running Build) error {
	defer c.close()
	lock, err := startLock(ctx, c.endpoint)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := endDaemon(ctx, c, "replaced by a newer build"); err != nil {
		return err
	}
	k.noteReturn(ctx, c.endpoint, running)
	return nil
}

// endDaemon asks a daemon to drain and waits until it has let go of everything.
func endDaemon(ctx context.Context, c *client, reason string) error {
	_, err := c.exchange(ctx, shutdownMethod, shutdownParams{Reason: reason})
	switch {
	case errors.Is(err, errNotTaken), errors.Is(err, errFateUnknown):
		// It ends anyway.
	case err != nil:
		return err
	}
	return c.awaitEnd(ctx)
}

// launch starts the program and waits until it listens or has ended.
func launch(ctx context.Context, program string, e Endpoint, env environment) error {
	ready, toChild, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(program, "--socket", e.Socket)
	cmd.Dir = string(filepath.Separator)
	cmd.Env = daemonEnvironment(env)
	if err := detach(cmd, toChild); err != nil {
		toChild.Close()
		return err
	}
	err = cmd.Start()
	toChild.Close()
	switch {
	case err != nil && isBlocked(err):
		return &blockedError{e.Socket, err}
	case err != nil:
		return &startError{endpoint: e, reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	// Its end closes the pipe, so there is one thing to wait for.
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	first := make([]byte, 1)
	if n, _ := ready.Read(first); n == 1 && first[0] == readyByte && stop() {
		go func() { _ = cmd.Wait() }() // it outlives this program, or is buried here
		return nil
	}
	rest, _ := io.ReadAll(io.LimitReader(ready, maxStartOutput))
	stop()
	// Whatever it is, it is no daemon. Killed at once, it could not tell how it ended.
	kill := time.AfterFunc(lastMoment, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	kill.Stop()
	failure := &startError{endpoint: e, reason: "it did not listen within " + startTime.String()}
	if ctx.Err() == nil {
		failure.reason = fmt.Sprintf("%s ended (%v)", program, err)
	}
	failure.output = lastLines(bytes.TrimLeft(append(first, rest...), "\x00"), tailLines)
	return failure
}

// Program is the slipwayd that a client would start: an absolute path.
func Program(o Options) (string, error) { return o.program() }

// program is the daemon's program: beside this one, else SLIPWAYD, else on PATH.
func (o *Options) program() (string, error) {
	name := "slipwayd"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if beside := o.beside(name); beside != "" {
		return beside, nil
	}
	env := o.environment()
	if program := env.get(daemonVariable); program != "" {
		if !filepath.IsAbs(program) {
			return "", fmt.Errorf("%s is %q: it must be an absolute path", daemonVariable, program)
		}
		return program, nil
	}
	for _, folder := range filepath.SplitList(env.get("PATH")) {
		if program := filepath.Join(folder, name); filepath.IsAbs(folder) && isProgram(program) {
			return program, nil
		}
	}
	return "", fmt.Errorf("there is no %s beside this program or on PATH: install it there, or name it in %s", name, daemonVariable)
}

func (o *Options) beside(name string) string {
	own := o.Executable
	if own == "" {
		var err error
		if own, err = os.Executable(); err != nil {
			return ""
		}
	}
	// A link in a folder of programs leads to where both were installed.
	for _, path := range []string{own, resolved(own)} {
		if program := filepath.Join(filepath.Dir(path), name); isProgram(program) {
			return program
		}
	}
	return ""
}

func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// daemonNames are the variables, beside those of Git, that a daemon may know.
// Everything else of the caller stays out of a process that outlives it.
var daemonNames = []string{
	"USER", "LOGNAME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	"USERDOMAIN", "USERNAME", "GODEBUG", "GOTRACEBACK", "GOCOVERDIR", "GOMAXPROCS", "GOMEMLIMIT",
}

// daemonEnvironment is what a daemon inherits from the client that starts it.
func daemonEnvironment(env environment) []string {
	kept := gitwatch.RelevantEnvironment(env)
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		known := strings.HasPrefix(name, "SLIPWAY")
		for _, n := range daemonNames {
			known = known || sameVariable(name, n)
		}
		if known {
			kept = append(kept, entry)
		}
	}
	return kept
}

// BuildFlag makes slipwayd print its [Build] and exit.
const BuildFlag = "--build"

// askBuild asks a program for its build.
func askBuild(ctx context.Context, program string) (Build, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, BuildFlag)
	cmd.Env = []string{}
	output, err := cmd.Output()
	if err != nil {
		return Build{}, err
	}
	return ParseBuild(strings.TrimSpace(string(output)))
}
