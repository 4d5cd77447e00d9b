package deploy

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

func TestListOfOneFile(t *testing.T) {
	h := findHost("codex")
	part := h.kits[0].parts[1] // with policy and reference file
	for _, f := range append(part.supporting, part.callable) {
		for name, s := range situations() {
			w := arrange(t, h, map[*generatedFile]situation{f: s})
			got := w.list()["codex"]
			sound := s.class == classPristine
			want := HostStatus{ID: "codex", Detected: true, Installed: true, NeedsRefresh: !sound, Capabilities: allCapabilities, Warning: got.Warning}
			if !sound {
				want.Capabilities = slices.Delete(slices.Clone(allCapabilities), 1, 2)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: %s", f.path, name, diff)
			}
			if stale := s.class == classStale || s.class == classStaleMissing; stale != strings.HasPrefix(got.Warning, "1 claim") {
				t.Errorf("%s, %s: warning %q", f.path, name, got.Warning)
			}
		}
	}
}

func TestListOfAHost(t *testing.T) {
	h := findHost("pi")
	for name, test := range map[string]struct {
		prepare func(*worktree)
		want    HostStatus
		warns   bool
	}{
		"absent":            {func(*worktree) {}, HostStatus{}, false},
		"sentinel alone":    {func(w *worktree) { w.write(h.sentinelPath(), sentinelText) }, HostStatus{Detected: true}, false},
		"invalid":           {func(w *worktree) { w.write(h.manifestPath(), "{}") }, HostStatus{Detected: true}, true},
		"claims nothing":    {func(w *worktree) { w.write(h.manifestPath(), piManifest("[]")) }, HostStatus{Detected: true, Installed: true, NeedsRefresh: true}, false},
		"sound":             {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi")}) }, HostStatus{Detected: true, Installed: true, Capabilities: allCapabilities}, false},
		"sentinel missing":  {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi")}); w.remove(h.sentinelPath()) }, HostStatus{Detected: true, Installed: true, NeedsRefresh: true, Capabilities: allCapabilities}, false},
		"sentinel modified": {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi")}); w.write(h.sentinelPath(), "x") }, HostStatus{Detected: true, Installed: true, NeedsRefresh: true, Capabilities: allCapabilities}, false},
		"sentinel linked":   {func(w *worktree) { w.mustInstall(Options{Tools: tools("pi")}); w.link(h.sentinelPath(), "x") }, HostStatus{Detected: true}, true},
		"linked root":       {func(w *worktree) { w.folder("real"); w.link(".pi", w.path("real")) }, HostStatus{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			test.prepare(w)
			before := w.tree()
			got := w.list()["pi"]
			if test.warns != (got.Warning != "") {
				t.Errorf("warning %q", got.Warning)
			}
			test.want.ID, test.want.Warning = "pi", got.Warning
			if test.want.Capabilities == nil {
				test.want.Capabilities = []string{}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			w.doctor()
			if changed := differences(before, w.tree()); len(changed) > 0 {
				t.Errorf("looking changed %q", changed)
			}
		})
	}
}

// TestUnreadableFiles: what cannot be read fails a change and is a finding of list
// and doctor.
func TestUnreadableFiles(t *testing.T) {
	h := findHost("pi")
	for name, path := range map[string]string{"sentinel": h.sentinelPath(), "claimed file": piFile} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			w.mustInstall(Options{Tools: tools("pi")})
			unreadable := func(root string) (folder, error) {
				opened, err := openFolder(root)
				return &unreadableFolder{folder: opened, path: path}, err
			}
			ctx := context.Background()
			if _, fault := install(ctx, w.ws, Options{Tools: tools("pi"), Refresh: true}, unreadable); fault == nil || fault.Code != schema.CodeInstallFailed {
				t.Errorf("install: %v", fault)
			}
			if _, fault := uninstall(ctx, w.ws, nil, unreadable); fault == nil || fault.Code != schema.CodeUninstallFailed {
				t.Errorf("uninstall: %v", fault)
			}
			listed, _ := list(ctx, w.ws, unreadable)
			status := listed.Hosts[7]
			checked, _ := doctor(ctx, w.ws, nil, nil, unreadable)
			check := checked.Checks[8]
			if path == piFile {
				if !status.NeedsRefresh || len(status.Capabilities) != 6 || check.Code != "adapter_modified" {
					t.Errorf("list %+v, doctor %+v", status, check)
				}
				return
			}
			if !status.Installed || status.NeedsRefresh || len(status.Capabilities) > 0 || status.Warning == "" {
				t.Errorf("list %+v", status)
			}
			if check.Code != "adapter_inspection_unavailable" || check.Status != StatusError || check.Name != "adapter inspection" {
				t.Errorf("doctor %+v", check)
			}
		})
	}
}

// unreadableFolder refuses to read one path below it.
type unreadableFolder struct {
	folder
	path string
}

func (f *unreadableFolder) Open(name string) (folder, error) {
	opened, err := f.folder.Open(name)
	if err != nil {
		return nil, err
	}
	rest, _ := strings.CutPrefix(f.path, name+"/")
	return &unreadableFolder{opened, rest}, nil
}

func (f *unreadableFolder) Read(name string, limit int) ([]byte, os.FileInfo, error) {
	if name == f.path {
		return nil, nil, os.ErrPermission
	}
	return f.folder.Read(name, limit)
}

func TestVanishedRoot(t *testing.T) {
	w := newWorktree(t)
	gone := schema.NewWorkspaceIdentity(w.path("gone"), w.path("gone/.git"), w.path("gone/.git"))
	ctx := context.Background()
	_, listFault := List(ctx, gone)
	_, doctorFault := Doctor(ctx, gone, nil, nil)
	_, installFault := Install(ctx, gone, Options{Tools: tools("pi")})
	_, uninstallFault := Uninstall(ctx, gone, nil)
	for _, test := range []struct {
		fault *schema.Error
		code  schema.Code
		next  string
	}{
		{listFault, schema.CodeListFailed, "retry-list"},
		{doctorFault, schema.CodeDoctorFailed, "retry-doctor"},
		{installFault, schema.CodeInstallFailed, "inspect-host-adapters"},
		{uninstallFault, schema.CodeUninstallFailed, "inspect-host-adapters"},
	} {
		if test.fault == nil || test.fault.Code != test.code || test.fault.Next.Variants[0].ID != test.next || test.fault.ExitCode != schema.ExitRuntime {
			t.Errorf("%v, want %s", test.fault, test.code)
		}
	}
}

func TestReportsAsJSON(t *testing.T) {
	w := newWorktree(t)
	report, _ := List(context.Background(), w.ws)
	report.Hosts = report.Hosts[:1]
	got, err := schema.Marshal(report)
	if want := `{"contract_version":2,"hosts":[{"id":"claude","detected":false,"installed":false,"needs_refresh":false,"capabilities":[]}]}`; err != nil || string(got) != want {
		t.Errorf("list: %s (%v)", got, err)
	}
	_, fault := w.install(Options{})
	var details struct {
		Details json.RawMessage `json:"details"`
	}
	if err := json.Unmarshal(mustMarshal(t, fault), &details); err != nil {
		t.Fatal(err)
	}
	want := `{"report":{"contract_version":2,"hosts":[],"transaction_outcome":"not_committed","written":[],"removed":[],` +
		`"preserved":[],"recovery_artifacts":[],"warnings":[]},"transaction_outcome":"not_committed"}`
	if string(details.Details) != want {
		t.Errorf("details: %s", details.Details)
	}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := schema.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHumanForms(t *testing.T) {
	change := &ChangeReport{
		Hosts: []string{"claude", "pi"}, Written: []string{"a", "b"}, Removed: []string{"c"}, Preserved: []string{"d"},
		RecoveryArtifacts: []string{"e"}, Warnings: []string{"two\nlines"},
	}
	want := "Install result for: claude, pi\n  wrote a\n  wrote b\n  removed c\n  preserved d\n  recovery artifact: e\n  warning: two\uFFFDlines\n"
	if got := change.InstallText(); got != want {
		t.Errorf("install: %q", got)
	}
	if got := (&ChangeReport{Hosts: []string{"pi"}}).UninstallText(); got != "Uninstall result for: pi\n" {
		t.Errorf("uninstall: %q", got)
	}
	listed := &ListReport{Hosts: []HostStatus{{ID: "pi", Detected: true, Capabilities: []string{"x"}, Warning: "w"}}}
	if got := listed.Text(); got != "pi         detected=true  installed=false needs_refresh=false capabilities=1\n  warning: w\n" {
		t.Errorf("list: %q", got)
	}
	checked := &DoctorReport{Checks: []Check{{Code: "adapter_healthy", Status: StatusOK, HostID: "pi", Detail: "8 managed files"}}}
	if got := checked.Text(); got != "ok      pi         adapter_healthy              8 managed files\n" {
		t.Errorf("doctor: %q", got)
	}
}
