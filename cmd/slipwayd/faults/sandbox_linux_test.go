package faults

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"slipway/schema"
)

// denyVariable makes this test program a sandbox: system calls whose names it
// holds fail with EPERM in the command that follows, and in everything that the
// command starts.
const denyVariable = "SLIPWAY_TEST_DENY"

var deniable = map[string][]uint32{
	"socket":  {unix.SYS_SOCKET},
	"connect": {unix.SYS_CONNECT},
	"bind":    {unix.SYS_BIND},
	"chmod":   {unix.SYS_FCHMOD, unix.SYS_FCHMODAT},
}

// enterSandbox installs the filter and becomes the command.
func enterSandbox(names []string) {
	runtime.LockOSThread()
	// struct seccomp_data begins with the number of the call.
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for _, name := range names {
		for _, number := range deniable[name] {
			filter = append(filter,
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPERM)})
		}
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = unix.Unsetenv(denyVariable)
	}
	if err == nil {
		err = unix.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "no sandbox:", err)
	os.Exit(99)
}

// inSandbox makes a command run where system calls are denied.
func inSandbox(t testing.TB, cmd *exec.Cmd, denied string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	jailed := exec.Command(self, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	jailed.Env, jailed.Dir, jailed.Stdin = append(cmd.Env, denyVariable+"="+denied), cmd.Dir, cmd.Stdin
	return jailed
}

// Row 16: a client in a sandbox without sockets.
func TestClientWithoutSockets(t *testing.T) {
	for _, denied := range []string{"connect", "socket"} {
		t.Run(denied, func(t *testing.T) {
			h := newHouse(t)
			state := h.start()
			a := run(inSandbox(t, h.submission(state.RunID, state.Action, outcome(state.Action, "from inside")), denied))
			if a.status != 0 || a.took > 5*time.Second {
				t.Fatalf("exit %d after %v: %s", a.status, a.took, a.stderr)
			}
			// The daemon outside goes on being right about the same Run.
			next := decode[schema.ProtocolState](t, a)
			h.submit(&next, "from outside")
			if got := strings.Join(h.summaries(state.RunID), ", "); got != "from inside, from outside" {
				t.Errorf("the Run has %s", got)
			}
			status := decode[health](t, run(inSandbox(t, h.command("daemon", "status", "--json"), denied)))
			if status.Mode != "embedded" || status.Running || len(status.Problems) != 1 || status.Problems[0].Code != "socket_blocked" || !strings.Contains(status.Problems[0].Remedy, "ockets") {
				t.Errorf("inside the status is %+v", status)
			}
			cmd := inSandbox(t, h.command("status"), denied)
			cmd.Env = append(cmd.Env, "SLIPWAY_DAEMON=require")
			if a := run(cmd); a.status != 3 || a.code(t) != schema.CodeDaemonUnavailable {
				t.Errorf("with require: exit %d, %s", a.status, a.stderr)
			}
			// Without a daemon outside it is the same.
			h.must("daemon", "stop")
			if a := run(inSandbox(t, h.command("stop", state.RunID), denied)); a.status != 0 {
				t.Errorf("without a daemon: exit %d, %s", a.status, a.stderr)
			}
			if pid := h.pid(); pid != 0 {
				t.Errorf("a command inside started daemon %d", pid)
			}
		})
	}
}

// Row 3: a runtime folder on a mount that refuses chmod, and one that can hold no
// socket.
func TestPoorRuntimeFolder(t *testing.T) {
	h := newHouse(t)
	if a := run(inSandbox(t, h.command("status"), "chmod")); a.status != 0 || !h.health().Running {
		t.Errorf("without chmod: exit %d, %s", a.status, a.stderr)
	}
	h.must("daemon", "stop")
	a := run(inSandbox(t, h.command("run", "--json", "mend the roof"), "bind"))
	if a.status != 0 || h.pid() != 0 {
		t.Errorf("without bind: exit %d, %s; a daemon %d", a.status, a.stderr, h.pid())
	}
}

// namespace runs a script where mounts are its own. Its variables are $P, the
// programs, and $R, a repository; what it says on stdout is given back.
func (h *house) namespace(script string) string {
	h.t.Helper()
	how := []string{"-m"}
	if os.Geteuid() != 0 {
		how = []string{"-Urm"}
	}
	if err := exec.Command("unshare", append(how, "true")...).Run(); err != nil {
		h.t.Skipf("no mounts of our own here: %v", err)
	}
	const begin = `
set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/p /mnt/r /mnt/home /mnt/run
chmod 700 /mnt/run
mount --bind "$P" /mnt/p
mount --bind "$R" /mnt/r
mount -t tmpfs tmpfs /tmp
export P=/mnt/p R=/mnt/r HOME=/mnt/home XDG_RUNTIME_DIR=/mnt/run PATH=/mnt/p:$PATH
cd /mnt/r
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -1; }
trap 'slipway daemon stop >/dev/null 2>&1 || true' EXIT
`
	cmd := exec.Command("unshare", append(how, "bash", "-c", begin+script)...)
	cmd.Env = append(h.env, "P="+programs, "R="+h.root)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%v\n%s%s", err, output, stderr.String())
	}
	return string(output)
}

