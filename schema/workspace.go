package schema

import "path/filepath"

// WorkspaceVersion is the version of the workspace identity.
const WorkspaceVersion = 1

// WorkspaceIdentity says which worktree a Run belongs to (storage.md, 11.1). It
// is a function of canonical paths and knows nothing of commits or content. Two
// identities are the same exactly when they are equal as values.
type WorkspaceIdentity struct {
	Version      int    `json:"version"`
	WorktreeRoot string `json:"worktree_root"`
	GitDir       string `json:"git_dir"`
	GitCommonDir string `json:"git_common_dir"`
	ID           Digest `json:"id"`
}

// NewWorkspaceIdentity makes the identity of a worktree from its three absolute,
// clean paths, links resolved.
func NewWorkspaceIdentity(root, gitDir, commonDir string) WorkspaceIdentity {
	w := WorkspaceIdentity{Version: WorkspaceVersion, WorktreeRoot: root, GitDir: gitDir, GitCommonDir: commonDir}
	w.ID = w.digest()
	return w
}

// Valid reports whether w is of the known version, holds absolute clean paths
// and the digest that belongs to them.
func (w WorkspaceIdentity) Valid() bool {
	for _, path := range []string{w.WorktreeRoot, w.GitDir, w.GitCommonDir} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return false
		}
	}
	return w.Version == WorkspaceVersion && w.ID == w.digest()
}

func (w WorkspaceIdentity) digest() Digest {
	var h SectionHash
	h.AddInt("version", int64(w.Version))
	h.Add("worktree_root", w.WorktreeRoot)
	h.Add("git_dir", w.GitDir)
	h.Add("git_common_dir", w.GitCommonDir)
	return h.Sum()
}

// Place is where a [Next] applies: the root that its commands name, and the
// identity of the workspace there.
type Place struct {
	Root     string
	Identity Digest
}

// Place of the workspace itself.
func (w WorkspaceIdentity) Place() Place { return Place{Root: w.WorktreeRoot, Identity: w.ID} }

// UnavailablePlace is the place of a path that is in no worktree: the path, which
// must be absolute and clean, and the digest that stands for an identity there
// (next.md, section 7, row 3).
func UnavailablePlace(absPath string) Place {
	return Place{Root: absPath, Identity: PayloadDigest([]byte("unavailable-workspace-root-v1\x00" + absPath))}
}
