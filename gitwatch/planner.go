package gitwatch

import (
	"context"
	"errors"
	"path/filepath"
)

// planner sets the watches of folders. It watches a folder before it lists it,
// and a folder before those in it; so whatever changes after a name was listed, or
// was not there to be listed, is an event.
//
// Folders that Git does not look into are left out: ignored ones without tracked
// files in them, and repositories of their own. Watching too many is no mistake,
// one too few would be.
type planner struct {
	lookout  *lookout
	git      program
	tree     *tree
	device   uint64              // of the root
	tracked  map[string]struct{} // folders with tracked files in them; nil where that is not known
	gitlinks *listing
	mounts   uint64 // as they counted their changes before
	walked   bool
}

// errStartAgain: what has to be watched can only be told by starting again.
var errStartAgain = errors.New("the watch has to start again")

// walk watches the folders, as far as Git looks into them, and all below.
func (p *planner) walk(ctx context.Context, level []string) error {
	for len(level) > 0 {
		p.walked = true
		relevant, err := p.relevant(ctx, level)
		if err != nil {
			return err
		}
		level = nil
		for _, path := range relevant {
			if err := ctx.Err(); err != nil {
				return err
			}
			inside, err := p.enter(path)
			if err != nil {
				return err
			}
			level = append(level, inside...)
		}
	}
	return nil
}

// relevant leaves out ignored folders.
func (p *planner) relevant(ctx context.Context, folders []string) ([]string, error) {
	var kept, unclear []string
	p.tree.restart()
	for _, path := range folders {
		if n, err := p.tree.examine(treeName(path)); err != nil || n.kind != directory {
			continue // what it may become is an event
		}
		if path == "" || p.gitlinks.isGitlink(path) || p.isTracked(path) || p.lookout.isWatched(path) {
			kept = append(kept, path)
		} else {
			unclear = append(unclear, path)
		}
	}
	judged, err := p.git.notIgnored(ctx, p.lookout.ws.WorktreeRoot, unclear)
	return append(kept, judged...), err
}

func (p *planner) isTracked(path string) bool {
	_, ok := p.tracked[path]
	return ok
}

// enter watches a folder and gives those in it that are not watched yet.
func (p *planner) enter(path string) (inside []string, err error) {
	switch there, err := p.lookout.watchFolder(path); {
	case isForbidden(err):
		return nil, p.forbidden(path)
	case err != nil || !there:
		return nil, err
	case p.gitlinks.isGitlink(path):
		return nil, nil
	}
	p.tree.restart() // what is on the way to a path may have been exchanged
	var names []string
	var dot node
	var foreign error
	err = p.tree.list(path, func(name string, n node) {
		switch {
		case name == dotGit:
			dot = n
		case n.kind == directory:
			names = append(names, name)
			if n.device != p.device && foreign == nil {
				foreign = watchableAt(filepath.Join(p.lookout.ws.WorktreeRoot, path, name))
			}
		}
		if n.kind == regularFile && n.links > 1 {
			// It can be changed without an event here.
			p.lookout.link(joinPath(path, name), n)
		}
	})
	switch {
	case isAbsence(err):
		return nil, nil
	case isForbidden(err):
		return nil, p.forbidden(path)
	case err != nil || foreign != nil:
		return nil, errors.Join(err, foreign)
	}
	if path != "" && dot != (node{}) {
		if nested, err := p.enterNested(path, dot); nested || err != nil {
			return nil, err
		}
	}
	return p.lookout.unwatchedIn(path, names), nil
}

// forbidden: a folder that may not be read holds nothing that Git could find,
// other than tracked files.
func (p *planner) forbidden(path string) error {
	switch {
	case p.tracked == nil:
		return errStartAgain
	case p.isTracked(path):
		return &unwatchable{"the folder " + path + " may not be read"}
	}
	return nil
}

// joinPath is the path of a name in a folder of the worktree.
func joinPath(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

var errLinkedDotGit = &unwatchable{"a repository within the worktree has a link for its .git"}

// enterNested watches what makes the folder at path a repository of its own,
// where it is one. Git does not look into it then, unless it has tracked files.
func (p *planner) enterNested(path string, dot node) (nested bool, err error) {
	gitDir := absolute(p.lookout.ws.WorktreeRoot, joinPath(path, dotGit))
	switch dot.kind {
	case directory:
	case regularFile:
		text, err := p.lookout.files().read(gitDir)
		if err != nil {
			return false, nil // Git can not read it either, or it is about to change
		}
		if gitDir, err = linkedGitDir(filepath.Dir(gitDir), text.text); err != nil {
			return false, nil
		}
	case symbolicLink:
		return false, errLinkedDotGit
	default:
		return false, nil
	}
	commonDir, err := p.watchDecisive(path, gitDir)
	if err != nil || commonDir == "" || p.isTracked(path) || gitDir == p.lookout.ws.GitDir {
		return false, err
	}
	head, err := p.lookout.files().read(join(gitDir, "HEAD"))
	if err != nil || !isPlainHead(head.text) || !isFolder(join(commonDir, "objects")) || !isFolder(join(commonDir, "refs")) {
		return false, nil
	}
	return p.lookout.takeForNested(path), nil
}

// watchDecisive watches the Git directory of a nested repository and the common one
// of it, which it gives; none where that is not understood.
func (p *planner) watchDecisive(path, gitDir string) (commonDir string, err error) {
	if err := p.lookout.watchNested(path, gitDir); err != nil {
		return "", err
	}
	text, err := p.lookout.files().read(join(gitDir, "commondir"))
	if err != nil {
		return "", nil
	}
	if !text.exists {
		return gitDir, nil
	}
	if commonDir, err = resolvedFrom(gitDir, trimLine(text.text)); err != nil {
		return "", nil
	}
	return commonDir, p.lookout.watchNested(path, commonDir)
}

// treeName is how a tree calls the folder at path.
func treeName(path string) string {
	if path == "" {
		return "."
	}
	return path
}
