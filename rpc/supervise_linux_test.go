package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestServiceManager(t *testing.T) {
	p := newPlace(t)
	folder := filepath.Join(p.dir, "run", "slipway")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	passed, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "d1.sock")})
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()
	file, err := passed.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(p.dir, "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// LISTEN_PID must be the daemon's own id, so a shell becomes the daemon.
	unit := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" --socket /nowhere`, self)
	unit.Env = append(p.env, "LISTEN_FDS=1", "NOTIFY_SOCKET="+filepath.Join(p.dir, "notify"), "WATCHDOG_USEC=20000")
	unit.Stderr = os.Stderr // of a daemon under the race detector
	unit.ExtraFiles = []*os.File{file}
	if err := unit.Start(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{stateReady, stateAlive, stateAlive} {
		if got := told(t, manager); got != want {
			t.Errorf("the manager hears %q, want %q", got, want)
		}
	}
	if who := answerer(t, p.connect()); who != fmt.Sprint("pid-", unit.Process.Pid) {
		t.Errorf("%s answers, the unit is %d", who, unit.Process.Pid)
	}
	if err := unit.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for told(t, manager) != stateStopping {
	}
	if err := unit.Wait(); err != nil {
		t.Errorf("the unit ends with %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "d1.sock")); err != nil {
		t.Errorf("the manager's socket is gone: %v", err)
	}
	passed.Close() // or the search for a daemon to end would wait for an answer
}

func told(t *testing.T, manager *net.UnixConn) string {
	t.Helper()
	text := make([]byte, 100)
	_ = manager.SetReadDeadline(time.Now().Add(testPatience))
	n, err := manager.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[:n])
}

func TestOtherUsersAreDisconnected(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	s := serve(t, &fakeRuns{})
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(s.socket)
	client := filepath.Join(dir, "client")
	if err := errors.Join(os.WriteFile(client, program, 0o700), os.Chmod(client, 0o755), os.Chmod(dir, 0o755), os.Chmod(s.socket, 0o777)); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[uint32]string{0: `{"jsonrpc"`, 12345: ""} {
		cmd := exec.Command(client, beClientFlag, s.socket)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		output, err := cmd.Output()
		if err != nil || string(output) != want {
			t.Errorf("user %d hears %q (%v)", uid, output, err)
		}
	}
}
