package engine_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/engine"
	"slipway/journal"
	"slipway/journal/crashfs"
	"slipway/journal/faultfs"
	"slipway/schema"
)

// played is the disk after the long script, and the story of it.
func played(t *testing.T) (*crashfs.Disk, *story) {
	t.Helper()
	s := tell(t, nil, (*script).longScript)
	return s.promises[len(s.promises)-1].disk.Copy(), s
}

func (s *story) verified(t *testing.T, disk *crashfs.Disk, id string) *engine.Verification {
	t.Helper()
	changed := false
	disk.After = func(op crashfs.Op) { changed = changed || op.Changes }
	defer func() { disk.After = nil }()
	report, err := newOperator(disk.Process(), true).keeper.Verify(context.Background(), paperCaller, id)
	if err != nil {
		t.Fatal(err)
	}
	if changed {
		t.Error("looking changed something")
	}
	return report
}

func TestVerifyASoundRun(t *testing.T) {
	disk, s := played(t)
	for _, id := range []string{s.runID, ""} {
		report := s.verified(t, disk, id)
		if !report.Sound || len(report.Runs) != 1 {
			t.Fatalf("%+v", report)
		}
		r := report.Runs[0]
		if r.ID != s.runID || len(r.Faults) != 0 || len(r.Notes) != 0 || r.State != schema.Ended || r.Bytes != len(s.journal) || r.Tail != journal.TailWhole ||
			r.Projection != engine.ProjectionCurrent || int(r.Revision) != len(s.lines)-1 || len(r.Records) != len(s.lines)-1 || r.Workspace != testWorkspace.WorktreeRoot {
			t.Errorf("%+v", r)
		}
		for i, record := range r.Records {
			line := s.journal[s.lines[i]:s.lines[i+1]]
			if record.Sequence != int64(i+1) || record.Bytes != int64(len(line)) || !bytes.Contains(line, []byte(`"chain":"`+record.Chain+`"`)) {
				t.Errorf("record %d: %+v", i+1, record)
			}
		}
		distinct := map[schema.Digest]bool{}
		for _, digest := range s.materials[len(s.lines)-1] {
			distinct[digest] = true
		}
		if len(r.Materials) != len(distinct) || len(distinct) < 7 {
			t.Errorf("%d materials instead of %d", len(r.Materials), len(distinct))
		}
		for _, m := range r.Materials {
			if !distinct[m.Digest] || m.Bytes == 0 || m.Fault != "" {
				t.Errorf("material %+v", m)
			}
		}
	}
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	disk, s := played(t)
	material := s.path("materials/" + strings.TrimPrefix(string(s.materials[1][0]), "sha256:"))
	projection := disk.File(s.path("run.json"))
	changed := bytes.Clone(s.journal)
	changed[s.lines[10]+100] ^= 1
	for name, test := range map[string]struct {
		file    string
		content []byte
		sound   bool
		want    string // in a fault, or in a note where the Run is sound
		check   func(engine.RunCheck) bool
	}{
		"a record was changed": {"journal.jsonl", changed, false, "record 11: its checksum does not follow", func(r engine.RunCheck) bool { return len(r.Records) == 10 && r.State == "" }},
		"records are missing at the end": {"journal.jsonl", s.journal[:s.lines[40]], false, "records are missing at its end", func(r engine.RunCheck) bool {
			return r.Projection == engine.ProjectionAhead && len(r.Records) == 40
		}},
		"the last line is damaged": {"journal.jsonl", append(s.journal[:s.lines[40]:s.lines[40]], "\x00\x00\n"...), false, "record 41", func(r engine.RunCheck) bool {
			return strings.Contains(strings.Join(r.Notes, ""), fmt.Sprintf("its first %d bytes are sound", s.lines[40]))
		}},
		"no journal":                {"journal.jsonl", []byte{}, false, "its journal is empty", func(r engine.RunCheck) bool { return len(r.Records) == 0 }},
		"a torn tail":               {"journal.jsonl", append(s.journal[:len(s.journal):len(s.journal)], "{torn"...), true, "interrupted", func(r engine.RunCheck) bool { return r.Tail == journal.TailTorn }},
		"no LF at the end":          {"journal.jsonl", s.journal[:len(s.journal)-1], true, "lacks its line end", func(r engine.RunCheck) bool { return r.Tail == journal.TailUnterminated }},
		"a material was changed":    {strings.TrimPrefix(material, s.path("")), []byte("other"), false, "other content", nil},
		"a stray file":              {"notes.txt", []byte("mine"), true, "notes.txt does not belong there", nil},
		"an unreferenced material":  {"materials/" + strings.Repeat("0", 64), []byte("x"), true, "no record refers to", nil},
		"a leftover of a crash":     {".run.json", []byte("x"), true, "", func(r engine.RunCheck) bool { return len(r.Notes) == 0 }},
		"run.json is damaged":       {"run.json", projection[:100], true, "", func(r engine.RunCheck) bool { return r.Projection == engine.ProjectionDamaged }},
		"run.json is another's":     {"run.json", bytes.Replace(projection, []byte("paper is short"), []byte("paper is thick"), 1), true, "", func(r engine.RunCheck) bool { return r.Projection == engine.ProjectionDamaged }},
		"run.json is of the future": {"run.json", []byte(`{"revision":100000,"data":{}}`), false, "records are missing", nil},
		"run.json is old":           {"run.json", []byte(`{"revision":3,"data":{}}`), true, "", func(r engine.RunCheck) bool { return r.Projection == engine.ProjectionStale && r.Revision == 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := disk.Copy()
			damaged.SetFile(s.path(test.file), test.content)
			report := s.verified(t, damaged, "")
			r := report.Runs[0]
			said := strings.Join(r.Faults, "\n")
			if test.sound {
				said = strings.Join(r.Notes, "\n")
			}
			if report.Sound != test.sound || r.Sound != test.sound || (len(r.Faults) > 0) == test.sound || !strings.Contains(said, test.want) {
				t.Errorf("%+v", r)
			}
			if test.check != nil && !test.check(r) {
				t.Errorf("%+v", r)
			}
		})
	}
	_, err := newOperator(disk.Process(), true).keeper.Verify(context.Background(), paperCaller, "nobody")
	if codeOf(err) != schema.CodeRunNotFound {
		t.Errorf("a Run that is not there: %v", err)
	}
	_, err = newOperator(disk.Process(), true).keeper.Verify(context.Background(), paperCaller, "a/b")
	if codeOf(err) != schema.CodeInvalidRunID {
		t.Errorf("no Run id: %v", err)
	}
}

