package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

func TestToolSelection(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   string // the hosts, or the code of the error
	}{
		{[]string{"pi,claude", "claude"}, "claude pi"},
		{[]string{" Claude , KILO"}, "claude kilo"},
		{[]string{`"qwen"`, ""}, "qwen"},
		{[]string{"all"}, strings.Join(HostIDs(), " ")},
		{[]string{"pi", "ALL"}, strings.Join(HostIDs(), " ")},
		{[]string{"\u00a0pi\u2003"}, "pi"},
		{[]string{"all,emacs"}, "unknown_host_adapter"},
		{[]string{"emacs,vi"}, "unknown_host_adapter"},
		{[]string{"claude codex"}, "unknown_host_adapter"},
		{[]string{""}, "host_adapter_required"},
		{[]string{" , ,", ""}, "host_adapter_required"},
		{[]string{}, "host_adapter_required"},
		{[]string{`cla"ude`}, "invalid_usage"},
		{[]string{`"claude`}, "invalid_usage"},
		{[]string{"claude\npi"}, "invalid_usage"},
		{[]string{"emacs", `"`}, "invalid_usage"},
	} {
		chosen, fault := namedHosts(test.values, schema.UnavailablePlace("/srv/none"))
		got := ""
		if fault != nil {
			got = string(fault.Code)
			if fault.ExitCode != schema.ExitUsage || fault.Details != nil {
				t.Errorf("%q: exit %d, details %v", test.values, fault.ExitCode, fault.Details)
			}
		}
		for _, h := range chosen {
			got = strings.TrimSpace(got + " " + h.id)
		}
		if got != test.want {
			t.Errorf("%q gives %q, want %q", test.values, got, test.want)
		}
		if (ToolsFault(test.values) != nil) != (test.want == "invalid_usage") {
			t.Errorf("%q: ToolsFault gives %v", test.values, ToolsFault(test.values))
		}
	}
	if _, fault := namedHosts([]string{"vi,emacs"}, schema.UnavailablePlace("/srv/none")); !strings.Contains(fault.Message, `"vi"`) {
		t.Errorf("not the first unknown id: %s", fault.Message)
	}
}

func TestDetection(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*worktree)
		hosts   string // detected by install, or the code of the error
		listed  string
	}{
		"nothing":          {func(*worktree) {}, "install_failed", ""},
		"folders":          {func(w *worktree) { w.folder(".claude"); w.folder(".kilo"); w.folder(".github/prompts") }, "claude copilot kilo", "claude copilot kilo"},
		"kilocode":         {func(w *worktree) { w.folder(".kilocode") }, "kilo", "kilo"},
		"github alone":     {func(w *worktree) { w.folder(".github/workflows") }, "install_failed", ""},
		"a file":           {func(w *worktree) { w.write(".claude", "x") }, "install_failed", ""},
		"a link":           {func(w *worktree) { w.folder("real"); w.link(".claude", w.path("real")) }, "install_failed", ""},
		"a linked marker":  {func(w *worktree) { w.folder("real"); w.link(".github/agents", w.path("real")); w.folder(".pi") }, "pi", "pi"},
		"github is a file": {func(w *worktree) { w.write(".github", "x"); w.folder(".pi") }, "install_failed", "pi"},
		"github is a link": {func(w *worktree) { w.folder("real/agents"); w.link(".github", w.path("real")); w.folder(".pi") }, "install_failed", "copilot pi"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			test.prepare(w)
			listed := ""
			for _, id := range HostIDs() {
				if w.list()[id].Detected {
					listed = strings.TrimSpace(listed + " " + id)
				}
			}
			report, fault := w.install(Options{})
			got := ""
			if fault != nil {
				got = string(fault.Code)
				if r := failureReport(t, fault); r.Outcome != OutcomeNotCommitted || len(r.Hosts) > 0 {
					t.Errorf("report %+v", r)
				}
			} else {
				got = strings.Join(report.Hosts, " ")
			}
			if got != test.hosts || listed != test.listed {
				t.Errorf("install: %q, list: %q; want %q and %q", got, listed, test.hosts, test.listed)
			}
		})
	}
}