// Row 3: places that can hold no socket.
func TestPlacesOfTheSocketThatFail(t *testing.T) {
	h := newHouse(t)
	got := h.namespace(`
long=/mnt/run/$(printf 'long%.0s' $(seq 30)); mkdir -p $long
XDG_RUNTIME_DIR=$long slipway daemon start --json | field socket
XDG_RUNTIME_DIR=$long slipway daemon status --json | field running
XDG_RUNTIME_DIR=$long slipway daemon stop >/dev/null
XDG_RUNTIME_DIR=/mnt/none slipway daemon start --json | field socket
XDG_RUNTIME_DIR=/mnt/none slipway daemon stop >/dev/null
mkdir /mnt/ro; mount -t tmpfs -o ro tmpfs /mnt/ro
export XDG_RUNTIME_DIR=/mnt/ro
slipway daemon status --json | field mode
slipway run --json goal | field state
slipway daemon status --json | field running
`)
	fallback := fmt.Sprintf("/tmp/slipway-%d/d1.sock\n", map[bool]int{true: 0, false: os.Getuid()}[true])
	if want := fallback + "true\n" + fallback + "embedded\nactive\nfalse\n"; got != want {
		t.Errorf("the script says\n%swant\n%s", got, want)
	}
}

// Row 7: the disk is full, and then it is not; the file system becomes read-only,
// and then it does not. The daemon is the same all the time.
func TestFullAndReadOnlyDisk(t *testing.T) {
	h := newHouse(t)
	got := h.namespace(`
mkdir /mnt/small; mount -t tmpfs -o size=3m tmpfs /mnt/small
cp -a /mnt/r/. /mnt/small; cd /mnt/small
run=$(slipway run --json goal | field run_id)
daemon=$(slipway daemon status --json | field pid)
head -c 900000 /dev/zero | tr '\0' x > /mnt/home/big
change() { slipway stop $run 2>&1 >/dev/null | field code; }
dd if=/dev/zero of=fill bs=4k 2>/dev/null || true
i=0; while [ -z "$(change)" ] && [ $i -lt 100 ]; do i=$((i+1)); done   # the rest of a page
change | sed 's/mutation_not_committed\|mutation_outcome_ambiguous/told truly/'
slipway status $run | grep -c stopped        # reads go on
before=$(slipway log --json $run | wc -l)
rm fill
change
[ $(slipway log --json $run | wc -l) = $((before+1)) ] && echo one more
mount -o remount,ro /mnt/small
change
slipway status $run | grep -c stopped
mount -o remount,rw /mnt/small
change
slipway log --json $run | grep -c run_stopped | sed "s/$((before+1))/as many as were answered/"
[ "$(slipway daemon status --json | field pid)" = "$daemon" ] && echo the same daemon
`)
	want := "told truly\n1\none more\nrunstore_unavailable\n1\nas many as were answered\nthe same daemon\n"
	if got != want {
		t.Errorf("the script says\n%swant\n%s", got, want)
	}
}

// Rows 9 and 16: the worktree is unmounted, the Git directory is read-only.
func TestMountsOfTheRepository(t *testing.T) {
	h := newHouse(t)
	got := h.namespace(`
run=$(slipway run --json goal | field run_id)
mount --bind /mnt/r /mnt/r; mount -o remount,ro,bind /mnt/r
export SANDBOX_RUNTIME=1
SLIPWAY_DAEMON=off slipway stop $run 2>&1 | field code
SLIPWAY_DAEMON=off slipway stop $run 2>&1 | grep -c '/mnt/r/.git.*SANDBOX_RUNTIME.*slipway/'
SLIPWAY_DAEMON=off slipway status $run | grep -c active
umount /mnt/r
cd /; slipway --root /mnt/r stop $run >/dev/null && echo stopped
mkdir /mnt/other; mount --bind /mnt/other /mnt/r
slipway --root /mnt/r status $run 2>&1 | field code
umount /mnt/r
slipway --root /mnt/r status $run | grep -c stopped
`)
	if want := "runstore_unavailable\n1\n1\nstopped\ngit_repository_required\n1\n"; got != want {
		t.Errorf("the script says\n%swant\n%s", got, want)
	}
}
