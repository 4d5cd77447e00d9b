package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/engine"
	"slipway/journal/crashfs"
	"slipway/journal/faultfs"
	"slipway/schema"
)

// faultCase is one operation whose every file operation is made to fail.
type faultCase struct {
	name  string
	story *story
	base  *crashfs.Disk // before it
	step  int
	warm  bool // the Keeper knows the Run already
}

// faultCases are a start and a submit in all the ways that write differently, on a
// disk whose syncs have the given fate.
func faultCases(t testing.TB, fate func(at string) crashfs.SyncFate) []faultCase {
	t.Helper()
	adHoc := tell(t, fate, func(p *script) {
		p.worktree = clean
		p.start("print a page", nil)
		p.submit(suggesting(schema.Clarify, "ask"))
		p.again()
	})
	backed := tell(t, fate, func(p *script) {
		p.worktree = clean
		issue := newIssue()
		p.start("print a page", issue.envelope(t))
		p.stop()
		issue.amend(p.state.PinnedSource.RequirementsRevision, "- Print it twice.\n")
		p.resume(engine.ResumeRequest{Source: issue.envelope(t)})
	})
	empty := crashfs.New(testWorkspace.GitCommonDir)
	empty.Fate = fate
	written, torn := adHoc.at(1, false), adHoc.at(1, false)
	torn.Tear(adHoc.path("journal.jsonl"), adHoc.lines[1]+40)
	return []faultCase{
		{name: "start", story: adHoc, base: empty},
		{name: "start with material", story: backed, base: empty},
		{name: "submit", story: adHoc, base: adHoc.at(1, true), step: 1, warm: true},
		{name: "submit to a Run not known", story: adHoc, base: adHoc.at(1, true), step: 1},
		{name: "submit after a torn write", story: adHoc, base: torn, step: 1},
		{name: "resume with material", story: backed, base: backed.at(2, true), step: 2, warm: true},
		{name: "repeat of a submit that was not synchronised", story: adHoc, base: written, step: 2},
	}
}

// at is the disk before a step, or when its record was written and nothing more.
func (s *story) at(step int, idle bool) *crashfs.Disk {
	for _, p := range s.promises {
		if p.step == step && p.idle == idle && (idle || p.op.Kind == "writeat" && p.op.Path == s.path("journal.jsonl")) {
			return p.disk.Copy()
		}
	}
	panic("the story has no such moment")
}

// kindsOfFaults are the ways in which an operation of a kind can fail.
func kindsOfFaults(kind string) []string {
	switch kind {
	case "writeat":
		return []string{"fails", "done", "one byte", "all but one byte"}
	case "sync":
		return []string{"fails", "done", "forgets"}
	case "mkdir", "create", "rename", "publish", "remove", "removedir", "truncate":
		return []string{"fails", "done"}
	}
	return []string{"fails"}
}

// run carries out the case with a fault at its n-th file operation; 0 = none.
func (c *faultCase) run(n int, fault string) (o *operator, disk *crashfs.Disk, ops []faultfs.Op, err error) {
	disk = c.base.Copy()
	faulty := &faultfs.FS{FS: disk.Process()}
	o = newOperator(faulty, true)
	if c.warm {
		if _, err := o.keeper.List(context.Background(), paperCaller); err != nil {
			panic(err)
		}
	}
	before, forget := faulty.Count(), false
	disk.Fate = func(at string) crashfs.SyncFate {
		if forget {
			forget = false
			return crashfs.Forgets
		}
		if decide := c.base.Fate; decide != nil {
			return decide(at)
		}
		return crashfs.Works
	}
	faulty.Before = func(op faultfs.Op) error {
		ops = append(ops, op)
		if op.Number-before != n {
			return nil
		}
		switch fault {
		case "done":
			return &faultfs.Done{Err: syscall.EIO}
		case "one byte":
			return &faultfs.Short{Bytes: 1, Err: syscall.ENOSPC}
		case "all but one byte":
			return &faultfs.Short{Bytes: -1, Err: syscall.ENOSPC}
		case "forgets":
			forget = true
			return nil
		}
		return syscall.EIO
	}
	_, err = o.take(c.step, c.story.steps[c.step])
	faulty.Before = nil
	return o, disk, ops, err
}

// verdictOf is what a caller is told about the state of its operation.
func verdictOf(err error) string {
	if err == nil {
		return "answered"
	}
	var e *schema.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("%T", err)
	}
	if m, ok := e.Details.(schema.MutationDetails); ok {
		return fmt.Sprintf("%s (%s)", e.Code, m.Phase)
	}
	return string(e.Code)
}

// may tells whether the operation may be there, and whether it may not, after what
// the caller was told.
func may(err error) (be, notBe bool) {
	switch codeOf(err) {
	case "", schema.CodeMutationCommittedProjectionStale, schema.CodeMutationCommittedVerificationFailed:
		return true, false
	case schema.CodeMutationOutcomeAmbiguous:
		return true, true
	}
	return false, true
}

