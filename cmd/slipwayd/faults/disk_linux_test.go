package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slipway/schema"
)

// The tests of this file make the system calls of the real programs fail, one by
// one, and kill the programs at them. They need strace. What must hold is what
// docs/durability.md promises.

// diskFaults are what can become of a system call.
var diskFaults = []string{"error=EIO", "error=ENOSPC", "error=EDQUOT", "signal=SIGKILL"}

// diskCalls are the system calls that change a disk.
var diskCalls = []string{"pwrite64", "fsync", "ftruncate", "mkdirat", "renameat", "renameat2", "unlinkat", "linkat", "openat"}

// workshop is a house whose storage can be put back to how it was.
type workshop struct {
	*house
	state *schema.ProtocolState
	saved string
}

// newWorkshop has one Run; its house stands on the file system of the folder, if
// one is given.
func newWorkshop(t *testing.T, on string) *workshop {
	t.Helper()
	if err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("strace does not work here: %v", err)
	}
	w := &workshop{house: newHouse(t)}
	w.env = append(w.env, "SLIPWAY_DAEMON=off")
	if on != "" {
		w.root = filepath.Join(on, "repo")
		if err := os.Mkdir(w.root, 0o700); err != nil {
			t.Fatal(err)
		}
		makeRepository(w.house, w.root)
	}
	w.state = w.start()
	w.saved = filepath.Join(w.dir, "saved")
	w.copy(w.storage(), w.saved)
	return w
}

func (w *workshop) storage() string { return filepath.Join(w.root, ".git", "slipway") }

func (w *workshop) copy(from, to string) {
	w.t.Helper()
	if output, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, output)
	}
}

// restore puts the storage back; with nothing there is none.
func (w *workshop) restore(nothing bool) {
	w.t.Helper()
	if err := os.RemoveAll(w.storage()); err != nil {
		w.t.Fatal(err)
	}
	if !nothing {
		w.copy(w.saved, w.storage())
	}
}

// paths are those of the storage whose system calls matter.
func (w *workshop) paths() []string {
	run := filepath.Join(w.storage(), "runs", w.state.RunID)
	return []string{
		w.storage(), filepath.Dir(run), run, filepath.Join(run, "journal.jsonl"), filepath.Join(run, "run.json"),
		filepath.Join(run, ".run.json"), filepath.Join(run, "run.lock"),
	}
}

// traced is a command under strace, which makes the n-th of a system call fail.
// Without paths all calls of that kind count.
func (w *workshop) traced(cmd *exec.Cmd, call, fault string, n int, paths []string) (a answer, happened bool) {
	w.t.Helper()
	log := filepath.Join(w.dir, "strace")
	args := []string{"-f", "-qq", "-o", log, "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n)}
	for _, path := range paths {
		args = append(args, "-P", path)
	}
	under := exec.Command("strace", append(append(args, cmd.Path), cmd.Args[1:]...)...)
	under.Env, under.Dir, under.Stdin = append(cmd.Env, "GOMAXPROCS=1"), cmd.Dir, cmd.Stdin
	a = run(under)
	text, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatal(err)
	}
	happened = bytes.Contains(text, []byte("(INJECTED)")) || bytes.Contains(text, []byte("killed by SIGKILL"))
	return a, happened
}

// recorded tells what is said of the change after an answer: whether it may be
// there, and whether it may not.
func recorded(t *testing.T, a answer, killed bool) (be, notBe bool) {
	t.Helper()
	switch {
	case killed:
		return true, true
	case a.status == 0:
		return true, false
	}
	switch a.code(t) {
	case schema.CodeMutationCommittedProjectionStale, schema.CodeMutationCommittedVerificationFailed, schema.CodeMutationCommittedOutputFailed:
		return true, false
	case schema.CodeMutationOutcomeAmbiguous:
		return true, true
	}
	return false, true
}

// sweepSubmit makes every one of the calls fail in a submit.
func (w *workshop) sweepSubmit(t *testing.T, calls, faults []string) (points int) {
	document := outcome(w.state.Action, "reported once")
	for _, call := range calls {
		for _, fault := range faults {
			for n := 1; ; n++ {
				w.restore(false)
				a, happened := w.traced(w.submission(w.state.RunID, w.state.Action, document), call, fault, n, w.paths())
				if !happened {
					break
				}
				points++
				name := fmt.Sprintf("submit, %s %d %s: exit %d %s", call, n, fault, a.status, a.stderr)
				be, notBe := recorded(t, a, strings.Contains(fault, "KILL"))
				there := slices.Contains(w.summaries(w.state.RunID), "reported once")
				if there && !be || !there && !notBe {
					t.Errorf("%s: and it is there: %v", name, there)
				}
				if again := run(w.submission(w.state.RunID, w.state.Action, document)); again.status != 0 {
					t.Errorf("%s: the repeat fails: %s", name, again.stderr)
				}
				if got := w.summaries(w.state.RunID); !slices.Equal(got, []string{"reported once"}) {
					t.Errorf("%s: after the repeat there is %q", name, got)
				}
				if a := w.do("journal", "verify", "--all", "--json"); a.status != 0 {
					t.Errorf("%s: after the repeat it is not sound: %s%s", name, a.stdout, a.stderr)
				}
			}
		}
	}
	return points
}

