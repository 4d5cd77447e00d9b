package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/journal"
	"slipway/journal/crashfs"
	"slipway/schema"
)

// promise is a moment of a story: what the disk is like, and what its readers may
// rely on.
type promise struct {
	disk   *crashfs.Disk
	op     crashfs.Op // the last one
	step   int        // under way, or the next one
	idle   bool       // nothing is under way
	least  int        // records that were acknowledged
	most   int        // records that may be there
	failed string     // why the moment was not reached
}

// story is a script that was played to its end, with every moment of it at which
// the disk or what was acknowledged changed.
type story struct {
	steps      []step
	runID      string
	journal    []byte
	lines      []int             // offset behind the first n records
	updated    map[time.Time]int // number of the record that was made then
	materials  [][]schema.Digest // that the first n records refer to
	promises   []promise
	operations int
}

var materialDigest = regexp.MustCompile(`"material_sha256":"(sha256:[0-9a-f]{64})"`)

// tell plays a script on a new disk, whose syncs have the given fate.
func tell(t testing.TB, fate func(at string) crashfs.SyncFate, play func(*script)) *story {
	t.Helper()
	disk := crashfs.New(testWorkspace.GitCommonDir)
	disk.Fate = fate
	s := &story{}
	now := promise{idle: true}
	p := &script{t: t, operator: newOperator(disk.Process(), true)}
	keep := func() {
		now.disk = disk.Copy()
		s.promises = append(s.promises, now)
	}
	p.before = func(next step) {
		now.step, now.idle, now.least, now.most = len(p.steps)-1, false, next.records, next.after()
	}
	p.after = func() {
		now.step, now.idle, now.least = len(p.steps), true, now.most
		keep()
	}
	disk.After = func(op crashfs.Op) {
		s.operations++
		if now.op = op; op.Changes {
			keep()
		}
	}
	play(p)
	s.steps, s.runID = p.steps, p.state.RunID
	s.index(disk.File(s.path("journal.jsonl")))
	return s
}

// index notes what the journal of the whole story is made of.
func (s *story) index(journal []byte) {
	s.journal = journal
	s.lines, s.materials, s.updated = []int{0}, [][]schema.Digest{nil}, map[time.Time]int{}
	var digests []schema.Digest
	offset := 0
	for line := range bytes.Lines(journal) {
		offset += len(line)
		s.lines = append(s.lines, offset)
		for _, found := range materialDigest.FindAllSubmatch(line, -1) {
			digests = append(digests, schema.Digest(found[1]))
		}
		s.materials = append(s.materials, digests[:len(digests):len(digests)])
	}
	for i, step := range s.steps {
		if !step.repeat {
			s.updated[instantOf(i)] = step.after()
		}
	}
}

func (s *story) path(name string) string { return "slipway/runs/" + s.runID + "/" + name }

// before is the number of records before a step.
func (s *story) before(step int) int {
	if step < len(s.steps) {
		return s.steps[step].records
	}
	return len(s.lines) - 1
}

// survivors checks a disk after a crash at the given moment, and tells what is wrong
// with it.
func (s *story) survivors(disk *crashfs.Disk, at promise) string {
	if s.zeroed(disk, at) {
		return s.refused(disk, at)
	}
	o := newOperator(disk.Process(), true)
	found, fault := s.look(o, disk, at)
	if fault != "" || found == 0 {
		return fault
	}
	next, fault := s.retry(o, found, at)
	if fault != "" {
		return fault
	}
	records := s.before(next)
	if next < len(s.steps) {
		if _, err := o.take(next, s.steps[next]); err != nil {
			return fmt.Sprintf("with %d records, %s: %v", found, s.steps[next].name, err)
		}
		records = s.before(next + 1)
	}
	if err := o.keeper.Close(context.Background()); err != nil {
		return "the Keeper does not close: " + err.Error()
	}
	return s.whole(disk, found, records)
}

// retry does what a caller does whose answer was lost, and gives the step after
// which the Run then is.
func (s *story) retry(o *operator, found int, at promise) (next int, fault string) {
	next = at.step
	for s.before(next) > found {
		next--
	}
	if at.idle || next == len(s.steps) || found == s.steps[next].records && !s.steps[next].repeat {
		return next, ""
	}
	if s.steps[next].repeats {
		if _, err := o.take(next, s.steps[next]); err != nil {
			return next, fmt.Sprintf("the exact repeat of %s: %v", s.steps[next].name, err)
		}
	}
	return next + 1, ""
}

