package gitwatch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// status is what the answer to the status question says.
type status struct {
	head        string
	fingerprint schema.Digest
	paths       []dirtyPath // sorted bytewise, unique
	records     []record    // in the order of the answer
	extra       bool        // there were records of other kinds
}

// dirtyPath is one path that Git calls dirty (git-observation.md, 3.1, 3.2).
type dirtyPath struct {
	path, category, state string
}

// The categories of a dirty path.
const (
	ordinary     = "ordinary"
	renamed      = "rename"
	renameOrigin = "rename_origin"
	copied       = "copy"
	copyOrigin   = "copy_origin"
	unmerged     = "unmerged"
	untracked    = "untracked"
)

// The header records of --branch: they answer question 2 in passing and are no
// part of question 4.
const (
	branchHeader = "# branch."
	headHeader   = "# branch.oid "
	unbornObject = "(initial)"
)

// parseStatus reads the answer to status --porcelain=v2 -z --branch. The
// fingerprint is that of the answer without --branch.
func parseStatus(answer []byte) (status, error) {
	p := statusParser{rest: answer}
	sum := sha256.New()
	for len(p.rest) > 0 {
		from := p.rest
		record, err := p.chunk()
		if err != nil {
			return status{}, err
		}
		if strings.HasPrefix(record, branchHeader) {
			p.header(record)
			continue
		}
		if err := p.record(record); err != nil {
			return status{}, err
		}
		sum.Write(from[:len(from)-len(p.rest)])
	}
	if p.head != schema.UnbornHead && !isObjectID(p.head) {
		return status{}, errors.New("git status did not say what HEAD is")
	}
	return status{head: p.head, fingerprint: digestOf(sum), paths: merge(p.paths), records: p.records, extra: p.extra}, nil
}

type statusParser struct {
	rest    []byte
	head    string
	paths   []dirtyPath
	records []record
	extra   bool
}

// chunk takes what stands before the next NUL.
func (p *statusParser) chunk() (string, error) {
	end := bytes.IndexByte(p.rest, 0)
	if end < 0 {
		return "", errors.New("git status ended within a record")
	}
	chunk := string(p.rest[:end])
	p.rest = p.rest[end+1:]
	return chunk, nil
}

func (p *statusParser) header(record string) {
	object, ok := strings.CutPrefix(record, headHeader)
	switch {
	case !ok:
	case object == unbornObject:
		p.head = schema.UnbornHead
	default:
		p.head = object
	}
}

// The number of fields of a record, its kind and path included.
const (
	ordinaryFields = 9
	renameFields   = 10
	unmergedFields = 11
)

func (p *statusParser) record(text string) error {
	kind, rest, spaced := strings.Cut(text, " ")
	if !spaced {
		return malformed(text)
	}
	switch kind {
	case "1":
		return p.tracked(text, ordinaryFields, ordinary)
	case "2":
		return p.moved(text)
	case "u":
		return p.tracked(text, unmergedFields, unmerged)
	case "?":
		p.keep(record{kind: untrackedRecord, path: rest, text: text})
		return p.add(rest, untracked, "??")
	case "!", "#": // ignored paths; headers of other options, as status.showStash
		p.extra = true
		return nil
	}
	return malformed(text)
}

func (p *statusParser) keep(r record) { p.records = append(p.records, r) }

// tracked reads a record of one path: kind, XY, facts about it, path.
func (p *statusParser) tracked(text string, fields int, category string) error {
	parts, err := split(text, fields)
	if err != nil {
		return err
	}
	p.keep(record{kind: text[0], path: parts[fields-1], text: text})
	return p.add(parts[fields-1], category, parts[1])
}

// moved reads a record of a rename or copy, whose origin is the next chunk.
func (p *statusParser) moved(text string) error {
	parts, err := split(text, renameFields)
	if err != nil {
		return err
	}
	score, path := parts[renameFields-2], parts[renameFields-1]
	target, origin := renamed, renameOrigin
	switch {
	case !isScore(score):
		return malformed(text)
	case score[0] == 'C':
		target, origin = copied, copyOrigin
	}
	from, err := p.chunk()
	if err != nil {
		return err
	}
	p.keep(record{kind: movedRecord, path: path, origin: from, text: text})
	state := parts[1] + " " + score
	if err := p.add(path, target, state); err != nil {
		return err
	}
	return p.add(from, origin, state)
}

func (p *statusParser) add(path, category, state string) error {
	if path == "" || !utf8.ValidString(path) || path[0] == '/' || strings.HasPrefix(path, "..") {
		return fmt.Errorf("git status named a path that can not be recorded: %q", path)
	}
	p.paths = append(p.paths, dirtyPath{path, category, state})
	return nil
}

// split takes a record apart; only the path, its last field, may have spaces.
func split(text string, fields int) ([]string, error) {
	parts := strings.SplitN(text, " ", fields)
	if len(parts) != fields || slices.Contains(parts, "") || !isXY(parts[1]) {
		return nil, malformed(text)
	}
	return parts, nil
}

func isXY(state string) bool {
	return len(state) == 2 && strings.Trim(state, ".MTADRCU") == ""
}

func isScore(score string) bool {
	return len(score) > 1 && len(score) <= 4 && (score[0] == 'R' || score[0] == 'C') && strings.Trim(score[1:], "0123456789") == ""
}

func malformed(record string) error {
	const shown = 80
	return fmt.Errorf("git status gave a record that is not understood: %q", record[:min(len(record), shown)])
}

// merge makes one entry of each path, in the order of their bytes.
func merge(paths []dirtyPath) []dirtyPath {
	slices.SortFunc(paths, func(a, b dirtyPath) int { return cmp.Compare(a.path, b.path) })
	merged := paths[:0]
	for i := 0; i < len(paths); {
		same := i + 1
		for same < len(paths) && paths[same].path == paths[i].path {
			same++
		}
		one := paths[i]
		if same > i+1 {
			one.category = set(paths[i:same], func(p dirtyPath) string { return p.category })
			one.state = set(paths[i:same], func(p dirtyPath) string { return p.state })
		}
		merged = append(merged, one)
		i = same
	}
	return merged
}

// set joins the different values of paths, sorted.
func set(paths []dirtyPath, value func(dirtyPath) string) string {
	values := make([]string, len(paths))
	for i, p := range paths {
		values[i] = value(p)
	}
	slices.Sort(values)
	return strings.Join(slices.Compact(values), ",")
}
