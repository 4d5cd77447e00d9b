package journal_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/journal"
)

// TestTails holds the table of storage.md, section 4, against a reader and a writer.
func TestTails(t *testing.T) {
	const one, two = `{"a":"é"}`, `{"b":2}`
	first, other := lineOf(1, one), lineOf(1, `{"a":"e"}`)
	second, otherSecond := after(first, two), after(first, `{"b":3}`)
	third := after(first+second, `{}`)
	changed := func(line, old, new string) string { return strings.Replace(line, old, new, 1) }
	tests := []struct {
		name    string
		journal string
		records int
		invalid int64  // Sequence of the InvalidError where records is 0
		mended  string // what a writer makes of it; empty = as it is
	}{
		{name: "whole", journal: first + second, records: 2},
		{name: "blank lines", journal: "\n \t\r\n" + first + "\n\u00a0\n" + second + "\n\n", records: 2},

		{name: "last record without LF", journal: first + second[:len(second)-1], records: 2, mended: first + second},
		{name: "first record without LF", journal: first[:len(first)-1], records: 1, mended: first},
		{name: "last LF changed", journal: first + second[:len(second)-1] + "\v", records: 2, mended: first + second},
		{name: "last record without LF and changed", journal: first + changed(second[:len(second)-1], "2,", "3,"), records: 1, mended: first},
		{name: "torn last line", journal: first + second[:20], records: 1, mended: first},
		{name: "torn inside a character", journal: second1 + first2[:strings.Index(first2, "é")+1], records: 1, mended: second1},
		{name: "one byte short", journal: first + second[:len(second)-2], records: 1, mended: first},
		{name: "NUL tail", journal: first + strings.Repeat("\x00", 4096), records: 1, mended: first},
		{name: "NUL tail after a torn line", journal: first + second[:10] + strings.Repeat("\x00", 100), records: 1, mended: first},
		{name: "spaces without LF", journal: first + "   ", records: 1, mended: first},
		{name: "tail beyond the limit", journal: first + strings.Repeat("x", journal.MaxRecord+1), records: 1, mended: first},
		{name: "record beyond the limit without LF", journal: first + strings.TrimSuffix(recordOfSize(first, journal.MaxRecord+1), "\n"), records: 1, mended: first},
		{name: "two records glued at the end", journal: first + second[:len(second)-1] + third[:len(third)-1], records: 1, mended: first},
		{name: "record twice, without LF", journal: first + second + second[:len(second)-1], records: 2, mended: first + second},
		{name: "torn tail after blank lines", journal: first + "\n\n" + second[:9], records: 1, mended: first + "\n\n"},

		{name: "zero length", journal: ""},
		{name: "blank", journal: "\n\n"},
		{name: "first record interrupted", journal: first[:30]},
		{name: "only NUL", journal: strings.Repeat("\x00", 512)},
		{name: "first line no record", journal: "not a journal\n" + first},
		{name: "two first records glued", journal: first[:len(first)-1] + second},
		{name: "begins with the second", journal: second},
		{name: "NUL block in the middle", journal: first + strings.Repeat("\x00", 512) + "\n" + second, invalid: 2},
		{name: "NUL block before a record", journal: first + strings.Repeat("\x00", 512) + second, invalid: 2},
		{name: "complete line that is no record", journal: first + "{}\n", invalid: 2},
		{name: "two records glued", journal: first + second[:len(second)-1] + third, invalid: 2},
		{name: "record twice", journal: first + second + second, invalid: 3},
		{name: "gap", journal: first + third, invalid: 2},
		{name: "first record replaced", journal: other + second, invalid: 2},
		{name: "second record replaced", journal: first + otherSecond + third, invalid: 3},
		{name: "records swapped", journal: first + third + second, invalid: 2},
		{name: "first record moved", journal: second + first},
		{name: "data changed", journal: first + changed(second, ":2}", ":3}") + third, invalid: 2},
		{name: "type changed", journal: first + changed(second, "outcome", "outcame"), invalid: 2},
		{name: "instant changed", journal: first + changed(second, "2025", "2024"), invalid: 2},
		{name: "chain changed", journal: first + second[:len(second)-4] + "x" + second[len(second)-3:] + third, invalid: 2},
		{name: "line end of another system", journal: first[:len(first)-1] + "\r\n" + second},
		{name: "other spacing", journal: first + changed(second, "{", "{ "), invalid: 2},
		{name: "line beyond the limit", journal: first + strings.Repeat("x", journal.MaxRecord) + "\n", invalid: 2},
		{name: "record beyond the limit", journal: first + recordOfSize(first, journal.MaxRecord+1), invalid: 2},
		{name: "broken line before a torn tail", journal: first + "x\n" + second[:7], invalid: 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-1", `{}`)
			r.write("run-1", "journal.jsonl", test.journal)

			records, err := r.records("run-1")
			checkTail(t, "Read", len(records), err, test.records, test.invalid)
			if got := r.read("run-1", "journal.jsonl"); got != test.journal {
				t.Fatal("Read changed the journal")
			}
			w := r.lock("run-1")
			defer w.Close()
			records, stamp, unchanged, err := w.Load(journal.Stamp{})
			checkTail(t, "Load", len(records), err, test.records, test.invalid)
			if unchanged {
				t.Error("Load says unchanged")
			}
			if got := r.read("run-1", "journal.jsonl"); got != test.journal {
				t.Fatal("Load changed the journal before the records were accepted")
			}
			if err != nil {
				return
			}
			want := test.mended
			if want == "" {
				want = test.journal
			}
			mended, err := w.Repair()
			if got := r.read("run-1", "journal.jsonl"); err != nil || got != want {
				t.Fatalf("Repair left %.200q, %v; want %.200q", got, err, want)
			}
			if stamp.Sequence() != int64(test.records) || mended.Sequence() != int64(test.records) {
				t.Errorf("sequence of the stamps %d and %d", stamp.Sequence(), mended.Sequence())
			}
			next := int64(test.records) + 1
			if _, err := w.Append(record(next, `{}`)); err != nil {
				t.Fatal(err)
			}
			if got := r.read("run-1", "journal.jsonl"); got != want+last(want) {
				t.Errorf("after Append the journal is %.300q", got)
			}
		})
	}
}

