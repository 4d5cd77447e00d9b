package engine_test

import (
	"fmt"
	"strings"

	"slipway/engine"
	"slipway/schema"
)

// What the worktree may look like in a test. A Run starts in clean unless the
// test says otherwise.
var (
	clean   = observation("1")
	edited  = observation("1", regularFile("a.txt", 'a'))
	edited2 = observation("1", regularFile("a.txt", 'b'), regularFile("b.txt", 'a'))
	commit  = observation("2")
	// One file was deleted, which no observation can look into.
	deleted = observation("1", missingFile("gone.txt"))
	// The same as deleted as far as anybody can tell.
	deletedUnsure = withBytes(deleted, 17)
	// More paths than a brief can name.
	crowded = observation("1", manyFiles(90)...)
	// More paths than the details of which are kept.
	truncated = observation("1", manyFiles(1200)...)
)

func seen(o *schema.Observation) *engine.GitFact { return &engine.GitFact{Observation: o} }

func unseen(why string) *engine.GitFact { return &engine.GitFact{Failure: why} }

func digestOf(text string) schema.Digest { return schema.PayloadDigest([]byte(text)) }

func regularFile(path string, content byte) schema.PathObservation {
	size, at := int64(content), int64(1_700_000_000_000_000_000)
	return schema.PathObservation{
		Path: path, Category: "untracked", State: "??", Observation: schema.PathRegular, Size: &size, ModifiedUnixNano: &at,
		ContentSHA256: digestOf(string(content)), ContentFingerprintKind: schema.FullContent,
	}
}

func missingFile(path string) schema.PathObservation {
	return schema.PathObservation{Path: path, Category: "ordinary", State: ".D", Observation: schema.PathMissing}
}

func manyFiles(n int) []schema.PathObservation {
	paths := make([]schema.PathObservation, n)
	for i := range paths {
		paths[i] = regularFile(fmt.Sprintf("folder/file-%04d.txt", i), byte('a'+i%20))
	}
	return paths
}

// observation is a valid one; head tells commits apart.
func observation(head string, paths ...schema.PathObservation) *schema.Observation {
	o := &schema.Observation{
		Version: schema.ObservationVersion, Head: strings.Repeat("0", 39) + head,
		IndexFingerprint: digestOf("index"), PathCount: len(paths), PathFingerprint: schema.PathFingerprint(paths),
		ContentObservationComplete: true, ContentByteLimit: schema.MaxObservedContentBytes,
		DirtyFiles: []string{}, PathObservations: schema.RetainDetails(paths),
	}
	status := ""
	for _, p := range paths {
		status += p.State + " " + p.Path + "\x00"
		if p.Observation == schema.PathMissing {
			o.ContentObservationComplete = false
		}
		if p.Size != nil {
			o.ContentBytesHashed += *p.Size
		}
	}
	o.StatusFingerprint = digestOf(status)
	for _, p := range o.PathObservations {
		o.DirtyFiles = append(o.DirtyFiles, p.Path)
	}
	o.DetailsTruncated = len(o.PathObservations) < len(paths)
	o.SnapshotHash = o.ComputeSnapshotHash()
	return o
}

// withBytes is another snapshot that shows no change.
func withBytes(o *schema.Observation, n int64) *schema.Observation {
	c := *o
	c.ContentBytesHashed = n
	c.SnapshotHash = c.ComputeSnapshotHash()
	return &c
}
