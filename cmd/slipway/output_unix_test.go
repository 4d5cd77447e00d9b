//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"slipway/schema"
)

// TestClosedPipe runs commands whose readers have gone.
func TestClosedPipe(t *testing.T) {
	env := privateEnvironment(t, "SLIPWAY_DAEMON=off")
	root := filepath.Join(shortTempDir(t), "repo")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	makeRepository(t, env, root)
	for _, test := range []struct {
		name           string
		args           []string
		stdout, stderr bool // closed
		exit           int  // -1: ended by SIGPIPE
		code           schema.Code
	}{
		{"a read ends by the signal", []string{"status"}, true, false, -1, ""},
		{"the version too", []string{"--version"}, true, false, -1, ""},
		{"a change is an error", []string{"run", "--json", "tidy"}, true, false, 3, schema.CodeMutationCommittedOutputFailed},
		{"for people as well", []string{"run", "tidy"}, true, false, 3, schema.CodeMutationCommittedOutputFailed},
		{"a change without any reader", []string{"run", "tidy"}, true, true, 1, ""},
		{"a failure without a reader", []string{"status", "unknown"}, false, true, -1, ""},
		{"a refused change without a reader", []string{"stop", "unknown"}, false, true, -1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stderr bytes.Buffer
			cmd := exec.Command(program("slipway"), test.args...)
			cmd.Env, cmd.Dir, cmd.Stderr = env, root, &stderr
			if test.stdout {
				cmd.Stdout = closedPipe(t)
			}
			if test.stderr {
				cmd.Stderr = closedPipe(t)
			}
			if err := cmd.Run(); err == nil {
				t.Fatal("exit 0")
			}
			if exit := cmd.ProcessState.ExitCode(); exit != test.exit {
				t.Fatalf("exit %d, want %d; %s", exit, test.exit, &stderr)
			}
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); test.exit < 0 && status.Signal() != syscall.SIGPIPE {
				t.Errorf("ended by %v", status.Signal())
			}
			if test.code == "" {
				if stderr.Len() > 0 {
					t.Errorf("stderr: %s", &stderr)
				}
				return
			}
			var failure schema.Error
			if err := json.Unmarshal(stderr.Bytes(), &failure); err != nil || failure.Code != test.code {
				t.Errorf("stderr %s, want %s", &stderr, test.code)
			}
		})
	}
}

// closedPipe is the writing end of a pipe that nobody reads.
func closedPipe(t *testing.T) *os.File {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	t.Cleanup(func() { write.Close() })
	return write
}

func TestADefectIsNoUsageError(t *testing.T) {
	if exit := guarded(func() int { panic("a defect of the test") }); exit != exitNoError {
		t.Errorf("exit %d", exit)
	}
	if exit := guarded(func() int { return 3 }); exit != 3 {
		t.Errorf("exit %d", exit)
	}
}
