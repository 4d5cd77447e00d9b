package deploy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// rivalry is something that somebody else does to a path while a command runs.
type rivalry struct {
	name string
	act  func(w *worktree, path string)
}

const rivalBytes = "somebody else's"

func rivalries() []rivalry {
	replace := func(w *worktree, path string) {
		w.write("rival", rivalBytes)
		w.folder(filepath.Dir(path))
		if err := os.Rename(w.path("rival"), w.path(path)); err != nil {
			w.t.Fatal(err)
		}
	}
	return []rivalry{
		{"writes", func(w *worktree, path string) { w.write(path, rivalBytes) }},
		{"replaces", replace},
		{"links", func(w *worktree, path string) { w.write("elsewhere", rivalBytes); w.link(path, w.path("elsewhere")) }},
	}
}

// TestSomebodyElseWins lets somebody change a path right before every mutation of
// a command, after everything was looked at: their bytes are at the path afterwards, and nothing that was there is lost.
func TestSomebodyElseWins(t *testing.T) {
	parts := findHost("pi").kits[0].parts
	paths := map[string]string{
		"replaced": parts[0].callable.path, "removed": parts[1].callable.path, "created": parts[2].callable.path,
		"manifest": findHost("pi").manifestPath(), "sentinel": findHost("pi").sentinelPath(),
	}
	for _, sc := range scenarios()[1:] {
		counter := &saboteur{}
		sc.finished(t, counter)
		for role, path := range paths {
			for _, rival := range rivalries() {
				t.Run(fmt.Sprintf("%s/%s/%s", sc.name, role, rival.name), func(t *testing.T) {
					t.Parallel()
					for n := 1; n <= counter.mutations; n += stride(1) {
						w := sc.arrange(t)
						before := w.tree()
						s := &saboteur{}
						s.beforeMutation = func() {
							if s.mutations+1 == n {
								rival.act(w, path)
							}
						}
						_, fault := sc.command(w, s.open)
						checkRivalWon(t, w, before, path, fault, n)
					}
				})
			}
		}
	}
}

func checkRivalWon(t *testing.T, w *worktree, before tree, path string, fault *schema.Error, n int) {
	t.Helper()
	if got, err := os.ReadFile(w.path(path)); err != nil || string(got) != rivalBytes {
		t.Errorf("mutation %d: %s begins with %.40q (%v), error %v", n, path, got, err, fault)
	}
	now := w.tree()
	if fault == nil {
		if left := w.leftovers(); len(left) > 0 {
			t.Errorf("mutation %d: left over %q", n, left)
		}
		return
	}
	report := failureReport(t, fault)
	checkNamed(t, w.leftovers(), report, fmt.Sprintf("mutation %d", n))
	if report.Outcome == OutcomeCommitted {
		return
	}
	changed := slices.DeleteFunc(differences(before, now), func(name string) bool {
		return name == path || name == "elsewhere"
	})
	if len(changed) > 0 {
		t.Errorf("mutation %d: outcome %s, but changed %q", n, report.Outcome, changed)
	}
}

// TestUndoLeavesTheirBytes lets somebody change a path that was changed already,
// and then makes the next change fail: undoing leaves their bytes, keeps what it
// cannot put back, and says so.
func TestUndoLeavesTheirBytes(t *testing.T) {
	parts := findHost("pi").kits[0].parts
	sc := scenarios()[1]
	for role, path := range map[string]string{
		"replaced": parts[0].callable.path, "removed": parts[1].callable.path, "created": parts[2].callable.path,
	} {
		for _, rival := range rivalries() {
			for _, noExchange := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/exchange=%t", role, rival.name, !noExchange), func(t *testing.T) {
					w := sc.arrange(t)
					before := w.tree()
					s := &saboteur{noExchange: noExchange}
					s.before = func(op string) {
						_, err := os.Lstat(w.path(parts[4].callable.path))
						if op == "sync" && err == nil && s.failAt == 0 { // the changes before the manifest are made
							rival.act(w, path)
							s.failAt = s.count + 1
						}
					}
					_, fault := sc.command(w, s.open)
					if fault == nil {
						t.Fatal("no error")
					}
					report := failureReport(t, fault)
					if report.Outcome != OutcomeAmbiguous || !slices.Contains(report.RecoveryArtifacts, path) {
						t.Errorf("report %+v", report)
					}
					if got := w.read(path); got != rivalBytes {
						t.Errorf("%s begins with %.40q", path, got)
					}
					delete(before, path) // replaced by theirs; the object itself is looked for below
					now := w.tree()
					checkNothingLost(t, before, now, report, role)
					checkNamed(t, w.leftovers(), report, role)
					if kept := len(w.leftovers()); kept != map[string]int{"replaced": 1, "removed": 1}[role] {
						t.Errorf("left over %q", w.leftovers())
					}
				})
			}
		}
	}
}

