package deploy

import (
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slipway/schema"
)

// propertyHosts are the hosts of the random worktrees: one of each form.
var propertyHosts = []string{"codex", "copilot", "kilo", "kiro"}

// TestPromises takes random worktrees with random records through random commands.
// Nothing but pristine claimed files and Slipway's own records is ever changed or
// deleted; a command that fails changes nothing; a report says exactly what
// happened.
func TestPromises(t *testing.T) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range situations() {
			if name != "modified by length" && !yield(name) {
				return
			}
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorktree(t)
		defer os.RemoveAll(w.root)
		for _, id := range propertyHosts {
			drawHost(rt, w, findHost(id), names)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "commands") {
			runAndCheck(rt, w)
		}
	})
}

// drawHost makes up what stands at the paths of one host.
func drawHost(rt *rapid.T, w *worktree, h *host, names []string) {
	if rapid.IntRange(0, 3).Draw(rt, h.id+" is empty") == 0 {
		return
	}
	k := rapid.SampledFrom(h.kits).Draw(rt, h.id+" kit")
	claims := map[string]string{}
	usual := rapid.SampledFrom(names).Draw(rt, h.id+" usual")
	for _, path := range k.paths {
		name := usual
		if rapid.IntRange(0, 2).Draw(rt, path) == 0 {
			name = rapid.SampledFrom(names).Draw(rt, path+" is")
		}
		situations()[name].prepare(w, k.byPath[path], claims)
		if rapid.IntRange(0, 400).Draw(rt, path+" linked") == 0 {
			w.link(path, "elsewhere")
		}
	}
	switch rapid.IntRange(0, 11).Draw(rt, h.id+" manifest") {
	case 0, 1, 2: // none
	case 3:
		w.write(h.manifestPath(), "{}")
	default:
		w.write(h.manifestPath(), string((&manifest{surface: k.surface, claims: claims}).render(h)))
	}
	switch rapid.IntRange(0, 7).Draw(rt, h.id+" sentinel") {
	case 0, 1:
	case 2:
		w.write(h.sentinelPath(), "mine")
	case 3:
		w.folder(h.sentinelPath())
	default:
		w.write(h.sentinelPath(), sentinelText)
	}
}

// owned are the paths that a command may change: absent ones, pristine claimed
// files, and the records.
func owned(rt *rapid.T, w *worktree, now tree) func(path string) bool {
	root, err := openFolder(w.root)
	if err != nil {
		rt.Fatal(err)
	}
	defer root.Close()
	may := map[string]bool{}
	for _, h := range hosts() {
		m, err := loadManifest(root, h)
		if err != nil {
			continue
		}
		if m == nil {
			m = &manifest{}
		} else {
			may[h.manifestPath()] = true
		}
		may[h.sentinelPath()] = now[h.sentinelPath()].content == sentinelText
		for path, digest := range m.claims {
			f := h.kit(m.surface).byPath[path]
			may[path] = digest == f.digest && now[path].content == string(f.content)
		}
	}
	return func(path string) bool {
		_, there := now[path]
		return !there || may[path]
	}
}

func runAndCheck(rt *rapid.T, w *worktree) {
	before := w.tree()
	mayChange := owned(rt, w, before)
	o := Options{Refresh: rapid.Bool().Draw(rt, "refresh"), Surface: rapid.SampledFrom([]string{"", "ide", "cli"}).Draw(rt, "surface")}
	if rapid.Bool().Draw(rt, "named") {
		o.Tools = rapid.SliceOfDistinct(rapid.SampledFrom(propertyHosts), rapid.ID).Draw(rt, "tools")
		o.Tools = append(o.Tools, "") // an empty item changes nothing
	}
	var report *ChangeReport
	var fault *schema.Error
	if rapid.IntRange(0, 2).Draw(rt, "command") == 0 {
		report, fault = w.uninstall(o.Tools)
	} else {
		report, fault = w.install(o)
	}
	now := w.tree()
	changed := differences(before, now)
	if fault != nil {
		if len(changed) > 0 || len(w.leftovers()) > 0 {
			rt.Fatalf("%v, but changed %q, left over %q", fault, changed, w.leftovers())
		}
		return
	}
	for _, path := range changed {
		if !mayChange(path) {
			rt.Fatalf("%s is not Slipway's and was changed", path)
		}
	}
	if reported := inOrder(append(slices.Clone(report.Written), report.Removed...)); !slices.Equal(reported, changed) {
		rt.Fatalf("changed %q, reported %q", changed, reported)
	}
	for _, path := range report.Removed {
		if _, is := now[path]; is {
			rt.Fatalf("%s is still there", path)
		}
	}
	checkClaims(rt, w, now, report, o)
	if left := w.leftovers(); len(left) > 0 || len(report.RecoveryArtifacts) > 0 {
		rt.Fatalf("left over %q, reported %q", left, report.RecoveryArtifacts)
	}
}

// checkClaims: what a refresh wrote is claimed and sound, and nothing else is
// claimed.
func checkClaims(rt *rapid.T, w *worktree, now tree, report *ChangeReport, o Options) {
	root, err := openFolder(w.root)
	if err != nil {
		rt.Fatal(err)
	}
	defer root.Close()
	for _, h := range hosts() {
		m, err := loadManifest(root, h)
		if err != nil || m == nil || !slices.Contains(report.Written, h.manifestPath()) {
			continue
		}
		k := h.kit(m.surface)
		for path := range m.claims {
			if now[path].content != string(k.byPath[path].content) || !slices.Contains(report.Written, path) {
				rt.Fatalf("%s is claimed but not as generated", path)
			}
		}
		for _, part := range k.parts {
			if _, claimed := m.claims[part.callable.path]; !claimed {
				continue
			}
			for _, f := range part.supporting {
				if _, claimed := m.claims[f.path]; !claimed {
					rt.Fatalf("%s is managed without %s", part.callable.path, f.path)
				}
			}
		}
	}
}