func TestKiroSurface(t *testing.T) {
	noSurface := `{"version": 2, "tool_id": "kiro", "files": []}`
	for _, test := range []struct {
		name    string
		prepare func(*worktree)
		options Options
		want    string // the hosts, or the code of the error
		warning string
	}{
		{"without kiro", nil, Options{Tools: tools("claude"), Surface: "ide"}, "invalid_adapter_surface", ""},
		{"unknown value", nil, Options{Tools: tools("kiro"), Surface: "IDE"}, "invalid_adapter_surface", ""},
		{"unknown value without kiro", nil, Options{Tools: tools("pi"), Surface: "vs"}, "invalid_adapter_surface", ""},
		{"first, named", nil, Options{Tools: tools("kiro")}, "invalid_adapter_surface", ""},
		{"first, through all", nil, Options{Tools: tools("all")}, "invalid_adapter_surface", ""},
		{"first, beside others", nil, Options{Tools: tools("kiro", "claude"), Surface: "cli"}, "claude kiro", ""},
		{"the only detected", func(w *worktree) { w.folder(".kiro") }, Options{}, "invalid_adapter_surface", ""},
		{"one of several detected", func(w *worktree) { w.folder(".kiro"); w.folder(".pi") }, Options{}, "pi", "--surface ide"},
		{"one of several detected, surface", func(w *worktree) { w.folder(".kiro"); w.folder(".pi") }, Options{Surface: "ide"}, "kiro pi", ""},
		{"bad manifest, named", func(w *worktree) { w.write(".kiro/slipway/ownership-manifest.json", noSurface) },
			Options{Tools: tools("kiro"), Surface: "ide"}, "invalid_adapter_surface", ""},
		{"bad manifest, only detected", func(w *worktree) { w.write(".kiro/slipway/ownership-manifest.json", noSurface) },
			Options{}, "invalid_adapter_surface", ""},
		{"bad manifest, one of several", func(w *worktree) {
			w.folder(".pi")
			w.write(".kiro/slipway/ownership-manifest.json", noSurface)
		}, Options{}, "pi", "--surface cli"},
		{"bad manifest, one of several, surface", func(w *worktree) {
			w.folder(".pi")
			w.write(".kiro/slipway/ownership-manifest.json", noSurface)
		}, Options{Surface: "ide"}, "invalid_adapter_surface", ""},
		{"other fault of the manifest", func(w *worktree) { w.write(".kiro/slipway/ownership-manifest.json", "{}") },
			Options{Tools: tools("kiro"), Surface: "ide"}, "install_failed", ""},
		{"sentinel alone is no first install", func(w *worktree) { w.write(".kiro/slipway/.adapter-generated", "") },
			Options{Tools: tools("kiro")}, "kiro", "--surface cli"},
		{"an earlier host wins", func(w *worktree) { w.write(".claude/slipway/ownership-manifest.json", "[]") },
			Options{Tools: tools("claude", "kiro")}, "install_failed", ""},
		{"a later host loses", func(w *worktree) { w.write(".pi/slipway/ownership-manifest.json", "[]") },
			Options{Tools: tools("pi", "kiro")}, "invalid_adapter_surface", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorktree(t)
			if test.prepare != nil {
				test.prepare(w)
			}
			before := w.tree()
			report, fault := w.install(test.options)
			if fault == nil {
				if got := strings.Join(report.Hosts, " "); got != test.want {
					t.Fatalf("hosts %q, want %q", got, test.want)
				}
				if warnings := strings.Join(report.Warnings, "\n"); !strings.Contains(warnings, test.warning) || (test.warning == "") != (warnings == "") {
					t.Errorf("warnings %q, want one with %q", warnings, test.warning)
				}
				return
			}
			if string(fault.Code) != test.want {
				t.Fatalf("%v, want %s", fault, test.want)
			}
			if fault.Code == schema.CodeInvalidAdapterSurface && (fault.ExitCode != schema.ExitUsage || fault.Details != nil ||
				fault.Next.Variants[0].ID != "install-kiro") {
				t.Errorf("error %+v", fault)
			}
			if changed := differences(before, w.tree()); len(changed) > 0 {
				t.Errorf("changed %q", changed)
			}
		})
	}
}

func TestKiroSurfaceOfAnInstallation(t *testing.T) {
	w := newWorktree(t)
	w.mustInstall(Options{Tools: tools("kiro"), Surface: "cli"})
	for _, o := range []Options{
		{Tools: tools("kiro"), Surface: "ide"},
		{Tools: tools("kiro"), Surface: "ide", Refresh: true},
		{Surface: "ide"},
	} {
		if _, fault := w.install(o); fault == nil || fault.Code != schema.CodeInvalidAdapterSurface {
			t.Errorf("%+v: %v", o, fault)
		}
	}
	for _, o := range []Options{{Tools: tools("kiro"), Surface: "cli"}, {Surface: "cli"}, {}} {
		report := w.mustInstall(o)
		if len(report.Written)+len(report.Removed) > 0 || len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "--refresh") {
			t.Errorf("%+v: %+v", o, report)
		}
	}
	if report := w.mustInstall(Options{Refresh: true}); len(report.Written) != 17 {
		t.Errorf("the refresh wrote %q", report.Written)
	}
}

