package deploy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// TestUninstallOfOneFile goes through the table of adapters.md, section 6.
func TestUninstallOfOneFile(t *testing.T) {
	h := findHost("kilo")
	part := h.kits[0].parts[3]
	for _, f := range []*generatedFile{part.callable, part.supporting[0]} {
		for name, s := range situations() {
			t.Run(f.path+"/"+name, func(t *testing.T) {
				w := arrange(t, h, map[*generatedFile]situation{f: s})
				before := w.tree()
				report, fault := w.uninstall(tools(h.id))
				if fault != nil {
					t.Fatal(fault)
				}
				removed, preserved := s.class == classPristine, s.class == classModified || s.class == classStale
				if slices.Contains(report.Removed, f.path) != removed || slices.Contains(report.Preserved, f.path) != preserved {
					t.Errorf("removed %q, preserved %q", report.Removed, report.Preserved)
				}
				if touched := slices.Contains(differences(before, w.tree()), f.path); touched != removed {
					t.Errorf("touched: %t", touched)
				}
				wantWarnings := 0
				if s.class == classStale {
					wantWarnings = 1
				}
				if len(report.Warnings) != wantWarnings || len(report.Written) > 0 {
					t.Errorf("report %+v", report)
				}
				for _, path := range []string{h.manifestPath(), h.sentinelPath()} {
					if !slices.Contains(report.Removed, path) {
						t.Errorf("%s stays", path)
					}
				}
			})
		}
	}
}

func TestUninstallSelection(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*worktree)
		tools   []string
		want    string // hosts, or the code of the error
	}{
		"nothing installed":    {func(*worktree) {}, nil, "uninstall_failed"},
		"all installed ones":   {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi", "claude")}) }, nil, "claude pi"},
		"named, not installed": {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi")}) }, tools("claude"), "claude"},
		"named beside a bad one": {func(w *worktree) {
			w.mustInstall(Options{Tools: tools("pi")})
			w.write(".qwen/slipway/ownership-manifest.json", "")
		}, tools("pi"), "pi"},
		"unnamed with a bad one": {func(w *worktree) {
			w.mustInstall(Options{Tools: tools("pi")})
			w.write(".qwen/slipway/ownership-manifest.json", "")
		}, nil, "uninstall_failed"},
		"kiro without surface": {func(w *worktree) {
			w.write(".kiro/slipway/ownership-manifest.json", `{"version": 2, "tool_id": "kiro", "files": []}`)
		}, tools("kiro"), "uninstall_failed"},
		"unknown":             {func(*worktree) {}, tools("emacs"), "unknown_host_adapter"},
		"empty":               {func(*worktree) {}, tools(""), "host_adapter_required"},
		"linked claimed file": {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi")}); w.link(piFile, "elsewhere") }, nil, "uninstall_failed"},
		"linked unclaimed callable": {func(w *worktree) {
			w.write(".pi/slipway/ownership-manifest.json", piManifest("[]"))
			w.link(piFile, "elsewhere")
		}, nil, "uninstall_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			test.prepare(w)
			before := w.tree()
			report, fault := w.uninstall(test.tools)
			if fault == nil {
				if got := strings.Join(report.Hosts, " "); got != test.want {
					t.Errorf("hosts %q, want %q", got, test.want)
				}
				return
			}
			if string(fault.Code) != test.want {
				t.Errorf("%v, want %s", fault, test.want)
			}
			if changed := differences(before, w.tree()); len(changed) > 0 {
				t.Errorf("changed %q", changed)
			}
		})
	}
}

// TestModifiedSentinelSurvivesUninstall: the manifest goes all the same.
func TestModifiedSentinelSurvivesUninstall(t *testing.T) {
	w := newWorktree(t)
	h := findHost("qwen")
	w.mustInstall(Options{Tools: tools("qwen")})
	w.write(h.sentinelPath(), "mine\n")
	report, fault := w.uninstall(nil)
	if fault != nil || !slices.Contains(report.Removed, h.manifestPath()) || !cmp.Equal(report.Preserved, []string{h.sentinelPath()}) {
		t.Fatalf("%+v, %v", report, fault)
	}
	if got := w.read(h.sentinelPath()); got != "mine\n" {
		t.Errorf("the sentinel is %q", got)
	}
}

// TestCodexPolicyOutlivesItsCallable crosses what can have become of a callable
// with what can have become of its policy.
func TestCodexPolicyOutlivesItsCallable(t *testing.T) {
	h := findHost("codex")
	part := h.kits[0].parts[4]
	for callableName, cs := range situations() {
		for policyName, ps := range situations() {
			if strings.Contains(callableName, "by length") || strings.Contains(policyName, "by length") {
				continue
			}
			t.Run(callableName+"/"+policyName, func(t *testing.T) {
				t.Parallel()
				w := arrange(t, h, map[*generatedFile]situation{part.callable: cs, part.policy: ps})
				before := w.tree()
				survives := cs.class == classModified || cs.class == classStale || cs.class == classUnknown
				inForce := ps.class == classPristine || policyName == "stale, right bytes" || policyName == "unknown, right bytes"
				report, fault := w.uninstall(nil)
				if survives && !inForce {
					if fault == nil || fault.Code != schema.CodeUninstallFailed || failureReport(t, fault).Outcome != OutcomeNotCommitted {
						t.Fatalf("error %v", fault)
					}
					if changed := differences(before, w.tree()); len(changed) > 0 {
						t.Errorf("changed %q", changed)
					}
					return
				}
				if fault != nil {
					t.Fatal(fault)
				}
				kept := slices.Contains(report.Preserved, part.policy.path)
				warned := slices.ContainsFunc(report.Warnings, func(s string) bool {
					return strings.Contains(s, part.policy.path) && strings.Contains(s, part.callable.path)
				})
				if survives && (!kept || !warned || w.read(part.policy.path) != string(part.policy.content)) {
					t.Errorf("the policy is not kept: %+v", report)
				}
				if !survives && (warned || slices.Contains(report.Removed, part.policy.path) != (ps.class == classPristine)) {
					t.Errorf("report %+v", report)
				}
			})
		}
	}
}
