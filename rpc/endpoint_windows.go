package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipePrefix begins the name of every local pipe.
const pipePrefix = `\\.\pipe\`

func sameVariable(a, b string) bool { return strings.EqualFold(a, b) }

func explicitEndpoint(pipe string) (Endpoint, error) {
	name, ok := strings.CutPrefix(pipe, pipePrefix)
	if !ok || name == "" {
		return Endpoint{}, fmt.Errorf(`the socket %q must be the name of a pipe, %sNAME: correct %s or --socket`, pipe, pipePrefix, socketVariable)
	}
	return pipeEndpoint(os.Environ(), pipe, strings.ReplaceAll(name, `\`, "-")), nil
}

func defaultEndpoints(env environment) []Endpoint {
	sid, err := userSID()
	if err != nil {
		return nil
	}
	return []Endpoint{pipeEndpoint(env, pipePrefix+"slipway-"+sid+"-d1", "d1")}
}

// pipeEndpoint keeps the files of a pipe in the user's local application data,
// which other users can not write to by default.
func pipeEndpoint(env environment, pipe, stem string) Endpoint {
	folder := filepath.Join(env.get("LOCALAPPDATA"), "slipway")
	return Endpoint{Socket: pipe, folder: folder, stem: stem}
}

func userSID() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", err
	}
	return user.User.Sid.String(), nil
}

func (e Endpoint) prepare() error {
	if !filepath.IsAbs(e.folder) {
		return errors.New("LOCALAPPDATA is not set: it names the folder for the daemon's lock and log")
	}
	return os.MkdirAll(e.folder, 0o700)
}

// couldPrepare tells whether prepare would succeed, without making a folder.
func (e Endpoint) couldPrepare() error {
	_, err := os.Stat(filepath.Dir(e.folder))
	return err
}

func (e Endpoint) dial(ctx context.Context) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, e.Socket)
	if err != nil {
		return nil, err
	}
	if err := e.checkOwner(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// checkOwner refuses a pipe of another user: anybody may make one of this name where
// no daemon runs, and would be believed.
func (e Endpoint) checkOwner(conn net.Conn) error {
	pipe, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return errors.New("the pipe does not tell whose it is")
	}
	sd, err := windows.GetSecurityInfo(windows.Handle(pipe.Fd()), windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return err
	}
	own, err := userSID()
	if err == nil && owner.String() != own {
		err = &unsafeFolderError{e.Socket, "belongs to another user"}
	}
	return err
}

// listen makes the pipe. It belongs to the user, also where an elevated process makes
// it, and only the user's SID may open it.
func (e Endpoint) listen() (net.Listener, error) {
	sid, err := userSID()
	if err != nil {
		return nil, err
	}
	return winio.ListenPipe(e.Socket, &winio.PipeConfig{SecurityDescriptor: "O:" + sid + "D:P(A;;GA;;;" + sid + ")"})
}

// probe has nothing to find out: pipes need no folder.
func (e Endpoint) probe() error { return nil }

// stopReading makes the connection's reader give up: a pipe has no halves.
func stopReading(conn net.Conn) { _ = conn.SetReadDeadline(time.Unix(1, 0)) }

func isNobody(err error) bool {
	return errors.Is(err, windows.ERROR_FILE_NOT_FOUND)
}

func isBlocked(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
