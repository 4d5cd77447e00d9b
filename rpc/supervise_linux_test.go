package rpc

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slipway/deploy"
)

// listen is what a service manager does with a socket unit.
func (p *place) listen() (*net.UnixListener, *os.File) {
	p.t.Helper()
	folder := filepath.Join(p.dir, "run", "slipway")
	if err := os.Mkdir(folder, 0o700); err != nil {
		p.t.Fatal(err)
	}
	passed, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "d1.sock")})
	if err != nil {
		p.t.Fatal(err)
	}
	file, err := passed.File()
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { passed.Close(); file.Close() })
	return passed, file
}

// unit is a service that gets the socket passed.
func (p *place) unit(program string, socket *os.File, settings ...string) *exec.Cmd {
	// LISTEN_PID must be the daemon's own id, so a shell becomes the daemon.
	unit := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" --socket /nowhere`, program)
	unit.Env = append(slices.Clone(p.env), append(settings, "LISTEN_FDS=1")...)
	unit.Stderr = os.Stderr // of a daemon under the race detector
	unit.ExtraFiles = []*os.File{socket}
	return unit
}

func TestServiceManager(t *testing.T) {
	p := newPlace(t)
	passed, file := p.listen()
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(p.dir, "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := p.unit(self, file, "NOTIFY_SOCKET="+filepath.Join(p.dir, "notify"), "WATCHDOG_USEC=20000")
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
	if _, err := os.Stat(filepath.Join(p.dir, "run", "slipway", "d1.sock")); err != nil {
		t.Errorf("the manager's socket is gone: %v", err)
	}
	passed.Close() // or the search for a daemon to end would wait for an answer
}

// TestOlderService: the unit names an older slipwayd than the client would start. It
// comes back when it is replaced, so it is left alone then, and health says so.
func TestOlderService(t *testing.T) {
	p := newPlace(t)
	p.install('A', 1)
	older := filepath.Join(p.dir, "older")
	if err := os.Rename(filepath.Join(p.bin, "slipwayd"), older); err != nil {
		t.Fatal(err)
	}
	p.install('B', 2)
	passed, file := p.listen()
	var starts atomic.Int32
	var ending atomic.Bool
	managed := make(chan struct{})
	go func() {
		defer close(managed)
		for !ending.Load() {
			starts.Add(1)
			if err := p.unit(older, file).Run(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	who := map[string]bool{}
	for range 6 {
		who[answerer(t, p.connect())] = true
	}
	if n := starts.Load(); n != 2 || len(who) != 1 {
		t.Errorf("%d starts of the service, answers by %v", n, who)
	}
	h, err := Status(t.Context(), *p.options())
	if err != nil || len(h.Problems) != 1 || h.Problems[0].Code != problemOlderService {
		t.Fatalf("health: %+v, %v", h, err)
	}
	for _, c := range Checks(h, nil) {
		if warns := c.Status == deploy.StatusWarning; warns != (c.Code == "daemon_build") && c.Code != "watch_limit" {
			t.Errorf("doctor: %+v", c)
		}
	}

	p.install('C', 3) // another build is worth another attempt
	answerer(t, p.connect())
	if n := starts.Load(); n != 3 {
		t.Errorf("%d starts of the service", n)
	}

	ending.Store(true) // the service is uninstalled
	passed.Close()
	if err := syscall.Kill(p.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-managed
	file.Close()
	answerer(t, p.connect())
	if h, err := Status(t.Context(), *p.options()); err != nil || len(h.Problems) > 0 {
		t.Errorf("without the service: %+v, %v", h, err)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "run", "slipway", "d1.kept")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note is still there: %v", err)
	}
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
