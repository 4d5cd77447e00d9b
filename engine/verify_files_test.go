//go:build unix

package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/engine"
)

// TestVerifyNamesWhatIsNoFile: what has the wrong kind, or a size that no memory
// holds, is named, and the other Runs are examined nevertheless.
func TestVerifyNamesWhatIsNoFile(t *testing.T) {
	huge := func(at string) error { return os.Truncate(at, 1<<42) }
	directory := func(at string) error { return errors.Join(os.RemoveAll(at), os.Mkdir(at, 0o700)) }
	link := func(at string) error { return errors.Join(os.RemoveAll(at), os.Symlink(os.DevNull, at)) }
	for _, test := range []struct {
		file       string
		spoil      func(at string) error
		sound      bool
		want       string // in a fault, or in a note where the Run is sound
		projection engine.ProjectionState
	}{
		{"journal.jsonl", huge, false, "more than", engine.ProjectionUnknown},
		{"journal.jsonl", os.Remove, false, "no journal", engine.ProjectionUnknown},
		{"run.json", huge, true, "run.json has", engine.ProjectionDamaged},
		{"run.json", directory, true, "run.json is a link or no regular file: it keeps the Run from going on", engine.ProjectionDamaged},
		{"run.lock", directory, true, "run.lock is a link or no regular file: it keeps the Run from going on", engine.ProjectionCurrent},
		{"run.lock", link, true, "run.lock is a link or no regular file: it keeps the Run from going on", engine.ProjectionCurrent},
		{"run.lock", os.Remove, true, "", engine.ProjectionCurrent},
		{"materials", link, true, "materials is a link or no directory: it keeps the Run from going on", engine.ProjectionCurrent},
	} {
		h := newHouse(t)
		h.keeper = h.newKeeper(engine.Options{Embedded: true})
		var ids []string
		for range 2 {
			state, err := h.keeper.Start(t.Context(), h.caller, engine.StartRequest{Goal: "build", Budget: 3})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, state.RunID)
		}
		runs := filepath.Join(h.root, ".git", "slipway", "runs")
		if err := test.spoil(filepath.Join(runs, ids[0], test.file)); err != nil {
			t.Fatal(err)
		}
		report, err := h.keeper.Verify(t.Context(), h.caller, "")
		if err != nil || len(report.Runs) != 2 {
			t.Errorf("%s: %+v, %v", test.file, report, err)
			continue
		}
		for _, r := range report.Runs {
			if r.ID != ids[0] {
				if !r.Sound || len(r.Notes) > 0 {
					t.Errorf("beside a spoilt %s: %+v", test.file, r)
				}
				continue
			}
			said := strings.Join(r.Faults, "\n")
			if test.sound {
				said = strings.Join(r.Notes, "\n")
			}
			if r.Sound != test.sound || !strings.Contains(said, test.want) || test.want == "" && said != "" || r.Projection != test.projection {
				t.Errorf("%s: %+v", test.file, r)
			}
		}
	}
}
