package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is a pseudo-terminal with a program in it.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	slave  *os.File
	before *term.State // of the terminal without the program

	mu     sync.Mutex
	output bytes.Buffer
}

// inTerminal starts slipway in a terminal of its own.
func inTerminal(t *testing.T, env []string, dir string, args ...string) *terminal {
	t.Helper()
	return inTerminalOf(t, 80, 24, env, dir, args...)
}

// inTerminalOf is inTerminal with a size; a terminal may not know its own.
func inTerminalOf(t *testing.T, columns, rows uint16, env []string, dir string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, master: master, slave: slave}
	p.resize(columns, rows)
	if p.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(program("slipway"), args...)
	p.cmd.Env, p.cmd.Dir = append(env, "TERM=xterm"), dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			p.mu.Lock()
			p.output.Write(buffer[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		slave.Close()
		master.Close()
	})
	return p
}

func (p *terminal) resize(columns, rows uint16) {
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// await waits until the program has written something.
func (p *terminal) await(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(p.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%q does not appear in %q", text, p.text())
		}
	}
}

// end waits for the program and checks that the terminal is as it was.
func (p *terminal) end() {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("watch ends with %v: %q", err, p.text())
	}
	p.await(leaveScreen)
	if after, err := term.GetState(int(p.slave.Fd())); err != nil || *after != *p.before {
		p.t.Errorf("the terminal is left in another state (%v)", err)
	}
}

func TestWatchInATerminal(t *testing.T) {
	root := shortTempDir(t)
	env := privateEnvironment(t)
	makeRepository(t, env, root)
	start := func(goal string) {
		cmd := exec.Command(program("slipway"), "run", goal)
		cmd.Env, cmd.Dir = env, root
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	start("first goal")
	for name, leave := range map[string]func(*terminal){
		"q":          func(p *terminal) { _, _ = io.WriteString(p.master, "q") },
		"interrupt":  func(p *terminal) { _, _ = p.master.Write([]byte{3}) },
		"terminated": func(p *terminal) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			p := inTerminal(t, env, root, "watch")
			p.await("first goal")
			start("a goal for " + name)
			p.await("a goal for " + name)
			p.resize(30, 5)
			p.await(home) // and goes on
			leave(p)
			p.end()
		})
	}
}

func TestWatchAndLogGoOnWithTheNextDaemon(t *testing.T) {
	root := shortTempDir(t)
	env := privateEnvironment(t)
	makeRepository(t, env, root)
	slipway := func(args ...string) string {
		cmd := exec.Command(program("slipway"), args...)
		cmd.Env, cmd.Dir = env, root
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, output)
		}
		return string(output)
	}
	run := strings.Fields(slipway("run", "a goal"))[1]
	watch := inTerminal(t, append(env, "NO_COLOR=1"), root, "watch")
	watch.await("active")
	log := inTerminal(t, env, root, "log", "--follow", run)
	log.await("   1 ")
	for i, operation := range []string{"stop", "resume", "stop"} {
		slipway("daemon", "restart")
		if operation == "resume" {
			slipway("protocol", "resume", run)
		} else {
			slipway("stop", run)
		}
		log.await(fmt.Sprintf("%4d ", i+2))
		watch.await(map[string]string{"stop": "stopped", "resume": "active"}[operation])
	}
	for sequence := 1; sequence <= 4; sequence++ {
		if n := strings.Count(log.text(), fmt.Sprintf("\n%4d  ", sequence)) + strings.Count(log.text()[:6], fmt.Sprintf("%4d  ", sequence)); n != 1 {
			t.Errorf("event %d is there %d times in %q", sequence, n, log.text())
		}
	}
	if strings.Contains(watch.text(), "\x1b[32m") {
		t.Error("colour in spite of NO_COLOR")
	}
	_, _ = io.WriteString(watch.master, "q")
	if err := watch.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