// situation is what stands at one generated path before a refresh.
type situation struct {
	class   class
	prepare func(w *worktree, f *generatedFile, claims map[string]string)
}

// situations are all classes of adapters.md, section 4, some of them in several
// ways.
func situations() map[string]situation {
	claim := func(claims map[string]string, f *generatedFile) { claims[f.path] = f.digest }
	return map[string]situation{
		"new":                  {classNew, func(w *worktree, f *generatedFile, _ map[string]string) { w.remove(f.path) }},
		"unknown":              {classUnknown, func(w *worktree, f *generatedFile, _ map[string]string) { w.write(f.path, "mine") }},
		"unknown, right bytes": {classUnknown, func(w *worktree, f *generatedFile, _ map[string]string) { w.write(f.path, string(f.content)) }},
		"unknown folder":       {classUnknown, func(w *worktree, f *generatedFile, _ map[string]string) { w.remove(f.path); w.folder(f.path) }},
		"pristine": {classPristine, func(w *worktree, f *generatedFile, claims map[string]string) {
			claim(claims, f)
			w.write(f.path, string(f.content))
		}},
		"missing": {classMissing, func(w *worktree, f *generatedFile, claims map[string]string) { claim(claims, f); w.remove(f.path) }},
		"modified": {classModified, func(w *worktree, f *generatedFile, claims map[string]string) {
			claim(claims, f)
			w.write(f.path, "changed")
		}},
		"modified by length": {classModified, func(w *worktree, f *generatedFile, claims map[string]string) {
			claim(claims, f)
			w.write(f.path, strings.Repeat("x", maxGeneratedBytes+1))
		}},
		"modified into a folder": {classModified, func(w *worktree, f *generatedFile, claims map[string]string) {
			claim(claims, f)
			w.remove(f.path)
			w.folder(f.path)
		}},
		"stale, missing": {classStaleMissing, func(w *worktree, f *generatedFile, claims map[string]string) {
			claims[f.path] = someDigest
			w.remove(f.path)
		}},
		"stale": {classStale, func(w *worktree, f *generatedFile, claims map[string]string) {
			claims[f.path] = someDigest
			w.write(f.path, "old release")
		}},
		"stale, right bytes": {classStale, func(w *worktree, f *generatedFile, claims map[string]string) {
			claims[f.path] = someDigest
			w.write(f.path, string(f.content))
		}},
	}
}

// arrange makes a worktree in which a host is installed and sound but for what
// the situations of single files say.
func arrange(t *testing.T, h *host, special map[*generatedFile]situation) *worktree {
	t.Helper()
	w := newWorktree(t)
	k := h.kits[0]
	claims := map[string]string{}
	for _, path := range k.paths {
		f := k.byPath[path]
		s, is := special[f]
		if !is {
			s = situations()["pristine"]
		}
		s.prepare(w, f, claims)
	}
	w.write(h.manifestPath(), string((&manifest{surface: k.surface, claims: claims}).render(h)))
	w.write(h.sentinelPath(), sentinelText)
	return w
}

// TestRefreshOfOneFile goes through the table of adapters.md, 5.3 with a callable
// that depends on nothing.
func TestRefreshOfOneFile(t *testing.T) {
	h := findHost("claude")
	f := h.kits[0].parts[0].callable
	for name, s := range situations() {
		t.Run(name, func(t *testing.T) {
			w := arrange(t, h, map[*generatedFile]situation{f: s})
			before := w.tree()
			report := w.mustInstall(Options{Tools: tools("claude"), Refresh: true})
			m, _ := load(t, w, h)
			written := s.class == classNew || s.class == classPristine || s.class == classMissing || s.class == classStaleMissing
			if slices.Contains(report.Written, f.path) != written || slices.Contains(report.Preserved, f.path) == written {
				t.Errorf("written %q, preserved %q", report.Written, report.Preserved)
			}
			if _, claimed := m.claims[f.path]; claimed != written {
				t.Errorf("claimed: %t", claimed)
			}
			if written && w.read(f.path) != string(f.content) {
				t.Error("not the generated bytes")
			}
			if !written && slices.Contains(differences(before, w.tree()), f.path) {
				t.Error("the file was touched")
			}
			wantWarnings := 0
			if s.class == classStale {
				wantWarnings = 1
			}
			if len(report.Warnings) != wantWarnings {
				t.Errorf("warnings %q", report.Warnings)
			}
			if len(report.Written)+len(report.Preserved) != 10 || len(report.Removed) > 0 {
				t.Errorf("report %+v", report)
			}
		})
	}
}