// sweepStart makes every one of the calls fail in a start, where there is no storage
// yet. Git's calls are among them.
func (w *workshop) sweepStart(t *testing.T, calls, faults []string) (points int) {
	for _, call := range calls {
		for _, fault := range faults {
			for n := 1; ; n++ {
				w.restore(true)
				a, happened := w.traced(w.command("run", "--json", "mend the roof"), call, fault, n, nil)
				if !happened {
					break
				}
				points++
				name := fmt.Sprintf("start, %s %d %s: exit %d %s", call, n, fault, a.status, a.stderr)
				be, notBe := recorded(t, a, strings.Contains(fault, "KILL") && a.status != 0)
				list := decode[schema.StatusList](t, w.must("status", "--json"))
				if len(list.Runs) == 1 && !be || len(list.Runs) == 0 && !notBe || len(list.Runs) > 1 {
					t.Errorf("%s: %d Runs", name, len(list.Runs))
				}
				if len(list.UnavailableRuns) > 0 {
					t.Errorf("%s: something is left of it: %+v", name, list.UnavailableRuns)
				}
				if stop := w.do("stop"); (stop.status == 0) != (len(list.Runs) == 1) {
					t.Errorf("%s: stop says %s", name, stop.stderr)
				}
				if again := w.do("run", "--json", "mend the roof again"); again.status != 0 {
					t.Errorf("%s: another start fails: %s", name, again.stderr)
				}
			}
		}
	}
	return points
}

// onDisks runs a test on the file system of the temporary folder and, in a soak as
// root, on a tmpfs and an ext4 of its own.
func onDisks(t *testing.T, test func(t *testing.T, folder string)) {
	t.Run("as it is", func(t *testing.T) { test(t, "") })
	if !soaking() || os.Geteuid() != 0 {
		return
	}
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) { test(t, mounted(t, kind)) })
	}
}

// mounted is a new, small file system.
func mounted(t *testing.T, kind string) string {
	t.Helper()
	folder := t.TempDir()
	args := []string{"-t", "tmpfs", "-o", "size=64m", "tmpfs", folder}
	if kind == "ext4" {
		image := filepath.Join(t.TempDir(), "image")
		if output, err := exec.Command("sh", "-c", `truncate -s 64M "$0" && mkfs.ext4 -q "$0"`, image).CombinedOutput(); err != nil {
			t.Skipf("no ext4 here: %v: %s", err, output)
		}
		args = []string{"-o", "loop", image, folder}
	}
	if output, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		t.Skipf("no %s of our own here: %v: %s", kind, err, output)
	}
	t.Cleanup(func() {
		if output, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, output)
		}
	})
	return folder
}

// TestSystemCallsThatFail: whatever call fails or kills the program, the caller is
// told the truth, nothing is recorded twice, and the Run goes on.
func TestSystemCallsThatFail(t *testing.T) {
	onDisks(t, func(t *testing.T, folder string) {
		w := newWorkshop(t, folder)
		calls, faults := []string{"pwrite64", "fsync"}, []string{"error=EIO", "signal=SIGKILL"}
		if soaking() {
			calls, faults = diskCalls, diskFaults
		}
		points := w.sweepSubmit(t, calls, faults)
		if points < len(calls) {
			t.Errorf("a submit had only %d points to fail at", points)
		}
		calls, faults = []string{"mkdirat", "fsync", "renameat", "pwrite64"}, []string{"signal=SIGKILL"}
		if soaking() {
			calls, faults = slices.DeleteFunc(slices.Clone(diskCalls), func(c string) bool { return c == "openat" }), diskFaults
		}
		starts := w.sweepStart(t, calls, faults)
		if points += starts; starts < len(calls) { // of each thread; the fewer, the more threads took part
			t.Errorf("a start had only %d points to fail at", starts)
		}
		t.Logf("%d points", points)
	})
}

