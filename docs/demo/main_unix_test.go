//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsLeft ends the demo in every way: its folder and its daemon go with it.
func TestNothingIsLeft(t *testing.T) {
	base, err := os.MkdirTemp("", "demo-") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	bin := filepath.Join(base, "bin")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", bin+"/", "slipway/cmd/slipway", "slipway/cmd/slipwayd", "slipway/docs/demo")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for name, end := range map[string]func(*demo){
		"at its end":          func(d *demo) { d.rest() },
		"the reader has gone": func(d *demo) { d.stdout.Close() },
		"terminated": func(d *demo) {
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			d.rest()
		},
		"hung up": func(d *demo) {
			_ = d.cmd.Process.Signal(syscall.SIGHUP)
			d.rest()
		},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := filepath.Join(base, "t")
			if err := os.Mkdir(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			d := startDemo(t, bin, tmp)
			pid := d.daemonPID()
			end(d)
			if err := d.cmd.Wait(); (err == nil) != (name == "at its end") {
				t.Errorf("the demo ends with %v", err)
			}
			if err := os.Remove(tmp); err != nil {
				t.Errorf("something is left: %v", err)
			}
			if alive := (&host{daemon: pid}).alive(); alive {
				t.Errorf("the daemon %d is left", pid)
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
		})
	}
}

// demo is a demo that runs.
type demo struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout io.ReadCloser
	lines  *bufio.Scanner
}

func startDemo(t *testing.T, bin, tmp string) *demo {
	t.Helper()
	d := &demo{t: t, cmd: exec.CommandContext(t.Context(), filepath.Join(bin, "demo"), bin)}
	d.cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	d.cmd.WaitDelay = time.Minute
	var err error
	if d.stdout, err = d.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.lines = bufio.NewScanner(d.stdout)
	return d
}

// daemonPID reads until the demo says which process its daemon is.
func (d *demo) daemonPID() int {
	d.t.Helper()
	for d.lines.Scan() {
		if _, pid, ok := strings.Cut(d.lines.Text(), "the daemon is process "); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(pid, "."))
			if err != nil {
				d.t.Fatal(err)
			}
			return n
		}
	}
	d.t.Fatalf("the demo names no daemon: %v", d.lines.Err())
	return 0
}

// rest reads to the end.
func (d *demo) rest() {
	for d.lines.Scan() {
	}
}
