//go:build !windows

package deploy

import (
	"os"
	"syscall"
	"testing"
)

// TestModes: modes do not depend on the umask, and folders that were there keep
// theirs.
func TestModes(t *testing.T) {
	w := newWorktree(t)
	w.folder(".kiro")
	if err := os.Chmod(w.path(".kiro"), 0o711); err != nil {
		t.Fatal(err)
	}
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	w.mustInstall(Options{Tools: tools("kiro", "codex"), Surface: "cli"})
	for path, want := range map[string]os.FileMode{
		".kiro":         0o711,
		".kiro/agents":  0o755,
		".kiro/slipway": 0o755,
		".kiro/slipway/capabilities/slipway-run.md":    0o644,
		".kiro/agents/slipway-run.json":                0o644,
		".kiro/slipway/ownership-manifest.json":        0o600,
		".kiro/slipway/.adapter-generated":             0o600,
		".codex/skills/slipway-run/agents":             0o755,
		".codex/skills/slipway-run/agents/openai.yaml": 0o644,
		".codex/slipway/ownership-manifest.json":       0o600,
	} {
		info, err := os.Stat(w.path(path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}

	// A changed mode alone is no modification, and a refresh restores it.
	if err := os.Chmod(w.path(".kiro/agents/slipway-run.json"), 0o640); err != nil {
		t.Fatal(err)
	}
	if status := w.list()["kiro"]; status.NeedsRefresh {
		t.Error("a changed mode counts as a modification")
	}
	w.mustInstall(Options{Tools: tools("kiro"), Refresh: true})
	if info, _ := os.Stat(w.path(".kiro/agents/slipway-run.json")); info.Mode().Perm() != 0o644 {
		t.Errorf("the refresh left mode %v", info.Mode().Perm())
	}
}
