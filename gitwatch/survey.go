package gitwatch

import (
	"encoding/binary"
	"path/filepath"
	"strings"
)

// survey is everything that Git's answer to a discovery depends on, as far as
// it can be seen without Git. The same facts, when the survey is sure, mean the
// same answer.
//
// It is sure of the usual forms only: a worktree with a .git folder or file at
// its root, everything in it owned by the caller (so that safe.directory has no
// say), a plain HEAD, configuration in small regular files. In any other case
// Git is asked every time.
type survey struct {
	facts []byte
	sure  bool
	place location
}

// provedBy reports whether the facts stood still from s to later.
func (s survey) provedBy(later survey) bool {
	return s.sure && later.sure && string(s.facts) == string(later.facts) && s.place == later.place
}

// survey looks at all that decides which worktree git finds from folder, which
// has no links in it.
func (g *Git) survey(git program, folder string) survey {
	s := surveyor{files: g.files, survey: survey{sure: true, facts: make([]byte, 0, 2048)}}
	s.program(git)
	s.worktree(folder)
	if s.sure {
		s.gitDirectory()
	}
	if s.sure {
		s.configuration(git)
	}
	return s.survey
}

type surveyor struct {
	survey
	files    *fileMemo
	head     string // text of HEAD
	included int    // files that configuration files name
}

// doubt makes the survey unsure.
func (s *surveyor) doubt() { s.sure = false }

func (s *surveyor) fact(name string, numbers ...uint64) {
	s.facts = append(append(s.facts, name...), 0)
	for _, n := range numbers {
		s.facts = binary.AppendUvarint(s.facts, n)
	}
}

// program notes which git it is, and that it is still the same file.
func (s *surveyor) program(git program) {
	n := git.node
	s.fact(git.path, n.device, n.inode, uint64(n.size), uint64(n.modified), uint64(n.changed))
}

// worktree walks up from folder, as Git does, to the first folder with a .git.
func (s *surveyor) worktree(folder string) {
	for {
		// Where another file system begins, Git does not look further up.
		s.folder(folder)
		dot, err := examine(join(folder, dotGit), keepLinks)
		switch {
		case err == nil:
			s.root(folder, dot)
			return
		case !isAbsence(err):
			s.doubt()
			return
		}
		// A folder with a HEAD may itself be a Git directory.
		if _, err := examine(join(folder, "HEAD"), keepLinks); !isAbsence(err) {
			s.doubt()
			return
		}
		above := filepath.Dir(folder)
		if above == folder {
			s.doubt()
			return
		}
		folder = above
	}
}

// folder notes that a folder is the same one and as accessible as before.
func (s *surveyor) folder(path string) node {
	n, err := examine(path, followLinks)
	if err != nil || n.kind != directory {
		s.doubt()
		return node{}
	}
	s.fact(path, n.device, n.inode, uint64(n.mode), uint64(n.owner))
	return n
}

// owned is a folder that belongs to the caller.
func (s *surveyor) owned(path string) {
	if n := s.folder(path); !n.ownedByCaller() {
		s.doubt()
	}
}

// root notes the worktree's root and finds its Git directory.
func (s *surveyor) root(folder string, dot node) {
	s.place.root = folder
	s.owned(folder)
	if !dot.ownedByCaller() {
		s.doubt()
	}
	switch dot.kind {
	case directory:
		s.place.gitDir = join(folder, dotGit)
	case regularFile:
		file, _ := s.file(join(folder, dotGit))
		gitDir, err := linkedGitDir(folder, file.text)
		if err != nil {
			s.doubt()
		}
		s.place.gitDir = gitDir
	default:
		s.doubt()
	}
}

// file notes the content of a file, or its absence.
func (s *surveyor) file(path string) (content, bool) {
	c, err := s.files.read(path)
	if err != nil {
		s.doubt()
		return content{}, false
	}
	s.fact(path)
	if c.exists {
		s.facts = append(s.facts, c.digest[:]...)
	}
	return c, c.exists
}

// gitDirectory notes what makes a folder a Git directory: HEAD, and objects and
// refs in the common one.
func (s *surveyor) gitDirectory() {
	s.owned(s.place.gitDir)
	s.place.commonDir = s.place.gitDir
	if common, exists := s.file(join(s.place.gitDir, "commondir")); exists {
		path, err := resolvedFrom(s.place.gitDir, trimLine(common.text))
		if err != nil {
			s.doubt()
			return
		}
		s.place.commonDir = path
		s.folder(path)
	}
	s.folder(join(s.place.commonDir, "objects"))
	s.folder(join(s.place.commonDir, "refs"))

	path := join(s.place.gitDir, "HEAD")
	n, err := examine(path, keepLinks)
	if err != nil {
		s.doubt()
		return
	}
	// Of a link it is not read: a link is no small regular file.
	head, err := s.files.readNode(path, n)
	if err != nil || !isPlainHead(head.text) {
		s.doubt()
	}
	// What HEAD says changes often and, while it is well-formed, has no say.
	s.head = head.text
}

// isPlainHead reports whether HEAD names a ref or an object in the usual form.
func isPlainHead(text string) bool {
	text = trimLine(text)
	if ref, ok := strings.CutPrefix(text, "ref: refs/"); ok {
		return ref != "" && !strings.ContainsAny(ref, " \t\r\n")
	}
	return isObjectID(text)
}

// isObjectID reports whether text is a full SHA-1 or SHA-256 object id.
func isObjectID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// join is filepath.Join for a clean folder and a plain name.
func join(folder, name string) string {
	if folder[len(folder)-1] == filepath.Separator {
		return folder + name
	}
	return folder + string(filepath.Separator) + name
}
