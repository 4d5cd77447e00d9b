package gitwatch

import (
	"cmp"
	"slices"
	"strings"
)

// record is one record of a status answer.
type record struct {
	kind   byte   // of recordKinds
	path   string // a nested repository ends with a slash
	origin string // of a renamed or copied path
	text   string // as Git wrote it, without what follows the NUL of a rename
}

// The kinds of records, in the order in which Git writes them: changed and moved
// paths together, then unmerged ones, then untracked ones, each by path.
const (
	changedRecord   = '1'
	movedRecord     = '2'
	unmergedRecord  = 'u'
	untrackedRecord = '?'
)

func rankOf(kind byte) int {
	switch kind {
	case changedRecord, movedRecord:
		return 0
	case unmergedRecord:
		return 1
	default:
		return 2
	}
}

// sorted gives records in the order of Git.
func sorted(records []record) []record {
	return slices.SortedFunc(slices.Values(records), func(a, b record) int {
		return cmp.Or(cmp.Compare(rankOf(a.kind), rankOf(b.kind)), cmp.Compare(a.path, b.path))
	})
}

// rendered is the answer that Git would give: the one for HEAD, then the records.
func rendered(head string, records []record) []byte {
	size := len(headHeader) + len(head) + 1
	for _, r := range records {
		size += len(r.text) + len(r.origin) + 2
	}
	answer := make([]byte, 0, size)
	answer = append(append(append(answer, headHeader...), head...), 0)
	for _, r := range records {
		answer = append(append(answer, r.text...), 0)
		if r.kind == movedRecord {
			answer = append(append(answer, r.origin...), 0)
		}
	}
	return answer
}

// The places of the fields; those after the second only of records of changed and
// moved paths, the last only of the latter.
const (
	fieldXY = iota + 1
	fieldSubmodule
	fieldHeadMode
	fieldIndexMode
	fieldWorktreeMode
	fieldHeadObject
	fieldIndexObject
	fieldScore
)

func (r record) fields() []string {
	switch r.kind {
	case changedRecord:
		return strings.SplitN(r.text, " ", ordinaryFields)
	case movedRecord:
		return strings.SplitN(r.text, " ", renameFields)
	}
	return nil
}

// pairsInWorktree reports whether Git compared, or may have compared, this file
// with others of the worktree in search of a rename or copy. It does so for files
// of which the index only has the intent, and for unmerged ones; then a deleted
// file can be missing among the records.
func (r record) pairsInWorktree() bool {
	switch r.kind {
	case changedRecord, movedRecord:
		return strings.IndexByte("ARC", r.fields()[fieldXY][1]) >= 0
	}
	return r.kind == unmergedRecord
}

// updated puts what Git answered about the asked paths, without looking for
// renames, in the place of what it answered about them before, when it was asked
// about everything. HEAD and the index are the same as then, so of every record
// the part that compares these two must be the same, and renames between them,
// for which Git looks at all paths together, are kept as they were found.
//
// It is not ok where it is not certain that Git, asked about everything, would
// answer what is returned.
func updated(before, about []record, asked []string) (after []record, ok bool) {
	u := updater{old: map[string]record{}, origins: map[string]bool{}}
	for _, r := range before {
		if r.pairsInWorktree() {
			return nil, false
		}
		if r.kind == movedRecord && r.isRename() {
			u.origins[r.origin] = true
		}
		if !coveredBy(asked, r.path) {
			after = append(after, r)
		} else if r.kind != untrackedRecord {
			u.old[r.path] = r
		}
	}
	for _, r := range about {
		if r.pairsInWorktree() || !coveredBy(asked, r.path) {
			return nil, false
		}
		switch now, ok := u.update(r); {
		case !ok:
			return nil, false
		case now.kind != 0:
			after = append(after, now)
		}
	}
	for _, r := range u.old {
		if r.staged() {
			return nil, false // Git no longer says what can not have changed
		}
	}
	return sorted(after), true
}

type updater struct {
	old     map[string]record // tracked, asked about, and not yet answered
	origins map[string]bool   // of renames
}

// update gives the record that takes r's place; none where a rename tells it
// already.
func (u *updater) update(r record) (record, bool) {
	old, known := u.old[r.path]
	now := r.fields()
	switch r.kind {
	case untrackedRecord:
		return r, true
	case movedRecord:
		return record{}, false
	}
	if u.origins[r.path] {
		return record{}, now[fieldXY] == "D."
	}
	if !known {
		return r, now[fieldXY][0] == '.'
	}
	delete(u.old, r.path)
	was := old.fields()
	if old.kind == changedRecord {
		same := now[fieldXY][0] == was[fieldXY][0] &&
			now[fieldHeadMode] == was[fieldHeadMode] && now[fieldIndexMode] == was[fieldIndexMode] &&
			now[fieldHeadObject] == was[fieldHeadObject] && now[fieldIndexObject] == was[fieldIndexObject]
		return r, same
	}
	if now[fieldXY][0] != 'A' || now[fieldIndexMode] != was[fieldIndexMode] || now[fieldIndexObject] != was[fieldIndexObject] ||
		now[fieldSubmodule] != noSubmodule || was[fieldSubmodule] != noSubmodule {
		return record{}, false
	}
	was[fieldXY] = was[fieldXY][:1] + now[fieldXY][1:]
	was[fieldWorktreeMode] = now[fieldWorktreeMode]
	old.text = strings.Join(was, " ")
	return old, true
}

const noSubmodule = "N..."

func (r record) isRename() bool { return r.fields()[fieldScore][0] == 'R' }

// staged reports whether HEAD and the index differ.
func (r record) staged() bool { return r.fields()[fieldXY][0] != '.' }

// coveredBy reports whether path is one of asked or below one. asked is as
// outermost gives it.
func coveredBy(asked []string, path string) bool {
	i, found := slices.BinarySearchFunc(asked, path, inTreeOrder)
	return found || i > 0 && covers(asked[i-1], path)
}
