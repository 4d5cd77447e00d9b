package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
)

// world is a repository of its own and the ways to Slipway in it: the program,
// with a daemon and without one, and the daemon's socket. Names of vars stand as
// $NAME in the words and parameters of a test.
type world struct {
	t    *testing.T
	env  []string
	vars map[string]string
	last map[string]any // the answer of the last call
	peer *peer
}

// worlds makes worlds that share one daemon.
type worlds struct {
	base, template string
	env            []string
}

func newWorlds(t *testing.T, settings ...string) *worlds {
	w := &worlds{base: shortTempDir(t)}
	w.env = slices.Clip(privateEnvironment(t, settings...)) // worlds append to it side by side
	w.template = filepath.Join(w.base, "template")
	if err := os.Mkdir(w.template, 0o700); err != nil {
		t.Fatal(err)
	}
	makeRepository(t, w.env, w.template)
	return w
}

func (w *worlds) world(t *testing.T) *world {
	work, err := os.MkdirTemp(w.base, "")
	if err != nil {
		t.Fatal(err)
	}
	root, tmp := filepath.Join(work, "repo"), filepath.Join(work, "tmp")
	if err := os.CopyFS(root, os.DirFS(w.template)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, env: w.env, vars: map[string]string{"ROOT": root, "TMP": tmp, "WORK": work}}
}

// expand puts the variables into a text.
func (w *world) expand(text string) string {
	return os.Expand(text, func(name string) string {
		value, ok := w.vars[name]
		if !ok {
			w.t.Fatalf("no variable %s", name)
		}
		return value
	})
}

// argv splits a command line at its blanks; ∅ is an empty word.
func (w *world) argv(line string) []string {
	args := words(line)
	for i := range args {
		args[i] = w.expand(args[i])
	}
	return args
}

// storage is a path below the storage of Runs.
func (w *world) storage(names ...string) string {
	return filepath.Join(append([]string{w.vars["ROOT"], ".git", "slipway", "runs"}, names...)...)
}

