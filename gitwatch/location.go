package gitwatch

import (
	"errors"
	"path/filepath"
	"strings"

	"slipway/schema"
)

// location is a worktree as its files tell it, without asking Git.
type location struct {
	root, gitDir, commonDir string
}

// describes reports whether Git sees the same worktree.
func (l location) describes(ws schema.WorkspaceIdentity) bool {
	return l.root == ws.WorktreeRoot && l.gitDir == ws.GitDir && l.commonDir == ws.GitCommonDir
}

// dotGit is what makes a folder the root of a worktree: a Git directory, or a
// file that names one.
const dotGit = ".git"

var errUnknownForm = errors.New("not in a form that is understood here")

// linkedGitDir gives the Git directory that the text of a .git file in root
// names.
func linkedGitDir(root, text string) (string, error) {
	path, ok := strings.CutPrefix(trimLine(text), "gitdir: ")
	if !ok {
		return "", errUnknownForm
	}
	return resolvedFrom(root, path)
}

// resolvedFrom makes path, which may be relative to folder, absolute and free of
// links.
func resolvedFrom(folder, path string) (string, error) {
	if path == "" || strings.ContainsAny(path, "\r\n") {
		return "", errUnknownForm
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	return filepath.EvalSymlinks(path)
}