// truth checks what the caller was told against the disk: as it is, and as every
// power cut leaves it.
func (c *faultCase) truth(disk *crashfs.Disk, told error) string {
	be, notBe := may(told)
	if c.story.steps[c.step].repeat {
		be, notBe = codeOf(told) == "", codeOf(told) != ""
	}
	there, fault := c.there(disk.Copy())
	if fault != "" {
		return fault
	}
	if c.story.steps[c.step].repeat && !be {
		return "" // what was repeated was acknowledged to nobody
	}
	if there && !be || !there && !notBe {
		return fmt.Sprintf("told %q, and it is there: %v", verdictOf(told), there)
	}
	for state := range disk.Cut(0).States(40) {
		after, fault := c.there(state.Disk)
		if fault == "" && after != there {
			fault = fmt.Sprintf("told %q, and it is there: %v, and after a power cut: %v", verdictOf(told), there, after)
		}
		if fault != "" {
			return "disk [" + state.Name + "]: " + fault
		}
	}
	return ""
}

// there looks whether the operation is recorded.
func (c *faultCase) there(disk *crashfs.Disk) (bool, string) {
	list, err := newOperator(disk.Process(), true).keeper.List(context.Background(), paperCaller)
	if err != nil {
		return false, fmt.Sprintf("the list: %v", err)
	}
	if len(list.UnavailableRuns) > 0 {
		return false, fmt.Sprintf("something is left of it: %+v", list.UnavailableRuns)
	}
	if len(list.Runs) == 0 {
		return false, ""
	}
	s := c.story.steps[c.step]
	records := c.story.updated[list.Runs[0].Status.UpdatedAt]
	if records < c.story.before(c.step) || records > s.after() {
		return false, fmt.Sprintf("%d records", records)
	}
	return records == s.after(), ""
}

// goesOn repeats the operation once the fault is over: in the same process, which
// must not rely on what it knew. A start is another one then.
func (c *faultCase) goesOn(o *operator, disk *crashfs.Disk, told error) string {
	s := c.story.steps[c.step]
	be, _ := may(told)
	if c.step == 0 {
		if be {
			return ""
		}
		s.ids = 1_000_000
	}
	_, err := o.take(c.step, s)
	if err != nil && (s.repeats || c.step == 0 || !be) {
		return fmt.Sprintf("told %q; after the fault it fails: %v", verdictOf(told), err)
	}
	if c.step == 0 || err != nil {
		return ""
	}
	if got := disk.File(c.story.path("journal.jsonl")); string(got) != string(c.story.journal[:c.story.lines[s.after()]]) {
		return fmt.Sprintf("told %q; after the repeat the journal is another one:\n%s", verdictOf(told), got)
	}
	for state := range disk.Cut(0).States(40) {
		if there, fault := c.there(state.Disk); fault != "" || !there {
			return fmt.Sprintf("told %q; the repeat was acknowledged, and disk [%s] has it: %v %s", verdictOf(told), state.Name, there, fault)
		}
	}
	return ""
}

// sweep makes every file operation of the case fail in every way. It calls visit
// with what the caller was told, and the fault it finds in it, as long as visit wants
// to go on.
func (c *faultCase) sweep(visit func(op faultfs.Op, fault, told, violation string) bool) {
	_, _, all, err := c.run(0, "")
	if err != nil {
		visit(faultfs.Op{}, "", verdictOf(err), "it fails without a fault")
		return
	}
	for i, op := range all {
		for _, fault := range kindsOfFaults(op.Kind) {
			o, disk, _, told := c.run(i+1, fault)
			violation := c.truth(disk, told)
			if violation == "" {
				violation = c.goesOn(o, disk, told)
			}
			if !visit(op, fault, verdictOf(told), violation) {
				return
			}
		}
	}
}

// TestTheCallerIsToldTheTruth makes every file operation of a start, a submit and
// their like fail in every way, and holds what the caller is told against what is
// recorded: now, and after a power cut. The table of what is told at each change of
// the disk is testdata/told.txt.
func TestTheCallerIsToldTheTruth(t *testing.T) {
	points := 0
	table := map[string][]string{}
	for _, c := range faultCases(t, nil) {
		c.sweep(func(op faultfs.Op, fault, told, violation string) bool {
			points++
			if violation != "" {
				t.Errorf("%s, %s %s %s: %s", c.name, op.Kind, op.Path, fault, violation)
			}
			if len(kindsOfFaults(op.Kind)) > 1 {
				row := fmt.Sprintf("%s: %s %s %s", c.name, op.Kind, plainName(op.Path), fault)
				if !slices.Contains(table[row], told) {
					table[row] = append(table[row], told)
				}
			}
			return true
		})
	}
	t.Logf("%d faults", points)
	var got strings.Builder
	for _, row := range slices.Sorted(maps.Keys(table)) {
		fmt.Fprintf(&got, "%s: %s\n", row, strings.Join(table[row], ", "))
	}
	want, err := os.ReadFile("testdata/told.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("what the caller is told (-testdata/told.txt +now):\n%s", diff)
	}
}

// plainName shows the last element of a path, and what it stands for.
func plainName(at string) string {
	name := path.Base(at)
	switch {
	case len(strings.TrimPrefix(name, ".")) == 64:
		return "MATERIAL"
	case strings.HasSuffix(name, ".starting"):
		return "RUN"
	case schema.ValidRunID(name) && strings.Count(name, "-") == 4:
		return "RUN"
	}
	return name
}
