package engine_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/journal"
	"slipway/journal/crashfs"
	"slipway/schema"
)

// sufferer is a Run whose journal is damaged, beside one that is not.
type sufferer struct {
	disk    *crashfs.Disk
	id      string
	journal []byte
	lines   []int // offset behind the first n records
	next    []engine.SubmitRequest
	other   string
}

func newSufferer(t testing.TB) *sufferer {
	t.Helper()
	s := &sufferer{disk: crashfs.New(testWorkspace.GitCommonDir)}
	o := newOperator(s.disk.Process(), true)
	o.git.worktree = clean
	q := engine.StartRequest{Goal: "mend", Budget: 9, Review: true}
	state, err := o.keeper.Start(context.Background(), paperCaller, q)
	if err != nil {
		t.Fatal(err)
	}
	s.id = state.RunID
	for range 4 { // the last one is not sent
		document := encode(t, outcomeOf(state.Action, suggesting(schema.Clarify, "on"), knowing("größer")))
		s.next = append(s.next, engine.SubmitRequest{Run: s.id, Action: state.Action.ActionID, Outcome: document})
		if len(s.next) == 4 {
			break
		}
		if state, err = o.keeper.Submit(context.Background(), paperCaller, s.next[len(s.next)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if state, err = o.keeper.Start(context.Background(), paperCaller, q); err != nil {
		t.Fatal(err)
	}
	s.other = state.RunID
	s.journal = s.disk.File(s.path(s.id, "journal.jsonl"))
	s.lines = []int{0}
	for line := range bytes.Lines(s.journal) {
		s.lines = append(s.lines, s.lines[len(s.lines)-1]+len(line))
	}
	return s
}

func (s *sufferer) path(run, name string) string { return "slipway/runs/" + run + "/" + name }

// records is what the journal of the Run is called upon to hold: the records from a
// to b, counted from 1.
func (s *sufferer) records(a, b int) string { return string(s.journal[s.lines[a-1]:s.lines[b]]) }

// fixtures are the shapes that crashes and failing disks leave in the field, and
// how many records count then. With 0 the Run is refused by its name.
func (s *sufferer) fixtures() map[string]struct {
	journal string
	records int
} {
	type fixture = struct {
		journal string
		records int
	}
	all := s.records(1, 4)
	last := s.records(4, 4)
	umlaut := strings.Index(last, "ß") + 1
	nul := func(n int) string { return strings.Repeat("\x00", n) }
	block := []byte(all)
	clear(block[s.lines[2]+20 : s.lines[2]+220])
	return map[string]fixture{
		"zero length":                                {"", 0},
		"only NUL":                                   {nul(4096), 0},
		"NUL tail":                                   {all + nul(4096), 4},
		"NUL tail in place of the last record":       {s.records(1, 3) + nul(len(last)), 3},
		"NUL tail from the middle of a record":       {s.records(1, 3) + last[:100] + nul(600), 3},
		"NUL block in the middle":                    {string(block), 0},
		"NUL block between two records":              {s.records(1, 2) + nul(512) + s.records(3, 4), 0},
		"last record begins with NUL":                {s.records(1, 3) + nul(64) + last[64:], 0},
		"torn last line":                             {s.records(1, 3) + last[:len(last)/2], 3},
		"torn inside a UTF-8 sequence":               {s.records(1, 3) + last[:umlaut], 3},
		"torn inside a UTF-8 sequence, empty line":   {s.records(1, 3) + last[:umlaut] + "\n", 0},
		"torn last line, then an empty line":         {s.records(1, 3) + last[:len(last)/2] + "\n\n", 0},
		"one byte of a record":                       {s.records(1, 3) + "{", 3},
		"whole last record without its newline":      {strings.TrimSuffix(all, "\n"), 4},
		"whole last record, another byte for its LF": {strings.TrimSuffix(all, "\n") + "\x0b", 4},
		"two records glued together":                 {s.records(1, 2) + strings.TrimSuffix(s.records(3, 3), "\n") + last, 0},
		"two records glued together at the end":      {s.records(1, 2) + strings.TrimSuffix(s.records(3, 3), "\n") + strings.TrimSuffix(last, "\n"), 2},
		"last record twice":                          {all + last, 0},
		"a record twice":                             {s.records(1, 2) + s.records(2, 4), 0},
		"last record twice, torn":                    {all + last[:len(last)/2], 4},
		"a record missing":                           {s.records(1, 2) + last, 0},
		"first record missing":                       {s.records(2, 4), 0},
		"two records exchanged":                      {s.records(1, 1) + s.records(3, 3) + s.records(2, 2) + last, 0},
		"first record of another Run":                {string(s.disk.File(s.path(s.other, "journal.jsonl"))) + s.records(2, 4), 0},
		"first record torn":                          {s.records(1, 1)[:50], 0},
		"empty lines at the end":                     {all + "\n\n", 4},
		"empty lines between":                        {s.records(1, 2) + "\n \n" + s.records(3, 4), 4},
		"a complete line of garbage at the end":      {all + "garbage\n", 0},
		"garbage without LF at the end":              {all + "garbage", 4},
	}
}

// TestShapesOfTheField: each shape has its right answer, for a reader, a writer and
// the other Runs.
func TestShapesOfTheField(t *testing.T) {
	s := newSufferer(t)
	for name, f := range s.fixtures() {
		t.Run(name, func(t *testing.T) {
			disk := s.disk.Copy()
			disk.SetFile(s.path(s.id, "journal.jsonl"), []byte(f.journal))
			if f.records > 0 {
				s.goesOn(t, disk, f.records)
			} else {
				s.isRefused(t, disk)
			}
			s.otherIsUntouched(t, disk)
		})
	}
}

// goesOn checks that so many records count, and that the next submit lands behind
// them: what was torn is cut off first, never glued to.
func (s *sufferer) goesOn(t *testing.T, disk *crashfs.Disk, records int) {
	t.Helper()
	damaged := disk.File(s.path(s.id, "journal.jsonl"))
	o := newOperator(disk.Process(), true)
	o.ids, o.git.worktree = 1000, clean
	status, err := o.keeper.Status(context.Background(), paperCaller, s.id)
	if err != nil || len(status.Actions) != records {
		t.Fatalf("status: %d Actions, %v; want %d", len(status.Actions), err, records)
	}
	if got := disk.File(s.path(s.id, "journal.jsonl")); !bytes.Equal(got, damaged) {
		t.Fatal("a reader changed the journal")
	}
	if _, err := o.keeper.Submit(context.Background(), paperCaller, s.next[records-1]); err != nil {
		t.Fatalf("the next submit: %v", err)
	}
	got := bytes.ReplaceAll(disk.File(s.path(s.id, "journal.jsonl")), []byte("\n \n"), []byte("\n"))
	for bytes.Contains(got, []byte("\n\n")) {
		got = bytes.ReplaceAll(got, []byte("\n\n"), []byte("\n"))
	}
	if !bytes.HasPrefix(got, s.journal[:s.lines[records]]) || bytes.Count(got, []byte("\n")) != records+1 {
		t.Errorf("after the next submit the journal is\n%s", got)
	}
	status, err = newOperator(disk.Process(), true).keeper.Status(context.Background(), paperCaller, s.id)
	if err != nil || len(status.Actions) != records+1 {
		t.Errorf("then: %d Actions, %v", len(status.Actions), err)
	}
}

// isRefused checks that the Run is named as one that can not be read, that nothing
// of it is changed, and that a stop without id is not blind for it.
func (s *sufferer) isRefused(t *testing.T, disk *crashfs.Disk) {
	t.Helper()
	before := disk.File(s.path(s.id, "journal.jsonl"))
	o := newOperator(disk.Process(), true)
	o.git.worktree = clean
	_, err := o.keeper.Status(context.Background(), paperCaller, s.id)
	if codeOf(err) != schema.CodeRunJournalInvalid {
		t.Errorf("status: %v", err)
	}
	_, err = o.keeper.Submit(context.Background(), paperCaller, s.next[3])
	if code := codeOf(err); code != schema.CodeMutationNotCommitted && code != schema.CodeRuntimeError {
		t.Errorf("submit: %v", err)
	}
	_, err = o.keeper.Stop(context.Background(), paperCaller, engine.StopRequest{Any: true})
	if codeOf(err) != schema.CodeRunIDRequired {
		t.Errorf("stop of the only Run: %v", err)
	}
	list, err := o.keeper.List(context.Background(), paperCaller)
	if err != nil || len(list.UnavailableRuns) != 1 || list.UnavailableRuns[0].ID != s.id || list.UnavailableRuns[0].Code != schema.CodeRunJournalInvalid {
		t.Errorf("the list names %+v, %v", list, err)
	}
	if got := disk.File(s.path(s.id, "journal.jsonl")); !bytes.Equal(got, before) {
		t.Error("the damaged journal was changed")
	}
}

func (s *sufferer) otherIsUntouched(t *testing.T, disk *crashfs.Disk) {
	t.Helper()
	for _, name := range []string{"journal.jsonl", "run.json"} {
		if at := s.path(s.other, name); !bytes.Equal(disk.File(at), s.disk.File(at)) {
			t.Errorf("%s of the other Run was changed", name)
		}
	}
	o := newOperator(disk.Process(), true)
	if status, err := o.keeper.Status(context.Background(), paperCaller, s.other); err != nil || status.State != schema.Active {
		t.Errorf("the other Run: %v", err)
	}
}

// read counts the records the way a reader does.
func (s *sufferer) read(t *testing.T, disk *crashfs.Disk) (int, error) {
	t.Helper()
	store, err := journal.OpenStore(disk.Process(), testWorkspace.GitCommonDir, journal.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	records, _, _, err := store.Read(context.Background(), s.id, journal.Stamp{})
	return len(records), err
}

// TestEveryBitOfAJournal turns each one. The last LF may be any byte: what it ends
// is whole. Every other bit is missed, and named.
func TestEveryBitOfAJournal(t *testing.T) {
	s := newSufferer(t)
	disk := s.disk.Copy()
	for i := range s.journal {
		for bit := range 8 {
			damaged := bytes.Clone(s.journal)
			damaged[i] ^= 1 << bit
			disk.SetFile(s.path(s.id, "journal.jsonl"), damaged)
			records, err := s.read(t, disk)
			if i == len(s.journal)-1 {
				if err != nil || records != 4 {
					t.Errorf("bit %d of the last LF: %d records, %v", bit, records, err)
				}
				continue
			}
			if err == nil {
				t.Fatalf("bit %d of byte %d (%q): %d records", bit, i, s.journal[i], records)
			}
		}
		if i%97 == 0 { // and what users and other Runs see of it
			s.isRefused(t, disk)
			s.otherIsUntouched(t, disk)
		}
	}
}

// TestEveryTruncationOfAJournal is what a torn write leaves: the records before it
// count, and the Run goes on. Only the first record can not be missed.
func TestEveryTruncationOfAJournal(t *testing.T) {
	s := newSufferer(t)
	for size := range len(s.journal) {
		whole := 0
		for whole < 4 && size >= s.lines[whole+1]-1 {
			whole++
		}
		disk := s.disk.Copy()
		disk.SetFile(s.path(s.id, "journal.jsonl"), s.journal[:size])
		records, err := s.read(t, disk)
		if records != whole || (err == nil) != (whole > 0) {
			t.Fatalf("%d bytes: %d records, %v; want %d", size, records, err, whole)
		}
		switch {
		case size%31 != 0:
		case whole > 0:
			s.goesOn(t, disk, whole)
		default:
			s.isRefused(t, disk)
		}
	}
}

// TestReplacedRecords: each record is replaced by every other one, also sealed as
// if it were the right one, and the records behind it show it.
func TestReplacedRecords(t *testing.T) {
	s := newSufferer(t)
	other := newSufferer(t) // the same Run with another second Outcome
	other.disk = crashfs.New(testWorkspace.GitCommonDir)
	o := newOperator(other.disk.Process(), true)
	o.git.worktree = clean
	state, err := o.keeper.Start(context.Background(), paperCaller, engine.StartRequest{Goal: "mend", Budget: 9, Review: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		document := encode(t, outcomeOf(state.Action, suggesting(schema.Clarify, "elsewhere")))
		if state, err = o.keeper.Submit(context.Background(), paperCaller, engine.SubmitRequest{Run: state.RunID, Action: state.Action.ActionID, Outcome: document}); err != nil {
			t.Fatal(err)
		}
	}
	foreign := bytes.SplitAfter(other.disk.File(s.path(state.RunID, "journal.jsonl")), []byte("\n"))
	if state.RunID != s.id || !bytes.Equal(foreign[0], []byte(s.records(1, 1))) {
		t.Fatal("the two histories do not begin alike")
	}
	for name, journal := range map[string]string{
		"second record": s.records(1, 1) + string(foreign[1]) + s.records(3, 4),
		"third record":  s.records(1, 2) + string(foreign[2]) + s.records(4, 4),
	} {
		disk := s.disk.Copy()
		disk.SetFile(s.path(s.id, "journal.jsonl"), []byte(journal))
		if records, err := s.read(t, disk); err == nil {
			t.Errorf("%s replaced: %d records", name, records)
		}
	}
}
