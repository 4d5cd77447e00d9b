package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/schema"
)

// wrong is one way to meet an error of errors.md: the command line that meets
// it and, where the socket has one, the call that does.
type wrong struct {
	code    schema.Code
	exit    int
	stage   string       // of the Run; "" is "nothing"
	prepare func(*world) // what else has to be so
	line    string
	stdin   string
	call    params // "method" and the parameters
	next    string // operation and variants
	details string // the keys, in order
}

// params are the parameters of a call; a value that begins with "@" is the
// content of that file of the caller, in base64.
type params map[string]any

func (w *world) params(p params) map[string]any {
	full := map[string]any{}
	for name, value := range p {
		text, ok := value.(string)
		switch {
		case name == "method":
			continue
		case ok && strings.HasPrefix(text, "@"):
			content, err := os.ReadFile(filepath.Join(w.vars["TMP"], text[1:]))
			if err != nil {
				w.t.Fatal(err)
			}
			full[name] = base64.StdEncoding.EncodeToString(content)
		case ok:
			full[name] = w.expand(text)
		default:
			full[name] = value
		}
	}
	return full
}

// shown is a next in short: the operation and the ids of the variants.
func shown(next any) string {
	n, _ := next.(map[string]any)
	words := []string{fmt.Sprint(n["operation"])}
	variants, _ := n["variants"].([]any)
	for _, v := range variants {
		words = append(words, fmt.Sprint(v.(map[string]any)["id"]))
	}
	return strings.Join(words, " ")
}

// TestEveryError meets every code of the contract: on the command line with a
// daemon, on the command line without one, and on the socket. All three have to
// say the same.
func TestEveryError(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t)
	for i, c := range everyError() {
		t.Run(fmt.Sprintf("%03d-%s", i, c.code), func(t *testing.T) {
			t.Parallel()
			w := shared.world(t)
			w.reach(cmp.Or(c.stage, "nothing"))
			if c.prepare != nil {
				c.prepare(w)
			}
			byDaemon := w.onTheLine(c)
			if c.call != nil {
				w.onTheSocket(c, byDaemon)
			}
		})
	}
}

// onTheLine gives the error of the command line, which has to be the same with a
// daemon and without one.
func (w *world) onTheLine(c wrong) map[string]any {
	w.t.Helper()
	byDaemon, err := w.run(w.env, c.stdin, w.argv(c.line)...).failed()
	if err != nil {
		w.t.Fatal(err)
	}
	if got, want := brief(byDaemon), c.brief(); got != want {
		w.t.Errorf("got  %s\nwant %s\n%v", got, want, byDaemon["message"])
	}
	embedded, err := w.run(append(w.env, "SLIPWAY_DAEMON=off"), c.stdin, w.argv(c.line)...).failed()
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := differences(byDaemon, embedded); diff != "" {
		w.t.Errorf("without a daemon (-with +without):\n%s", diff)
	}
	return byDaemon
}

// brief is what a row says of an error object.
func brief(failure map[string]any) string {
	details, _ := failure["details"].(map[string]any)
	return fmt.Sprintf("%v, exit %v, next %q, details %q", failure["code"], failure["exit_code"], shown(failure["next"]),
		strings.Join(slices.Sorted(maps.Keys(details)), " "))
}

func (c wrong) brief() string {
	return fmt.Sprintf("%v, exit %v, next %q, details %q", c.code, c.exit, c.next, c.details)
}

// onTheSocket holds the error of a call against that of the command line.
func (w *world) onTheSocket(c wrong, want map[string]any) {
	w.t.Helper()
	_, failure := w.try(c.call["method"].(string), w.params(c.call))
	if failure == nil {
		w.t.Fatal("the call succeeds")
	}
	if diff := differences(want, failure.Data); diff != "" {
		w.t.Errorf("on the socket (-line +socket):\n%s", diff)
	}
	if failure.Code != -32000-c.exit || failure.Message != failure.Data["message"] {
		w.t.Errorf("JSON-RPC code %d, message %q", failure.Code, failure.Message)
	}
}

// differences between two error objects; messages are free.
func differences(a, b map[string]any) string {
	return gocmp.Diff(a, b, cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return key == "message" }))
}

// TestBusyRun: every operation on a Run that someone else holds, all at once.
func TestBusyRun(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.reach("active")
	goodOutcome(w)
	w.holdLock()
	var waiting sync.WaitGroup
	for line, call := range everyOperation("$RUN") {
		waiting.Go(func() {
			busy := wrong{code: schema.CodeRunBusy, exit: 3, line: line, call: call, next: inspectOne}
			if changes(call["method"].(string)) {
				busy.details = mutation
			}
			other := *w
			other.peer = nil
			other.onTheSocket(busy, other.onTheLine(busy))
		})
	}
	waiting.Go(w.verifyWhileBusy)
	waiting.Wait()
}

// verifyWhileBusy: a Run in use is no damaged one.
func (w *world) verifyWhileBusy() {
	got := w.run(w.env, "", "journal", "verify", "--all")
	if got.exit != 3 || !bytes.Contains(got.stderr, []byte(`"code":"run_busy"`)) || !bytes.Contains(got.stdout, []byte("not examined")) || bytes.Contains(got.stdout, []byte("damaged")) {
		w.t.Errorf("exit %d\n%s%s", got.exit, got.stdout, got.stderr)
	}
}

// TestNoCodeIsLeftOut: each code of the contract is met, or there is a reason
// why it can not be.
func TestNoCodeIsLeftOut(t *testing.T) {
	met := map[schema.Code]bool{}
	for _, c := range everyError() {
		met[c.code] = true
	}
	for _, code := range codesOfTheContract(t) {
		reason, elsewhere := metElsewhere[code]
		switch {
		case met[code] && elsewhere:
			t.Errorf("%s is met after all: take it off the list (%s)", code, reason)
		case !met[code] && !elsewhere:
			t.Errorf("%s is met nowhere", code)
		}
	}
}

// Conditions of the worlds that several errors need.
func outcomeFile(name string, content string) func(*world) {
	return func(w *world) { w.file(name, []byte(content)) }
}

func goodOutcome(w *world) { w.file("outcome.json", w.outcome(nil)) }

func linkedStorage(w *world) {
	elsewhere := filepath.Join(w.vars["TMP"], "elsewhere")
	if err := os.Rename(filepath.Join(w.vars["ROOT"], ".git", "slipway"), elsewhere); err != nil {
		if err := os.Mkdir(elsewhere, 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
	w.link(elsewhere, filepath.Join(w.vars["ROOT"], ".git", "slipway"))
}

func (w *world) link(target, at string) {
	if err := os.Symlink(target, at); err != nil {
		w.t.Skip(err) // Windows without the right to make links
	}
}

// garbage replaces the first record, garbageLater adds a line that is none.
func garbage(w *world) {
	w.damage("journal.jsonl", func([]byte) []byte { return []byte("{}\n") })
}

func garbageLater(w *world) {
	w.damage("journal.jsonl", func(b []byte) []byte { return append(b, "{}\n"...) })
}

// inAnotherWorktree makes a linked worktree the place of the command.
func inAnotherWorktree(w *world) {
	other := filepath.Join(w.vars["WORK"], "other")
	runGit(w.t, w.env, w.vars["ROOT"], "worktree", "add", "-q", other, "-b", "other")
	w.vars["ROOT"] = other
}

func bigFile(name string, size int) func(*world) {
	return func(w *world) { w.file(name, bytes.Repeat([]byte("x"), size)) }
}
