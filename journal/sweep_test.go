package journal_test

import (
	"os"
	"testing"

	"slipway/journal"
	"slipway/journal/faultfs"
)

// TestSweepBesideAnother: two processes may empty one directory, and whoever finds
// that the other was faster has nothing to complain of.
func TestSweepBesideAnother(t *testing.T) {
	removal := func(r repository, store *journal.Store) error {
		w, err := store.Lock(r.t.Context(), "run-1")
		if err != nil {
			return err
		}
		defer w.Close()
		return w.Remove()
	}
	sweep := func(_ repository, store *journal.Store) error {
		_, err := store.Sweep()
		return err
	}
	for name, test := range map[string]struct {
		stands string // the directory that is there before
		work   func(repository, *journal.Store) error
	}{
		"removal": {"run-1", removal},
		"sweep":   {".run-1.removed", sweep},
	} {
		t.Run(name, func(t *testing.T) {
			for n, reached := 1, true; reached; n++ {
				r := newRepository(t)
				r.start("run-0", `{}`)
				r.write(test.stands, "journal.jsonl", lineOf(1, `{}`))
				r.write(test.stands+"/materials", "text", "text")
				other, reachedNow := r.open(journal.ReadWrite), false
				faulty := &faultfs.FS{FS: journal.OS()}
				store := r.openOn(faulty, journal.ReadWrite)
				before := faulty.Count()
				faulty.Before = func(op faultfs.Op) error {
					if op.Number == before+n {
						reachedNow = true
						if _, err := other.Sweep(); err != nil {
							t.Error(err)
						}
					}
					return nil
				}
				if err := test.work(r, store); err != nil {
					t.Errorf("operation %d: %v", n, err)
				}
				reached = reachedNow
				if left, err := os.ReadDir(r.runs()); err != nil || len(left) != 1 {
					t.Errorf("operation %d: left %v, %v", n, left, err)
				}
			}
		})
	}
}