// unpacked is what an archive holds.
func unpacked(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}

func TestExport(t *testing.T) {
	disk, s := played(t)
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		report, err := newOperator(disk.Process(), true).keeper.Export(context.Background(), paperCaller, s.runID, to)
		if err != nil {
			t.Fatal(err)
		}
		if !report.Sound || report.Records != len(s.lines)-1 || len(report.Files) != report.Materials+2 {
			t.Errorf("%+v", report)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same Run gives other bytes")
	}
	files := unpacked(t, first.Bytes())
	if files[s.runID+"/journal.jsonl"] != string(s.journal) {
		t.Error("the journal is not as it was")
	}
	for _, digest := range s.materials[len(s.lines)-1] {
		name := s.runID + "/materials/" + strings.TrimPrefix(string(digest), "sha256:")
		if journal.MaterialDigest([]byte(files[name])) != digest {
			t.Errorf("%s is not the material", name)
		}
	}
	text := files[s.runID+"/transcript.md"]
	wantInOrder(t, text, "# Run "+s.runID, "## 1. run started", ">     print a page", "[requirements](materials/", "## 2. outcome submitted", "größer als 漢字",
		">     - paper is short", "Asks (decision_required)", ">     use both sides\n>\n>     as ever: ä", "was confirmed", "## Summary")
}