// TestSystemCallsOfTheDaemonThatFail does so in a daemon that lives on: after a
// failed sync it does not trust what it knew.
func TestSystemCallsOfTheDaemonThatFail(t *testing.T) {
	if !soaking() {
		t.Skip("only in make soak")
	}
	w := newWorkshop(t, "")
	w.env = slices.DeleteFunc(w.env, func(e string) bool { return e == "SLIPWAY_DAEMON=off" })
	state := w.state
	w.must("daemon", "start")
	pid, reports := w.pid(), 0
	for _, call := range []string{"pwrite64", "fsync", "renameat"} {
		for _, fault := range []string{"error=EIO", "error=ENOSPC"} {
			name := call + " " + fault
			summary := "reported with " + name
			document := outcome(state.Action, summary)
			detach := w.attach(pid, call, fault)
			a := run(w.submission(state.RunID, state.Action, document))
			detach()
			be, notBe := recorded(t, a, false)
			there := slices.Contains(w.summaries(state.RunID), summary)
			if there && !be || !there && !notBe {
				t.Errorf("%s: exit %d %s, and it is there: %v", name, a.status, a.stderr, there)
			}
			again := run(w.submission(state.RunID, state.Action, document))
			if again.status != 0 {
				t.Fatalf("%s: the repeat fails: %s", name, again.stderr)
			}
			reports++
			if got := len(w.summaries(state.RunID)); got != reports {
				t.Errorf("%s: %d reports instead of %d", name, got, reports)
			}
			next := decode[schema.ProtocolState](t, again)
			state = &next
		}
	}
	if w.pid() != pid {
		t.Error("it is another daemon")
	}
	w.must("journal", "verify", "--all")
}

// attach makes system calls of a running daemon fail until it is called off.
func (w *workshop) attach(pid int, call, fault string) (detach func()) {
	w.t.Helper()
	log := filepath.Join(w.dir, "strace")
	args := []string{"-f", "-o", log, "-p", strconv.Itoa(pid), "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:%s", call, fault)}
	for _, path := range w.paths() {
		args = append(args, "-P", path)
	}
	cmd := exec.Command("strace", args...)
	said, err := os.Create(filepath.Join(w.dir, "strace-says"))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	waitFor(w.t, func() bool {
		text, err := os.ReadFile(said.Name())
		return err == nil && bytes.Contains(text, []byte("attached"))
	})
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // strace ends with the signal
		said.Close()
	}
}

// TestDiskThatFillsUnderLoad: four clients change Runs all the time while the disk
// fills up, has room again, becomes read-only, and does not. What was answered is
// there, what was not answered is there once at most, and everything is sound.
func TestDiskThatFillsUnderLoad(t *testing.T) {
	if !soaking() {
		t.Skip("only in make soak")
	}
	for kind, mount := range map[string]string{
		"tmpfs": `mount -t tmpfs -o size=6m tmpfs /mnt/small`,
		"ext4":  `truncate -s 16M /mnt/home/image; mkfs.ext4 -q /mnt/home/image; mount -o loop /mnt/home/image /mnt/small`,
	} {
		for _, mode := range []string{"auto", "off"} {
			t.Run(kind+" "+mode, func(t *testing.T) {
				began := time.Now()
				h := newHouse(t)
				got := h.namespace(`
mkdir /mnt/small; ` + mount + `
cp -a /mnt/r/. /mnt/small; cd /mnt/small; export SLIPWAY_DAEMON=` + mode + `
load() {   # changes a Run until told to end, and counts what it is told
	answered=0; unclear=0
	while [ ! -e /mnt/home/end ]; do
		if said=$(slipway stop $1 2>&1 >/dev/null); then answered=$((answered+1))
		else case "$said" in *'"code":"mutation_not_committed"'*|*'"code":"runstore_unavailable"'*|*'"code":"run_busy"'*) ;; *) unclear=$((unclear+1));; esac
		fi
	done
	echo $1 $answered $unclear > /mnt/home/load-$1
}
for i in 1 2 3 4; do
	run=$(slipway run --json goal | field run_id)
	load $run & pids="$pids $!"
done
for round in 1 2; do
	sleep 1
	dd if=/dev/zero of=fill bs=4k 2>/dev/null || true
	sleep 1
	rm fill
	sleep 1
	until mount -o remount,ro /mnt/small 2>/dev/null; do sleep 0.01; done
	sleep 1
	mount -o remount,rw /mnt/small
done
sleep 1
touch /mnt/home/end
wait $pids
for f in /mnt/home/load-*; do
	read run answered unclear < $f
	there=$(grep -c '"type":"run_stopped"' .git/slipway/runs/$run/journal.jsonl)
	if [ $answered -lt 3 ] || [ $there -lt $answered ] || [ $there -gt $((answered+unclear)) ]; then
		echo "$run: $answered answered, $unclear unclear, $there there"
	fi
done
slipway journal verify --all >/mnt/home/report || cat /mnt/home/report
cat /mnt/home/load-* >&2
slipway daemon stop >/dev/null 2>&1 || true
cd /; until umount /mnt/small; do sleep 0.1; done
`)
				if got != "" {
					t.Error(got)
				}
				t.Logf("%v", time.Since(began))
			})
		}
	}
}
