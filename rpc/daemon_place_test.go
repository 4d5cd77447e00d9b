//go:build unix

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// answerers tells which processes answer so many clients at once, and how many each.
func (p *place) answerers(clients int) map[string]int {
	var working sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range clients {
		working.Go(func() {
			c, _, err := Connect(context.Background(), *p.options())
			if err != nil {
				p.t.Error(err)
				return
			}
			defer c.Close()
			who := answerer(p.t, c)
			mu.Lock()
			defer mu.Unlock()
			answers[who]++
		})
	}
	working.Wait()
	return answers
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
