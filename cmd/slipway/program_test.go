package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The tests of this package run the two programs as their users do. They are
// built once, and every test has its own home, runtime folder and repository,
// so that nothing of the machine's user is seen or touched.

var programs string // the folder of the built programs

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "slipway/cmd/slipway", "slipway/cmd/slipwayd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as they are shipped
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// program is the path of a built program.
func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(programs, name)
}

// shortTempDir is a folder of the test with a path short enough for a socket
// below it.
func shortTempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "slipway-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// privateEnvironment is an environment with a home of its own. A daemon that a
// command starts in it ends with the test.
func privateEnvironment(t testing.TB, settings ...string) []string {
	home := shortTempDir(t)
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "SLIPWAY_") && !strings.HasPrefix(name, "XDG_") {
			env = append(env, entry)
		}
	}
	env = append(env, "HOME="+home, "USERPROFILE="+home, "XDG_RUNTIME_DIR="+filepath.Join(home, "run"),
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	env = append(env, settings...)
	t.Cleanup(func() {
		stop := exec.Command(program("slipway"), "daemon", "stop")
		stop.Env = env
		if output, err := stop.CombinedOutput(); err != nil {
			t.Errorf("daemon stop: %v\n%s", err, output)
		}
	})
	return env
}

// makeRepository makes a repository with one commit.
func makeRepository(t testing.TB, env []string, root string) {
	runGit(t, env, root, "init", "-q", "-b", "main")
	runGit(t, env, root, "config", "user.email", "conformance@example.invalid")
	runGit(t, env, root, "config", "user.name", "Conformance")
	if err := writeFile(filepath.Join(root, "README.md"), []byte("# Conformance\n")); err != nil {
		t.Fatal(err)
	}
	runGit(t, env, root, "add", "README.md")
	runGit(t, env, root, "commit", "-qm", "initial")
}

func runGit(t testing.TB, env []string, root string, args ...string) {
	cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
	cmd.Env = env
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// writeFile writes a private file and the folders above it.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
