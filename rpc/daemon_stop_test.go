//go:build unix

package rpc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/schema"
)

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
	where, err := Place(ctx, p.env)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := LogTail(where.LogPath(), 1); err != nil || len(lines) != 1 || !strings.Contains(lines[0], "msg=ended") {
		t.Errorf("the log ends with %q (%v)", lines, err)
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
