//go:build unix

package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketName is the file that the daemon listens on.
const socketName = "d1.sock"

// productFolder is the folder of the socket below a folder of the user.
const productFolder = "slipway"

func sameVariable(a, b string) bool { return a == b }

func explicitEndpoint(socket string) (Endpoint, error) {
	e := at(filepath.Clean(socket), "")
	switch {
	case !filepath.IsAbs(socket):
		return e, fmt.Errorf("the socket %q must be an absolute path: correct %s or --socket", socket, socketVariable)
	case len(e.Socket) > maxSocketPath:
		return e, fmt.Errorf("the path of the socket has %d bytes and can have %d: shorten it in %s or --socket", len(e.Socket), maxSocketPath, socketVariable)
	}
	return e, nil
}

// defaultEndpoints lists the user's own folder, where its path is short enough,
// and the fallback that always is.
func defaultEndpoints(env environment) []Endpoint {
	fallback := at(filepath.Join("/tmp", productFolder+"-"+strconv.Itoa(os.Geteuid()), socketName), "/tmp")
	preferred, ok := userEndpoint(env)
	if !ok || len(preferred.Socket) > maxSocketPath {
		return []Endpoint{fallback}
	}
	return []Endpoint{preferred, fallback}
}

// prepare makes the folder of the socket where it is missing, and refuses one
// that is not safe.
func (e Endpoint) prepare() error {
	if e.base != "" {
		if _, err := os.Stat(e.base); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(e.folder), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(e.folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return e.checkFolder()
}

// couldPrepare tells whether prepare and listen would find a folder that they can
// use, without making one.
func (e Endpoint) couldPrepare() error {
	if e.base != "" {
		if _, err := os.Stat(e.base); err != nil {
			return err
		}
	}
	err := e.checkFolder()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// What is there already must be one that can be written to.
	folder := e.folder
	for errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		_, err = os.Stat(folder)
	}
	if err != nil {
		return err
	}
	return os.NewSyscallError("access", unix.Access(folder, unix.W_OK|unix.X_OK))
}

// checkFolder refuses a folder in which another user could put a socket: whoever
// listens there would be believed.
func (e Endpoint) checkFolder() error {
	info, err := os.Lstat(e.folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return &unsafeFolderError{e.folder, "is not a real directory"}
	case !ok || int(stat.Uid) != os.Geteuid():
		return &unsafeFolderError{e.folder, "belongs to another user"}
	case info.Mode().Perm()&0o022 != 0:
		return &unsafeFolderError{e.folder, "can be written by other users"}
	}
	return nil
}

// dial connects to whoever listens at the endpoint.
func (e Endpoint) dial(ctx context.Context) (net.Conn, error) {
	if err := e.checkFolder(); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", e.Socket)
}

// listen makes the socket. The caller holds the daemon's lock, so whatever
// socket stands there is left from a daemon that died.
func (e Endpoint) listen() (net.Listener, error) {
	switch info, err := os.Lstat(e.Socket); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is not a socket: remove it", e.Socket)
	default:
		if err := os.Remove(e.Socket); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", e.Socket)
	if err != nil {
		return nil, err
	}
	// Some mounts refuse it; the folder is the protection.
	_ = os.Chmod(e.Socket, 0o600)
	made, err := os.Lstat(e.Socket)
	if err != nil {
		l.Close()
		return nil, err
	}
	listener := l.(*net.UnixListener)
	listener.SetUnlinkOnClose(false) // Close does that, and looks first
	return &socketListener{UnixListener: listener, made: made}, nil
}

// socketListener is a listener that knows the socket it made.
type socketListener struct {
	*net.UnixListener
	made   fs.FileInfo
	unlink sync.Once
}

// lost tells that its socket is no longer where it was.
func (l *socketListener) lost() bool {
	now, err := os.Lstat(l.Addr().String())
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	// The number of a removed file is given to the next one, its time is not.
	return !os.SameFile(now, l.made) || !now.ModTime().Equal(l.made.ModTime())
}

// Close removes the socket, unless what stands there is another daemon's.
func (l *socketListener) Close() error {
	l.unlink.Do(func() {
		if !l.lost() {
			_ = os.Remove(l.Addr().String()) // one that is left is taken for stale by the next daemon
		}
	})
	return l.UnixListener.Close()
}

// probe tells whether the folder can hold a socket, which the daemon would find
// out too late for anyone to choose another place. The caller holds the start
// lock. Its name is no longer than the socket's.
func (e Endpoint) probe() error {
	path := e.Socket[:len(e.Socket)-1] + "~"
	_ = os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	return l.Close()
}

// stopReading ends the reading half of a connection: what the peer has sent can
// still be read, what it sends from now on fails on its side.
func stopReading(conn net.Conn) {
	if c, ok := conn.(interface{ CloseRead() error }); ok {
		_ = c.CloseRead() // fails only where the connection is gone already
	}
}

func isNobody(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR)
}

func isBlocked(err error) bool {
	for _, errno := range []error{syscall.EPERM, syscall.EACCES, syscall.EROFS, syscall.EAFNOSUPPORT} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
