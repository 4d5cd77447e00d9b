package gitwatch

import (
	"slices"
	"strings"

	"slipway/schema"
)

// maxKeptRecords bounds the dirty paths that are remembered, of about half a
// kilobyte each. With more of them every observation is a scan.
const maxKeptRecords = 20_000

// base is an observation that later ones build upon, and what it rests on.
type base struct {
	premises    premises
	listing     *listing
	index       schema.Digest
	status      status
	sights      []sight
	observation schema.Observation
	mergeable   bool // answers about some paths can be put into the one about all
	firm        bool // no content can have changed without a sign
}

var errTooManyDirty = &unwatchable{"more paths are dirty than are remembered"}

var errStatusHeaders = &unwatchable{"git status is configured to answer more than was asked (status.showStash)"}

// newBase is what later observations can build upon.
func newBase(p premises, l *listing, seen scanned, o schema.Observation) (*base, error) {
	switch {
	case len(seen.status.records) > maxKeptRecords:
		return nil, errTooManyDirty
	case seen.status.extra:
		return nil, errStatusHeaders
	}
	b := &base{premises: p, listing: l, index: o.IndexFingerprint, mergeable: true}
	b.hold(seen, o)
	// Does Git write as is expected here?
	again, err := parseStatus(rendered(seen.status.head, sorted(seen.status.records)))
	b.mergeable = err == nil && again.fingerprint == seen.status.fingerprint
	return b, nil
}

// hold makes what was seen the newest.
func (b *base) hold(seen scanned, o schema.Observation) {
	b.status, b.sights, b.observation, b.firm = seen.status, seen.sights, o, true
	for i := range b.sights {
		b.firm = b.firm && b.sights[i].firm
	}
}

// sightsBut gives the sights of all paths that were not asked about. Of those that
// were, no digest is kept: a file can be changed through a memory mapping without
// a change of its times.
func (b *base) sightsBut(asked []string) []sight {
	if len(asked) == 0 {
		return b.sights
	}
	kept := make([]sight, 0, len(b.sights))
	for i := range b.sights {
		if !coveredBy(asked, b.sights[i].path) {
			kept = append(kept, b.sights[i])
		}
	}
	return kept
}

// hasNewLink reports whether a link is untracked that was asked about.
func (b *base) hasNewLink(asked []string) bool {
	return slices.ContainsFunc(b.sights, func(s sight) bool {
		return s.kind == schema.PathSymlink && s.category == untracked && coveredBy(asked, s.path)
	})
}

// contradicts reports whether Git answered differently, though everything was the
// same. What is in submodules is not watched, so there it can.
func (b *base) contradicts(later *base) bool {
	return b.premises.same(later.premises) && len(b.listing.gitlinks) == 0 && (b.status.fingerprint != later.status.fingerprint || b.index != later.index)
}

// rules decide which folders are to be watched.
func (b *base) rules() string { return b.premises.rules + string(b.listing.rules.Sum(nil)) }

// nested gives the folders that Git reports as repositories of their own.
func (b *base) nested() map[string]struct{} {
	var found map[string]struct{}
	for _, r := range b.status.records {
		if folder, ok := strings.CutSuffix(r.path, "/"); ok && r.kind == untrackedRecord {
			found = with(found, folder)
		}
	}
	return found
}
