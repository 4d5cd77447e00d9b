package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ObservationVersion is the version of the Git observation.
const ObservationVersion = 1

// Limits of the content that an observation reads, in bytes (git-observation.md,
// 4.1 and 4.3).
const (
	MaxObservedContentBytes = 67_108_864
	MaxFullContentBytes     = 16_777_216
)

var (
	headForm  = Pattern(`^([0-9a-f]{40}|[0-9a-f]{64}|unborn)$`)
	stateForm = Pattern(`^(\?\?|[.A-Z]{2}( [RC][0-9]{1,3})?)$`)
)

var pathCategories = []string{"copy", "copy_origin", "ordinary", "rename", "rename_origin", "unmerged", "untracked"}

// Validate checks an observation that was loaded (git-observation.md, 5.4).
func (o *Observation) Validate() error {
	switch {
	case o.Version != ObservationVersion:
		return fmt.Errorf("observation: unknown version %d", o.Version)
	case !headForm(o.Head):
		return errors.New("observation: head is no object id")
	case !o.IndexFingerprint.Valid(), !o.StatusFingerprint.Valid(), !o.PathFingerprint.Valid():
		return errors.New("observation: malformed digest")
	}
	if err := o.checkPaths(); err != nil {
		return err
	}
	if err := o.checkContent(); err != nil {
		return err
	}
	if !o.DetailsTruncated && o.PathFingerprint != PathFingerprint(o.PathObservations) {
		return errors.New("observation: path_fingerprint is not that of the paths")
	}
	if o.SnapshotHash != o.ComputeSnapshotHash() {
		return errors.New("observation: snapshot_hash is not that of the observation")
	}
	return nil
}

// checkPaths looks at the entries, their order and their number.
func (o *Observation) checkPaths() error {
	retained := len(o.PathObservations)
	switch {
	case len(o.DirtyFiles) != retained, o.PathCount < retained, o.DetailsTruncated != (o.PathCount > retained):
		return errors.New("observation: the numbers of paths do not agree")
	case len(RetainDetails(o.PathObservations)) != retained:
		return errors.New("observation: more details than are retained")
	}
	for i := range o.PathObservations {
		p := &o.PathObservations[i]
		if o.DirtyFiles[i] != p.Path || i > 0 && o.DirtyFiles[i-1] >= p.Path {
			return fmt.Errorf("observation: path %d is out of order", i)
		}
		if err := p.validate(); err != nil {
			return fmt.Errorf("observation: path %d: %w", i, err)
		}
	}
	return nil
}

// checkContent looks at what is said about the reading of content.
func (o *Observation) checkContent() error {
	limited := o.ContentByteLimitExceeded || o.ContentDeadlineExceeded
	incomplete := slices.ContainsFunc(o.PathObservations, func(p PathObservation) bool { return p.incomplete() })
	switch {
	case o.ContentByteLimit != MaxObservedContentBytes, o.ContentBytesHashed < 0, o.ContentBytesHashed > o.ContentByteLimit:
		return errors.New("observation: impossible content bytes")
	case o.ContentObservationComplete && (limited || incomplete):
		return errors.New("observation: it is not complete")
	case !o.ContentObservationComplete && !limited && !incomplete && !o.DetailsTruncated:
		return errors.New("observation: nothing in it is incomplete")
	}
	return nil
}

// incomplete reports whether the kind of the entry leaves the observation
// incomplete (git-observation.md, 4.1).
func (p *PathObservation) incomplete() bool {
	return p.Observation == PathMissing || p.Observation == PathUnreadable || p.Observation == PathContentUnobserved
}

func (p *PathObservation) validate() error {
	switch {
	case p.Path == "", !utf8.ValidString(p.Path), strings.ContainsRune(p.Path, 0),
		strings.HasPrefix(p.Path, "/"), strings.HasPrefix(p.Path, ".."):
		return errors.New("no path below the root")
	case !isSet(p.Category, func(c string) bool { return slices.Contains(pathCategories, c) }):
		return errors.New("unknown category")
	case !isSet(p.State, stateForm):
		return errors.New("malformed state")
	}
	return p.checkKind()
}

