//go:build unix

package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestPlacesOfTheSocket(t *testing.T) {
	fallback := fmt.Sprintf("/tmp/slipway-%d/d1.sock", os.Geteuid())
	long := "/" + strings.Repeat("x", maxSocketPath)
	home := "/home/u/.local/state/slipway/d1.sock"
	if runtime.GOOS == "darwin" {
		home = "/home/u/Library/Application Support/slipway/d1.sock"
	}
	for name, c := range map[string]struct {
		env  []string
		want []string // nil = refused
		xdg  bool     // not on macOS
	}{
		"explicit":          {env: []string{"SLIPWAY_SOCKET=/a/../b/s", "HOME=/home/u"}, want: []string{"/b/s"}},
		"explicit relative": {env: []string{"SLIPWAY_SOCKET=s"}},
		"explicit long":     {env: []string{"SLIPWAY_SOCKET=" + long}},
		"explicit empty":    {env: []string{"SLIPWAY_SOCKET=", "HOME=/home/u"}, want: []string{home, fallback}},
		"home":              {env: []string{"HOME=/home/u", "TMPDIR=/elsewhere"}, want: []string{home, fallback}},
		"last entry":        {env: []string{"HOME=/a", "HOME=/home/u"}, want: []string{home, fallback}},
		"long home":         {env: []string{"HOME=" + long}, want: []string{fallback}},
		"nothing":           {want: []string{fallback}, env: []string{}},
		"runtime":           {env: []string{"XDG_RUNTIME_DIR=/run/u", "XDG_STATE_HOME=/s"}, want: []string{"/run/u/slipway/d1.sock", fallback}, xdg: true},
		"relative runtime":  {env: []string{"XDG_RUNTIME_DIR=run", "XDG_STATE_HOME=/s"}, want: []string{"/s/slipway/d1.sock", fallback}, xdg: true},
		"long runtime":      {env: []string{"XDG_RUNTIME_DIR=" + long, "HOME=/home/u"}, want: []string{fallback}, xdg: true},
	} {
		if c.xdg && runtime.GOOS == "darwin" {
			continue
		}
		places, err := endpoints(c.env)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		var got []string
		for _, e := range places {
			got = append(got, e.Socket)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLongestSocketPathWorks(t *testing.T) {
	dir := shortTempDir(t)
	socket := filepath.Join(dir, strings.Repeat("s", maxSocketPath-len(dir)-1))
	e, err := explicitEndpoint(socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.probe(); err != nil {
		t.Fatal(err)
	}
	l, err := e.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := e.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestFilesBesideTheSocket(t *testing.T) {
	for socket, want := range map[string]string{
		"/r/slipway/d1.sock": "/r/slipway/d1.lock /r/slipway/d1.start.lock /r/slipway/d1.log /r/slipway/d1.json",
		"/r/other":           "/r/other.lock /r/other.start.lock /r/other.log /r/other.json",
	} {
		e := at(socket, "")
		if got := strings.Join([]string{e.lockPath(), e.startLockPath(), e.LogPath(), e.infoPath()}, " "); got != want {
			t.Errorf("%s: %s", socket, got)
		}
	}
}

func TestFolderOfTheSocket(t *testing.T) {
	dir := shortTempDir(t)
	var unsafe *unsafeFolderError
	place := func(name string) Endpoint { return at(filepath.Join(dir, name, "d1.sock"), "") }

	if err := place("new/deep").prepare(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "new/deep")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder was made with %v (%v)", info.Mode(), err)
	}
	for name, mode := range map[string]os.FileMode{"group": 0o770, "others": 0o702, "readable": 0o755} {
		folder := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, mode)); err != nil {
			t.Fatal(err)
		}
		if err := place(name).prepare(); errors.As(err, &unsafe) != (name != "readable") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "new"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "file"} {
		if err := place(name).prepare(); !errors.As(err, &unsafe) || reachOf(err) != reachUnsafe {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "foreign"), 0o700), os.Chown(filepath.Join(dir, "foreign"), 12345, -1)); err != nil {
			t.Fatal(err)
		}
		if err := place("foreign").prepare(); !errors.As(err, &unsafe) {
			t.Errorf("foreign: %v", err)
		}
	}
	missing := at(filepath.Join(dir, "gone", "slipway", "d1.sock"), filepath.Join(dir, "gone"))
	if err := missing.prepare(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing runtime folder: %v", err)
	}
}

func TestOnlyAStaleSocketIsRemoved(t *testing.T) {
	dir := shortTempDir(t)
	e := at(filepath.Join(dir, "d1.sock"), "")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: e.Socket})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if _, err := e.dial(t.Context()); reachOf(err) != reachNobody {
		t.Errorf("a stale socket: %v", err)
	}
	l, err := e.listen()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := os.WriteFile(e.Socket, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.listen(); err == nil {
		t.Error("a file was taken for a socket")
	}
	if text, err := os.ReadFile(e.Socket); string(text) != "mine" {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestReachOfErrors(t *testing.T) {
	for errno, want := range map[syscall.Errno]reach{
		syscall.EPERM: reachBlocked, syscall.EACCES: reachBlocked, syscall.EROFS: reachBlocked, syscall.EAFNOSUPPORT: reachBlocked,
		syscall.ENOENT: reachNobody, syscall.ECONNREFUSED: reachNobody, syscall.ENOTDIR: reachNobody,
		syscall.EMFILE: reachFailed, syscall.EAGAIN: reachFailed,
	} {
		err := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", errno)}
		if got := reachOf(err); got != want {
			t.Errorf("%v: %d, want %d", errno, got, want)
		}
	}
}
