package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// everyLook are the commands that only look, in a world with Runs of all kinds.
func everyLook(w *world) []string {
	w.reach("ended")
	w.vars["ENDED"] = w.vars["RUN"]
	w.reach("asked")
	w.vars["ASKED"] = w.vars["RUN"]
	w.reach("source")
	w.vars["SOURCE"], w.vars["ACTION"] = w.vars["RUN"], w.vars["A"]
	w.reach("active")
	w.vars["DAMAGED"] = w.vars["RUN"]
	garbageLater(w)
	w.reach("active")
	w.vars["TORN"] = w.vars["RUN"]
	w.damage("journal.jsonl", func(b []byte) []byte { return append(b, `{"sequence":`...) })
	w.damage("run.json", func([]byte) []byte { return []byte("no projection") })
	here := w.vars["ROOT"]
	inAnotherWorktree(w)
	w.reach("active")
	w.vars["FOREIGN"], w.vars["ROOT"] = w.vars["RUN"], here
	return []string{
		"status", "status --json", "status $ENDED --json", "status $ASKED", "status $TORN --json", "status $SOURCE --json",
		"status $DAMAGED", "status $FOREIGN", "status unknown",
		"status $SOURCE --section outcome --json", "status $SOURCE --section none", "status $ASKED --section outcome",
		"protocol material --run $SOURCE --action $ACTION --section outcome",
		"protocol material --run $DAMAGED --action a --section outcome", "protocol material --run $FOREIGN --action a --section outcome",
	}
}

// TestLookingChangesNothing: not a byte, not a mode, not a time of the whole
// repository.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	looks := everyLook(w)
	if stopped := w.run(w.env, "", "daemon", "stop"); stopped.exit != 0 {
		t.Fatalf("%s", stopped.stderr) // it refreshes projections until it ends
	}
	before := tree(t, w.vars["ROOT"])
	for _, line := range looks {
		for _, mode := range []string{"require", "off"} {
			w.run(append(w.env, "SLIPWAY_DAEMON="+mode), "", w.argv(line)...)
			if after := tree(t, w.vars["ROOT"]); after != before {
				t.Fatalf("%s (SLIPWAY_DAEMON=%s) changed the repository:\n%s\nwas\n%s", line, mode, after, before)
			}
		}
	}
	empty := newWorlds(t).world(t)
	before = tree(t, empty.vars["ROOT"])
	for _, line := range []string{"status", "status unknown", "protocol material --run r --action a --section x", "status r --section x"} {
		empty.run(empty.env, "", empty.argv(line)...)
	}
	if after := tree(t, empty.vars["ROOT"]); after != before {
		t.Errorf("looking where there is nothing made something:\n%s", after)
	}
}

// TestLookingNeedsNoPermissionToWrite: on a mount that is read-only all answers
// are the same, from a daemon that sees that mount, too.
func TestLookingNeedsNoPermissionToWrite(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skipf("no mounts of one's own here: %v", err)
	}
	w := newWorlds(t).world(t)
	looks := everyLook(w)
	within := shortTempDir(t) // the daemon that is started here sees the read-only mount
	for _, mode := range [][]string{{"SLIPWAY_DAEMON=off"}, {"SLIPWAY_DAEMON=require", "SLIPWAY_SOCKET=" + within + "/d1.sock"}} {
		env := append(w.env[:len(w.env):len(w.env)], mode...)
		if len(mode) > 1 {
			t.Cleanup(func() { w.run(env, "", "daemon", "stop") })
		}
		for _, line := range looks {
			w.lookReadOnly(env, line)
		}
	}
}

// lookReadOnly runs a line where the world's folder can not be written to, and
// holds it against the same line where it can be.
func (w *world) lookReadOnly(env []string, line string) {
	w.t.Helper()
	args := w.argv(line)
	want := w.run(append(w.env[:len(w.env):len(w.env)], "SLIPWAY_DAEMON=off"), "", args...)
	const readOnly = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && shift && ! touch .git/probe 2>/dev/null && exec "$@"`
	cmd := exec.Command("unshare", append([]string{"-m", "sh", "-c", readOnly, "sh", w.vars["WORK"] + "/repo", program("slipway")}, args...)...)
	cmd.Env = env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	sameText := ages.ReplaceAllString(stdout.String(), "") == ages.ReplaceAllString(string(want.stdout), "")
	if cmd.ProcessState.ExitCode() != want.exit || !sameText || stderr.String() != string(want.stderr) {
		w.t.Errorf("%s: exit %d %s%s\nwant exit %d %s%s", line, cmd.ProcessState.ExitCode(), &stdout, &stderr, want.exit, want.stdout, want.stderr)
	}
}

// ages are what differs between two looks.
var ages = regexp.MustCompile(`\d+[smh] ago`)

// tree is everything about a folder but when it was last read.
func tree(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%s %v %d:%d %d %v %v", path, info.Mode(), stat.Uid, stat.Gid, stat.Ino, stat.Mtim, stat.Ctim)
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %d %x", len(content), sha256.Sum256(content))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
