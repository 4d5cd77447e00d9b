package rpc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Variables that decide about the way to the daemon.
const (
	socketVariable = "SLIPWAY_SOCKET" // where the daemon listens
	modeVariable   = "SLIPWAY_DAEMON" // auto, require, off
	daemonVariable = "SLIPWAYD"       // the program to start
)

// Endpoint is a place where a daemon may listen, with the files that belong to
// it (daemon.md, section 2).
type Endpoint struct {
	Socket string // absolute path; on Windows the name of a pipe
	folder string // where the files beside the socket are
	stem   string // "d1": what their names begin with
	base   string // must exist before the folder is made; "" = parents are made too
}

// The files beside the socket.
func (e Endpoint) lockPath() string      { return e.beside(".lock") }
func (e Endpoint) startLockPath() string { return e.beside(".start.lock") }
func (e Endpoint) infoPath() string      { return e.beside(".json") }

// LogPath is the daemon's log.
func (e Endpoint) LogPath() string { return e.beside(".log") }

func (e Endpoint) beside(suffix string) string { return filepath.Join(e.folder, e.stem+suffix) }

// at is the endpoint whose socket has this path.
func at(socket, base string) Endpoint {
	stem := strings.TrimSuffix(filepath.Base(socket), ".sock")
	return Endpoint{Socket: socket, folder: filepath.Dir(socket), stem: stem, base: base}
}

// endpoints lists where a daemon may listen, the preferred place first. Client
// and daemon go through the same list by the same rules: the first place that
// can hold a socket is the one.
func endpoints(variables environment) ([]Endpoint, error) {
	if explicit := variables.get(socketVariable); explicit != "" {
		e, err := explicitEndpoint(explicit)
		return []Endpoint{e}, err
	}
	places := defaultEndpoints(variables)
	if len(places) == 0 {
		return nil, fmt.Errorf("the system does not tell which user this is: name the daemon's place in %s", socketVariable)
	}
	return places, nil
}

// unsafeFolderError says that the folder of the socket is not the user's own.
type unsafeFolderError struct{ folder, reason string }

func (e *unsafeFolderError) Error() string {
	return fmt.Sprintf("the folder %s %s: remove it, or name another place in %s", e.folder, e.reason, socketVariable)
}

// reach says why a socket could not be reached or made.
type reach int

const (
	reachFailed  reach = iota // for a reason without a rule of its own
	reachNobody               // nobody listens there
	reachBlocked              // not allowed here: a sandbox, a read-only place
	reachUnsafe               // the folder is refused
)

// reachOf classifies the error of a system call about a socket, its folder or a
// file beside it. The class decides at once; nothing is tried twice.
func reachOf(err error) reach {
	var unsafe *unsafeFolderError
	switch {
	case errors.As(err, &unsafe):
		return reachUnsafe
	case isBlocked(err):
		return reachBlocked
	case isNobody(err), errors.Is(err, fs.ErrNotExist):
		return reachNobody
	}
	return reachFailed
}

// environment is a list of "NAME=value" entries.
type environment []string

// get is the value of a variable; the last entry counts, "" is unset.
func (env environment) get(name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(env[i], "="); ok && sameVariable(key, name) {
			return value
		}
	}
	return ""
}

// absolute is the value of a variable that only counts as an absolute path.
func (env environment) absolute(name string) string {
	if value := env.get(name); filepath.IsAbs(value) {
		return value
	}
	return ""
}

// orOwn is env, or the variables of this process where there is none.
func orOwn(env []string) environment {
	if env == nil {
		return environment(os.Environ())
	}
	return environment(env)
}

// modeOf is the value of SLIPWAY_DAEMON.
func modeOf(env environment) (string, error) {
	mode := cmp.Or(env.get(modeVariable), modeAuto)
	switch mode {
	case modeAuto, modeRequire, modeOff:
		return mode, nil
	}
	return "", fmt.Errorf("%s is %q: it can be %s, %s or %s", modeVariable, mode, modeAuto, modeRequire, modeOff)
}

// The values of SLIPWAY_DAEMON.
const (
	modeAuto    = "auto"
	modeRequire = "require"
	modeOff     = "off"
)
