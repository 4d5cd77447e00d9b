// Demo drives one whole Run through the real programs and shows every step: it
// plays the host, which does the work of an Action and reports an Outcome.
//
//	go run ./docs/demo bin
//
// The argument is the folder that holds slipway and slipwayd. Everything else
// is made for the occasion and removed again: a repository, a home, a daemon.
//
// Of the commands that move the Run only the first is the demo's own. Every other
// one is a variant of the `next` in the answer before it, resolved as next.md,
// section 2, says. That is all that a host needs to know about the command line.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"slipway/schema"
)

func main() {
	// A reader that has seen enough, as in `make demo | head`, is a signal like the
	// others: each ends the demo early, and none of them keeps it from clearing up.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 1 {
		return errors.New("name the folder of the programs: go run ./docs/demo bin")
	}
	h := &host{}
	defer func() { err = errors.Join(err, h.leave()) }()
	if err := h.moveIn(args[0]); err != nil {
		return err
	}
	return h.drive(ctx)
}

// errEnded is a demo that did not come to its end.
var errEnded = errors.New("ended early")

// host stands for an AI coding tool that works in a repository.
type host struct {
	program string // slipway
	dir     string // everything of this demo
	repo    string
	env     []string
	drives  bool // a daemon of its own may run
	daemon  int  // process id
}

// moveIn makes a place that has nothing to do with the user's own.
func (h *host) moveIn(programs string) (err error) {
	if h.program, err = filepath.Abs(filepath.Join(programs, "slipway")); err != nil {
		return err
	}
	if h.dir, err = os.MkdirTemp("", "slipway-demo-"); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		return err
	}
	h.repo = filepath.Join(dir, "notes")
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "SLIPWAY_") && !strings.HasPrefix(name, "XDG_") {
			h.env = append(h.env, entry)
		}
	}
	home := filepath.Join(dir, "home")
	h.env = append(h.env, "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home,
		"XDG_RUNTIME_DIR="+filepath.Join(dir, "run"), "GIT_CONFIG_NOSYSTEM=1")
	for _, folder := range []string{home, filepath.Join(dir, "run"), h.repo} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	return h.makeRepository()
}

func (h *host) makeRepository() error {
	if err := os.WriteFile(filepath.Join(h.repo, "README.md"), []byte("# Notes\n"), 0o600); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Demo"}, {"config", "user.email", "demo@example.invalid"},
		{"add", "README.md"}, {"commit", "-qm", "initial"},
	} {
		git := exec.Command("git", command...)
		git.Dir, git.Env = h.repo, h.env
		if output, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", command[0], err, output)
		}
	}
	return nil
}

// drive starts a Run and works on it until it ends.
func (h *host) drive(ctx context.Context) error {
	goal, err := h.file("goal.txt", "Greet the reader in README.md")
	if err != nil {
		return err
	}
	say("A Run starts with a goal.")
	h.drives = true
	state, err := h.step([]string{"slipway", "run", "--goal-file", goal, "--json", "--root", h.repo})
	if err != nil {
		return err
	}
	if err := h.findDaemon(); err != nil {
		return err
	}
	for state.State != schema.Ended {
		if ctx.Err() != nil {
			return errEnded
		}
		if state, err = h.act(state); err != nil {
			return err
		}
	}
	say("The Run has ended. Its summary:")
	fmt.Println(indent(state.Summary))
	say("The same Run, as a person sees it:")
	return h.show("slipway", "status", state.RunID, "--root", h.repo)
}

// act takes the one step that the state asks for.
func (h *host) act(state *schema.ProtocolState) (*schema.ProtocolState, error) {
	if state.Action == nil {
		return nil, fmt.Errorf("the Run is %s %s and has no Action", state.State, state.PauseReason)
	}
	if state.State == schema.Paused {
		say("The Run waits for a decision (%s).", state.PauseReason)
		answer, err := h.file("answer.txt", "In English, please.")
		if err != nil {
			return nil, err
		}
		fmt.Println(indent("Answer: In English, please."))
		return h.follow(state.Next, "answer-decision", map[string]string{"text_file": answer})
	}
	a := state.Action
	say("Action: %s (%d more may follow)", a.Kind, a.RemainingBudget)
	fmt.Println(indent(a.Brief))
	outcome, err := h.work(a)
	if err != nil {
		return nil, err
	}
	text, err := schema.Marshal(outcome)
	if err != nil {
		return nil, err
	}
	fmt.Println(indent("Outcome: " + outcome.Summary))
	if outcome.Pause != nil {
		fmt.Println(indent("Question: " + outcome.Pause.Question))
	}
	file, err := h.file("outcome.json", string(text))
	if err != nil {
		return nil, err
	}
	return h.follow(state.Next, "submit-outcome-file", map[string]string{"outcome_file": file})
}

