package deploy

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
)

// worktree is a folder that stands for a worktree; no Git is needed for it.
type worktree struct {
	t    testing.TB
	root string
	ws   schema.WorkspaceIdentity
}

func newWorktree(t testing.TB) *worktree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return worktreeAt(t, root)
}

func worktreeAt(t testing.TB, root string) *worktree {
	common := filepath.Join(root, ".git")
	if err := os.MkdirAll(common, 0o755); err != nil {
		t.Fatal(err)
	}
	return &worktree{t: t, root: root, ws: schema.NewWorkspaceIdentity(root, common, common)}
}

func (w *worktree) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// write makes a file and the folders on its way.
func (w *worktree) write(name, content string) {
	w.t.Helper()
	w.folder(filepath.Dir(name))
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worktree) folder(name string) {
	w.t.Helper()
	if err := os.MkdirAll(w.path(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// link makes a symbolic link, in the place of what may be there.
func (w *worktree) link(name, target string) {
	w.t.Helper()
	w.remove(name)
	w.folder(filepath.Dir(name))
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worktree) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worktree) read(name string) string {
	w.t.Helper()
	content, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// object is what stands at a path: enough to tell whether it was touched.
type object struct {
	info    fs.FileInfo
	content string // of a file, or the target of a link
}

func (o object) same(p object) bool {
	return os.SameFile(o.info, p.info) && o.info.Mode() == p.info.Mode() && o.content == p.content
}

// tree is everything below the root but folders and the Git folder.
type tree map[string]object

func (w *worktree) tree() tree {
	w.t.Helper()
	found := tree{}
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(w.root, path)
		if entry.IsDir() {
			if name == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		o := object{info: info}
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			o.content = string(content)
		} else {
			o.content, _ = os.Readlink(path)
		}
		found[filepath.ToSlash(name)] = o
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// leftovers lists the entries of recovery folders, wherever they are, and empty
// such folders.
func (w *worktree) leftovers() []string {
	w.t.Helper()
	var found []string
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || !isRecoveryName(entry.Name()) {
			return err
		}
		name, _ := filepath.Rel(w.root, path)
		entries, err := os.ReadDir(path)
		if len(entries) == 0 {
			found = append(found, filepath.ToSlash(name))
		}
		for _, inner := range entries {
			found = append(found, filepath.ToSlash(filepath.Join(name, inner.Name())))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return inOrder(found)
}

// removeLeftovers does what doctor tells the user to do.
func (w *worktree) removeLeftovers() {
	for _, name := range w.leftovers() {
		if isRecoveryName(filepath.Base(filepath.Dir(name))) {
			name = filepath.Dir(name)
		}
		w.remove(name)
	}
}

// differences are the paths at which two trees differ, recovery folders left out.
func differences(before, after tree) []string {
	var changed []string
	for name, o := range before {
		if p, is := after[name]; !is || !o.same(p) {
			changed = append(changed, name)
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			changed = append(changed, name)
		}
	}
	changed = slices.DeleteFunc(changed, func(name string) bool {
		return slices.ContainsFunc(strings.Split(name, "/"), isRecoveryName)
	})
	return inOrder(changed)
}

func (w *worktree) install(o Options) (*ChangeReport, *schema.Error) {
	return install(context.Background(), w.ws, o, openFast)
}

func (w *worktree) mustInstall(o Options) *ChangeReport {
	w.t.Helper()
	report, fault := w.install(o)
	if fault != nil {
		w.t.Fatal(fault)
	}
	return report
}

func (w *worktree) uninstall(tools []string) (*ChangeReport, *schema.Error) {
	return uninstall(context.Background(), w.ws, tools, openFast)
}

func (w *worktree) list() map[string]HostStatus {
	w.t.Helper()
	report, fault := List(context.Background(), w.ws)
	if fault != nil {
		w.t.Fatal(fault)
	}
	byID := map[string]HostStatus{}
	for _, status := range report.Hosts {
		byID[status.ID] = status
	}
	return byID
}

func (w *worktree) doctor() *DoctorReport {
	w.t.Helper()
	report, fault := Doctor(context.Background(), w.ws, nil, nil)
	if fault != nil {
		w.t.Fatal(fault)
	}
	return report
}

// check finds doctor's check of a host.
func (w *worktree) check(id string) Check {
	w.t.Helper()
	for _, c := range w.doctor().Checks {
		if c.HostID == id {
			return c
		}
	}
	w.t.Fatalf("doctor has no check of %s", id)
	return Check{}
}

// failureReport is the change report in the details of a failed command.
func failureReport(t testing.TB, fault *schema.Error) *ChangeReport {
	t.Helper()
	details, ok := fault.Details.(schema.AdapterDetails)
	if !ok {
		t.Fatalf("no adapter details in %v", fault)
	}
	report := details.Report.(*ChangeReport)
	if details.TransactionOutcome != string(report.Outcome) {
		t.Fatalf("outcomes differ: %q and %q", details.TransactionOutcome, report.Outcome)
	}
	return report
}

// tools is the --tool of these hosts.
func tools(ids ...string) []string { return []string{strings.Join(ids, ",")} }

var allCapabilities = slices.Clone(capabilityNames)
