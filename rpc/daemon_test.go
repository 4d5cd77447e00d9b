//go:build unix

package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/schema"
)

// place is a home of its own for a daemon that is this test program.
type place struct {
	t   testing.TB
	dir string
	env []string
	bin string // the folder of slipway and slipwayd
}

func newPlace(t testing.TB, settings ...string) *place {
	dir := shortTempDir(t)
	p := &place{t: t, dir: dir, bin: filepath.Join(dir, "bin")}
	for _, name := range []string{"run", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append([]string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"SLIPWAY_SOCKET=" + filepath.Join(dir, "run", "slipway", "d1.sock"), "PATH=" + os.Getenv("PATH"),
	}, settings...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "SLIPWAYD="+self)
	t.Cleanup(p.end)
	return p
}

// end leaves no daemon behind, whatever state it is in.
func (p *place) end() {
	if pid := p.pid(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		if _, err := Stop(context.Background(), *p.options()); err != nil {
			p.t.Errorf("the daemon does not stop: %v", err)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// pid is the process of the daemon that has the lock; 0 without one.
func (p *place) pid() int {
	lock, err := tryLock(filepath.Join(p.dir, "run", "slipway", "d1.lock"))
	if !errors.Is(err, errLocked) {
		if err == nil {
			lock.release()
		}
		return 0
	}
	var i info
	text, err := os.ReadFile(filepath.Join(p.dir, "run", "slipway", "d1.json"))
	if err == nil {
		err = json.Unmarshal(text, &i)
	}
	if err != nil {
		p.t.Errorf("a daemon without an information file: %v", err)
	}
	return i.PID
}

func (p *place) options() *Options {
	return &Options{
		Environment: p.env, Executable: filepath.Join(p.bin, "slipway"), Timeout: testPatience,
		Place:  func() schema.Place { return schema.UnavailablePlace("/w") },
		Engine: func() (Runs, error) { return &fakeRuns{}, nil },
	}
}

func (p *place) connect() Call {
	p.t.Helper()
	call, mode, err := Connect(context.Background(), *p.options())
	if err != nil {
		p.t.Fatal(err)
	}
	if mode.Name != ModeDaemon {
		p.t.Fatalf("mode %+v", mode)
	}
	p.t.Cleanup(func() { call.Close() })
	return call
}

// answerer tells which process answers.
func answerer(t testing.TB, c Call) string {
	t.Helper()
	result, err := c.Call(context.Background(), "run/start", map[string]string{"root": "/w", "goal": "g"})
	if err != nil {
		t.Error(err)
		return ""
	}
	var s schema.ProtocolState
	if err := json.Unmarshal(result, &s); err != nil {
		t.Error(err)
	}
	return s.RunID
}

// codeOfError is the code of the error that every caller gets.
func codeOfError(t testing.TB, err error) schema.Code {
	t.Helper()
	var e *schema.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no error of the contract", err)
	}
	if err := e.Next.Validate(); err != nil {
		t.Errorf("next of %s: %v", e.Code, err)
	}
	return e.Code
}

func TestClientStartsTheDaemon(t *testing.T) {
	p := newPlace(t)
	first := answerer(t, p.connect())
	if first != fmt.Sprint("pid-", p.pid()) {
		t.Errorf("%s answered, the daemon is %d", first, p.pid())
	}
	if second := answerer(t, p.connect()); second != first {
		t.Errorf("%s answered, then %s", first, second)
	}
	for _, name := range []string{"d1.sock", "d1.lock", "d1.start.lock", "d1.log", "d1.json"} {
		info, err := os.Stat(filepath.Join(p.dir, "run", "slipway", name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestManyClientsStartOneDaemon(t *testing.T) {
	p := newPlace(t)
	var clients sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range 64 {
		clients.Go(func() {
			c, _, err := Connect(context.Background(), *p.options())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			who := answerer(t, c)
			mu.Lock()
			answers[who]++
			mu.Unlock()
		})
	}
	clients.Wait()
	if len(answers) != 1 || answers[fmt.Sprint("pid-", p.pid())] != 64 {
		t.Errorf("answers by %v, the daemon is %d", answers, p.pid())
	}
}

func TestKilledDaemonIsReplaced(t *testing.T) {
	p := newPlace(t)
	c := p.connect()
	before := answerer(t, c)
	if err := syscall.Kill(p.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	// The old connection finds out, and reads are safe to repeat.
	if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
		t.Error(err)
	}
	if after := answerer(t, p.connect()); after == before || after == "" {
		t.Errorf("%s answered, then %s", before, after)
	}
	if took := time.Since(began); took > time.Second && !testing.Short() {
		t.Errorf("the next command took %v", took)
	}
}

func TestDaemonWhoseSocketWasRemovedMakesRoom(t *testing.T) {
	p := newPlace(t)
	c := p.connect()
	before := answerer(t, c)
	health, err := Status(context.Background(), *p.options())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(health.Socket); err != nil {
		t.Fatal(err)
	}
	if after := answerer(t, p.connect()); after == before || after == "" {
		t.Errorf("%s answered, then %s", before, after)
	}
}

// TestEndingDaemonLeavesTheNextOneAlone: a daemon whose folder was removed ends
// while another one has its place. The system gives numbers of removed files to new
// ones, which happens sooner or later in these rounds.
func TestEndingDaemonLeavesTheNextOneAlone(t *testing.T) {
	p := newPlace(t)
	folder := filepath.Join(p.dir, "run", "slipway")
	p.connect()
	for range 5 {
		before := p.pid()
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		c := p.connect()
		answered := answerer(t, c)
		waitFor(t, func() bool { return syscall.Kill(before, 0) != nil })
		if now := answerer(t, c); now != answered {
			t.Fatalf("%s answered, then %s", answered, now)
		}
		for _, name := range []string{"d1.sock", "d1.json"} {
			if _, err := os.Lstat(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestStopAndStatus(t *testing.T) {
	p := newPlace(t)
	ctx := context.Background()
	h, err := Status(ctx, *p.options())
	if err != nil || h.Running || h.Mode != ModeDaemon || h.ModeReason == "" || h.Figures != nil {
		t.Errorf("without a daemon: %+v, %v", h, err)
	}
	if ended, err := Stop(ctx, *p.options()); err != nil || ended {
		t.Errorf("stop without a daemon: %v, %v", ended, err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "run", "slipway")); err == nil {
		t.Error("looking made a folder")
	}
	h, err = Start(ctx, *p.options())
	if err != nil || !h.Running || h.PID != p.pid() || h.ClientBuild == "" || h.Socket != filepath.Join(p.dir, "run", "slipway", "d1.sock") {
		t.Errorf("after start: %+v, %v", h, err)
	}
	if h.Goroutines == 0 || h.Connections < 1 || h.Methods["daemon/hello"].Count < 1 || len(h.Problems) > 0 || runtime.GOOS == "linux" && (h.RSSBytes == 0 || h.OpenFiles == 0) {
		t.Errorf("figures %+v, problems %v", h.Figures, h.Problems)
	}
	old := h.PID
	h, err = Restart(ctx, *p.options())
	if err != nil || h.PID == old {
		t.Errorf("after restart: %+v, %v", h, err)
	}
	if ended, err := Stop(ctx, *p.options()); err != nil || !ended || p.pid() != 0 {
		t.Errorf("after stop the daemon is %d (%v)", p.pid(), err)
	}
	for _, name := range []string{"d1.sock", "d1.json"} {
		if _, err := os.Stat(filepath.Join(p.dir, "run", "slipway", name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	log, err := LogPath(ctx, p.env)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := LogTail(log, 1); err != nil || len(lines) != 1 || !strings.Contains(lines[0], "msg=ended") {
		t.Errorf("the log ends with %q (%v)", lines, err)
	}
}

// TestPlaceThatCanNotHoldASocket: the next place takes over, and the status names
// the one that is used (daemon.md, section 2).
func TestPlaceThatCanNotHoldASocket(t *testing.T) {
	p := newPlace(t)
	p.connect()
	file := filepath.Join(p.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := at(filepath.Join(p.dir, "run", "slipway", socketName), "")
	for name, folder := range map[string]string{"missing": filepath.Join(p.dir, "missing"), "a file": file} {
		unusable := at(filepath.Join(folder, productFolder, socketName), folder)
		h, err := p.options().status(t.Context(), modeAuto, []Endpoint{unusable, used})
		if err != nil || !h.Running || h.Socket != used.Socket || h.ModeReason != "a daemon listens at "+used.Socket {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	if _, err := Stop(t.Context(), *p.options()); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"missing": filepath.Join(p.dir, "missing"), "a file": file} {
		unusable := at(filepath.Join(folder, productFolder, socketName), folder)
		h, err := p.options().status(t.Context(), modeAuto, []Endpoint{unusable, used})
		if err != nil || h.Running || h.Socket != used.Socket {
			t.Errorf("%s, without a daemon: %+v, %v", name, h, err)
		}
	}
}

func TestSignals(t *testing.T) {
	p := newPlace(t)
	p.connect()
	log := filepath.Join(p.dir, "run", "slipway", "d1.log")
	if err := os.Rename(log, log+".moved"); err != nil {
		t.Fatal(err)
	}
	// Signals are handled in order: the one that ends comes after the reopening.
	pid := p.pid()
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, log)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testPatience)
	defer cancel()
	lock, err := waitLock(ctx, filepath.Join(p.dir, "run", "slipway", "d1.lock"))
	if err != nil {
		t.Fatal(err)
	}
	lock.release()
	if lines, err := LogTail(log, 1); err != nil || len(lines) != 1 || !strings.Contains(lines[0], "msg=ended") {
		t.Errorf("the new log ends with %q (%v)", lines, err)
	}
}

// awaitFile waits for a file to be there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(testPatience); ; runtime.Gosched() {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is no %s", path)
		}
	}
}

func TestSecondDaemonEndsAtOnce(t *testing.T) {
	p := newPlace(t)
	p.connect()
	err := RunDaemon(context.Background(), DaemonOptions{
		Socket: filepath.Join(p.dir, "run", "slipway", "d1.sock"),
		Runs:   func() (Runs, error) { return &fakeRuns{}, nil },
	})
	if !errors.Is(err, errRunning) {
		t.Errorf("the second daemon says %v", err)
	}
	answerer(t, p.connect())
}

func TestStoppedDaemonIsGivenUp(t *testing.T) {
	p := newPlace(t)
	connections := map[string]Call{}
	for _, method := range []string{"run/start", "run/stop", "run/status", "run/skip", "run/list"} {
		connections[method] = p.connect()
	}
	freeze(t, p.pid())
	o := p.options()
	o.Timeout = 100 * time.Millisecond
	if _, _, err := Connect(context.Background(), *o); codeOfError(t, err) != schema.CodeDaemonUnresponsive {
		t.Errorf("connecting says %v", err)
	}
	runs, run := schema.NextInspectRuns(o.Place()), schema.NextInspectRun(o.Place(), "run-1")
	for method, test := range map[string]struct {
		params map[string]string
		fate   string
		next   schema.Next
	}{
		"run/start":  {map[string]string{"root": "/w", "goal": "g"}, "is unknown: look", runs},
		"run/stop":   {map[string]string{"root": "/w", "run": "run-1"}, "is unknown: the exact repeat", run},
		"run/status": {map[string]string{"root": "/w", "run": "run-1"}, "Nothing was changed", run},
		"run/skip":   {map[string]string{"root": "/w", "run": "no id"}, "is unknown: the exact repeat", runs},
		"run/list":   {map[string]string{"root": "/w"}, "Nothing was changed", runs},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		_, err := connections[method].Call(ctx, method, test.params)
		cancel()
		if codeOfError(t, err) != schema.CodeDaemonUnresponsive || !strings.Contains(err.Error(), test.fate) {
			t.Errorf("%s says %v", method, err)
		}
		var e *schema.Error
		if errors.As(err, &e); !reflect.DeepEqual(e.Next, test.next) {
			t.Errorf("%s: next %+v, want %+v", method, e.Next, test.next)
		}
	}
}

// freeze stops a process, and waits until all of it stands still where the system
// tells.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stat := fmt.Sprintf("/proc/%d/stat", pid)
	if _, err := os.Stat(stat); err != nil {
		return
	}
	waitFor(t, func() bool {
		text, err := os.ReadFile(stat)
		return err != nil || strings.Contains(string(text), ") T ")
	})
}

func TestFoldersOfOthersAreRefused(t *testing.T) {
	for name, make := range map[string]func(folder, dir string) error{
		"link":      func(folder, dir string) error { return os.Symlink(dir, folder) },
		"open":      func(folder, _ string) error { return errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777)) },
		"no folder": func(folder, _ string) error { return os.WriteFile(folder, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if err := make(filepath.Join(p.dir, "run", "slipway"), p.dir); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Connect(context.Background(), *p.options()); codeOfError(t, err) != schema.CodeDaemonUnavailable {
				t.Errorf("connecting says %v", err)
			}
			if name == "link" {
				os.Remove(filepath.Join(p.dir, "run", "slipway")) // for the search for a daemon to end
			}
		})
	}
}

func TestDaemonThatCanNotStart(t *testing.T) {
	p := newPlace(t, "SLIPWAY_TEST_FAIL=1")
	_, _, err := Connect(context.Background(), *p.options())
	if codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Fatal(err)
	}
	var e *schema.Error
	errors.As(err, &e)
	if d, ok := e.Details.(schema.DaemonDetails); !ok || strings.Join(d.LogTail, "\n") != "no luck today" || !strings.Contains(e.Message, "exit status 7") {
		t.Errorf("%s, details %+v", e.Message, e.Details)
	}
	p.env = append(p.env, "SLIPWAYD="+filepath.Join(p.dir, "nothing"))
	if _, _, err := Connect(context.Background(), *p.options()); codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Error(err)
	}
}

func TestDaemonInheritsNoSecrets(t *testing.T) {
	got := daemonEnvironment(environment{
		"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "NOTIFY_SOCKET=/n", "LISTEN_FDS=1", "SLIPWAY_SOCKET=/s", "GH_TOKEN=x",
		"XDG_RUNTIME_DIR=/run", "SSH_AUTH_SOCK=/a", "LC_ALL=C", "GIT_DIR=/g", "HOME=/h", "broken",
	})
	slices.Sort(got)
	if want := []string{"HOME=/h", "LC_ALL=C", "PATH=/bin", "SLIPWAY_SOCKET=/s", "XDG_RUNTIME_DIR=/run"}; !slices.Equal(got, want) {
		t.Errorf("a daemon inherits %v", got)
	}
}

func TestSilentProgramIsNoDaemon(t *testing.T) {
	p := newPlace(t)
	script := filepath.Join(p.dir, "silent")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "SLIPWAYD="+script)
	if _, _, err := Connect(context.Background(), *p.options()); codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Error(err)
	}
}

func TestModes(t *testing.T) {
	// Nobody may make a folder there, root included.
	const forbidden = "SLIPWAY_SOCKET=/sys/slipway/d1.sock"
	if _, err := os.Stat("/sys"); err != nil {
		t.Skip("there is no forbidden folder")
	}
	for name, c := range map[string]struct {
		settings []string
		mode     string
		code     schema.Code
	}{
		"off":                {[]string{"SLIPWAY_DAEMON=off"}, ModeEmbedded, ""},
		"forbidden":          {[]string{forbidden}, ModeEmbedded, ""},
		"forbidden, auto":    {[]string{forbidden, "SLIPWAY_DAEMON=auto"}, ModeEmbedded, ""},
		"forbidden, require": {[]string{forbidden, "SLIPWAY_DAEMON=require"}, "", schema.CodeDaemonUnavailable},
		"unknown":            {[]string{"SLIPWAY_DAEMON=maybe"}, "", schema.CodeInvalidUsage},
		"relative socket":    {[]string{"SLIPWAY_SOCKET=s"}, "", schema.CodeDaemonUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, c.settings...)
			call, mode, err := Connect(context.Background(), *p.options())
			if c.code != "" {
				if codeOfError(t, err) != c.code {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if mode.Name != c.mode || mode.Reason == "" {
				t.Errorf("mode %+v", mode)
			}
			if who := answerer(t, call); who != fmt.Sprint("pid-", os.Getpid()) {
				t.Errorf("%s answered", who)
			}
			if _, err := call.Call(context.Background(), "daemon/health", nil); codeOfError(t, err) != schema.CodeDaemonUnavailable {
				t.Error(err)
			}
			if err := call.Close(); err != nil || p.pid() != 0 {
				t.Errorf("close: %v, daemon %d", err, p.pid())
			}
		})
	}
}

func TestAnotherPlaceWhereTheFirstCanHoldNoSocket(t *testing.T) {
	p := newPlace(t)
	gone := filepath.Join(p.dir, "gone")
	k := &connector{options: p.options()}
	c, err := k.start(context.Background(), []Endpoint{
		at(filepath.Join(gone, "slipway", "d1.sock"), gone),
		at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	if p.pid() == 0 {
		t.Error("there is no daemon at the second place")
	}
}

// install copies this program as the slipwayd beside slipway, with a build id of
// its own, made at the given hour.
func (p *place) install(build byte, hour int) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		p.t.Fatal(err)
	}
	id := []byte(OwnBuild().Digest)
	other := append([]byte{build}, id[1:]...)
	program = append(bytes.ReplaceAll(program[:identityBytes], id, other), program[identityBytes:]...)
	path := filepath.Join(p.bin, "slipwayd")
	when := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
	// Put in place at once, as an upgrade does.
	if err := errors.Join(os.WriteFile(path+".new", program, 0o700), os.Chtimes(path+".new", when, when), os.Rename(path+".new", path)); err != nil {
		p.t.Fatal(err)
	}
}

func TestUpgrade(t *testing.T) {
	p := newPlace(t)
	p.install('A', 1)
	held := p.connect()
	first := answerer(t, held)
	p.install('B', 2)
	second := answerer(t, p.connect())
	if second == first {
		t.Fatal("the old build answered a newer client")
	}
	for range 3 {
		if again := answerer(t, p.connect()); again != second {
			t.Fatalf("%s answered, then %s of the same build", second, again)
		}
	}
	if who := answerer(t, held); who != second {
		t.Errorf("on the old connection %s answered", who)
	}
	p.install('A', 1)
	if who := answerer(t, p.connect()); who != second {
		t.Errorf("an older client replaced the newer daemon by %s", who)
	}
}

func TestManyClientsUpgradeOnce(t *testing.T) {
	p := newPlace(t)
	p.install('A', 1)
	answerer(t, p.connect())
	p.install('B', 2)
	var clients sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]bool{}
	for range 16 {
		clients.Go(func() {
			c, _, err := Connect(context.Background(), *p.options())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			who := answerer(t, c)
			mu.Lock()
			answers[who] = true
			mu.Unlock()
		})
	}
	clients.Wait()
	if len(answers) != 1 {
		t.Errorf("answers by %v", answers)
	}
}

func TestDrainingDaemonIsWaitedFor(t *testing.T) {
	p := newPlace(t)
	e := at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), "")
	if err := e.prepare(); err != nil {
		t.Fatal(err)
	}
	lock, err := tryLock(e.lockPath())
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan error)
	go func() {
		c, _, err := Connect(context.Background(), *p.options())
		if err == nil {
			c.Close()
		}
		connected <- err
	}()
	// The client holds the start lock while it waits.
	for deadline := time.Now().Add(testPatience); ; runtime.Gosched() {
		start, err := tryLock(e.startLockPath())
		if errors.Is(err, errLocked) {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the client does not wait: %v", err)
		}
		start.release()
	}
	lock.release()
	if err := <-connected; err != nil {
		t.Error(err)
	}
}

