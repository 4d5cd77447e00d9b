package gitwatch

import "path/filepath"

// maxIncludedFiles bounds the files that configuration files name, each counted
// as often as it is named.
const maxIncludedFiles = 64

// configuration notes all configuration files that Git may read before it
// answers. Files that it would not read after all (GIT_CONFIG_NOSYSTEM) do no
// harm.
func (s *surveyor) configuration(git program) {
	files := []string{join(s.place.commonDir, "config"), join(s.place.gitDir, "config.worktree")}
	user, ok := userConfiguration(git.environment)
	if !ok {
		s.doubt()
		return
	}
	system, ok := systemConfiguration(git)
	if !ok {
		s.doubt()
		return
	}
	home, _ := lookup(git.environment, "HOME")
	for _, file := range append(append(files, user...), system...) {
		s.configurationFile(file, home)
	}
	if s.included > 0 {
		// An include may depend on the branch.
		s.fact(s.head)
	}
}

func (s *surveyor) configurationFile(path, home string) {
	c, _ := s.file(path)
	if !s.sure || !c.includes.any() {
		return
	}
	s.included += len(c.includes.paths)
	if c.includes.unclear || s.included > maxIncludedFiles {
		s.doubt()
		return
	}
	for _, value := range c.includes.paths {
		included, ok := expandInclude(value, path, home)
		if !ok {
			s.doubt()
			return
		}
		s.configurationFile(included, home)
	}
}

// userConfiguration lists the configuration files of the user. Not ok where
// their paths depend on a working directory.
func userConfiguration(env []string) (files []string, ok bool) {
	if file, set := lookup(env, "GIT_CONFIG_GLOBAL"); set {
		return named(file)
	}
	home, homeSet := lookup(env, "HOME")
	xdg, _ := lookup(env, "XDG_CONFIG_HOME")
	if homeSet {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	switch {
	case xdg != "":
		files = append(files, filepath.Join(xdg, "git", "config"))
	case homeSet:
		files = append(files, filepath.Join(home, ".config", "git", "config"))
	}
	for _, file := range files {
		if !filepath.IsAbs(file) {
			return nil, false
		}
	}
	return files, true
}

// named is the one file that a variable names; none where it is empty.
func named(file string) (files []string, ok bool) {
	if file == "" {
		return nil, true
	}
	return []string{file}, filepath.IsAbs(file)
}

// systemConfiguration lists where the configuration file of the system may be:
// Git was built with its path, which follows from where the program stands. The
// survey is sure only where the caller owns everything, and then this file has a
// say in a discovery only by being broken.
func systemConfiguration(git program) (files []string, ok bool) {
	if file, set := lookup(git.environment, "GIT_CONFIG_SYSTEM"); set {
		return named(file)
	}
	files = append(files, "/etc/gitconfig", besideProgram(git.path))
	if n, err := examine(git.path, keepLinks); err != nil || n.kind == symbolicLink {
		target, err := filepath.EvalSymlinks(git.path)
		if err != nil {
			return nil, false
		}
		files = append(files, besideProgram(target))
	}
	return append(files, vendorConfiguration...), true
}

// besideProgram is the configuration file of a Git that was installed under a
// prefix of its own.
func besideProgram(path string) string {
	prefix := filepath.Dir(filepath.Dir(path))
	return filepath.Join(prefix, "etc", "gitconfig")
}
