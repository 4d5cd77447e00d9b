package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cut runs a command of a worktree up to a mutation.
func cut(t *testing.T, s *saboteur, command func(openRoot opener)) {
	t.Helper()
	if !crashes(func() { command(s.open) }) {
		t.Fatalf("the command ended before mutation %d", s.crashAt)
	}
}

// checkAfterCrash is what package deploy promises about a process that died: each
// host is installed with everything it claims, or not installed; doctor names every
// generated file of a host that is not installed, and everything in recovery
// folders.
func checkAfterCrash(t *testing.T, w *worktree, where string) {
	t.Helper()
	report := w.doctor()
	details := map[string]string{}
	for _, c := range report.Checks {
		details[c.HostID+c.Code] = c.Detail
		if c.HostID != NoHost {
			details[c.HostID] = c.Detail
		}
	}
	there, listed := w.tree(), w.list()
	for _, h := range hosts() {
		status := listed[h.id]
		if status.Warning != "" {
			t.Errorf("%s: %s: %s", where, h.id, status.Warning)
		}
		if status.Installed {
			if len(status.Capabilities) != len(allCapabilities) {
				t.Errorf("%s: %s is installed with %q", where, h.id, status.Capabilities)
			}
			continue
		}
		for _, k := range h.kits {
			for _, path := range k.paths {
				if _, is := there[path]; is && !strings.Contains(details[h.id], path) {
					t.Errorf("%s: doctor does not name %s: %s", where, path, details[h.id])
				}
			}
		}
	}
	for _, path := range w.leftovers() {
		if !strings.Contains(details[NoHost+"adapter_recovery_residue"], path) {
			t.Errorf("%s: doctor does not name %s: %q", where, path, details[NoHost+"adapter_recovery_residue"])
		}
	}
}

// clearAway does what doctor and install tell the user to do after a crash:
// delete what is left over, and generated files of hosts that are not installed.
func clearAway(w *worktree) {
	w.removeLeftovers()
	listed := w.list()
	for _, h := range hosts() {
		if listed[h.id].Installed {
			continue
		}
		for _, k := range h.kits {
			for _, path := range k.paths {
				w.remove(path)
			}
		}
		w.remove(h.sentinelPath())
	}
}

// crashCase is a host whose commands are cut off at every step-th mutation.
type crashCase struct {
	h       *host
	surface string
	step    int
}

// crashCases are all hosts on all surfaces. One of each form is cut off everywhere.
func crashCases() (cases []crashCase) {
	for _, h := range hosts() {
		for _, k := range h.kits {
			step := 6
			if h.id == "codex" || h.id == "copilot" {
				step = 1
			}
			cases = append(cases, crashCase{h, k.surface, stride(step)})
		}
	}
	return cases
}

// TestCrashOfFirstInstall ends the process at the mutations of a first install.
func TestCrashOfFirstInstall(t *testing.T) {
	for _, c := range crashCases() {
		t.Run(c.h.id+c.surface, func(t *testing.T) {
			t.Parallel()
			counter := &saboteur{}
			o := Options{Tools: tools(c.h.id), Surface: c.surface}
			run := func(w *worktree) func(opener) {
				return func(openRoot opener) { install(context.Background(), w.ws, o, openRoot) }
			}
			arrange := func() *worktree {
				w := newWorktree(t)
				w.write(c.h.ownershipRoot+"/mine", "mine")
				return w
			}
			run(arrange())(counter.open)
			for n := 1; n <= counter.mutations; n += c.step {
				w := arrange()
				cut(t, &saboteur{crashAt: n, torn: n%2 == 0}, run(w))
				checkAfterCrash(t, w, fmt.Sprintf("mutation %d", n))
				if w.read(c.h.ownershipRoot+"/mine") != "mine" {
					t.Error("a file of the user was changed")
				}
				if n%5 != 0 {
					continue
				}
				clearAway(w)
				w.mustInstall(Options{Tools: tools(c.h.id), Surface: c.surface, Refresh: true})
				if got := w.check(c.h.id); got.Code != "adapter_healthy" {
					t.Fatalf("mutation %d: after clearing away and installing: %+v", n, got)
				}
			}
		})
	}
}

// TestCrashAmongHosts ends the process in the middle of all ten hosts: those before
// are installed, those after are not.
func TestCrashAmongHosts(t *testing.T) {
	counter := &saboteur{}
	o := Options{Tools: []string{"all"}, Surface: "cli"}
	install(context.Background(), newWorktree(t).ws, o, counter.open)
	for n := 7; n <= counter.mutations; n += stride(61) {
		w := newWorktree(t)
		cut(t, &saboteur{crashAt: n}, func(openRoot opener) { install(context.Background(), w.ws, o, openRoot) })
		checkAfterCrash(t, w, fmt.Sprintf("mutation %d", n))
		order, listed := "", w.list()
		for _, id := range HostIDs() {
			order += map[bool]string{true: "+", false: "-"}[listed[id].Installed]
		}
		if strings.Contains(order, "-+") {
			t.Errorf("mutation %d: installed %s", n, order)
		}
	}
}