// TestCallableDependsOnSupportingFile crosses the classes of a callable with those
// of a file that it depends on.
func TestCallableDependsOnSupportingFile(t *testing.T) {
	perClass := map[class]string{}
	for name, s := range situations() {
		perClass[s.class] = max(perClass[s.class], name)
	}
	for _, h := range []*host{findHost("codex"), findHost("kilo")} {
		part := h.kits[0].parts[2]
		supporting, callable := part.supporting[0], part.callable
		for _, supportingName := range perClass {
			for _, callableName := range perClass {
				ss, cs := situations()[supportingName], situations()[callableName]
				t.Run(fmt.Sprintf("%s/%s/%s", h.id, supportingName, callableName), func(t *testing.T) {
					t.Parallel()
					w := arrange(t, h, map[*generatedFile]situation{supporting: ss, callable: cs})
					before := w.tree()
					report := w.mustInstall(Options{Tools: tools(h.id), Refresh: true})
					checkDependency(t, w, before, report, part, ss.class, cs.class)
				})
			}
		}
	}
}

func checkDependency(t *testing.T, w *worktree, before tree, report *ChangeReport, part part, sc, cc class) {
	supporting, callable := part.supporting[0].path, part.callable.path
	blocked := !sc.mayWrite()
	in := func(list []string, path string) bool { return slices.Contains(list, path) }
	want := map[string]bool{
		"supporting written":   !blocked,
		"supporting preserved": blocked,
		"callable written":     !blocked && cc.mayWrite(),
		"callable removed":     blocked && cc == classPristine,
		"callable preserved":   cc.onDisk() && cc != classPristine,
	}
	got := map[string]bool{
		"supporting written":   in(report.Written, supporting),
		"supporting preserved": in(report.Preserved, supporting),
		"callable written":     in(report.Written, callable),
		"callable removed":     in(report.Removed, callable),
		"callable preserved":   in(report.Preserved, callable),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, on := w.tree()[callable]
	if _, was := before[callable]; blocked && !was && on {
		t.Error("an entry point was created for text that is not Slipway's")
	}
	wantWarnings := 0
	for _, is := range []bool{blocked, sc == classStale, cc == classStale} {
		if is {
			wantWarnings++
		}
	}
	if len(report.Warnings) != wantWarnings {
		t.Errorf("%d warnings, want %d: %q", len(report.Warnings), wantWarnings, report.Warnings)
	}
	if blocked && !slices.ContainsFunc(report.Warnings, func(s string) bool {
		return strings.Contains(s, callable) && strings.Contains(s, supporting) && strings.Contains(s, part.name)
	}) {
		t.Errorf("no warning names callable, capability and supporting file: %q", report.Warnings)
	}
}

func TestNoClaimLeft(t *testing.T) {
	h := findHost("windsurf")
	for name, sentinel := range map[string]string{"pristine sentinel": sentinelText, "changed sentinel": "mine\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			w.mustInstall(Options{Tools: tools(h.id)})
			for _, path := range h.kits[0].paths {
				w.write(path, "mine")
			}
			w.write(h.sentinelPath(), sentinel)
			report := w.mustInstall(Options{Tools: tools(h.id), Refresh: true})
			wantRemoved := []string{h.manifestPath()}
			wantPreserved := h.kits[0].paths
			if sentinel == sentinelText {
				wantRemoved = inOrder(append(wantRemoved, h.sentinelPath()))
			} else {
				wantPreserved = inOrder(append([]string{h.sentinelPath()}, wantPreserved...))
			}
			if diff := cmp.Diff(wantRemoved, report.Removed) + cmp.Diff(wantPreserved, report.Preserved); diff != "" {
				t.Error(diff)
			}
			if len(report.Written) > 0 || !slices.ContainsFunc(report.Warnings, func(s string) bool { return strings.Contains(s, "not installed") }) {
				t.Errorf("report %+v", report)
			}
			if w.list()[h.id].Installed {
				t.Error("listed as installed")
			}
		})
	}

	// A first install that may not write anything leaves no record behind.
	w := newWorktree(t)
	for _, path := range h.kits[0].paths {
		w.write(path, "mine")
	}
	before := w.tree()
	report := w.mustInstall(Options{Tools: tools(h.id)})
	if changed := differences(before, w.tree()); len(changed) > 0 || report.Outcome != OutcomeCommitted {
		t.Errorf("changed %q, report %+v", changed, report)
	}
}