// TestExportOfADamagedRun: the archive is what one sends to whoever is to look.
func TestExportOfADamagedRun(t *testing.T) {
	disk, s := played(t)
	damaged := append(bytes.Clone(s.journal[:s.lines[5]]), "garbage\n"...)
	disk.SetFile(s.path("journal.jsonl"), damaged)
	var archive bytes.Buffer
	report, err := newOperator(disk.Process(), true).keeper.Export(context.Background(), paperCaller, s.runID, &archive)
	if err != nil || report.Sound || report.Records != 5 || len(report.Faults) == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	files := unpacked(t, archive.Bytes())
	if files[s.runID+"/journal.jsonl"] != string(damaged) {
		t.Error("the journal is not as it was")
	}
	wantInOrder(t, files[s.runID+"/transcript.md"], "damaged", "record 6", "## 5. ")
	if strings.Contains(files[s.runID+"/transcript.md"], "## 6. ") {
		t.Error("the transcript goes beyond the sound records")
	}
}

func TestExportSaysThatItCouldNotWrite(t *testing.T) {
	disk, s := played(t)
	_, err := newOperator(disk.Process(), true).keeper.Export(context.Background(), paperCaller, s.runID, failingWriter{})
	if codeOf(err) != schema.CodeRuntimeError {
		t.Errorf("%v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// yard is a repository with Runs in every state.
type yard struct {
	t        testing.TB
	disk     *crashfs.Disk
	operator *operator
	ids      map[string]string
}

func newYard(t testing.TB) *yard {
	t.Helper()
	y := &yard{t: t, disk: crashfs.New(testWorkspace.GitCommonDir), ids: map[string]string{}}
	y.operator = newOperator(y.disk.Process(), true)
	y.operator.git.worktree = clean
	ctx := context.Background()
	for i, name := range []string{"active", "stopped", "ended", "damaged"} {
		y.operator.now = startOfTime.Add(time.Duration(i) * time.Hour)
		state, err := y.operator.keeper.Start(ctx, paperCaller, engine.StartRequest{Goal: name, Budget: 9, Source: newIssue().envelope(t)})
		for err == nil && name == "ended" && state.Action != nil {
			document := encode(t, outcomeOf(state.Action))
			state, err = y.operator.keeper.Submit(ctx, paperCaller, engine.SubmitRequest{Run: state.RunID, Action: state.Action.ActionID, Outcome: document})
		}
		if err == nil && name != "active" && name != "ended" {
			_, err = y.operator.keeper.Stop(ctx, paperCaller, engine.StopRequest{Run: state.RunID})
		}
		if err != nil {
			t.Fatal(err)
		}
		y.ids[name] = state.RunID
	}
	y.disk.SetFile("slipway/runs/"+y.ids["damaged"]+"/journal.jsonl", []byte("garbage\n"))
	y.operator.now = startOfTime.Add(24 * time.Hour)
	return y
}

func (y *yard) prune(q engine.PruneRequest) *engine.Pruned {
	y.t.Helper()
	report, err := y.operator.keeper.Prune(context.Background(), paperCaller, q)
	if err != nil {
		y.t.Fatal(err)
	}
	return report
}

// names tells a report by what the Runs are.
func (y *yard) names(report *engine.Pruned) string {
	name := func(id string) string {
		for name, known := range y.ids {
			if known == id {
				return name
			}
		}
		return id
	}
	var all []string
	for _, r := range report.Runs {
		all = append(all, name(r.ID))
	}
	all = append(all, "|")
	for _, r := range report.Kept {
		all = append(all, name(r.ID))
	}
	return strings.Join(all, " ")
}

func (y *yard) left() []string {
	var left []string
	y.disk.Walk(func(at string, content []byte) {
		if id, ok := strings.CutPrefix(at, "slipway/runs/"); ok && !strings.Contains(id, "/") {
			left = append(left, id)
		}
	})
	return left
}

func TestPrune(t *testing.T) {
	y := newYard(t)
	before := y.left()
	for _, test := range []struct {
		q    engine.PruneRequest
		want string
	}{
		{engine.PruneRequest{}, "stopped ended | active damaged"},
		{engine.PruneRequest{Older: 22*time.Hour + time.Minute}, "stopped | active ended damaged"},
		{engine.PruneRequest{Run: y.ids["ended"]}, "ended |"},
	} {
		report := y.prune(test.q)
		if got := y.names(report); got != test.want || report.Removed {
			t.Errorf("%+v: %s (removed %v), want %s", test.q, got, report.Removed, test.want)
		}
		for _, r := range report.Runs {
			if r.Bytes == 0 || r.Goal == "" || r.UpdatedAt.IsZero() {
				t.Errorf("%+v", r)
			}
		}
	}
	if after := y.left(); !slices.Equal(after, before) {
		t.Fatalf("a dry run changed something: %v", after)
	}
	for _, q := range []engine.PruneRequest{
		{Run: y.ids["active"]}, {Run: y.ids["active"], Remove: true},
		{Run: y.ids["ended"], Older: 48 * time.Hour}, {Run: y.ids["ended"], Older: 48 * time.Hour, Remove: true},
	} {
		if _, err := y.operator.keeper.Prune(context.Background(), paperCaller, q); codeOf(err) != schema.CodeRuntimeError {
			t.Errorf("a named Run that has to stay, %+v: %v", q, err)
		}
	}
	if after := y.left(); !slices.Equal(after, before) {
		t.Fatalf("a refusal changed something: %v", after)
	}
	if got := y.names(y.prune(engine.PruneRequest{Remove: true})); got != "stopped ended | active damaged" {
		t.Errorf("removed: %s", got)
	}
	if left := y.left(); len(left) != 2 || !slices.Contains(left, y.ids["active"]) || !slices.Contains(left, y.ids["damaged"]) {
		t.Errorf("left: %v", left)
	}
	for _, q := range []engine.PruneRequest{{Run: y.ids["ended"], Remove: true}, {Run: y.ids["damaged"], Remove: true}} {
		_, err := y.operator.keeper.Prune(context.Background(), paperCaller, q)
		if code := codeOf(err); code != schema.CodeRunNotFound && code != schema.CodeRunJournalInvalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
	_, err := y.operator.keeper.Stop(context.Background(), paperCaller, engine.StopRequest{Run: y.ids["stopped"]})
	if codeOf(err) != schema.CodeRuntimeError {
		t.Errorf("a removed Run: %v", err)
	}
}

// TestPruneGoesOnBehindARunThatStays: one that can not be removed now keeps nobody
// else from being removed, and the report says why it stays.
func TestPruneGoesOnBehindARunThatStays(t *testing.T) {
	y := newYard(t)
	lock := "slipway/runs/" + y.ids["stopped"] + "/run.lock"
	files := &faultfs.FS{FS: y.disk.Process()}
	files.Before = func(op faultfs.Op) error {
		if op.Kind == "open" && op.Path == lock {
			return syscall.EIO
		}
		return nil
	}
	y.operator = newOperator(files, true)
	y.operator.now = startOfTime.Add(24 * time.Hour)
	report := y.prune(engine.PruneRequest{Remove: true})
	if got := y.names(report); got != "ended | active stopped damaged" || !strings.Contains(report.Kept[1].Reason, "can not be removed") {
		t.Errorf("%s, %+v", got, report.Kept)
	}
	_, err := y.operator.keeper.Prune(context.Background(), paperCaller, engine.PruneRequest{Run: y.ids["stopped"], Remove: true})
	if codeOf(err) != schema.CodeMutationNotCommitted {
		t.Errorf("named: %v", err)
	}
}

// TestPruneIsDurableAndWhole fails and cuts the power at every file operation of a
// removal: the Run is there as it was, or it is gone, and then for good.
func TestPruneIsDurableAndWhole(t *testing.T) {
	if violation := prunedForGood(t, nil); violation != "" {
		t.Error(violation)
	}
}

// prunedForGood does so on a disk whose syncs have the given fate.
func prunedForGood(t testing.TB, fate func(string) crashfs.SyncFate) string {
	y := newYard(t)
	y.disk.Fate = fate
	id := y.ids["stopped"]
	there := func(disk *crashfs.Disk) (bool, string) {
		report, err := newOperator(disk.Process(), true).keeper.Verify(context.Background(), paperCaller, id)
		if codeOf(err) == schema.CodeRunNotFound {
			return false, ""
		}
		if err != nil {
			return false, err.Error()
		}
		return true, strings.Join(report.Runs[0].Faults, "\n")
	}
	for n := 2; ; n++ {
		disk := y.disk.Copy()
		faulty := &faultfs.FS{FS: disk.Process()}
		reached := false
		faulty.Before = func(op faultfs.Op) error {
			if op.Number != n/2 {
				return nil
			}
			reached = true
			if n%2 == 1 && len(kindsOfFaults(op.Kind)) > 1 {
				return &faultfs.Done{Err: syscall.EIO}
			}
			return syscall.EIO
		}
		o := newOperator(faulty, true)
		o.now = startOfTime.Add(24 * time.Hour)
		_, told := o.keeper.Prune(context.Background(), paperCaller, engine.PruneRequest{Run: id, Remove: true})
		be, notBe := may(told)
		if codeOf(told) == schema.CodeRuntimeError { // of the sweep, which comes after the removal or not at all
			be, notBe = true, true
		}
		live, fault := there(disk.Copy())
		if fault != "" || live && !notBe || !live && !be {
			return fmt.Sprintf("operation %d/2: told %s, the Run is there: %v %s", n, verdictOf(told), live, fault)
		}
		for state := range disk.Cut(0).States(16) {
			after, fault := there(state.Disk)
			if fault != "" || after && told == nil {
				return fmt.Sprintf("operation %d/2, disk [%s]: told %s, the Run is there: %v %s", n, state.Name, verdictOf(told), after, fault)
			}
		}
		if !reached {
			return ""
		}
	}
}

// TestPruneFinishesWhatWasInterrupted: what a removal left is swept by the next one.
func TestPruneFinishesWhatWasInterrupted(t *testing.T) {
	y := newYard(t)
	faulty := &faultfs.FS{FS: y.disk.Process()}
	faulty.Before = func(op faultfs.Op) error {
		if op.Kind == "removedir" {
			return syscall.EIO
		}
		return nil
	}
	o := newOperator(faulty, true)
	o.now = startOfTime.Add(24 * time.Hour)
	_, err := o.keeper.Prune(context.Background(), paperCaller, engine.PruneRequest{Run: y.ids["stopped"], Remove: true})
	if codeOf(err) != schema.CodeMutationCommittedVerificationFailed {
		t.Errorf("%v", err)
	}
	if list, err := y.operator.keeper.List(context.Background(), paperCaller); err != nil || len(list.Runs) != 2 || len(list.UnavailableRuns) != 1 {
		t.Errorf("what is left is seen: %+v, %v", list, err)
	}
	y.prune(engine.PruneRequest{Run: y.ids["ended"], Remove: true})
	if left := y.left(); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// TestEveryEventIsToldInWords: each kind of event begins with what happened.
func TestEveryEventIsToldInWords(t *testing.T) {
	p := &script{t: t, operator: newOperator(crashfs.New(testWorkspace.GitCommonDir).Process(), true), before: func(step) {}, after: func() {}}
	p.longScript()
	log, err := p.operator.keeper.Log(t.Context(), paperCaller, p.state.RunID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	types := map[engine.EventType]bool{}
	answers := map[string]bool{}
	for _, e := range log.Events {
		types[e.Type] = true
		if what, _, _ := strings.Cut(e.Summary, ";"); what == "" {
			t.Errorf("%s is told as %q", e.Type, e.Summary)
		} else if e.Type == engine.AnswerRecorded {
			answers[what] = true
		}
	}
	if len(types) < 10 {
		t.Errorf("only %v", types)
	}
	if !answers["the destructive request of implement was confirmed"] || !answers["the question of implement was answered"] {
		t.Errorf("answers are told as %v", answers)
	}
}