// TestCrashOfSoundRefresh: while a sound installation is refreshed, it is sound at
// every moment.
func TestCrashOfSoundRefresh(t *testing.T) {
	for _, c := range crashCases() {
		t.Run(c.h.id+c.surface, func(t *testing.T) {
			t.Parallel()
			w := newWorktree(t)
			w.mustInstall(Options{Tools: tools(c.h.id), Surface: c.surface})
			before := w.tree().contents()
			sound := w.list()
			run := func(openRoot opener) {
				install(context.Background(), w.ws, Options{Tools: tools(c.h.id), Refresh: true}, openRoot)
			}
			counter := &saboteur{}
			run(counter.open)
			for n := 1; n <= counter.mutations; n += 2 * c.step {
				cut(t, &saboteur{crashAt: n, torn: true}, run)
				if diff := cmp.Diff(sound, w.list()) + cmp.Diff(before, w.tree().contents()); diff != "" {
					t.Fatalf("mutation %d: %s", n, diff)
				}
				checkAfterCrash(t, w, fmt.Sprintf("mutation %d", n))
				w.removeLeftovers()
			}
		})
	}
}

// TestCrashOfUninstall: an uninstall that was cut off can be repeated, and ends as
// it would have.
func TestCrashOfUninstall(t *testing.T) {
	for _, id := range []string{"codex", "kilo"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			run := func(w *worktree) func(opener) {
				return func(openRoot opener) { uninstall(context.Background(), w.ws, tools(id), openRoot) }
			}
			counter := &saboteur{}
			first := newWorktree(t)
			first.mustInstall(Options{Tools: tools(id)})
			run(first)(counter.open)
			for n := 1; n <= counter.mutations; n += stride(5) {
				w := newWorktree(t)
				w.mustInstall(Options{Tools: tools(id)})
				cut(t, &saboteur{crashAt: n}, run(w))
				checkEntriesHaveText(t, w, findHost(id), n)
				for _, path := range w.leftovers() {
					if detail := fmt.Sprint(w.doctor()); !strings.Contains(detail, path) {
						t.Errorf("mutation %d: doctor does not name %s", n, path)
					}
				}
				if _, fault := w.uninstall(tools(id)); fault != nil {
					t.Errorf("mutation %d: again: %v", n, fault)
				}
				w.removeLeftovers()
				for path := range w.tree() {
					// Nothing but a sentinel may be left, and doctor names it.
					if path != findHost(id).sentinelPath() {
						t.Errorf("mutation %d: %s is left", n, path)
					}
				}
			}
		})
	}
}

// checkEntriesHaveText: no callable stands without the files that it depends on.
func checkEntriesHaveText(t *testing.T, w *worktree, h *host, n int) {
	t.Helper()
	there := w.tree()
	for _, part := range h.kits[0].parts {
		if _, is := there[part.callable.path]; !is {
			continue
		}
		for _, f := range part.supporting {
			if _, is := there[f.path]; !is {
				t.Errorf("mutation %d: %s stands without %s", n, part.callable.path, f.path)
			}
		}
	}
}

// TestCrashWithoutExchange: where two files cannot change places at once, what is
// missing is in a recovery folder that doctor names.
func TestCrashWithoutExchange(t *testing.T) {
	w := newWorktree(t)
	w.mustInstall(Options{Tools: tools("pi")})
	before := w.tree().contents()
	run := func(openRoot opener) {
		install(context.Background(), w.ws, Options{Tools: tools("pi"), Refresh: true}, openRoot)
	}
	counter := &saboteur{noExchange: true}
	run(counter.open)
	for n := 1; n <= counter.mutations; n += stride(1) {
		cut(t, &saboteur{crashAt: n, noExchange: true}, run)
		now := w.tree()
		missing := 0
		for path := range before {
			if _, is := now[path]; is {
				continue
			}
			missing++
			kept := ""
			for _, left := range w.leftovers() {
				if o := now[left]; strings.HasSuffix(left, "/"+entrySnapshot) && fmt.Sprint(o.info.Mode(), " ", o.content) == before[path] {
					kept = left
				}
			}
			if kept == "" || !strings.Contains(fmt.Sprint(w.doctor()), kept) {
				t.Errorf("mutation %d: %s is lost or not named", n, path)
			}
			w.write(path, now[kept].content) // as doctor says: moved back
		}
		if missing > 1 {
			t.Errorf("mutation %d: %d files are missing", n, missing)
		}
		w.removeLeftovers()
	}
}
