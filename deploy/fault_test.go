package deploy

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// scenario is a worktree with something of everything in it, and a command that
// creates, replaces and removes files there.
type scenario struct {
	name    string
	arrange func(t *testing.T) *worktree
	command func(w *worktree, openRoot opener) (*ChangeReport, *schema.Error)
}

func scenarios() []scenario {
	ctx := context.Background()
	refresh := func(w *worktree, openRoot opener) (*ChangeReport, *schema.Error) {
		return install(ctx, w.ws, Options{Tools: tools("pi"), Refresh: true}, openRoot)
	}
	return []scenario{
		{"install", arrangeFirstInstall, refresh},
		{"refresh", arrangeMixed, refresh},
		{"uninstall", arrangeMixed, func(w *worktree, openRoot opener) (*ChangeReport, *schema.Error) {
			return uninstall(ctx, w.ws, tools("pi"), openRoot)
		}},
	}
}

// arrangeMixed has one of each class on a host whose refresh creates, replaces and
// removes.
func arrangeMixed(t *testing.T) *worktree {
	t.Helper()
	h, s := findHost("pi"), situations()
	parts := h.kits[0].parts
	w := arrange(t, h, map[*generatedFile]situation{
		parts[1].supporting[0]: s["unknown"], // so that its callable is removed
		parts[2].callable:      s["new"],
		parts[3].callable:      s["missing"],
		parts[4].callable:      s["stale, missing"],
		parts[5].callable:      s["modified"],
		parts[6].callable:      s["stale"],
	})
	w.write(".pi/skills/mine/SKILL.md", "mine")
	return w
}

// arrangeFirstInstall has files in the way of most capabilities.
func arrangeFirstInstall(t *testing.T) *worktree {
	t.Helper()
	w := newWorktree(t)
	for _, part := range findHost("pi").kits[0].parts[2:] {
		w.write(part.callable.path, "mine")
	}
	return w
}

// contents is what a tree holds, without the identity of its objects.
func (t tree) contents() map[string]string {
	held := map[string]string{}
	for name, o := range t {
		if !slices.ContainsFunc(strings.Split(name, "/"), isRecoveryName) {
			held[name] = fmt.Sprint(o.info.Mode(), " ", o.content)
		}
	}
	return held
}

// finished is what a scenario leads to where nothing fails, and the number of its
// operations.
func (sc scenario) finished(t *testing.T, s *saboteur) map[string]string {
	t.Helper()
	w := sc.arrange(t)
	if _, fault := sc.command(w, s.open); fault != nil {
		t.Fatal(fault)
	}
	if left := w.leftovers(); len(left) > 0 {
		t.Fatalf("left over: %q", left)
	}
	return w.tree().contents()
}

// stride makes exhaustive tests lighter where a short run is asked for.
func stride(full int) int {
	if testing.Short() {
		return full * 11
	}
	return full
}

// TestEveryFault makes each operation of a command fail once, mutations before and
// after they took effect: the command ends as if it had not begun, or as if
// nothing had been wrong, and says which.
func TestEveryFault(t *testing.T) {
	for _, noExchange := range []bool{false, true} {
		for _, sc := range scenarios() {
			counter := &saboteur{noExchange: noExchange}
			after := sc.finished(t, counter)
			t.Run(fmt.Sprintf("%s/exchange=%t", sc.name, !noExchange), func(t *testing.T) {
				t.Parallel()
				for n := 1; n <= counter.mutations; n += stride(1) {
					for _, afterwards := range []bool{false, true} {
						checkFault(t, sc, &saboteur{failMutate: n, afterwards: afterwards, noExchange: noExchange}, after)
					}
				}
				for n := 1; n <= counter.count; n += stride(9) {
					checkFault(t, sc, &saboteur{failAt: n, noExchange: noExchange}, after)
				}
			})
		}
	}
}

func checkFault(t *testing.T, sc scenario, s *saboteur, after map[string]string) {
	t.Helper()
	w := sc.arrange(t)
	before := w.tree()
	_, fault := sc.command(w, s.open)
	left := w.leftovers()
	where := fmt.Sprintf("operation %d, mutation %d, afterwards %t", s.failAt, s.failMutate, s.afterwards)
	if fault == nil {
		if diff := cmp.Diff(after, w.tree().contents()); diff != "" || len(left) > 0 {
			t.Errorf("%s: success, but %s, left over %q", where, diff, left)
		}
		return
	}
	report := failureReport(t, fault)
	if said := fault.Message + strings.Join(report.Warnings, ""); strings.Contains(said, "\n") || !strings.Contains(fault.Message, ".pi") && s.failMutate > 0 {
		t.Errorf("%s: no sentence about a path: %q", where, said)
	}
	switch report.Outcome {
	case OutcomeCommitted:
		if diff := cmp.Diff(after, w.tree().contents()); diff != "" {
			t.Errorf("%s: %v, but %s", where, fault, diff)
		}
	case OutcomeRolledBack, OutcomeNotCommitted:
		if changed := differences(before, w.tree()); len(changed) > 0 {
			t.Errorf("%s: %v, but changed %q", where, fault, changed)
		}
		ordinary := slices.DeleteFunc(slices.Clone(report.RecoveryArtifacts), func(path string) bool {
			return strings.Contains(path, "/"+recoveryPrefix) || strings.Contains(path, "/"+deletePrefix)
		})
		if len(report.Written)+len(report.Removed)+len(ordinary) > 0 {
			t.Errorf("%s: report %+v", where, report)
		}
	default:
		t.Errorf("%s: outcome %s: %v", where, report.Outcome, fault)
	}
	checkNamed(t, left, report, where)
}