// TestWritesToAMovedFileAreKept: somebody who holds the old file open writes to it
// after it was moved out of the way. The new file is in place, and the old one is
// not deleted.
func TestWritesToAMovedFileAreKept(t *testing.T) {
	sc := scenarios()[1]
	parts := findHost("pi").kits[0].parts
	for _, path := range []string{parts[0].callable.path, parts[1].callable.path} {
		w := sc.arrange(t)
		held, err := os.OpenFile(w.path(path), os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.write(path, string(findHost("pi").kits[0].byPath[path].content))
		s := &saboteur{}
		s.before = func(op string) {
			if _, err := os.Lstat(w.path(parts[4].callable.path)); op == "sync" && err == nil {
				held.Truncate(0)
				held.WriteAt([]byte(rivalBytes), 0)
			}
		}
		_, fault := sc.command(w, s.open)
		held.Close()
		if fault == nil {
			t.Fatalf("%s: no error", path)
		}
		report := failureReport(t, fault)
		left := w.leftovers()
		if report.Outcome != OutcomeCommitted || len(report.Written) == 0 || !slices.Equal(left, report.RecoveryArtifacts) || len(left) != 1 {
			t.Fatalf("%s: report %+v, left over %q", path, report, left)
		}
		if got := w.read(left[0]); got != rivalBytes {
			t.Errorf("%s holds %.40q", left[0], got)
		}
	}
}

// TestChangedPathIsAnArtifact: what somebody else did to a path while changes were
// made is named.
func TestChangedPathIsAnArtifact(t *testing.T) {
	sc := scenarios()[1]
	path := findHost("pi").manifestPath()
	w := sc.arrange(t)
	s := &saboteur{}
	s.before = func(op string) {
		if op == "exchange" && w.read(path) != rivalBytes {
			w.write(path, rivalBytes)
		}
	}
	_, fault := sc.command(w, s.open)
	if fault == nil {
		t.Fatal("no error")
	}
	report := failureReport(t, fault)
	if report.Outcome != OutcomeRolledBack || !slices.Equal(report.RecoveryArtifacts, []string{path}) {
		t.Errorf("report %+v", report)
	}
	if !slices.ContainsFunc(report.Warnings, func(s string) bool { return strings.Contains(s, path) && strings.Contains(s, "somebody else") }) {
		t.Errorf("warnings %q", report.Warnings)
	}
}

// TestKeptPolicyIsAssertedAgain: a policy that has to stay in force is looked at
// once more when everything is done.
func TestKeptPolicyIsAssertedAgain(t *testing.T) {
	h := findHost("codex")
	part := h.kits[0].parts[0]
	w := arrange(t, h, map[*generatedFile]situation{part.callable: situations()["modified"]})
	before := w.tree()
	s := &saboteur{}
	moves := 0
	s.before = func(op string) {
		if op == "move" {
			if moves++; moves == 3 {
				w.write(part.policy.path, "policy: {}\n")
			}
		}
	}
	_, fault := uninstall(context.Background(), w.ws, nil, s.open)
	if fault == nil || failureReport(t, fault).Outcome != OutcomeRolledBack || !strings.Contains(fault.Message, part.policy.path) {
		t.Fatalf("error %v", fault)
	}
	if changed := differences(before, w.tree()); !slices.Equal(changed, []string{part.policy.path}) {
		t.Errorf("changed %q", changed)
	}
}

// TestCommandsTakeTurns lets several commands loose on one worktree: each ends
// well, and so does the worktree.
func TestCommandsTakeTurns(t *testing.T) {
	w := newWorktree(t)
	var group sync.WaitGroup
	for i := range 9 {
		group.Go(func() {
			var fault *schema.Error
			switch i % 3 {
			case 0, 1:
				_, fault = w.install(Options{Tools: tools("claude", "kilo"), Refresh: i%3 == 1})
			case 2:
				_, fault = w.uninstall(tools("claude", "kilo"))
			}
			if fault != nil {
				t.Error(fault)
			}
		})
	}
	group.Wait()
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left over %q", left)
	}
	for _, id := range []string{"claude", "kilo"} {
		if code := w.check(id).Code; code != "adapter_healthy" && code != "adapter_not_installed" {
			t.Errorf("%s: %+v", id, w.check(id))
		}
	}
	if n := len(w.tree()); n != 0 && n != 10+17 {
		t.Errorf("%d files", n)
	}
}

// TestCommandsWithoutLocks is the same where the file system has no locks: some
// commands fail, and what they could not undo is named by one of them.
func TestCommandsWithoutLocks(t *testing.T) {
	for range 10 {
		w := newWorktree(t)
		var mutex sync.Mutex
		var named []string
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if fault := refreshUnlocked(t, w); fault != nil {
					mutex.Lock()
					defer mutex.Unlock()
					named = append(named, failureReport(t, fault).RecoveryArtifacts...)
				}
			})
		}
		group.Wait()
		for _, path := range w.leftovers() {
			if !isBelow(path, named) {
				t.Errorf("%s is left over but not among %q", path, named)
			}
		}
		if status := w.list()["pi"]; len(named) == 0 && status.Installed && len(status.Capabilities) != len(allCapabilities) {
			t.Errorf("list %+v", status)
		}
	}
}

