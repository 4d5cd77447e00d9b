package deploy

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
)

// crashed counts what crashes left behind.
type crashed struct {
	mutations, cuts       int
	before, between, done int // hosts of a cut: as before, with a manifest but not sound, as after
	leftovers             int
}

// crashCommand is a command whose every mutation may be the last.
type crashCommand struct {
	name      string
	installed bool // what it starts from
	run       func(w *worktree, o Options, openRoot opener) *schema.Error
}

var crashCommands = []crashCommand{
	{"install", false, func(w *worktree, o Options, openRoot opener) *schema.Error {
		return second(install(context.Background(), w.ws, o, openRoot))
	}},
	{"refresh", true, func(w *worktree, o Options, openRoot opener) *schema.Error {
		o.Refresh = true
		return second(install(context.Background(), w.ws, o, openRoot))
	}},
	{"uninstall", true, func(w *worktree, o Options, openRoot opener) *schema.Error {
		return second(uninstall(context.Background(), w.ws, o.Tools, openRoot))
	}},
}

func (c crashCommand) arrange(t *testing.T, o Options) *worktree {
	t.Helper()
	w := newWorktree(t)
	if c.installed {
		w.mustInstall(o)
	}
	return w
}

// TestCrashEverywhere ends the process at every mutation of every command, for
// each host alone and for all ten, with what is being written whole and torn.
// Without SLIPWAY_SOAK it takes samples.
func TestCrashEverywhere(t *testing.T) {
	choices := []Options{{Tools: tools("all"), Surface: surfaceIDE}}
	for _, h := range hosts() {
		for _, k := range h.kits {
			choices = append(choices, Options{Tools: tools(h.id), Surface: k.surface})
		}
	}
	for _, c := range crashCommands {
		for _, o := range choices {
			t.Run(fmt.Sprintf("%s/%s%s", c.name, o.Tools[0], o.Surface), func(t *testing.T) {
				t.Parallel()
				var seen crashed
				counter := &saboteur{}
				if fault := c.run(c.arrange(t, o), o, counter.open); fault != nil {
					t.Fatal(fault)
				}
				seen.mutations = counter.mutations
				step := 1
				if os.Getenv("SLIPWAY_SOAK") == "" {
					step = max(1, counter.mutations/3)
				}
				for n := 1; n <= counter.mutations; n += step {
					for _, torn := range []bool{false, true} {
						w := c.arrange(t, o)
						cut(t, &saboteur{crashAt: n, torn: torn}, func(openRoot opener) { c.run(w, o, openRoot) })
						seen.check(t, c, o, w, n)
						os.RemoveAll(w.root)
					}
				}
				t.Logf("%+v", seen)
			})
		}
	}
}

func (seen *crashed) check(t *testing.T, c crashCommand, o Options, w *worktree, n int) {
	t.Helper()
	seen.cuts++
	seen.leftovers += len(w.leftovers())
	listed, where := w.list(), fmt.Sprintf("mutation %d", n)
	chosen, _ := namedHosts(o.Tools, w.ws.Place())
	for _, h := range chosen {
		status := listed[h.id]
		switch sound := status.Installed && len(status.Capabilities) == len(allCapabilities); {
		case sound == c.installed && status.Installed == c.installed:
			seen.before++
		case sound || !status.Installed:
			seen.done++
		default:
			seen.between++
		}
	}
	if c.name != "uninstall" {
		checkAfterCrash(t, w, where)
		return
	}
	// A manifest stays until everything that it claims is gone, so uninstall can be
	// repeated.
	report := fmt.Sprint(w.doctor())
	for _, path := range w.leftovers() {
		if !strings.Contains(report, path) {
			t.Errorf("%s: doctor does not name %s", where, path)
		}
	}
	if fault := c.run(w, o, openFast); fault != nil {
		t.Errorf("%s: again: %v", where, fault)
	}
	w.removeLeftovers()
	for path := range w.tree() {
		if !slices.ContainsFunc(chosen, func(h *host) bool { return path == h.sentinelPath() }) {
			t.Errorf("%s: %s is left", where, path)
		}
	}
}
