package gitwatch

import (
	"errors"
	"path/filepath"
	"strings"

	"slipway/schema"
)

// premises are what Git's answers about a worktree rest on beside what stands in
// its watched folders. With the same premises and no event in between, Git would
// give the same answer again.
//
// One thing is taken for granted: that a filter which the configuration names
// (filter.*.clean, filter.*.process) gives the same output for the same input.
type premises struct {
	rules string // which paths count and how they are compared
	state string // HEAD, refs and the index

	mounts uint64 // how often any mount changed before; the rules say which count
}

func (p premises) same(other premises) bool { return p.rules == other.rules && p.state == other.state }

var errUnsureLayout = &unwatchable{"the repository has a form in which not everything that Git depends on can be looked up: " +
	"an owner who is not this user, an unusual HEAD, or configuration that is large or includes files in an unusual way"}

var errUnsettled = errors.New("the repository is changing")

// premises looks them up, beginning with a survey that is sure. It fails where
// something was changed so recently that its time can not tell yet, and where not
// all is found.
func (g *Git) premises(ws schema.WorkspaceIdentity, found survey, s settings, mounted string) (p premises, err error) {
	look := surveyor{survey: found, files: g.files}
	for _, folder := range distinct(ws.GitCommonDir, ws.GitDir) {
		for _, name := range []string{"exclude", "attributes", "sparse-checkout"} {
			look.file(filepath.Join(folder, "info", name))
		}
	}
	for _, file := range s.files {
		look.file(file)
	}
	look.facts = append(look.facts, mounted...)
	p.rules = string(look.facts)

	look.facts = look.facts[:0]
	look.headAndRefs()
	look.index(join(ws.GitDir, "index"))
	p.state = string(look.facts)
	if !look.sure {
		return premises{}, errUnsettled
	}
	return p, nil
}

func distinct(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// maxSymbolicRefs is how many refs may point at others in turn; Git's own limit.
const maxSymbolicRefs = 5

// headAndRefs notes what the commit of HEAD follows from.
func (s *surveyor) headAndRefs() {
	common := s.place.commonDir
	s.identity(join(common, "packed-refs"))
	s.identity(filepath.Join(common, "refs", "replace"))
	path := join(s.place.gitDir, "HEAD")
	for range maxSymbolicRefs {
		c, exists := s.file(path)
		ref, symbolic := strings.CutPrefix(trimLine(c.text), "ref: ")
		if !exists || !symbolic {
			return
		}
		if !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
			break
		}
		folder := common
		if isOfOneWorktree(ref) {
			folder = s.place.gitDir
		}
		path = filepath.Join(folder, filepath.FromSlash(ref))
	}
	s.doubt()
}

// isOfOneWorktree reports whether a ref is not shared by all worktrees of a
// repository.
func isOfOneWorktree(ref string) bool {
	for _, prefix := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(ref, prefix) {
			return true
		}
	}
	return false
}

// identity notes which file or folder stands at path, and its times.
func (s *surveyor) identity(path string) {
	n, err := examine(path, followLinks)
	switch {
	case isAbsence(err):
		s.fact(path)
	case err != nil || !s.files.settled(n):
		s.doubt()
	default:
		s.node(path, n)
	}
}

func (s *surveyor) node(path string, n node) {
	s.fact(path, n.device, n.inode, uint64(n.size), uint64(n.modified), uint64(n.changed))
}

// checksumBytes is what is read of the checksum at the end of the index: all of a
// SHA-1, enough of a SHA-256.
const checksumBytes = 20

// index notes the index. Its times alone do not tell two writes within one tick of
// the clock apart; its checksum does, which Git can be told to leave out.
func (s *surveyor) index(path string) {
	n, err := examine(path, followLinks)
	if isAbsence(err) {
		s.fact(path)
		return
	}
	if err != nil || n.kind != regularFile {
		s.doubt()
		return
	}
	s.node(path, n)
	sum, err := lastBytes(path, n.size, checksumBytes)
	if err != nil || strings.Trim(string(sum), "\x00") == "" && !s.files.settled(n) {
		s.doubt()
	}
	s.facts = append(s.facts, sum...)
}

func lastBytes(path string, size int64, count int) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	last := make([]byte, min(int64(count), size))
	_, err = file.ReadAt(last, size-int64(len(last)))
	return last, err
}
