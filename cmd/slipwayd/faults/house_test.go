//go:build unix

// Package faults makes the faults of daemon.md, section 7, happen to the real
// programs: signals, small and read-only mounts, sandboxes, garbage at the socket.
// What has no program of its own is tested where it lives; the list is in
// docs/faults.md.
//
// What needs minutes or root runs only with SLIPWAY_SOAK=1 (make soak).
package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/schema"
)

// soakVariable lets the long tests run.
const soakVariable = "SLIPWAY_SOAK"

func soaking() bool { return os.Getenv(soakVariable) != "" }

var programs string // the folder of the built programs

func TestMain(m *testing.M) {
	if role := os.Getenv(denyVariable); role != "" {
		enterSandbox(strings.Split(role, ","))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	build := exec.Command("go", "build", "-o", dir+"/", "slipway/cmd/slipway", "slipway/cmd/slipwayd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// house is a repository with a home, a runtime folder and a daemon of its own.
type house struct {
	t    testing.TB
	dir  string
	root string
	env  []string
}

func newHouse(t testing.TB) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &house{t: t, dir: dir, root: filepath.Join(dir, "repo")}
	for _, folder := range []string{h.root, filepath.Join(dir, "run")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = []string{
		"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"GIT_CONFIG_NOSYSTEM=1",
	}
	t.Cleanup(func() {
		if pid := h.pid(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		h.do("daemon", "stop")
	})
	makeRepository(h, h.root)
	return h
}

func makeRepository(h *house, root string) {
	h.t.Helper()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
		cmd.Env = h.env
		if output, err := cmd.CombinedOutput(); err != nil {
			h.t.Fatalf("git %v: %v\n%s", args, err, output)
		}
	}
}

// answer is what a command said.
type answer struct {
	status int
	stdout []byte
	stderr []byte
	took   time.Duration
}

// command makes a slipway command.
func (h *house) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "slipway"), args...)
	cmd.Env, cmd.Dir = h.env, h.root
	return cmd
}

// do runs a command.
func (h *house) do(args ...string) answer { return run(h.command(args...)) }

func run(cmd *exec.Cmd) answer { return runWith(cmd, func(*os.Process) {}) }

// runWith runs a command and hands its process out as soon as there is one.
func runWith(cmd *exec.Cmd, started func(*os.Process)) answer {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Start()
	if err == nil {
		started(cmd.Process)
		err = cmd.Wait()
	}
	a := answer{stdout: stdout.Bytes(), stderr: stderr.Bytes(), took: time.Since(began)}
	if err != nil {
		a.status = cmd.ProcessState.ExitCode()
	}
	return a
}

// must runs a command that has to succeed.
func (h *house) must(args ...string) answer {
	h.t.Helper()
	a := h.do(args...)
	if a.status != 0 {
		h.t.Fatalf("slipway %v: exit %d: %s", args, a.status, a.stderr)
	}
	return a
}

// code is the code of the error that a command ended with.
func (a answer) code(t testing.TB) schema.Code {
	t.Helper()
	var e struct{ Code schema.Code }
	if err := json.Unmarshal(a.stderr, &e); err != nil {
		t.Fatalf("no error of the contract: exit %d, %q", a.status, a.stderr)
	}
	return e.Code
}

func decode[T any](t testing.TB, a answer) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(a.stdout, &value); err != nil {
		t.Fatalf("%v: exit %d, %q, %q", err, a.status, a.stdout, a.stderr)
	}
	return value
}

// health is a part of the daemon's health.
type health struct {
	Running    bool
	PID        int
	Mode       string
	ModeReason string `json:"mode_reason"`
	Socket     string
	Goroutines int
	OpenFiles  int `json:"open_files"`
	RSSBytes   int `json:"rss_bytes"`
	Worktrees  []struct{ Root, Mode, Reason string }
	Problems   []struct{ Code, Message, Remedy string }
}

func (h *house) health() health {
	h.t.Helper()
	return decode[health](h.t, h.must("daemon", "status", "--json"))
}

// pid is the process of the daemon, as the file beside its socket has it; 0 where
// there is none.
func (h *house) pid() int {
	text, err := os.ReadFile(filepath.Join(h.dir, "run", "slipway", "d1.json"))
	var info struct{ PID int }
	if err != nil || json.Unmarshal(text, &info) != nil || syscall.Kill(info.PID, 0) != nil {
		return 0
	}
	return info.PID
}

// kill ends the daemon at once.
func (h *house) kill() {
	if pid := h.pid(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
}

// start starts a Run.
func (h *house) start() *schema.ProtocolState {
	h.t.Helper()
	state := decode[schema.ProtocolState](h.t, h.must("run", "--json", "--budget", "1000", "mend the roof"))
	return &state
}

// outcome is an Outcome that makes another Clarify follow.
func outcome(a *schema.Action, summary string) []byte {
	text, err := json.Marshal(schema.Outcome{
		ContractVersion: schema.ContractVersion, ActionID: a.ActionID, ActionKind: a.Kind, Status: schema.Completed, Summary: summary,
		Observations: []string{}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{{Kind: schema.Clarify, Brief: "look once more"}},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// submission makes the command that reports an Outcome.
func (h *house) submission(run string, a *schema.Action, text []byte) *exec.Cmd {
	cmd := h.command("protocol", "submit", "--run", run, "--action", a.ActionID, "--outcome-stdin")
	cmd.Stdin = bytes.NewReader(text)
	return cmd
}

// submit reports an Outcome and gives the next state.
func (h *house) submit(state *schema.ProtocolState, summary string) *schema.ProtocolState {
	h.t.Helper()
	a := run(h.submission(state.RunID, state.Action, outcome(state.Action, summary)))
	if a.status != 0 {
		h.t.Fatalf("submit: exit %d: %s", a.status, a.stderr)
	}
	next := decode[schema.ProtocolState](h.t, a)
	return &next
}

// summaries are what was reported of a Run, in order.
func (h *house) summaries(run string) []string {
	h.t.Helper()
	status := decode[schema.RunStatus](h.t, h.must("status", run, "--json"))
	var list []string
	for _, record := range status.Actions {
		if record.Outcome != nil {
			list = append(list, record.Outcome.Summary)
		}
	}
	return list
}

// sequences checks that the events of a Run are numbered without a gap, and gives
// how many there are.
func (h *house) sequences(run string) int {
	h.t.Helper()
	n := 0
	for line := range bytes.Lines(h.must("log", "--json", run).stdout) {
		var e struct{ Sequence int }
		if err := json.Unmarshal(line, &e); err != nil {
			h.t.Fatal(err)
		}
		if n++; e.Sequence != n {
			h.t.Fatalf("event %d of %s is numbered %d", n, run, e.Sequence)
		}
	}
	return n
}

// freeze stops a process and waits until all of it stands still.
func freeze(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(text), ") T ")
	})
}

// patience bounds every wait.
const patience = 30 * time.Second

func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come about")
		}
	}
}