// work does what an Action asks for and says how it went.
func (h *host) work(a *schema.Action) (*schema.Outcome, error) {
	outcome := &schema.Outcome{
		ContractVersion: schema.ContractVersion, ActionID: a.ActionID, ActionKind: a.Kind, Status: schema.Completed,
		Observations: []string{}, KnownIssues: []string{}, SuggestedActions: []schema.Suggestion{},
	}
	switch a.Kind {
	case schema.Orient:
		if !strings.Contains(a.Context, "English") {
			outcome.Status, outcome.Summary = schema.NeedsInput, "README.md has no greeting; its language is open"
			outcome.Pause = &schema.Pause{Reason: schema.DecisionRequired, Question: "In which language shall the greeting be?"}
			return outcome, nil
		}
		outcome.Summary = "the language is decided, the place is clear"
		outcome.SuggestedActions = []schema.Suggestion{{Kind: schema.Implement, Brief: "Append an English greeting to README.md."}}
	case schema.Implement:
		if err := os.WriteFile(filepath.Join(h.repo, "README.md"), []byte("# Notes\n\nWelcome, reader.\n"), 0o600); err != nil {
			return nil, err
		}
		outcome.Summary = "the greeting is in README.md"
		outcome.Implementation = &schema.Implementation{
			Result: schema.ResultApplied, FilesChanged: []string{"README.md"}, Uncertainties: []string{}, Attempts: 1,
			Activities: []schema.Activity{{Kind: schema.ActivityLint, Command: "git diff --check", Summary: "no white space errors"}},
		}
	case schema.Review:
		outcome.Summary = "one line added, as decided"
		outcome.Review = &schema.ReviewReport{Result: schema.ReviewNoFindings, Findings: []schema.Finding{}, Uncertainties: []string{}}
	default:
		outcome.Summary = "README.md greets its reader in English"
	}
	return outcome, nil
}

// follow resolves a variant and runs it.
func (h *host) follow(next schema.Next, id string, values map[string]string) (*schema.ProtocolState, error) {
	for _, variant := range next.Variants {
		if variant.ID != id {
			continue
		}
		argv, err := variant.Resolve(values)
		if err != nil {
			return nil, err
		}
		return h.step(argv)
	}
	return nil, fmt.Errorf("the answer offers no %s", id)
}

// step runs a command that answers a protocol state.
func (h *host) step(argv []string) (*schema.ProtocolState, error) {
	fmt.Printf("\n  $ %s\n", shown(argv))
	output, err := h.slipway(argv)
	if err != nil {
		return nil, err
	}
	state := new(schema.ProtocolState)
	return state, json.Unmarshal(output, state)
}

// shown is a command as it is typed here.
func shown(argv []string) string {
	if runtime.GOOS == "windows" {
		return schema.Render(argv, schema.WindowsShells)
	}
	return schema.Render(argv, schema.POSIXTerminal)
}

// show runs a command and prints what it answers.
func (h *host) show(argv ...string) error {
	fmt.Printf("\n  $ %s\n", shown(argv))
	output, err := h.slipway(argv)
	fmt.Println(indent(string(output)))
	return err
}

func (h *host) slipway(argv []string) ([]byte, error) {
	command := exec.Command(h.program, argv[1:]...)
	command.Dir, command.Env = h.repo, h.env
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return output, fmt.Errorf("%s: %w: %s", strings.Join(argv[:2], " "), err, stderr.String())
	}
	return output, nil
}

// findDaemon notes which process the first command has started.
func (h *host) findDaemon() error {
	output, err := h.slipway([]string{"slipway", "daemon", "status", "--json"})
	if err != nil {
		return err
	}
	var status struct {
		Mode string `json:"mode"`
		PID  int    `json:"pid"`
	}
	if err := json.Unmarshal(output, &status); err != nil {
		return err
	}
	h.daemon = status.PID
	say("Commands run in %s mode here; the daemon is process %d.", status.Mode, status.PID)
	return nil
}

// endLimit is how long the daemon may take to be gone after it was stopped.
const endLimit = 5 * time.Second

// leave stops the daemon, makes sure of it, and removes everything.
func (h *host) leave() error {
	if h.dir == "" {
		return nil
	}
	say("At the end the daemon is stopped and everything removed.")
	var err error
	if h.drives { // before that, the environment may still be the user's own
		err = h.show("slipway", "daemon", "stop")
	}
	for begin := time.Now(); h.alive(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > endLimit {
			return errors.Join(err, fmt.Errorf("process %d is still there", h.daemon))
		}
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}

// alive tells whether the daemon's process is still at work. One that has ended
// but is not yet collected by its parent is not.
func (h *host) alive() bool {
	if h.daemon == 0 || runtime.GOOS == "windows" { // there, ending it is all that was asked for
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(h.daemon)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

// file writes a private input file.
func (h *host) file(name, text string) (string, error) {
	path := filepath.Join(h.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func say(format string, args ...any) { fmt.Printf("\n"+format+"\n", args...) }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
