// Package source turns a GitHub Issue, as a host observed it, into the
// requirements of a Run: it reads the envelope, judges its head, computes the
// digests, and compares a later envelope with what a Run has accepted
// (source.md). It knows no file, no Run and no clock: every function is pure,
// and ids and times come in as arguments.
//
// # A start
//
// [DecodeEnvelope] reads the bytes of an envelope file strictly. [Judge] then
// says whether the Issue and its comments make a usable Change:
//
//	envelope, err := source.DecodeEnvelope(data)
//	if err != nil {
//		// *source.EnvelopeFault: the envelope is wrong in itself
//	}
//	head := source.Judge(envelope)
//	if !head.Usable() {
//		// head.Code and head.Reason say what is missing
//	}
//	// head.Source is the catalog to pin, head.Materials the texts to store
//
// # A refresh
//
// A Run keeps its pinned source and, as [Accepted], the comments of every source
// that it ever pinned. [Refresh] holds a new head against both. The [Comparison]
// is a refusal, a candidate that waits for a choice, or the refreshed source:
//
//	c := source.Refresh(pinned, accepted, &head)
//	switch c.Verdict {
//	case source.ValidCandidate, source.InvalidCandidate:
//		candidate := c.Candidate(id, now)
//	case source.Refreshed:
//		pinned = c.Snapshot
//	default:
//		// c.Refusal() and c.Reason
//	}
//
// [KeepPinned] and [Adopt] make the pinned source that a choice leads to.
//
// # An Action, and reading
//
// [ActionSource] and [Requirements] are what every Action of the Run carries.
// [CheckMaterial] holds a stored text against its entry in that catalog before it
// is given out.
package source
