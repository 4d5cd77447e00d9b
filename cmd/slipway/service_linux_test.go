package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// soakVariable lets tests run that need root, other programs of the system, or
// minutes: `make soak` sets it.
const soakVariable = "SLIPWAY_SOAK"

func needsSoak(t *testing.T) {
	t.Helper()
	if os.Getenv(soakVariable) == "" {
		t.Skip("runs in make soak")
	}
}

// underSystemd runs in a mount namespace of its own, where a user manager of
// systemd believes that it was booted with.
const underSystemd = `
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user
chmod 700 /run/user
export XDG_RUNTIME_DIR=/run/user
/lib/systemd/systemd --user >/dev/null 2>&1 &
manager=$!
trap 'systemctl --user exit; wait $manager' EXIT
for i in $(seq 50); do systemctl --user is-system-running >/dev/null 2>&1 && break; sleep 0.2; done
main() { systemctl --user show slipway.service -p MainPID --value; }

slipway daemon install --json | grep -q '"active":true'
[ "$(systemctl --user is-active slipway.socket)" = active ]
[ "$(main)" = 0 ]
slipway status >/dev/null                       # the first client starts it
first=$(main)
[ "$first" != 0 ]
slipway daemon status --json | grep -q "\"pid\":$first,"
[ "$(systemctl --user show slipway.service -p WatchdogUSec --value)" = 1min ]
kill -9 "$first"
slipway status >/dev/null                       # and the next one again
second=$(main)
[ "$second" != 0 ] && [ "$second" != "$first" ]
slipway daemon stop                             # the socket stays
[ "$(systemctl --user is-active slipway.socket)" = active ]
slipway status >/dev/null
slipway daemon uninstall --json | grep -q slipway.service
[ "$(systemctl --user is-active slipway.socket || true)" != active ]
[ -z "$(ls "$HOME"/.config/systemd/user/slipway.* 2>/dev/null)" ]
slipway status >/dev/null                       # a client's own way works as before
slipway daemon stop
echo all is well
`

func TestServiceUnderSystemd(t *testing.T) {
	needsSoak(t)
	for _, name := range []string{"unshare", "systemctl", "/lib/systemd/systemd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	root, home := shortTempDir(t), shortTempDir(t)
	env := []string{"HOME=" + home, "PATH=" + programs + ":" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	makeRepository(t, env, root)
	script := filepath.Join(home, "script")
	if err := os.WriteFile(script, []byte(underSystemd), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-m", "bash", "-x", script)
	cmd.Env, cmd.Dir = env, root
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || !bytes.Contains(output, []byte("\nall is well\n")) {
		t.Errorf("%v\n%s", err, output)
	}
}
