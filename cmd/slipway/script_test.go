package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"slipway/schema"
)

// TestScripts plays testdata/script, one file per subject of the command line.
// Beside testscript's own commands there are
//
//	repo DIR                   make a repository with one commit
//	value NAME STREAM PATH     take a value from the JSON on stdout or stderr
//	like STREAM PATTERN        hold that JSON against a pattern, and against the
//	                           schema of its message
//	outcome FILE KIND ACTION   write a plain completed Outcome
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": scriptRepo, "value": scriptValue, "like": scriptLike, "outcome": scriptOutcome,
		},
	})
}

// setUpScript gives a script its home, its runtime folder and a repository.
func setUpScript(env *testscript.Env) error {
	for _, folder := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(env.WorkDir, folder), 0o700); err != nil {
			return err
		}
	}
	home := filepath.Join(env.WorkDir, "home")
	for name, value := range map[string]string{
		"PATH": programs + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home,
		"XDG_RUNTIME_DIR": filepath.Join(env.WorkDir, "run"), "GIT_CONFIG_NOSYSTEM": "1",
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() {
		stop := exec.Command(program("slipway"), "daemon", "stop")
		stop.Env = env.Vars
		if output, err := stop.CombinedOutput(); err != nil {
			env.T().Log(string(output))
			env.T().FailNow()
		}
	})
	return nil
}

func scriptRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	root := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(root, 0o700))
	ts.Check(os.WriteFile(filepath.Join(root, "README.md"), []byte("# Demo\n"), 0o600))
	for _, command := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Script"}, {"config", "user.email", "script@example.invalid"},
		{"add", "README.md"}, {"commit", "-qm", "initial"},
	} {
		ts.Check(ts.Exec("git", append([]string{"-C", root}, command...)...))
	}
}

// scriptJSON decodes what the last command wrote to a stream.
func scriptJSON(ts *testscript.TestScript, stream string) any {
	var value any
	text := []byte(ts.ReadFile(stream))
	if err := decodeNumbers(text, &value); err != nil {
		ts.Fatalf("%s is no JSON: %v", stream, err)
	}
	ts.Check(checkMessage(stream, text))
	return value
}

func scriptValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: value NAME STREAM PATH")
	}
	found, err := dig(scriptJSON(ts, args[1]), args[2])
	ts.Check(err)
	ts.Setenv(args[0], found)
}

func scriptLike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: like STREAM PATTERN")
	}
	var pattern any
	ts.Check(decodeNumbers([]byte(args[1]), &pattern))
	ts.Check(match(pattern, scriptJSON(ts, args[0]), args[0]))
}

func scriptOutcome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: outcome FILE KIND ACTION")
	}
	o := plainOutcome(schema.Kind(args[1]), args[2])
	if o.ActionKind == schema.Orient {
		o.SuggestedActions = []schema.Suggestion{{Kind: schema.Implement, Brief: "write it down"}}
	}
	text, err := json.Marshal(o)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