// refreshUnlocked is install with refresh of one host, without the lock.
func refreshUnlocked(t *testing.T, w *worktree) *schema.Error {
	c := &command{code: schema.CodeInstallFailed, workspace: w.ws}
	root, err := openFast(w.root)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer root.Close()
	c.site = &site{root: root, path: w.root}
	h := findHost("pi")
	p, err := planHost(root, h, Options{Refresh: true}, false)
	if fault := c.add(h, p, err); fault != nil {
		return fault
	}
	_, fault := c.commit(context.Background())
	return fault
}

func TestLockIsWaitedForAndGivenUp(t *testing.T) {
	w := newWorktree(t)
	held, err := lockSite(context.Background(), w.ws, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockSite(context.Background(), w.ws, time.Millisecond); err == nil || !strings.Contains(err.Error(), "another install") {
		t.Errorf("taken twice: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lockSite(ctx, w.ws, time.Minute); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	taken := make(chan error)
	go func() {
		next, err := lockSite(context.Background(), w.ws, time.Minute)
		if err == nil {
			err = next.Close()
		}
		taken <- err
	}()
	held.Close()
	if err := <-taken; err != nil {
		t.Error(err)
	}
	if _, err := journal.OS().OpenRoot(w.path("nowhere")); err == nil {
		t.Error("opened a folder that is not there")
	}
}

func TestCancelledCommandChangesNothing(t *testing.T) {
	w := newWorktree(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, fault := Install(ctx, w.ws, Options{Tools: tools("pi")})
	if fault == nil || failureReport(t, fault).Outcome != OutcomeNotCommitted || len(w.tree()) > 0 {
		t.Errorf("error %v, tree %v", fault, w.tree())
	}
}

// TestKilledProcess kills a process that installs, refreshes and uninstalls, at
// any time.
func TestKilledProcess(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		w := newWorktree(t)
		w.write(".claude/skills/mine/SKILL.md", "mine")
		killAfter(t, program, w.root, rand.N(60*time.Millisecond))
		checkAfterKill(t, w)
		clearAway(w)
		if _, fault := w.install(Options{Tools: tools("claude", "codex", "kilo"), Refresh: true}); fault != nil {
			t.Fatal(fault)
		}
		for _, id := range []string{"claude", "codex", "kilo"} {
			if got := w.check(id); got.Code != "adapter_healthy" {
				t.Errorf("after clearing away and installing: %+v", got)
			}
		}
		if w.read(".claude/skills/mine/SKILL.md") != "mine" {
			t.Error("a file of the user was changed")
		}
	}
}

// killAfter starts the child, waits for its first round and then for the time.
func killAfter(t *testing.T, program, root string, wait time.Duration) {
	t.Helper()
	child := exec.Command(program)
	child.Env = append(os.Environ(), childRoot+"="+root)
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	lines := bufio.NewReader(output)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Error(err)
	}
	<-time.After(wait) // any moment will do
	child.Process.Kill()
	if rest, _ := io.ReadAll(lines); strings.Contains(string(rest), "failed") {
		t.Errorf("the child said %s", rest)
	}
}

// checkAfterKill is checkAfterCrash for a process that may have been uninstalling,
// which leaves hosts that claim files which are gone.
func checkAfterKill(t *testing.T, w *worktree) {
	t.Helper()
	detail := fmt.Sprint(w.doctor())
	for _, path := range w.leftovers() {
		if !strings.Contains(detail, path) {
			t.Errorf("doctor does not name %s", path)
		}
	}
	listed := w.list()
	for path := range w.tree() {
		for _, id := range []string{"claude", "codex", "kilo"} {
			h := findHost(id)
			if h.kits[0].byPath[path] != nil && !listed[id].Installed && !strings.Contains(detail, path) {
				t.Errorf("doctor does not name %s", path)
			}
		}
	}
	for _, id := range []string{"claude", "codex", "kilo"} {
		if listed[id].Warning != "" {
			t.Errorf("%s: %s", id, listed[id].Warning)
		}
		for _, part := range findHost(id).kits[0].parts {
			_, err := os.Lstat(filepath.Join(w.root, part.callable.path))
			_, policyErr := os.Lstat(filepath.Join(w.root, part.supporting0().path))
			if err == nil && policyErr != nil {
				t.Errorf("%s stands without %s", part.callable.path, part.supporting0().path)
			}
		}
	}
}

// supporting0 is a file that the callable depends on, or the callable.
func (p part) supporting0() *generatedFile {
	if len(p.supporting) == 0 {
		return p.callable
	}
	return p.supporting[0]
}
