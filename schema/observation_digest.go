package schema

import "strconv"

// PathFingerprint is the digest over all dirty paths, retained or not, in path
// order (git-observation.md, 5.2).
func PathFingerprint(paths []PathObservation) Digest {
	var h SectionHash
	h.AddInt("path_count", int64(len(paths)))
	for i := range paths {
		paths[i].addTo(&h)
	}
	return h.Sum()
}

// ComputeSnapshotHash is the digest of the whole observation but for the field
// that holds it (git-observation.md, 5.3).
func (o *Observation) ComputeSnapshotHash() Digest {
	var h SectionHash
	h.AddInt("version", int64(o.Version))
	h.Add("head", o.Head)
	h.Add("index_fingerprint", string(o.IndexFingerprint))
	h.Add("status_fingerprint", string(o.StatusFingerprint))
	h.AddInt("path_count", int64(o.PathCount))
	h.Add("path_fingerprint", string(o.PathFingerprint))
	h.AddBool("details_truncated", o.DetailsTruncated)
	h.AddBool("content_observation_complete", o.ContentObservationComplete)
	h.AddInt("content_bytes_hashed", o.ContentBytesHashed)
	h.AddInt("content_byte_limit", o.ContentByteLimit)
	h.AddBool("content_byte_limit_exceeded", o.ContentByteLimitExceeded)
	h.AddBool("content_deadline_exceeded", o.ContentDeadlineExceeded)
	h.AddInt("retained_path_count", int64(len(o.PathObservations)))
	for i := range o.PathObservations {
		o.PathObservations[i].addTo(&h)
	}
	return h.Sum()
}

// addTo appends the eight sections of one path.
func (p *PathObservation) addTo(h *SectionHash) {
	h.Add("path", p.Path)
	h.Add("category", p.Category)
	h.Add("state", p.State)
	h.Add("observation", string(p.Observation))
	h.Add("size", knownNumber(p.Size))
	h.Add("modified_unix_nano", knownNumber(p.ModifiedUnixNano))
	h.Add("content_sha256", string(p.ContentSHA256))
	h.Add("content_fingerprint_kind", p.ContentFingerprintKind)
}

func knownNumber(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}

// MaxRetainedCost bounds the details of dirty paths that an observation keeps
// (git-observation.md, 3.3).
const MaxRetainedCost = 524_288

// RetainDetails returns the first entries whose details an observation keeps,
// given all of them in path order (git-observation.md, 3.3). The result shares
// the memory of paths and is never nil.
func RetainDetails(paths []PathObservation) []PathObservation {
	cost := 0
	for i := range paths {
		if cost += paths[i].retainedCost(); cost > MaxRetainedCost {
			return paths[:i:i]
		}
	}
	return present(paths)
}

// retainedCost is an upper bound of what the entry takes in every form in which
// it is kept.
func (p *PathObservation) retainedCost() int {
	return 12*len(p.Path) + 6*(len(p.Category)+len(p.State)+len(p.Observation)) +
		len(p.ContentSHA256) + len(p.ContentFingerprintKind) + 320
}
