package deploy

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAdapterChecks(t *testing.T) {
	h := findHost("kilo")
	part := h.kits[0].parts[0]
	installed := func(w *worktree) { w.mustInstall(Options{Tools: tools("kilo")}) }
	stale := func(w *worktree) {
		claims := fullClaims(h.kits[0])
		claims[part.callable.path] = someDigest
		w.write(h.manifestPath(), string((&manifest{claims: claims}).render(h)))
	}
	for name, test := range map[string]struct {
		prepare func(*worktree)
		code    string
		status  CheckStatus
		detail  []string // must be in the detail, in this order
	}{
		"not there":              {func(*worktree) {}, "adapter_not_detected", StatusOK, []string{"not detected"}},
		"invalid, not detected":  {func(w *worktree) { w.folder("real"); w.link(".kilocode", w.path("real")) }, "adapter_manifest_unreadable", StatusError, []string{".kilocode"}},
		"invalid":                {func(w *worktree) { w.write(h.manifestPath(), "[]") }, "adapter_manifest_unreadable", StatusError, []string{"manifest"}},
		"detected":               {func(w *worktree) { w.folder(".kilo") }, "adapter_not_installed", StatusWarning, []string{"manifest is missing", "slipway install --tool kilo"}},
		"sentinel alone":         {func(w *worktree) { w.write(h.sentinelPath(), "") }, "adapter_not_installed", StatusWarning, []string{h.sentinelPath(), "slipway install --tool kilo"}},
		"ownership root deleted": {func(w *worktree) { installed(w); w.remove(".kilocode") }, "adapter_not_installed", StatusWarning, []string{"7 paths", ".kilo/commands/slipway-clarify.md, .kilo/commands/slipway-decompose.md", "uninstall", "refresh", "slipway install"}},
		"leftover behind a link": {func(w *worktree) {
			w.folder(".kilocode")
			w.folder("real")
			w.write("real/commands/slipway-run.md", "x")
			w.link(".kilo", w.path("real"))
		}, "adapter_not_installed", StatusWarning, []string{"manifest is missing"}},
		"sentinel modified": {func(w *worktree) {
			installed(w)
			w.write(h.sentinelPath(), "x")
			w.write(part.callable.path, "x")
			w.remove(part.supporting[0].path)
		}, "adapter_modified", StatusWarning, []string{"2 more", "moved away"}},
		"sentinel wins over stale": {func(w *worktree) { installed(w); stale(w); w.write(h.sentinelPath(), "x") }, "adapter_modified", StatusWarning, []string{"1 more"}},
		"stale":                    {func(w *worktree) { installed(w); stale(w); w.remove(h.sentinelPath()) }, "adapter_refresh_required", StatusWarning, []string{"1 claim", "refresh and uninstall"}},
		"claims incomplete": {func(w *worktree) {
			w.write(part.supporting[0].path, "mine")
			installed(w)
		}, "adapter_refresh_required", StatusWarning, []string{part.supporting[0].path, "move it away", "slipway install --refresh"}},
		"an edited file given up": {func(w *worktree) {
			installed(w)
			w.write(part.callable.path, "mine")
			w.mustInstall(Options{Tools: tools("kilo"), Refresh: true})
		}, "adapter_refresh_required", StatusWarning, []string{part.callable.path, "move it away", "slipway install --refresh"}},
		"sentinel missing": {func(w *worktree) { installed(w); w.remove(h.sentinelPath()) }, "adapter_refresh_required", StatusWarning, []string{"slipway install --refresh"}},
		"changed files": {func(w *worktree) {
			installed(w)
			w.write(part.callable.path, "x")
			w.remove(part.supporting[0].path)
			w.link(h.kits[0].parts[1].callable.path, "x")
		}, "adapter_modified", StatusWarning, []string{"behind a link: 3", part.callable.path, part.supporting[0].path}},
		"healthy": {installed, "adapter_healthy", StatusOK, []string{"15 managed files"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			test.prepare(w)
			got := w.check("kilo")
			if got.Code != test.code || got.Status != test.status {
				t.Fatalf("%+v, want %s", got, test.code)
			}
			if wantName := map[bool]string{true: "manifest", false: "adapter"}[test.status == StatusError]; got.Name != wantName {
				t.Errorf("name %q", got.Name)
			}
			rest := got.Detail
			for _, part := range test.detail {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Errorf("detail %q lacks %q", got.Detail, part)
				}
				rest = after
			}
		})
	}
}

// TestKiroLeftovers: without a manifest files of either surface are named.
func TestKiroLeftovers(t *testing.T) {
	w := newWorktree(t)
	w.write(".kiro/agents/slipway-run.json", "{}")
	w.write(".kiro/steering/slipway-run.md", "x")
	got := w.check("kiro")
	if !strings.Contains(got.Detail, "2 paths") || !strings.Contains(got.Detail, ".kiro/agents/slipway-run.json, .kiro/steering/slipway-run.md") {
		t.Errorf("%+v", got)
	}
}

