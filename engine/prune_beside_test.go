package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/journal/faultfs"
	"slipway/schema"
)

// TestPruneBesideAnother: Runs that another process removes meanwhile are in nobody's
// way, and no report says that they stay.
func TestPruneBesideAnother(t *testing.T) {
	for n, reached := 1, true; reached; n++ {
		y := newYard(t)
		other := newOperator(y.disk.Process(), true)
		other.now = y.operator.now
		files := &faultfs.FS{FS: y.disk.Process()}
		held := map[string]bool{}
		reached = false
		files.Before = func(op faultfs.Op) error {
			if op.Number != n {
				held[op.Path] = held[op.Path] || op.Kind == "trylock"
				return nil
			}
			reached = true
			for _, name := range []string{"stopped", "ended"} {
				if held["slipway/runs/"+y.ids[name]] {
					continue // the other process would wait for it
				}
				_, err := other.keeper.Prune(context.Background(), paperCaller, engine.PruneRequest{Run: y.ids[name], Remove: true})
				if err != nil && codeOf(err) != schema.CodeRunNotFound {
					t.Errorf("operation %d, the other one: %v", n, err)
				}
			}
			return nil
		}
		y.operator = newOperator(files, true)
		y.operator.now = startOfTime.Add(24 * time.Hour)
		report, err := y.operator.keeper.Prune(context.Background(), paperCaller, engine.PruneRequest{Remove: true})
		if err != nil {
			t.Errorf("operation %d: %v", n, err)
			continue
		}
		if _, kept, _ := strings.Cut(y.names(report), "| "); kept != "active damaged" || len(y.left()) != 2 {
			t.Errorf("operation %d: kept %s (%+v), left %v", n, kept, report.Kept, y.left())
		}
	}
}
