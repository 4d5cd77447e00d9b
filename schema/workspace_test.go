package schema_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"slipway/schema"
)

// The values are those of next.md, section 7, and storage.md, 11.1.
func TestWorkspaceCheckValues(t *testing.T) {
	w := schema.NewWorkspaceIdentity("/srv/demo", "/srv/demo/.git", "/srv/demo/.git")
	checkDigest(t, "identity", w.ID, "sha256:35e9bc63364338323ff6cd0255b754f25dacb96df4f1031db1c29594fa747445")
	if want := (schema.Place{Root: "/srv/demo", Identity: w.ID}); w.Place() != want {
		t.Errorf("place: %+v", w.Place())
	}
	none := schema.UnavailablePlace("/srv/none")
	checkDigest(t, "no worktree", none.Identity, "sha256:74d886dfe0eec29312d8fc850331e481a0f8f57ad36e5a37ac42f146719dcf64")
	if none.Root != "/srv/none" {
		t.Errorf("root: %q", none.Root)
	}
}

// absolute makes a path of this system from one with slashes.
func absolute(path string) string {
	if runtime.GOOS == "windows" {
		return `C:` + filepath.FromSlash(path)
	}
	return path
}

func TestWorkspaceIdentityValid(t *testing.T) {
	root, git := absolute("/srv/demo"), absolute("/srv/demo/.git")
	good := schema.NewWorkspaceIdentity(root, git, git)
	if !good.Valid() {
		t.Fatal("a new identity is not valid")
	}
	for name, change := range map[string]func(*schema.WorkspaceIdentity){
		"other version":      func(w *schema.WorkspaceIdentity) { w.Version = 2 },
		"other root":         func(w *schema.WorkspaceIdentity) { w.WorktreeRoot = absolute("/srv/other") },
		"other Git folder":   func(w *schema.WorkspaceIdentity) { w.GitDir = absolute("/srv/other") },
		"other common":       func(w *schema.WorkspaceIdentity) { w.GitCommonDir = absolute("/srv/other") },
		"other digest":       func(w *schema.WorkspaceIdentity) { w.ID = schema.PayloadDigest(nil) },
		"relative root":      func(w *schema.WorkspaceIdentity) { *w = schema.NewWorkspaceIdentity("demo", git, git) },
		"unclean Git folder": func(w *schema.WorkspaceIdentity) { *w = schema.NewWorkspaceIdentity(root, git+"/", git) },
		"empty common":       func(w *schema.WorkspaceIdentity) { *w = schema.NewWorkspaceIdentity(root, git, "") },
	} {
		bad := good
		change(&bad)
		if bad.Valid() {
			t.Errorf("%s: accepted", name)
		}
	}
}