// deaf is a server that takes one message after the greeting and ends.
func deaf(t *testing.T, p *place) net.Listener {
	e := at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), "")
	if err := e.prepare(); err != nil {
		t.Fatal(err)
	}
	l, err := e.listen()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		s := newFramed(conn, maxMessage)
		_, _ = s.read()
		_ = s.write(answer{protocolVersion, json.RawMessage("1"), helloAnswer{Build: OwnBuild().String()}})
		_, _ = s.read()
		l.Close()
	}()
	return l
}

func TestUnansweredMutationIsNotRepeated(t *testing.T) {
	p := newPlace(t)
	l := deaf(t, p)
	defer l.Close()
	c, _, err := Connect(context.Background(), *p.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Call(context.Background(), "run/start", map[string]string{"root": "/w", "goal": "g"})
	if codeOfError(t, err) != schema.CodeDaemonUnresponsive || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("the call says %v", err)
	}
	if p.pid() != 0 {
		t.Error("a daemon was started for a repeat")
	}
}

func TestErrorsCrossTheSocket(t *testing.T) {
	p := newPlace(t)
	for name, params := range map[string]map[string]any{
		"bad params": {"root": "relative", "run": "r"},
	} {
		if _, err := p.connect().Call(context.Background(), "run/status", params); codeOfError(t, err) != schema.CodeRuntimeError {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.connect().Call(context.Background(), "run/fly", nil); codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Errorf("unknown method: %v", err)
	}
	place := schema.UnavailablePlace("/w")
	want := schema.Runtime(schema.CodeRunNotActive, schema.NextNone(place), schema.RunDetails{RunID: "r", State: schema.Ended}, "<ended>")
	got := failureOf(asError(context.Background(), want))
	wanted, _ := schema.Marshal(want)
	if text, err := schema.Marshal(got); err != nil || string(text) != string(wanted) {
		t.Errorf("%s became %s (%v)", wanted, text, err)
	}
}

func BenchmarkWarmCommand(b *testing.B) {
	p := newPlace(b)
	p.connect()
	for b.Loop() {
		c, _, err := Connect(context.Background(), *p.options())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func BenchmarkCall(b *testing.B) {
	p := newPlace(b)
	c := p.connect()
	for b.Loop() {
		if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
			b.Fatal(err)
		}
	}
}
