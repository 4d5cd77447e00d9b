//go:build unix

package rpc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/schema"
)

func TestClientStartsTheDaemon(t *testing.T) {
	p := newPlace(t)
	first := answerer(t, p.connect())
	if first != fmt.Sprint("pid-", p.pid()) {
		t.Errorf("%s answered, the daemon is %d", first, p.pid())
	}
	if second := answerer(t, p.connect()); second != first {
		t.Errorf("%s answered, then %s", first, second)
	}
	for _, name := range []string{"d1.sock", "d1.lock", "d1.start.lock", "d1.log", "d1.json"} {
		info, err := os.Stat(filepath.Join(p.dir, "run", "slipway", name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestManyClientsStartOneDaemon(t *testing.T) {
	p := newPlace(t)
	answers := p.answerers(64)
	if len(answers) != 1 || answers[fmt.Sprint("pid-", p.pid())] != 64 {
		t.Errorf("answers by %v, the daemon is %d", answers, p.pid())
	}
}

func TestKilledDaemonIsReplaced(t *testing.T) {
	p := newPlace(t)
	c := p.connect()
	before := answerer(t, c)
	if err := syscall.Kill(p.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	// The old connection finds out, and reads are safe to repeat.
	if _, err := c.Call(context.Background(), "run/list", map[string]string{"root": "/w"}); err != nil {
		t.Error(err)
	}
	if after := answerer(t, p.connect()); after == before || after == "" {
		t.Errorf("%s answered, then %s", before, after)
	}
	if took := time.Since(began); took > time.Second && !testing.Short() {
		t.Errorf("the next command took %v", took)
	}
}

func TestSecondDaemonEndsAtOnce(t *testing.T) {
	p := newPlace(t)
	p.connect()
	err := RunDaemon(context.Background(), DaemonOptions{
		Socket: filepath.Join(p.dir, "run", "slipway", "d1.sock"),
		Runs:   func() (Runs, error) { return &fakeRuns{}, nil },
	})
	if !errors.Is(err, errRunning) {
		t.Errorf("the second daemon says %v", err)
	}
	answerer(t, p.connect())
}

// TestDaemonThatEndsSlowly: it says how it ended itself, however late after its last
// word that is.
func TestDaemonThatEndsSlowly(t *testing.T) {
	p := newPlace(t)
	program := filepath.Join(p.dir, "slow")
	const script = `#!/bin/sh
exec 3>&-
i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
exit 7
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "SLIPWAYD="+program)
	_, _, err := Connect(context.Background(), *p.options())
	if codeOfError(t, err) != schema.CodeDaemonUnavailable || !strings.Contains(err.Error(), "(exit status 7)") {
		t.Error(err)
	}
}

func TestDaemonThatCanNotStart(t *testing.T) {
	p := newPlace(t, "SLIPWAY_TEST_FAIL=1")
	_, _, err := Connect(context.Background(), *p.options())
	if codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Fatal(err)
	}
	var e *schema.Error
	errors.As(err, &e)
	if d, ok := e.Details.(schema.DaemonDetails); !ok || strings.Join(d.LogTail, "\n") != "no luck today" || !strings.Contains(e.Message, "(exit status 7); what it said last is in log_tail.") {
		t.Errorf("%s, details %+v", e.Message, e.Details)
	}
	p.env = append(p.env, "SLIPWAYD="+filepath.Join(p.dir, "nothing"))
	_, _, err = Connect(context.Background(), *p.options())
	if codeOfError(t, err) != schema.CodeDaemonUnavailable || strings.Contains(err.Error(), "log_tail") {
		t.Error(err)
	}
}

func TestDaemonInheritsNoSecrets(t *testing.T) {
	got := daemonEnvironment(environment{
		"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "NOTIFY_SOCKET=/n", "LISTEN_FDS=1", "SLIPWAY_SOCKET=/s", "GH_TOKEN=x",
		"XDG_RUNTIME_DIR=/run", "SSH_AUTH_SOCK=/a", "LC_ALL=C", "GIT_DIR=/g", "HOME=/h", "broken",
	})
	slices.Sort(got)
	if want := []string{"HOME=/h", "LC_ALL=C", "PATH=/bin", "SLIPWAY_SOCKET=/s", "XDG_RUNTIME_DIR=/run"}; !slices.Equal(got, want) {
		t.Errorf("a daemon inherits %v", got)
	}
}

func TestSilentProgramIsNoDaemon(t *testing.T) {
	p := newPlace(t)
	script := filepath.Join(p.dir, "silent")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "SLIPWAYD="+script)
	if _, _, err := Connect(context.Background(), *p.options()); codeOfError(t, err) != schema.CodeDaemonUnavailable {
		t.Error(err)
	}
}

func TestModes(t *testing.T) {
	// Nobody may make a folder there, root included.
	const forbidden = "SLIPWAY_SOCKET=/sys/slipway/d1.sock"
	if _, err := os.Stat("/sys"); err != nil {
		t.Skip("there is no forbidden folder")
	}
	for name, c := range map[string]struct {
		settings []string
		mode     string
		code     schema.Code
	}{
		"off":                {[]string{"SLIPWAY_DAEMON=off"}, ModeEmbedded, ""},
		"forbidden":          {[]string{forbidden}, ModeEmbedded, ""},
		"forbidden, auto":    {[]string{forbidden, "SLIPWAY_DAEMON=auto"}, ModeEmbedded, ""},
		"forbidden, require": {[]string{forbidden, "SLIPWAY_DAEMON=require"}, "", schema.CodeDaemonUnavailable},
		"unknown":            {[]string{"SLIPWAY_DAEMON=maybe"}, "", schema.CodeInvalidUsage},
		"relative socket":    {[]string{"SLIPWAY_SOCKET=s"}, "", schema.CodeDaemonUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, c.settings...)
			call, mode, err := Connect(context.Background(), *p.options())
			if c.code != "" {
				if codeOfError(t, err) != c.code {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if mode.Name != c.mode || mode.Reason == "" {
				t.Errorf("mode %+v", mode)
			}
			if who := answerer(t, call); who != fmt.Sprint("pid-", os.Getpid()) {
				t.Errorf("%s answered", who)
			}
			if _, err := call.Call(context.Background(), "daemon/health", nil); codeOfError(t, err) != schema.CodeDaemonUnavailable {
				t.Error(err)
			}
			if err := call.Close(); err != nil || p.pid() != 0 {
				t.Errorf("close: %v, daemon %d", err, p.pid())
			}
		})
	}
}
