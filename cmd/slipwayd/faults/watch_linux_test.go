package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
)

// edit changes a file of the worktree; no two edits look alike.
func (h *house) edit(i int) (name, text string) {
	h.t.Helper()
	name, text = []string{"kept.txt", "new/file", "other.txt"}[i%3], fmt.Sprintf("edit %d\n", i)
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return name, text
}

func shows(o schema.Observation, name, text string) bool {
	return slices.ContainsFunc(o.PathObservations, func(p schema.PathObservation) bool {
		return p.Path == name && p.ContentSHA256 == schema.PayloadDigest([]byte(text))
	})
}

// editAndSubmit edits and reports at once, as often as it is told to, and has every
// edit in what was observed for its Outcome.
func (h *house) editAndSubmit(times int) {
	h.t.Helper()
	const ofOneRun = 250 // an Action each, of which a Run has a budget
	var state *schema.ProtocolState
	for i := range times {
		if i%ofOneRun == 0 {
			started := decode[schema.ProtocolState](h.t, h.must("run", "--json", "--no-review", "--budget", "1000", "mend the roof"))
			state = &started
		}
		name, text := h.edit(i)
		state = h.submit(state, text)
		status := decode[schema.RunStatus](h.t, h.must("status", state.RunID, "--json"))
		if !shows(status.CurrentGit, name, text) {
			h.t.Fatalf("edit %d of %s is not in %+v", i, name, status.CurrentGit)
		}
	}
}

// Row 8: who edits and reports at once has the edit observed.
func TestOwnEditIsObserved(t *testing.T) {
	times := 30
	if soaking() {
		times = 1000
	}
	h := newHouse(t)
	h.editAndSubmit(times)
	p := dial(t, h.health().Socket)
	watched := 0
	for i := range times {
		name, text := h.edit(i)
		o, mode := p.observe(t, h.root)
		if !shows(o, name, text) {
			t.Fatalf("edit %d of %s is not in %+v", i, name, o)
		}
		if mode == "watch" {
			watched++
		}
	}
	if watched == 0 {
		t.Error("nothing was answered from a watch")
	}
	t.Logf("%d of %d observations were answered from a watch", watched, times)
}

func (p *peer) observe(t testing.TB, root string) (o schema.Observation, mode string) {
	t.Helper()
	var result struct {
		schema.Observation
		Mode string `json:"mode"`
	}
	if err := json.Unmarshal(p.call(t, "workspace/observe", map[string]any{"root": root}), &result); err != nil {
		t.Fatal(err)
	}
	return result.Observation, result.Mode
}

// Row 8: no watch or no instance is left on the whole machine. It lowers its limits
// for a moment.
func TestNoWatchIsLeft(t *testing.T) {
	if !soaking() || os.Geteuid() != 0 {
		t.Skip("changes the limits of the machine: runs in make soak, as root")
	}
	for _, name := range []string{"max_user_watches", "max_user_instances"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("/proc/sys/fs/inotify", name)
			before, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte("0"), 0)
			}
			if err != nil {
				t.Skip(err)
			}
			restore := func() {
				if err := os.WriteFile(file, before, 0); err != nil {
					t.Error(err)
				}
			}
			t.Cleanup(restore)
			h := newHouse(t)
			h.editAndSubmit(20)
			problems := h.health().Problems
			if len(problems) != 1 || problems[0].Code != "worktree_scanned" || !strings.Contains(problems[0].Message, name) || !strings.Contains(problems[0].Remedy, "sysctl") {
				t.Errorf("%+v", problems)
			}
			restore()
			p := dial(t, h.health().Socket)
			waitFor(t, func() bool { _, mode := p.observe(t, h.root); return mode == "watch" })
			if problems := h.health().Problems; len(problems) > 0 {
				t.Errorf("after the limit is as before: %+v", problems)
			}
		})
	}
}