func TestDoctorOrder(t *testing.T) {
	w := newWorktree(t)
	w.write(".git/slipway/locks", "x")
	w.folder(".pi/slipway/" + recoveryPrefix + strings.Repeat("0", 32))
	yes := true
	facts := &GitHubFacts{Tool: ToolCompatible, Auth: &yes, Permissions: &RepositoryPermissions{Repository: "o/n", Known: true, Read: true}}
	report, fault := Doctor(context.Background(), w.ws, facts, []Check{{Code: "daemon_reachable", Status: StatusOK, HostID: NoHost, Name: "daemon", Detail: "x"}})
	if fault != nil {
		t.Fatal(fault)
	}
	var codes []string
	for _, c := range report.Checks {
		codes = append(codes, c.Code)
		if c.Detail == "" || c.Name == "" {
			t.Errorf("incomplete: %+v", c)
		}
	}
	want := []string{"repository_ok"}
	for _, id := range HostIDs() {
		if id == "pi" {
			want = append(want, "adapter_not_installed")
		} else {
			want = append(want, "adapter_not_detected")
		}
	}
	want = append(want, "legacy_locks_residue", "runstore_durability_full", "github_cli_compatible", "github_auth_available",
		"github_issue_permissions_limited", "adapter_recovery_residue", "daemon_reachable")
	if runtime.GOOS != "windows" {
		if diff := cmp.Diff(want, codes); diff != "" {
			t.Error(diff)
		}
	}
	if report.Checks[0].Detail != w.root {
		t.Errorf("repository check %+v", report.Checks[0])
	}
}

func TestLegacyResidue(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(w *worktree)
		want    []string // codes, with the child that the detail names
	}{
		"no folder":  {func(*worktree) {}, nil},
		"runs alone": {func(w *worktree) { w.folder(".git/slipway/runs") }, nil},
		"every kind": {func(w *worktree) {
			for _, child := range []string{"runs", "runtime", "cache", "scope-root", "scopes", "repair-backups", "Zeta"} {
				w.folder(".git/slipway/" + child)
			}
			w.write(".git/slipway/locks", "x")
			w.link(".git/slipway/processes", "nowhere")
		}, []string{
			"legacy_unknown_residue Zeta", "legacy_cache_residue cache", "legacy_locks_residue locks", "legacy_processes_residue processes",
			"legacy_repair_backups_residue repair-backups", "legacy_runtime_residue runtime", "legacy_scope_root_residue scope-root", "legacy_scopes_residue scopes",
		}},
		"a link": {func(w *worktree) { w.folder("real/locks"); w.link(".git/slipway", w.path("real")) }, []string{"legacy_unknown_residue link"}},
		"a file": {func(w *worktree) { w.write(".git/slipway", "x") }, []string{"legacy_unknown_residue no folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			test.prepare(w)
			got := slices.DeleteFunc(w.doctor().Checks, func(c Check) bool { return c.Name != "legacy_runstore" })
			if len(got) != len(test.want) {
				t.Fatalf("%+v, want %q", got, test.want)
			}
			for i, c := range got {
				code, child, _ := strings.Cut(test.want[i], " ")
				if c.Code != code || c.Status != StatusWarning || c.HostID != NoHost || !strings.Contains(c.Detail, child) {
					t.Errorf("%+v, want %q", c, test.want[i])
				}
			}
		})
	}
}

func TestRecoveryResidue(t *testing.T) {
	w := newWorktree(t)
	digits := strings.Repeat("a", 32)
	for _, name := range []string{
		".kilo/commands/" + recoveryPrefix + digits + "/snapshot",
		".codex/skills/slipway-run/agents/" + recoveryPrefix + digits + "/new",
		".kiro/agents/" + recoveryPrefix + digits + "/" + deletePrefix + digits,
		"elsewhere/" + recoveryPrefix + digits + "/new", // nothing is generated there
	} {
		w.write(name, "x")
	}
	w.folder(".pi/slipway/" + deleteFolderPrefix + digits)
	w.folder("real/" + recoveryPrefix + digits)
	w.link(".qwen", w.path("real"))
	w.link(".claude/slipway/"+recoveryPrefix+"odd\nname", "nowhere")
	checks := slices.DeleteFunc(w.doctor().Checks, func(c Check) bool { return c.Code != "adapter_recovery_residue" })
	if len(checks) != 1 {
		t.Fatalf("checks %+v", checks)
	}
	for _, want := range []string{
		".kilo/commands/" + recoveryPrefix + digits + "/snapshot", "/agents/" + recoveryPrefix + digits + "/new", deletePrefix + digits,
		".pi/slipway/" + deleteFolderPrefix + digits, `odd\nname`,
	} {
		if !strings.Contains(checks[0].Detail, want) {
			t.Errorf("%q lacks %q", checks[0].Detail, want)
		}
	}
	for _, unwanted := range []string{"elsewhere", ".qwen", "\n"} {
		if strings.Contains(checks[0].Detail, unwanted) {
			t.Errorf("%q has %q", checks[0].Detail, unwanted)
		}
	}
}

func TestUnlistableNamespace(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything can be listed here")
	}
	w := newWorktree(t)
	w.folder(".git/slipway")
	folder := filepath.Join(w.root, ".git", "slipway")
	if err := os.Chmod(folder, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o755)
	if checks := residueChecks(w.ws.GitCommonDir); len(checks) != 1 || checks[0].Code != unknownResidue {
		t.Errorf("checks %+v", checks)
	}
}
