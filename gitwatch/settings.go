package gitwatch

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"slipway/schema"
)

// settings are what the configuration says about the things that an answer
// depends on.
type settings struct {
	facts string   // of the survey that they follow from
	files []string // with rules, outside of the repository
	unfit error    // an [*unwatchable], where what is set rules out watching
}

// settingsAsked are the keys that matter.
const settingsAsked = `^(core\.(excludesfile|attributesfile|ignorecase)|extensions\.refstorage|attr\.tree)$`

// settingsOf asks Git. What it answers holds for as long as the survey, which is
// sure, stays the same.
func (g *Git) settingsOf(ctx context.Context, git program, ws schema.WorkspaceIdentity, found survey) (settings, error) {
	var out bytes.Buffer
	err := git.ask(ctx, &out, ws.WorktreeRoot, "config", "-z", "--get-regexp", settingsAsked)
	if err != nil && exitStatus(err) != 1 { // 1: none is set
		return settings{}, err
	}
	if after := g.survey(git, ws.WorktreeRoot); !found.provedBy(after) {
		return settings{}, errUnsettled
	}
	s := settings{facts: string(found.facts)}
	s.read(git, ws.WorktreeRoot, out.String())
	return s, nil
}

// exitStatus is that of Git; -1 where it did not exit by itself.
func exitStatus(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return -1
	}
	return exit.ExitCode()
}

func (s *settings) read(git program, root, answer string) {
	values := map[string]string{}
	for entry := range strings.SplitSeq(answer, "\x00") {
		if key, value, assigned := strings.Cut(entry, "\n"); assigned {
			values[key] = value
		} else if entry != "" {
			values[entry] = "true"
		}
	}
	if _, set := lookup(git.environment, "GIT_ATTR_SOURCE"); set || values["attr.tree"] != "" {
		s.refuse("attributes are read from a commit (attr.tree)")
	}
	if storage := values["extensions.refstorage"]; storage != "" && storage != "files" {
		s.refuse("refs are not kept in files (extensions.refStorage)")
	}
	if fold := strings.ToLower(values["core.ignorecase"]); fold != "" && fold != "false" && fold != "no" && fold != "off" && fold != "0" {
		s.refuse("names are compared without regard to case (core.ignoreCase)")
	}
	s.rulesOfUser(git, root, values["core.excludesfile"], "ignore")
	s.rulesOfUser(git, root, values["core.attributesfile"], "attributes")
	s.files = append(s.files, "/etc/gitattributes", filepath.Join(filepath.Dir(besideProgram(git.path)), "gitattributes"))
	if target, err := filepath.EvalSymlinks(git.path); err == nil {
		s.files = append(s.files, filepath.Join(filepath.Dir(besideProgram(target)), "gitattributes"))
	}
}

func (s *settings) refuse(reason string) { s.unfit = &unwatchable{reason} }

// rulesOfUser adds the file that a setting names, or the one that Git takes where
// nothing is set.
func (s *settings) rulesOfUser(git program, root, value, usual string) {
	home, _ := lookup(git.environment, "HOME")
	if value == "" {
		folder, _ := lookup(git.environment, "XDG_CONFIG_HOME")
		if folder == "" && home != "" {
			folder = filepath.Join(home, ".config")
		}
		if folder != "" && !filepath.IsAbs(folder) {
			folder = filepath.Join(root, folder) // where Git stands
		}
		if folder != "" {
			s.files = append(s.files, filepath.Join(folder, "git", usual))
		}
		return
	}
	file, ok := expandInclude(value, join(root, usual), home) // of a relative path, the root is the folder
	if !ok {
		s.refuse("a file with rules is named in an unusual way: " + value)
		return
	}
	s.files = append(s.files, file)
}
