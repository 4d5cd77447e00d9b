package gitwatch

import (
	"errors"
	"path/filepath"
)

var errNoGit = errors.New("git was not found on PATH; install it, or add its folder to PATH as an absolute path")

// findGit returns the absolute path of git on the PATH of env, and what stands
// there. Relative and
// empty elements of PATH are passed over: what runs must not depend on where
// somebody stands.
func findGit(env []string) (string, node, error) {
	path, _ := lookup(env, "PATH")
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if file, n, ok := executable(env, filepath.Join(folder, "git")); ok {
			return file, n, nil
		}
	}
	return "", node{}, errNoGit
}
