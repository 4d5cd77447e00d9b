package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/journal"
)

// BenchmarkAppend is one mutation of a Run that is known: lock, load, append.
func BenchmarkAppend(b *testing.B) {
	r := newRepository(b)
	stamp := r.start("run-1", `{}`)
	store := r.open(journal.ReadWrite)
	data := `{"outcome":"` + strings.Repeat("x", 2000) + `"}`
	next := stamp.Sequence()
	for b.Loop() {
		w, err := store.Lock(b.Context(), "run-1")
		if err != nil {
			b.Fatal(err)
		}
		_, _, unchanged, err := w.Load(stamp)
		if err != nil || !unchanged {
			b.Fatal(unchanged, err)
		}
		next++
		if stamp, err = w.Append(record(next, data)); err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}

// BenchmarkLoad1000 reads a journal of 1,000 records of 2 KiB.
func BenchmarkLoad1000(b *testing.B) {
	r := newRepository(b)
	r.start("run-1", `{}`)
	var text strings.Builder
	text.WriteString(lineOf(1, `{}`))
	for n := range 999 {
		text.WriteString(after(text.String(), fmt.Sprintf(`{"action":"%036d","outcome":{"summary":"%s","list":["a","b"],"n":%d}}`, n, strings.Repeat("word ", 380), n)))
	}
	r.write("run-1", "journal.jsonl", text.String())
	store := r.open(journal.ReadOnly)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		records, _, _, err := store.Read(b.Context(), "run-1", journal.Stamp{})
		if err != nil || len(records) != 1000 {
			b.Fatal(len(records), err)
		}
	}
}

// BenchmarkReadUnchanged is a read whose stamp still holds.
func BenchmarkReadUnchanged(b *testing.B) {
	r := newRepository(b)
	stamp := r.start("run-1", `{}`)
	store := r.open(journal.ReadOnly)
	for b.Loop() {
		if _, _, unchanged, err := store.Read(b.Context(), "run-1", stamp); err != nil || !unchanged {
			b.Fatal(unchanged, err)
		}
	}
}