func TestSentinelWithoutManifest(t *testing.T) {
	for name, prepare := range map[string]func(w *worktree, path string){
		"generated": func(w *worktree, path string) { w.write(path, sentinelText) },
		"empty":     func(w *worktree, path string) { w.write(path, "") },
		"folder":    func(w *worktree, path string) { w.folder(path) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			sentinel := findHost("cursor").sentinelPath()
			prepare(w, sentinel)
			before := w.tree()
			for _, refresh := range []bool{false, true} {
				report := w.mustInstall(Options{Tools: tools("cursor"), Refresh: refresh})
				if len(report.Written)+len(report.Removed)+len(report.Preserved) > 0 || len(report.Warnings) != 1 {
					t.Errorf("report %+v", report)
				}
				if !strings.Contains(report.Warnings[0], sentinel) || !strings.Contains(report.Warnings[0], "slipway install --tool cursor") {
					t.Errorf("warning %q", report.Warnings[0])
				}
			}
			report, fault := w.uninstall(tools("cursor"))
			if fault != nil || len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], sentinel) {
				t.Errorf("uninstall: %+v, %v", report, fault)
			}
			if changed := differences(before, w.tree()); len(changed) > 0 {
				t.Errorf("changed %q", changed)
			}
		})
	}
}

// TestOneBadHostFailsAll: hosts that were planned before are in the report, and
// nothing is written anywhere.
func TestOneBadHostFailsAll(t *testing.T) {
	for name, prepare := range map[string]func(w *worktree){
		"invalid manifest":      func(w *worktree) { w.write(".kilocode/slipway/ownership-manifest.json", "[]") },
		"linked file":           func(w *worktree) { w.link(".kilo/commands/slipway-run.md", "elsewhere") },
		"linked folder":         func(w *worktree) { w.folder("real"); w.link(".kilo", w.path("real")) },
		"file in place of one":  func(w *worktree) { w.write(".kilo/commands", "x") },
		"linked sentinel":       func(w *worktree) { w.link(".kilocode/slipway/.adapter-generated", "elsewhere") },
		"linked body container": func(w *worktree) { w.folder("real"); w.link(".kilocode/slipway/capabilities", w.path("real")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			w.write(".claude/skills/slipway-run/SKILL.md", "mine")
			prepare(w)
			before := w.tree()
			_, fault := w.install(Options{Tools: tools("kilo", "claude", "pi")})
			if fault == nil || fault.Code != schema.CodeInstallFailed || fault.ExitCode != schema.ExitRuntime {
				t.Fatal(fault)
			}
			report := failureReport(t, fault)
			if diff := cmp.Diff([]string{"claude"}, report.Hosts) + cmp.Diff([]string{".claude/skills/slipway-run/SKILL.md"}, report.Preserved); diff != "" {
				t.Error(diff)
			}
			if report.Outcome != OutcomeNotCommitted || fault.Next.Variants[0].ID != "inspect-host-adapters" {
				t.Errorf("error %+v", fault)
			}
			if changed := differences(before, w.tree()); len(changed) > 0 {
				t.Errorf("changed %q", changed)
			}
		})
	}
}

func TestFullInstallWrites135Files(t *testing.T) {
	for _, surface := range []string{"ide", "cli"} {
		w := newWorktree(t)
		report := w.mustInstall(Options{Tools: []string{"all"}, Surface: surface})
		if len(report.Written) != 135 || len(w.tree()) != 135 || len(w.leftovers()) > 0 {
			t.Errorf("%s: %d reported, %d there, left over %q", surface, len(report.Written), len(w.tree()), w.leftovers())
		}
		before := w.tree()
		again := w.mustInstall(Options{Tools: []string{"all"}, Refresh: true})
		if diff := cmp.Diff(report.Written, again.Written); diff != "" || len(again.Warnings) > 0 {
			t.Errorf("refresh: %s %q", diff, again.Warnings)
		}
		if changed := differences(before, w.tree()); len(changed) != 135 {
			t.Errorf("the refresh made %d files anew", len(changed))
		}
		if _, fault := w.uninstall(nil); fault != nil || len(w.tree()) > 0 {
			t.Errorf("after uninstall: %v, %v", fault, w.tree())
		}
	}
}