// file writes a file of the caller and gives its path.
func (w *world) file(name string, content []byte) string {
	path := filepath.Join(w.vars["TMP"], name)
	if err := writeFile(path, content); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// ran is how a run of the program ended.
type ran struct {
	exit           int
	stdout, stderr []byte
}

// run runs the program in the root of the world.
func (w *world) run(env []string, stdin string, args ...string) ran {
	w.t.Helper()
	cmd := exec.Command(program("slipway"), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = env, w.vars["ROOT"], strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	for stream, output := range map[string][]byte{"stdout": stdout.Bytes(), "stderr": stderr.Bytes()} {
		if err := checkMessage(stream, output); err != nil {
			w.t.Errorf("%q: %v", args, err)
		}
	}
	return ran{cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes()}
}

// failed is the error object of a run, which has to be the only output.
func (r ran) failed() (map[string]any, error) {
	if len(r.stdout) > 0 {
		return nil, fmt.Errorf("exit %d with stdout %.200q", r.exit, r.stdout)
	}
	if bytes.Count(r.stderr, []byte("\n")) != 1 || !bytes.HasSuffix(r.stderr, []byte("\n")) {
		return nil, fmt.Errorf("exit %d with stderr %.300q, not one line", r.exit, r.stderr)
	}
	var object map[string]any
	if err := decodeNumbers(r.stderr, &object); err != nil {
		return nil, fmt.Errorf("stderr %.200q: %w", r.stderr, err)
	}
	if object["exit_code"] != json.Number(fmt.Sprint(r.exit)) {
		return nil, fmt.Errorf("exit %d and exit_code %v", r.exit, object["exit_code"])
	}
	return object, nil
}

// peer is a program that speaks JSON-RPC to the daemon, line by line.
type peer struct {
	conn  net.Conn
	lines *bufio.Reader
	last  int
}

// refusal is a JSON-RPC error.
type refusal struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

func (w *world) dial() *peer {
	w.t.Helper()
	var runtimeDir string
	for _, entry := range w.env {
		if value, ok := strings.CutPrefix(entry, "XDG_RUNTIME_DIR="); ok {
			runtimeDir = value
		}
	}
	// The program starts the daemon; a peer only talks to it.
	if r := w.run(w.env, "", "daemon", "start"); r.exit != 0 {
		w.t.Fatalf("daemon start: %s", r.stderr)
	}
	conn, err := net.Dial("unix", filepath.Join(runtimeDir, "slipway", "d1.sock"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	p := &peer{conn: conn, lines: bufio.NewReader(conn)}
	hello := map[string]any{"client": "test", "version": "1", "build": "test", "rpc_version": 1, "environment": w.env}
	if _, failure := p.call(w.t, "daemon/hello", hello); failure != nil {
		w.t.Fatalf("hello: %+v", failure)
	}
	return p
}

func (p *peer) call(t *testing.T, method string, params any) (map[string]any, *refusal) {
	t.Helper()
	p.last++
	request, err := schema.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.last, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.conn.Write(append(request, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	var answer struct {
		ID     int
		Result map[string]any
		Error  *refusal
	}
	if err := decodeNumbers(line, &answer); err != nil || answer.ID != p.last {
		t.Fatalf("%s: answer %.200s (%v)", method, line, err)
	}
	message, stream := any(answer.Result), "stdout"
	if answer.Error != nil {
		message, stream = answer.Error.Data, "stderr"
	}
	text, err := schema.Marshal(message)
	if err == nil {
		err = checkMessage(stream, text)
	}
	if err != nil {
		t.Errorf("%s: %v", method, err)
	}
	return answer.Result, answer.Error
}

// try makes a call on the socket; the parameters are JSON without the root.
func (w *world) try(method string, params map[string]any) (map[string]any, *refusal) {
	w.t.Helper()
	if w.peer == nil {
		w.peer = w.dial()
	}
	full := map[string]any{"root": w.vars["ROOT"]}
	for name, value := range params {
		full[name] = value
	}
	return w.peer.call(w.t, method, full)
}

// do makes a call that has to succeed, and takes its Run and its Action.
func (w *world) do(method string, params map[string]any) {
	w.t.Helper()
	result, failure := w.try(method, params)
	if failure != nil {
		w.t.Fatalf("%s: %s %+v", method, failure.Message, failure.Data)
	}
	w.last = result
	w.vars["RUN"] = fmt.Sprint(result["run_id"])
	if action, ok := result["action"].(map[string]any); ok {
		if id := fmt.Sprint(action["action_id"]); id != w.vars["A"] {
			w.vars["BEFORE"], w.vars["A"] = w.vars["A"], id
		}
		w.vars["KIND"] = fmt.Sprint(action["kind"])
	}
}

// submit reports an Outcome of the current Action, changed by edit.
func (w *world) submit(edit func(*schema.Outcome)) {
	w.t.Helper()
	w.do("run/submit", map[string]any{"run": w.vars["RUN"], "action": w.vars["A"], "outcome": json.RawMessage(w.outcome(edit))})
}

// outcome is a plain completed Outcome of the current Action, changed by edit.
func (w *world) outcome(edit func(*schema.Outcome)) []byte {
	o := plainOutcome(schema.Kind(w.vars["KIND"]), w.vars["A"])
	if edit != nil {
		edit(o)
	}
	text, err := schema.Marshal(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// plainOutcome is a completed Outcome that says as little as possible.
func plainOutcome(kind schema.Kind, action string) *schema.Outcome {
	o := &schema.Outcome{
		ContractVersion: schema.ContractVersion, ActionKind: kind, ActionID: action, Status: schema.Completed, Summary: string(kind) + " done",
		Observations: []string{}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{},
	}
	switch kind {
	case schema.Implement:
		o.Implementation = &schema.Implementation{Result: schema.ResultApplied, FilesChanged: []string{}, Activities: []schema.Activity{}, Uncertainties: []string{}, Attempts: 1}
	case schema.Review:
		o.Review = &schema.ReviewReport{Result: schema.ReviewNoFindings, Findings: []schema.Finding{}, Uncertainties: []string{}}
	}
	return o
}

// asks makes an Outcome ask for something.
func asks(reason schema.PauseReason, question string) func(*schema.Outcome) {
	return func(o *schema.Outcome) {
		o.Status, o.Pause = schema.NeedsInput, &schema.Pause{Reason: reason, Question: question}
		if o.Implementation != nil {
			o.Implementation = nil
		}
	}
}
