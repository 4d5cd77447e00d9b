package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a call costs its caller: the whole process, from start to exit. The
// yardstick is a Go program that does nothing.

func BenchmarkNothing(b *testing.B) {
	dir := shortTempDir(b)
	source := filepath.Join(dir, "nothing.go")
	if err := writeFile(source, []byte("package main\n\nfunc main() { println() }\n")); err != nil {
		b.Fatal(err)
	}
	binary := filepath.Join(dir, "nothing.exe")
	if output, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	runProcess(b, os.Environ(), dir, binary)
}

func BenchmarkVersion(b *testing.B) {
	runProcess(b, privateEnvironment(b), shortTempDir(b), program("slipway"), "--version")
}

func BenchmarkStatus(b *testing.B) {
	for mode, setting := range map[string]string{"daemon": "require", "embedded": "off"} {
		b.Run(mode, func(b *testing.B) {
			root := shortTempDir(b)
			env := privateEnvironment(b, "SLIPWAY_DAEMON="+setting)
			makeRepository(b, env, root)
			runProcess(b, env, root, program("slipway"), "status", "--json")
		})
	}
}

// runProcess runs a command once to warm up and then b.N times.
func runProcess(b *testing.B, env []string, dir, name string, args ...string) {
	once := func() {
		cmd := exec.Command(name, args...)
		cmd.Env, cmd.Dir = env, dir
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
	once()
	for b.Loop() {
		once()
	}
}