// A torn line whose cut lies inside a character.
var (
	second1 = lineOf(1, `{}`)
	first2  = after(second1, `{"a":"é"}`)
)

// last is what an Append of an empty record adds to a journal.
func last(journal string) string {
	var lines string
	for line := range strings.Lines(journal) {
		if strings.TrimSpace(line) != "" {
			lines += line
		}
	}
	return after(lines, `{}`)
}

// recordOfSize is a second record of exactly that many bytes with its LF.
func recordOfSize(first string, size int) string {
	empty := len(after(first, `{"x":""}`))
	return after(first, `{"x":"`+strings.Repeat("x", size-empty)+`"}`)
}

func checkTail(t *testing.T, who string, got int, err error, want int, sequence int64) {
	t.Helper()
	if want > 0 {
		if err != nil || got != want {
			t.Fatalf("%s: %d records, %v; want %d", who, got, err, want)
		}
		return
	}
	var invalid *journal.InvalidError
	if !errors.As(err, &invalid) || invalid.Sequence != sequence {
		t.Fatalf("%s: %v; want an InvalidError at %d", who, err, sequence)
	}
}

// TestAppendMendsTheTail: who does not call Repair gets it from Append.
func TestAppendMendsTheTail(t *testing.T) {
	for name, tail := range map[string]string{"torn": `{"sequence":3,"ty`, "unterminated": strings.TrimSuffix(after(lineOf(1, `{}`), `{}`), "\n")} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-1", `{}`)
			r.write("run-1", "journal.jsonl", lineOf(1, `{}`)+tail)
			w := r.lock("run-1")
			defer w.Close()
			records, _, _, err := w.Load(journal.Stamp{})
			if err != nil {
				t.Fatal(err)
			}
			next := int64(len(records)) + 1
			if _, err := w.Append(record(next, `{"x":1}`)); err != nil {
				t.Fatal(err)
			}
			want := lineOf(1, `{}`)
			if next == 3 {
				want += after(want, `{}`)
			}
			if got := r.read("run-1", "journal.jsonl"); got != want+after(want, `{"x":1}`) {
				t.Errorf("journal:\n%s", got)
			}
		})
	}
}

// TestRaggedStampNeedsAnotherLook: a reader's stamp of a journal whose tail is
// interrupted serves readers, but never spares a writer the repair.
func TestRaggedStampNeedsAnotherLook(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	r.write("run-1", "journal.jsonl", lineOf(1, `{}`)+"torn")
	_, stamp, _, err := r.open(journal.ReadOnly).Read(t.Context(), "run-1", journal.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	w := r.lock("run-1")
	defer w.Close()
	if _, _, unchanged, err := w.Load(stamp); err != nil || unchanged {
		t.Errorf("Load: unchanged %v, %v", unchanged, err)
	}
	mended, err := w.Repair()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, unchanged, err := w.Load(mended); err != nil || !unchanged {
		t.Errorf("Load after Repair: unchanged %v, %v", unchanged, err)
	}
}

// TestEveryCutIsBeforeOrAfter cuts an append at every byte, as a crash may: the Run
// is then in one of its two states, and goes on from there.
func TestEveryCutIsBeforeOrAfter(t *testing.T) {
	r := newRepository(t)
	r.start("run-1", `{}`)
	base := lineOf(1, `{}`)
	added := after(base, `{"text":"§ é 漢字","list":[1,{"b":null}]}`)
	for cut := range len(added) + 1 {
		r.write("run-1", "journal.jsonl", base+added[:cut])
		want := 1
		if cut >= len(added)-1 {
			want = 2
		}
		w := r.lock("run-1")
		records, _, _, err := w.Load(journal.Stamp{})
		if err != nil || len(records) != want {
			t.Fatalf("cut at %d: %d records, %v; want %d", cut, len(records), err, want)
		}
		if _, err := w.Append(record(int64(want)+1, `{"after":1}`)); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if records, err := r.recordsUnder(w); err != nil || len(records) != want+1 {
			t.Fatalf("cut at %d, after the next append: %d records, %v", cut, len(records), err)
		}
		w.Close()
	}
}
