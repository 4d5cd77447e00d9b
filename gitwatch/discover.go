package gitwatch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// Discover finds the worktree that path, absolute, is in (storage.md, 11.1;
// cli.md, section 3). Links are resolved first; a file stands for its folder.
// env is the caller's environment as it is; it is scrubbed here.
//
// Errors: [*NoWorkspaceError] where the path leads to no worktree or Git can not
// be run, [ErrTimeout] where Git does not answer in time, and the cause of ctx
// where that ended.
func (g *Git) Discover(ctx context.Context, env []string, path string) (schema.WorkspaceIdentity, error) {
	ws, err := g.discover(ctx, Scrub(env), path)
	switch {
	case err == nil:
		return ws, nil
	case ctx.Err() != nil:
		return schema.WorkspaceIdentity{}, context.Cause(ctx)
	case errors.Is(err, ErrTimeout):
		return schema.WorkspaceIdentity{}, ErrTimeout
	default:
		return schema.WorkspaceIdentity{}, &NoWorkspaceError{Path: path, Reason: reasonOf(err)}
	}
}

func (g *Git) discover(ctx context.Context, scrubbed []string, path string) (schema.WorkspaceIdentity, error) {
	folder, err := folderOf(path)
	if err != nil {
		return schema.WorkspaceIdentity{}, err
	}
	git, err := g.program(scrubbed)
	if err != nil {
		return schema.WorkspaceIdentity{}, err
	}
	return g.locate(ctx, git, folder, g.survey(git, folder))
}

// locate finds the worktree that folder, without links in it, is in. before is
// the survey from there.
func (g *Git) locate(ctx context.Context, git program, folder string, before survey) (schema.WorkspaceIdentity, error) {
	key := keyOf(folder, git.environment)
	if ws, ok := g.known.answer(key, before); ok {
		return ws, nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, g.limits.discovery, ErrTimeout)
	defer stop()
	ws, err := git.workspaceOf(ctx, folder)
	if err != nil {
		return schema.WorkspaceIdentity{}, err
	}
	// What was surveyed before Git looked and is the same after it, Git saw.
	if after := g.survey(git, folder); before.provedBy(after) && before.place.describes(ws) {
		g.known.keep(key, before, ws)
	}
	return ws, nil
}

// folderOf resolves path to a folder without links in it.
func folderOf(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("the path is not absolute")
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	n, err := examine(resolved, keepLinks)
	if err != nil {
		return "", err
	}
	if n.kind != directory {
		resolved = filepath.Dir(resolved)
	}
	return resolved, nil
}

// The three questions of a discovery.
var discoveryQuestions = []string{"--show-toplevel", "--git-dir", "--git-common-dir"}

// workspaceOf asks Git for the worktree that folder is in.
func (p program) workspaceOf(ctx context.Context, folder string) (schema.WorkspaceIdentity, error) {
	answers, err := p.askTogether(ctx, folder)
	if err != nil {
		return schema.WorkspaceIdentity{}, err
	}
	if len(answers) != len(discoveryQuestions) {
		// A path with a line break in it, or a Git that does not know
		// --path-format and repeats it: one at a time it is clear what is what.
		if answers, err = p.askOneByOne(ctx, folder); err != nil {
			return schema.WorkspaceIdentity{}, err
		}
	}
	for i, answer := range answers {
		if answers[i], err = resolveAnswer(folder, answer); err != nil {
			return schema.WorkspaceIdentity{}, err
		}
	}
	root, gitDir, commonDir := answers[0], answers[1], answers[2]
	if within(folder, gitDir) {
		return schema.WorkspaceIdentity{}, errors.New("it is inside of a Git directory; name the worktree")
	}
	return schema.NewWorkspaceIdentity(root, gitDir, commonDir), nil
}

func (p program) askTogether(ctx context.Context, folder string) ([]string, error) {
	var out bytes.Buffer
	question := append([]string{"rev-parse", "--path-format=absolute"}, discoveryQuestions...)
	if err := p.ask(ctx, &out, folder, question...); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), nil
}

func (p program) askOneByOne(ctx context.Context, folder string) ([]string, error) {
	answers := make([]string, len(discoveryQuestions))
	for i, question := range discoveryQuestions {
		var out bytes.Buffer
		if err := p.ask(ctx, &out, folder, "rev-parse", question); err != nil {
			return nil, err
		}
		answers[i] = strings.TrimSuffix(out.String(), "\n")
	}
	return answers, nil
}

// resolveAnswer makes an answer of Git absolute, clean and free of links.
func resolveAnswer(folder, answer string) (string, error) {
	if answer == "" {
		return "", errors.New("git gave an empty path")
	}
	if !utf8.ValidString(answer) {
		return "", errors.New("its path is not valid UTF-8")
	}
	path := filepath.FromSlash(answer)
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	n, err := examine(resolved, keepLinks)
	if err != nil {
		return "", err
	}
	if n.kind != directory {
		return "", errors.New("git named " + resolved + ", which is not a folder")
	}
	return resolved, nil
}

// within reports whether path is folder or below it.
func within(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(folder[len(folder)-1]))
}

// reasonOf words the failure of a discovery for a person who sees the path
// already.
func reasonOf(err error) string {
	var git *gitError
	if errors.As(err, &git) {
		if said := firstLine(git.complaint); said != "" {
			return said
		}
		return git.Error()
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