// checkNamed: what is left over is among the artifacts, each with its warning.
func checkNamed(t *testing.T, left []string, report *ChangeReport, where string) {
	t.Helper()
	for _, path := range left {
		inside := slices.ContainsFunc(report.RecoveryArtifacts, func(kept string) bool { return isBelow(kept, []string{path}) })
		if !inside && !isBelow(path, report.RecoveryArtifacts) {
			t.Errorf("%s: %s is left over but not among %q", where, path, report.RecoveryArtifacts)
		}
	}
	for _, path := range report.RecoveryArtifacts {
		if !slices.ContainsFunc(report.Warnings, func(s string) bool { return strings.Contains(s, path) }) {
			t.Errorf("%s: no warning names %s", where, path)
		}
	}
}

func isBelow(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
}

// TestLastingFault makes every operation from one on fail, so that nothing can be
// undone: no object is lost, and each that is not in its place is named.
func TestLastingFault(t *testing.T) {
	for _, sc := range scenarios() {
		counter := &saboteur{}
		sc.finished(t, counter)
		for _, afterwards := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/afterwards=%t", sc.name, afterwards), func(t *testing.T) {
				t.Parallel()
				for n := 1; n <= counter.count; n += stride(5) {
					checkLastingFault(t, sc, &saboteur{failAt: n, lasting: true, afterwards: afterwards})
				}
			})
		}
	}
}

func checkLastingFault(t *testing.T, sc scenario, s *saboteur) {
	t.Helper()
	w := sc.arrange(t)
	before := w.tree()
	_, fault := sc.command(w, s.open)
	where := fmt.Sprintf("operation %d, afterwards %t", s.failAt, s.afterwards)
	if fault == nil {
		t.Fatalf("%s: no error", where)
	}
	report := failureReport(t, fault)
	now := w.tree()
	if report.Outcome == OutcomeRolledBack || report.Outcome == OutcomeNotCommitted {
		if changed := differences(before, now); len(changed) > 0 {
			t.Errorf("%s: %v, but changed %q", where, fault, changed)
		}
	}
	if report.Outcome != OutcomeCommitted {
		checkNothingLost(t, before, now, report, where)
	}
	checkNamed(t, w.leftovers(), report, where)
}

// checkNothingLost: every object of before is in its place or at an artifact.
func checkNothingLost(t *testing.T, before, now tree, report *ChangeReport, where string) {
	t.Helper()
	for name, o := range before {
		if p, is := now[name]; is && o.same(p) {
			continue
		}
		found := false
		for place, p := range now {
			found = found || o.same(p) && isBelow(place, report.RecoveryArtifacts)
		}
		if !found {
			t.Errorf("%s: %s is lost; artifacts %q", where, name, report.RecoveryArtifacts)
		}
	}
}

// TestNoSafeRename: on a file system without a rename that never replaces, the
// command fails before the first change and leaves nothing behind.
func TestNoSafeRename(t *testing.T) {
	for _, sc := range scenarios() {
		w := sc.arrange(t)
		before := w.tree()
		_, fault := sc.command(w, (&saboteur{noMove: true}).open)
		if fault == nil || !strings.Contains(fault.Message, "rename") {
			t.Fatalf("%s: %v", sc.name, fault)
		}
		report := failureReport(t, fault)
		if changed := differences(before, w.tree()); len(changed) > 0 || len(w.leftovers()) > 0 || report.Outcome != OutcomeRolledBack {
			t.Errorf("%s: changed %q, left over %q, outcome %s", sc.name, changed, w.leftovers(), report.Outcome)
		}
	}
}

// TestReplacedRoot replaces the root folder at every point of a command: the new
// folder is never touched.
func TestReplacedRoot(t *testing.T) {
	for _, sc := range scenarios() {
		counter := &saboteur{}
		sc.finished(t, counter)
		seen := map[Outcome]bool{}
		for n := 1; n <= counter.count; n += stride(7) {
			outer := newWorktree(t)
			w := sc.arrange(t)
			before := w.tree()
			away := outer.path("away")
			s := &saboteur{}
			s.before = func(string) {
				if s.count+1 == n {
					if err := os.Rename(w.root, away); err != nil {
						t.Fatal(err)
					}
					w.folder(".")
				}
			}
			_, fault := sc.command(w, s.open)
			if len(w.tree()) > 0 {
				t.Fatalf("%s, operation %d: the new folder has %v", sc.name, n, w.tree())
			}
			moved := worktreeAt(t, away)
			if fault == nil {
				t.Fatalf("%s, operation %d: no error", sc.name, n)
			}
			outcome := failureReport(t, fault).Outcome
			seen[outcome] = true
			if changed := differences(before, moved.tree()); outcome != OutcomeAmbiguous && len(changed) > 0 {
				t.Errorf("%s, operation %d: outcome %s, but changed %q", sc.name, n, outcome, changed)
			}
			if left := moved.leftovers(); len(left) > 0 {
				t.Errorf("%s, operation %d: left over %q", sc.name, n, left)
			}
		}
		for _, outcome := range []Outcome{OutcomeNotCommitted, OutcomeRolledBack, OutcomeAmbiguous} {
			if !seen[outcome] && !testing.Short() {
				t.Errorf("%s: never %s", sc.name, outcome)
			}
		}
	}
}
