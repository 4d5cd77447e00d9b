package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// canary stands for a credential.
const canary = "canary-a1b2c3d4"

// chattyGH is a gh that tells its credential wherever it can.
const chattyGH = `#!/bin/sh
echo "$GH_TOKEN" >&2
case "$1" in
--version) echo "gh version 2.94.0 ($GH_TOKEN)";;
auth) echo "Token: $GH_TOKEN";;
api) echo '{"pull":true,"triage":true,"push":true,"` + canary + `":false}';;
esac
`

// tap forwards connections to a socket and keeps what crosses.
type tap struct {
	mutex   sync.Mutex
	crossed bytes.Buffer
}

func (p *tap) Write(data []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.crossed.Write(data)
}

func (p *tap) text() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.crossed.String()
}

// listen serves at a socket until the test ends.
func (p *tap) listen(t *testing.T, at, target string) {
	t.Helper()
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.forward(client, target) })
		}
	})
	t.Cleanup(func() { listener.Close(); open.Wait() })
}

func (p *tap) forward(client net.Conn, target string) {
	defer client.Close()
	daemon, err := net.Dial("unix", target)
	if err != nil {
		return
	}
	defer daemon.Close()
	var answers sync.WaitGroup
	answers.Go(func() { io.Copy(io.MultiWriter(client, p), daemon) })
	io.Copy(io.MultiWriter(daemon, p), client)
	daemon.(*net.UnixConn).CloseWrite()
	answers.Wait()
}

// TestDoctorTellsNoCredential: what the caller's gh and environment hold reaches
// neither the report nor the socket, the daemon's environment or its log
// (adapters.md, 11.5).
func TestDoctorTellsNoCredential(t *testing.T) {
	t.Parallel()
	tools := shortTempDir(t)
	if err := os.WriteFile(filepath.Join(tools, "gh"), []byte(chattyGH), 0o700); err != nil {
		t.Fatal(err)
	}
	shared := newWorlds(t, "GH_TOKEN="+canary, "GITHUB_TOKEN="+canary, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader",
		"GIT_CONFIG_VALUE_0=Authorization: "+canary, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	w := shared.world(t)
	runGit(t, w.env, w.vars["ROOT"], "remote", "add", "origin", "git@github.com:owner/name.git")
	if r := w.run(w.env, "", "daemon", "start"); r.exit != 0 {
		t.Fatalf("daemon start: %s", r.stderr)
	}
	home := settingOf(w.env, "HOME")
	between := &tap{}
	socket := filepath.Join(tools, "tap.sock")
	between.listen(t, socket, filepath.Join(settingOf(w.env, "XDG_RUNTIME_DIR"), "slipway", "d1.sock"))
	for _, args := range [][]string{{"doctor", "--json"}, {"doctor"}, {"install", "--tool", "pi", "--json"}, {"list"}} {
		r := w.run(append(w.env, "SLIPWAY_SOCKET="+socket), "", args...)
		if r.exit != 0 || strings.Contains(string(r.stdout)+string(r.stderr), canary) {
			t.Errorf("%q: exit %d, %s%s", args, r.exit, r.stdout, r.stderr)
		}
		for _, code := range []string{"github_cli_compatible", "github_auth_available", "github_issue_permissions_ok"} {
			if args[0] == "doctor" && !strings.Contains(string(r.stdout), code) {
				t.Errorf("%q: no %s in %s", args, code, r.stdout)
			}
		}
	}
	if text := between.text(); !strings.Contains(text, "doctor/run") || strings.Contains(text, canary) {
		t.Errorf("what crossed the socket: %.3000s", text)
	}
	checkNothingTold(t, home)
	pid := fmt.Sprint(statusOf(t, w)["pid"])
	if environment, err := os.ReadFile("/proc/" + pid + "/environ"); err != nil || bytes.Contains(environment, []byte(canary)) {
		t.Errorf("the daemon's environment: %q (%v)", environment, err)
	}
}

// checkNothingTold looks into every file of a home, the daemon's log among them.
func checkNothingTold(t *testing.T, home string) {
	t.Helper()
	logs := 0
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(canary)) {
			t.Errorf("%s tells the credential", path)
		}
		if strings.HasSuffix(path, ".log") {
			logs++
		}
		return err
	})
	if err != nil || logs == 0 {
		t.Errorf("%d logs (%v)", logs, err)
	}
}

// settingOf is a variable of an environment.
func settingOf(env []string, name string) (value string) {
	for _, entry := range env {
		if found, ok := strings.CutPrefix(entry, name+"="); ok {
			value = found
		}
	}
	return value
}

// statusOf is what the daemon says about itself.
func statusOf(t *testing.T, w *world) (health map[string]any) {
	t.Helper()
	r := w.run(w.env, "", "daemon", "status", "--json")
	if err := decodeNumbers(r.stdout, &health); err != nil || r.exit != 0 {
		t.Fatalf("daemon status: exit %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	return health
}
