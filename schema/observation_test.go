package schema_test

import (
	"strconv"
	"strings"
	"testing"

	"slipway/schema"
)

const (
	emptyPaths = schema.Digest("sha256:05fb5d609adb1851c4962fd36890ba92678a502bea69a2bf7787468523850a77")
	emptySHA   = schema.Digest("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	helloSHA   = schema.Digest("sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
)

func number(n int64) *int64 { return &n }

// observe makes a valid observation of the given entries.
func observe(paths ...schema.PathObservation) schema.Observation {
	o := schema.Observation{
		Version: 1, Head: schema.UnbornHead, IndexFingerprint: emptySHA,
		StatusFingerprint:          "sha256:d7f6b2f705220ccd02c972325852289d27c8060cdba5bd2dc4d08541d2bb669c",
		ContentObservationComplete: true, ContentByteLimit: schema.MaxObservedContentBytes,
		PathObservations: schema.RetainDetails(paths), PathCount: len(paths), PathFingerprint: schema.PathFingerprint(paths),
		DirtyFiles: []string{},
	}
	o.DetailsTruncated = len(o.PathObservations) < len(paths)
	for _, p := range o.PathObservations {
		o.DirtyFiles = append(o.DirtyFiles, p.Path)
	}
	for _, p := range paths {
		switch p.Observation {
		case schema.PathMissing, schema.PathUnreadable, schema.PathContentUnobserved:
			o.ContentObservationComplete = false
		case schema.PathRegular:
			o.ContentBytesHashed += *p.Size
		}
	}
	o.SnapshotHash = o.ComputeSnapshotHash()
	return o
}

func regular(path string, size int64, digest schema.Digest) schema.PathObservation {
	return schema.PathObservation{
		Path: path, Category: "untracked", State: "??", Observation: schema.PathRegular, Size: &size,
		ModifiedUnixNano: number(1_700_000_000_000_000_000), ContentSHA256: digest, ContentFingerprintKind: schema.FullContent,
	}
}

func missing(path string) schema.PathObservation {
	return schema.PathObservation{Path: path, Category: "ordinary", State: ".D", Observation: schema.PathMissing}
}

// The values are those of git-observation.md, 5.2 and 5.3.
func TestObservationCheckValues(t *testing.T) {
	checkDigest(t, "no path", schema.PathFingerprint(nil), emptyPaths)
	o := observe(regular("a.txt", 6, helloSHA))
	checkDigest(t, "path_fingerprint", o.PathFingerprint, "sha256:ab636e212b4b4377fd24f96fded3a4c8a5e8535d419fa5540ed8c1a13c9b73d3")
	checkDigest(t, "snapshot_hash", o.SnapshotHash, "sha256:2223991e433cb4c0c9c7d598239fcad277c6fb097bc2389aa7c113983ab261ba")
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

func TestObservationAcceptsEveryKind(t *testing.T) {
	big := int64(schema.MaxFullContentBytes + 1)
	o := observe(
		schema.PathObservation{Path: "a", Category: "copy_origin,ordinary", State: "C. C100,M.", Observation: schema.PathMissing},
		schema.PathObservation{Path: "b", Category: "rename", State: "R. R087", Observation: schema.PathOversizeSampled, Size: &big,
			ModifiedUnixNano: number(-1), ContentSHA256: helloSHA, ContentFingerprintKind: schema.OversizeSample},
		schema.PathObservation{Path: "c", Category: "unmerged", State: "UU", Observation: schema.PathSymlink, Size: number(3),
			ContentSHA256: helloSHA, ContentFingerprintKind: schema.SymlinkTarget},
		schema.PathObservation{Path: "d", Category: "ordinary", State: ".M", Observation: schema.PathContentUnobserved, Size: number(9), ModifiedUnixNano: number(1)},
		schema.PathObservation{Path: "e/", Category: "untracked", State: "??", Observation: schema.PathNonRegular, Size: number(4096)},
		schema.PathObservation{Path: "f", Category: "ordinary", State: "M.", Observation: schema.PathUnreadable},
		schema.PathObservation{Path: "g", Category: "ordinary", State: "AM", Observation: schema.PathUnreadable, Size: number(0)},
		regular("h", 0, emptySHA),
	)
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	clean := observe()
	if err := clean.Validate(); err != nil {
		t.Error(err)
	}
}

func TestObservationValidateRefuses(t *testing.T) {
	big := int64(schema.MaxFullContentBytes + 1)
	for name, change := range map[string]func(*schema.Observation){
		"version":                   func(o *schema.Observation) { o.Version = 2 },
		"empty head":                func(o *schema.Observation) { o.Head = "" },
		"upper-case head":           func(o *schema.Observation) { o.Head = strings.Repeat("A", 40) },
		"head of 41":                func(o *schema.Observation) { o.Head = strings.Repeat("a", 41) },
		"index digest":              func(o *schema.Observation) { o.IndexFingerprint = "" },
		"status digest":             func(o *schema.Observation) { o.StatusFingerprint = "sha256:" },
		"path digest":               func(o *schema.Observation) { o.PathFingerprint = emptyPaths },
		"count too small":           func(o *schema.Observation) { o.PathCount = 1 },
		"count too large":           func(o *schema.Observation) { o.PathCount = 3 },
		"truncated for nothing":     func(o *schema.Observation) { o.DetailsTruncated = true },
		"dirty file lost":           func(o *schema.Observation) { o.DirtyFiles = o.DirtyFiles[:1] },
		"other dirty file":          func(o *schema.Observation) { o.DirtyFiles[0] = "x" },
		"byte limit":                func(o *schema.Observation) { o.ContentByteLimit++ },
		"negative bytes":            func(o *schema.Observation) { o.ContentBytesHashed = -1 },
		"more bytes than the limit": func(o *schema.Observation) { o.ContentBytesHashed = o.ContentByteLimit + 1 },
		"complete at the limit":     func(o *schema.Observation) { o.ContentByteLimitExceeded = true },
		"complete at the deadline":  func(o *schema.Observation) { o.ContentDeadlineExceeded = true },
		"incomplete for nothing":    func(o *schema.Observation) { o.ContentObservationComplete = false },
		"complete with missing":     func(o *schema.Observation) { o.PathObservations[1] = missing("b") },
		"order": func(o *schema.Observation) {
			o.PathObservations[0], o.PathObservations[1] = o.PathObservations[1], o.PathObservations[0]
			o.DirtyFiles[0], o.DirtyFiles[1] = "b", "a"
		},
		"same path":           func(o *schema.Observation) { o.PathObservations[1].Path, o.DirtyFiles[1] = "a", "a" },
		"empty path":          func(o *schema.Observation) { o.PathObservations[0].Path, o.DirtyFiles[0] = "", "" },
		"absolute path":       func(o *schema.Observation) { o.PathObservations[0].Path, o.DirtyFiles[0] = "/a", "/a" },
		"path above":          func(o *schema.Observation) { o.PathObservations[0].Path, o.DirtyFiles[0] = "../a", "../a" },
		"path with NUL":       func(o *schema.Observation) { o.PathObservations[0].Path, o.DirtyFiles[0] = "a\x00", "a\x00" },
		"path of other bytes": func(o *schema.Observation) { o.PathObservations[0].Path, o.DirtyFiles[0] = "a\xff", "a\xff" },
		"category":            func(o *schema.Observation) { o.PathObservations[0].Category = "new" },
		"empty category":      func(o *schema.Observation) { o.PathObservations[0].Category = "" },
		"categories unsorted": func(o *schema.Observation) { o.PathObservations[0].Category = "ordinary,copy" },
		"category twice":      func(o *schema.Observation) { o.PathObservations[0].Category = "copy,copy" },
		"state":               func(o *schema.Observation) { o.PathObservations[0].State = "M" },
		"score of nothing":    func(o *schema.Observation) { o.PathObservations[0].State = "R. R" },
		"kind":                func(o *schema.Observation) { o.PathObservations[0].Observation = "folder" },
		"no size":             func(o *schema.Observation) { o.PathObservations[0].Size = nil },
		"negative size":       func(o *schema.Observation) { o.PathObservations[0].Size = number(-1) },
		"regular too large":   func(o *schema.Observation) { o.PathObservations[0].Size = &big },
		"no time":             func(o *schema.Observation) { o.PathObservations[0].ModifiedUnixNano = nil },
		"no digest":           func(o *schema.Observation) { o.PathObservations[0].ContentSHA256 = "" },
		"malformed digest":    func(o *schema.Observation) { o.PathObservations[0].ContentSHA256 = "sha256:x" },
		"other digest kind":   func(o *schema.Observation) { o.PathObservations[0].ContentFingerprintKind = schema.SymlinkTarget },
		"missing with size": func(o *schema.Observation) {
			o.PathObservations[0] = missing("a")
			o.PathObservations[0].Size, o.ContentObservationComplete = number(1), false
		},
		"small sample": func(o *schema.Observation) {
			o.PathObservations[0].Observation, o.PathObservations[0].ContentFingerprintKind = schema.PathOversizeSampled, schema.OversizeSample
		},
	} {
		o := observe(regular("a", 6, helloSHA), regular("b", 0, emptySHA))
		fingerprint := o.PathFingerprint
		change(&o)
		if o.PathFingerprint == fingerprint {
			o.PathFingerprint = schema.PathFingerprint(o.PathObservations)
		}
		o.SnapshotHash = o.ComputeSnapshotHash()
		if err := o.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	o := observe()
	o.SnapshotHash = emptySHA
	if o.Validate() == nil {
		t.Error("another snapshot hash: accepted")
	}
}

func TestRetainDetailsStopsAtTheLimit(t *testing.T) {
	if got := schema.RetainDetails(nil); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	// An entry of 8 bytes of path costs 12*8 + 6*(9+2+7) + 71 + 11 + 320 = 606.
	var paths []schema.PathObservation
	for i := range 1000 {
		paths = append(paths, regular("file"+strconv.Itoa(1000+i), 0, emptySHA))
		paths[i].State = "??"
	}
	got := schema.RetainDetails(paths)
	if want := schema.MaxRetainedCost / 606; len(got) != want {
		t.Errorf("%d entries, want %d", len(got), want)
	}
	o := observe(paths...)
	if !o.DetailsTruncated || o.PathCount != 1000 {
		t.Errorf("truncated %v, count %d", o.DetailsTruncated, o.PathCount)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	// From the first that does not fit on, none is kept, however small.
	large := regular(strings.Repeat("x", schema.MaxRetainedCost), 0, emptySHA)
	if got := schema.RetainDetails([]schema.PathObservation{large, regular("y", 0, emptySHA)}); got == nil || len(got) != 0 {
		t.Errorf("after a large one: %d", len(got))
	}
}

func TestChanged(t *testing.T) {
	with := func(o schema.Observation, change func(*schema.Observation)) schema.Observation {
		change(&o)
		o.SnapshotHash = o.ComputeSnapshotHash()
		return o
	}
	a, b := regular("a", 6, helloSHA), regular("b", 6, helloSHA)
	touched := b
	touched.ModifiedUnixNano = number(5)
	edited := regular("b", 6, emptySHA)
	grown := regular("b", 7, "")
	grown.Observation, grown.ContentFingerprintKind = schema.PathContentUnobserved, ""
	unread := schema.PathObservation{Path: "b", Category: "untracked", State: "??", Observation: schema.PathUnreadable}
	folder := schema.PathObservation{Path: "b", Category: "untracked", State: "??", Observation: schema.PathNonRegular, Size: number(6)}
	gone := missing("b")
	gone.Category, gone.State = "untracked", "??"
	staged := b
	staged.Category, staged.State = "ordinary", "A."
	otherKind := b
	otherKind.ContentFingerprintKind = schema.OversizeSample
	gap := missing("z")
	for name, test := range map[string]struct {
		start, now schema.Observation
		want       bool
	}{
		"same":                                   {observe(a), observe(a), false},
		"both complete, touched":                 {observe(b), observe(touched), true},
		"incomplete, touched":                    {observe(b, gap), observe(touched, gap), false},
		"incomplete, edited":                     {observe(b, gap), observe(edited, gap), true},
		"incomplete, other fingerprint kind":     {observe(b, gap), observe(otherKind, gap), true},
		"incomplete, other size without digest":  {observe(b, gap), observe(grown, gap), true},
		"incomplete, became unreadable":          {observe(b), observe(unread), false},
		"incomplete, file became folder":         {observe(b, gap), observe(folder, gap), true},
		"incomplete, file is gone":               {observe(b, gap), observe(gone, gap), true},
		"incomplete, staged":                     {observe(b, gap), observe(staged, gap), true},
		"incomplete, path only in one":           {observe(gap), observe(a, gap), false},
		"head":                                   {observe(gap), with(observe(gap), func(o *schema.Observation) { o.Head = strings.Repeat("a", 40) }), true},
		"index":                                  {observe(gap), with(observe(gap), func(o *schema.Observation) { o.IndexFingerprint = helloSHA }), true},
		"status":                                 {observe(gap), with(observe(gap), func(o *schema.Observation) { o.StatusFingerprint = helloSHA }), true},
		"only the number of bytes, incomplete":   {observe(gap), with(observe(gap), func(o *schema.Observation) { o.ContentBytesHashed = 5 }), false},
		"one complete, nothing comparable":       {observe(a), observe(gap), false},
		"unreadable, then readable, same status": {observe(unread), observe(b), false},
	} {
		if got := schema.Changed(&test.start, &test.now); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEmptyListsOfAnObservationAreArrays(t *testing.T) {
	encoded := string(mustMarshal(t, schema.Observation{}))
	if !strings.Contains(encoded, `"dirty_files":[],"path_observations":[]`) {
		t.Error(encoded)
	}
}