// isSet reports whether s holds comma-joined, ascending, different members.
func isSet(s string, member func(string) bool) bool {
	last := ""
	for item := range strings.SplitSeq(s, ",") {
		if item <= last || !member(item) {
			return false
		}
		last = item
	}
	return true
}

// pathKindRule says which fields belong to a kind of entry.
type pathKindRule struct {
	sized       bool // has a size; otherwise it has none
	sizeUnsure  bool // may have a size or not
	timed       bool
	fingerprint string
	minSize     int64
	maxSize     int64
}

const anySize = 1<<63 - 1

var pathKindRules = map[PathKind]pathKindRule{
	PathMissing:           {},
	PathUnreadable:        {sizeUnsure: true, maxSize: anySize},
	PathSymlink:           {sized: true, maxSize: anySize, fingerprint: SymlinkTarget},
	PathNonRegular:        {sized: true, maxSize: anySize},
	PathRegular:           {sized: true, timed: true, maxSize: MaxFullContentBytes, fingerprint: FullContent},
	PathOversizeSampled:   {sized: true, timed: true, minSize: MaxFullContentBytes + 1, maxSize: anySize, fingerprint: OversizeSample},
	PathContentUnobserved: {sized: true, timed: true, maxSize: anySize},
}

func (p *PathObservation) checkKind() error {
	rule, known := pathKindRules[p.Observation]
	switch {
	case !known:
		return errors.New("unknown observation")
	case !rule.sizeUnsure && rule.sized != (p.Size != nil):
		return errors.New("its kind and its size do not belong together")
	case p.Size != nil && (*p.Size < rule.minSize || *p.Size > rule.maxSize):
		return errors.New("a size that its kind can not have")
	case rule.timed != (p.ModifiedUnixNano != nil):
		return errors.New("its kind and its time do not belong together")
	case rule.fingerprint != p.ContentFingerprintKind:
		return errors.New("its kind and its digest do not belong together")
	case (rule.fingerprint != "") != (p.ContentSHA256 != ""), p.ContentSHA256 != "" && !p.ContentSHA256.Valid():
		return errors.New("its digest is missing, malformed or needless")
	}
	return nil
}

// Changed reports whether the worktree differs between two observations
// (git-observation.md, section 6). What could not be observed is no change.
func Changed(start, now *Observation) bool {
	switch {
	case start.SnapshotHash == now.SnapshotHash:
		return false
	case start.ContentObservationComplete && now.ContentObservationComplete:
		return true
	case start.Head != now.Head, start.IndexFingerprint != now.IndexFingerprint, start.StatusFingerprint != now.StatusFingerprint:
		return true
	}
	before := make(map[string]*PathObservation, len(start.PathObservations))
	for i := range start.PathObservations {
		before[start.PathObservations[i].Path] = &start.PathObservations[i]
	}
	return slices.ContainsFunc(now.PathObservations, func(p PathObservation) bool {
		earlier := before[p.Path]
		return earlier != nil && earlier.differsComparably(&p)
	})
}

func (p *PathObservation) differsComparably(q *PathObservation) bool {
	switch {
	case p.Category != q.Category, p.State != q.State:
		return true
	case p.ContentSHA256 != "" && q.ContentSHA256 != "":
		return p.ContentSHA256 != q.ContentSHA256 || p.ContentFingerprintKind != q.ContentFingerprintKind
	case p.Size != nil && q.Size != nil && *p.Size != *q.Size:
		return true
	}
	return p.certain() && q.certain() && p.Observation != q.Observation
}

// certain reports whether the kind was seen for sure.
func (p *PathObservation) certain() bool {
	return p.Observation != PathUnreadable && p.Observation != PathContentUnobserved
}
