package gitwatch

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"
	"strings"
)

// listing is what the index listing says beside its digest. It is written to as
// the answer comes.
type listing struct {
	sum      hash.Hash // of the whole answer
	entries  int
	folders  map[string]struct{} // that hold tracked files, at any depth
	gitlinks []string
	rules    hash.Hash // of the records whose file can be a rule for others

	rest   []byte // of a record that is not complete
	folder string // of the last record
}

func newListing() *listing {
	return &listing{sum: sha256.New(), rules: sha256.New(), folders: map[string]struct{}{"": {}}}
}

func (l *listing) Write(data []byte) (int, error) {
	l.sum.Write(data)
	size := len(data)
	for {
		end := bytes.IndexByte(data, 0)
		if end < 0 {
			l.rest = append(l.rest, data...)
			return size, nil
		}
		record := data[:end]
		if len(l.rest) > 0 {
			l.rest = append(l.rest, record...)
			record = l.rest
		}
		l.add(record)
		l.rest, data = l.rest[:0], data[end+1:]
	}
}

// gitlinkMode is the mode of a submodule's entry.
const gitlinkMode = "160000 "

// add reads a record: mode, object, stage, tab, path.
func (l *listing) add(record []byte) {
	l.entries++
	_, path, _ := bytes.Cut(record, []byte{'\t'})
	if bytes.HasPrefix(record, []byte(gitlinkMode)) {
		if last := len(l.gitlinks) - 1; last < 0 || l.gitlinks[last] != string(path) {
			l.gitlinks = append(l.gitlinks, string(path))
		}
	}
	slash := bytes.LastIndexByte(path, '/')
	if isRuleFile(string(path[slash+1:])) {
		l.rules.Write(record)
		l.rules.Write([]byte{0})
	}
	if slash > 0 && l.folder != string(path[:slash]) {
		l.folder = string(path[:slash])
		l.addFolder(l.folder)
	}
}

func (l *listing) addFolder(path string) {
	for {
		if _, known := l.folders[path]; known {
			return
		}
		l.folders[path] = struct{}{}
		slash := strings.LastIndexByte(path, '/')
		if slash < 0 {
			return
		}
		path = path[:slash]
	}
}

// isGitlink reports whether path is a submodule's.
func (l *listing) isGitlink(path string) bool {
	_, found := slices.BinarySearch(l.gitlinks, path)
	return found
}

// The files in a worktree that say how Git treats others.
const (
	ignoreFile     = ".gitignore"
	attributesFile = ".gitattributes"
	modulesFile    = ".gitmodules"
)

func isRuleFile(name string) bool {
	return name == ignoreFile || name == attributesFile || name == modulesFile
}
