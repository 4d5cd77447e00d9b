//go:build unix

// Package clients tests the example clients of the guide docs/clients.md against
// the real daemon.
package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// house is a repository with a home and a daemon of its own.
type house struct {
	t        *testing.T
	root     string
	programs string
	env      []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, root: filepath.Join(dir, "repo"), programs: filepath.Join(dir, "bin")}
	for _, folder := range []string{h.root, h.programs, filepath.Join(dir, "run")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", h.programs+"/", "slipway/cmd/slipway", "slipway/cmd/slipwayd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	h.env = []string{
		"PATH=" + h.programs + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"GIT_CONFIG_NOSYSTEM=1", "SLIPWAY=" + filepath.Join(h.programs, "slipway"),
	}
	t.Cleanup(func() { h.slipway("daemon", "stop") })
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		h.run("git", append([]string{"-C", h.root}, args...)...)
	}
	return h
}

func (h *house) run(name string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = h.env, h.root
	output, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(output)
}

func (h *house) slipway(args ...string) string {
	h.t.Helper()
	return h.run(filepath.Join(h.programs, "slipway"), args...)
}

// killDaemon ends the daemon without a warning.
func (h *house) killDaemon() {
	h.t.Helper()
	var health struct{ PID int }
	if err := json.Unmarshal([]byte(h.slipway("daemon", "status", "--json")), &health); err != nil {
		h.t.Fatal(err)
	}
	if health.PID != 0 {
		_ = syscall.Kill(health.PID, syscall.SIGKILL) // may have ended meanwhile
	}
}

// line is what the clients print.
type line struct {
	Sequence int64
	State    string
	Run      string
	Actions  int
}

// drive runs a client to its end while the daemon is restarted and killed, and
// checks that it heard of every event exactly once.
func (h *house) drive(dir, name string, args ...string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = h.env, dir
	var said strings.Builder
	cmd.Stderr = &said
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	var last line
	events := int64(0)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		last = line{}
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			h.t.Fatalf("%q: %v", lines.Text(), err)
		}
		if last.Run != "" {
			continue
		}
		if events++; last.Sequence != events {
			h.t.Fatalf("event %d comes after %d", last.Sequence, events-1)
		}
		switch events {
		case 3:
			h.slipway("daemon", "restart")
		case 6, 8:
			h.killDaemon()
		}
	}
	if err := cmd.Wait(); err != nil {
		h.t.Fatalf("%s ends with %v after %d events:\n%s", name, err, events, said.String())
	}
	var log struct{ Events []struct{ Sequence int64 } }
	text := strings.Split(strings.TrimSpace(h.slipway("log", "--json", last.Run)), "\n")
	for _, entry := range text {
		var e struct{ Sequence int64 }
		if err := json.Unmarshal([]byte(entry), &e); err != nil {
			h.t.Fatal(err)
		}
		log.Events = append(log.Events, e)
	}
	if last.State != "ended" || last.Actions < 12 || int64(len(log.Events)) != events {
		h.t.Errorf("the client ends with %+v after %d events; the log has %d", last, events, len(log.Events))
	}
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the client was not run: %v", err)
		}
	}
}

func TestPythonClient(t *testing.T) {
	need(t, "python3")
	h := newHouse(t)
	script, err := filepath.Abs("python/slipway_client.py")
	if err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PYTHONDONTWRITEBYTECODE=1")
	h.drive(h.root, "python3", script, h.root, "write with python")
}

func TestNodeClient(t *testing.T) {
	need(t, "node", "npm")
	h := newHouse(t)
	folder := t.TempDir()
	for _, name := range []string{"client.js", "package.json", "package-lock.json"} {
		content, err := os.ReadFile(filepath.Join("node", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1", "--cache="+filepath.Join(folder, "cache"))
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		var exit *exec.ExitError
		if os.Getenv("CI") == "" && errors.As(err, &exit) {
			t.Skipf("the client was not run: npm ci can not get its library: %s", output)
		}
		t.Fatalf("npm ci: %v\n%s", err, output)
	}
	h.drive(folder, "node", filepath.Join(folder, "client.js"), h.root, "write with node")
}