// look asks the way a user does, and counts the records. Looking changes nothing.
func (s *story) look(o *operator, disk *crashfs.Disk, at promise) (records int, fault string) {
	changed := false
	disk.After = func(op crashfs.Op) { changed = changed || op.Changes }
	defer func() { disk.After = nil }()
	list, err := o.keeper.List(context.Background(), paperCaller)
	if err != nil {
		return 0, fmt.Sprintf("the list: %v", err)
	}
	if len(list.Runs) == 0 && at.least == 0 {
		return 0, s.nothing(disk)
	}
	if len(list.Runs) != 1 || len(list.UnavailableRuns) != 0 {
		return 0, fmt.Sprintf("the list has %d Runs, %+v", len(list.Runs), list.UnavailableRuns)
	}
	records = s.updated[list.Runs[0].Status.UpdatedAt]
	switch {
	case records < at.least || records > at.most:
		return 0, fmt.Sprintf("%d records instead of %d to %d", records, at.least, at.most)
	case changed:
		return 0, "looking changed something"
	case !bytes.HasPrefix(disk.File(s.path("journal.jsonl")), s.journal[:s.lines[records]-1]):
		return 0, "the records are others than those that were made"
	case at.least > 0 && disk.File(s.path("run.lock")) == nil:
		return 0, "run.lock is gone"
	}
	return records, s.referenced(disk, records)
}

// nothing checks a disk on which the Run was not acknowledged and is not there: a
// leftover of it stands in nobody's way.
func (s *story) nothing(disk *crashfs.Disk) string {
	o := newOperator(disk.Process(), true)
	first := s.steps[0]
	first.ids = 1_000_000
	state, err := o.take(0, first)
	if err != nil {
		return fmt.Sprintf("another start: %v", err)
	}
	list, err := o.keeper.List(context.Background(), paperCaller)
	if err != nil || len(list.Runs) != 1 || list.Runs[0].RunID() != state.RunID {
		return fmt.Sprintf("after another start the list is %+v, %v", list, err)
	}
	return ""
}

// referenced checks the materials that so many records refer to.
func (s *story) referenced(disk *crashfs.Disk, records int) string {
	for _, digest := range s.materials[records] {
		content := disk.File(s.path("materials/" + strings.TrimPrefix(string(digest), "sha256:")))
		if journal.MaterialDigest(content) != digest {
			return fmt.Sprintf("the material %s has %d bytes that are not its own", digest, len(content))
		}
	}
	return ""
}

// whole checks that the Run is as if nothing had ever happened to it, and its
// projection that of the last mutation.
func (s *story) whole(disk *crashfs.Disk, found, records int) string {
	got := disk.File(s.path("journal.jsonl"))
	if records == found { // perhaps nobody had a reason to mend its end
		got = append(bytes.TrimSuffix(got, []byte("\n")), '\n')
	}
	if !bytes.Equal(got, s.journal[:s.lines[records]]) {
		return fmt.Sprintf("in the end the journal is not that of %d records", records)
	}
	projection := disk.File(s.path("run.json"))
	begin := fmt.Appendf(nil, `{"revision":%d,`, records)
	if records > found && (!bytes.HasPrefix(projection, begin) || !bytes.HasSuffix(projection, []byte("}"))) {
		return fmt.Sprintf("in the end run.json is not of revision %d: %.40s", records, projection)
	}
	return s.referenced(disk, records)
}

// zeroed reports whether the record that was under way lies there as a complete
// line in which zeros stand for what was not written yet. Nothing tells it from an
// acknowledged record that was damaged later.
func (s *story) zeroed(disk *crashfs.Disk, at promise) bool {
	got := disk.File(s.path("journal.jsonl"))
	return !at.idle && len(got) > s.lines[at.least] && got[len(got)-1] == '\n' && bytes.IndexByte(got, 0) >= 0
}

// refused checks that such a Run is refused by its name, and nothing of it lost or
// changed (storage.md, section 4).
func (s *story) refused(disk *crashfs.Disk, at promise) string {
	before := disk.File(s.path("journal.jsonl"))
	o := newOperator(disk.Process(), true)
	o.git.worktree = clean
	_, statusErr := o.keeper.Status(context.Background(), paperCaller, s.runID)
	_, stopErr := o.keeper.Stop(context.Background(), paperCaller, engine.StopRequest{Run: s.runID})
	list, err := o.keeper.List(context.Background(), paperCaller)
	stopCode := schema.CodeMutationNotCommitted
	if bytes.IndexByte(before, 0) < s.lines[1] {
		stopCode = schema.CodeRuntimeError
	}
	switch {
	case codeOf(statusErr) != schema.CodeRunJournalInvalid || codeOf(stopErr) != stopCode:
		return fmt.Sprintf("a damaged Run: status says %v, stop %v", statusErr, stopErr)
	case err != nil || len(list.Runs) > 0 || len(list.UnavailableRuns) != 1 || list.UnavailableRuns[0].ID != s.runID:
		return fmt.Sprintf("a damaged Run is listed as %+v, %v", list, err)
	case !bytes.Equal(disk.File(s.path("journal.jsonl")), before) || !bytes.HasPrefix(before, s.journal[:s.lines[at.least]]):
		return "the journal of a damaged Run was changed"
	}
	return s.referenced(disk, at.least)
}
