package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/journal"
	"slipway/schema"
)

func TestAListIsNeverOlderThanTheRuns(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	other := h.newKeeper(engine.Options{}) // as another process would write
	first, second := h.start(), h.start()
	states := func() map[string]schema.State {
		t.Helper()
		list, err := h.keeper.List(ctx, h.caller)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]schema.State{}
		for _, r := range list.Runs {
			found[r.RunID()] = r.Status.State
		}
		return found
	}
	if got := states(); len(got) != 2 || got[first.RunID] != schema.Active {
		t.Errorf("at first the list is %v", got)
	}
	for _, keeper := range []*engine.Keeper{other, h.keeper} {
		if _, err := keeper.Stop(ctx, h.caller, engine.StopRequest{Run: first.RunID}); err != nil {
			t.Fatal(err)
		}
		if got := states(); got[first.RunID] != schema.Stopped || got[second.RunID] != schema.Active {
			t.Errorf("after a stop the list is %v", got)
		}
		if _, err := keeper.Resume(ctx, h.caller, engine.ResumeRequest{Run: first.RunID}); err != nil {
			t.Fatal(err)
		}
	}
	third := h.start()
	if err := os.RemoveAll(h.runFile(second.RunID, "")); err != nil {
		t.Fatal(err)
	}
	if got := states(); len(got) != 2 || got[first.RunID] != schema.Active || got[third.RunID] != schema.Active {
		t.Errorf("after a start and a removal the list is %v", got)
	}
}

// agedFS shows every file as it is, but as of an hour ago.
type agedFS struct{ journal.FS }

type agedDir struct{ journal.Dir }

func (f agedFS) OpenRoot(path string) (journal.Dir, error) {
	dir, err := f.FS.OpenRoot(path)
	return agedDir{dir}, err
}

func (d agedDir) OpenDir(name string, access journal.Access) (journal.Dir, error) {
	dir, err := d.Dir.OpenDir(name, access)
	return agedDir{dir}, err
}

func (d agedDir) Stat() (journal.Info, error) {
	info, err := d.Dir.Stat()
	info.Changed -= int64(time.Hour)
	return info, err
}

// TestAListThatWasShownBefore: a list is not shown again once a Run came, went or
// was replaced, also where nothing had happened for a while before.
func TestAListThatWasShownBefore(t *testing.T) {
	h := newHouse(t)
	h.keeper = engine.NewKeeper(engine.Options{Git: gitwatch.New(), FS: agedFS{journal.OS()}})
	t.Cleanup(func() { h.keeper.Close(context.Background()) })
	other := h.newKeeper(engine.Options{})
	runs := filepath.Join(h.root, ".git", "slipway", "runs")
	shown := func() (ids, unavailable []string) {
		t.Helper()
		for range 2 { // the second one is remembered
			list, err := h.keeper.List(t.Context(), h.caller)
			if err != nil {
				t.Fatal(err)
			}
			ids, unavailable = nil, nil
			for _, r := range list.Runs {
				ids = append(ids, r.RunID())
			}
			for _, r := range list.UnavailableRuns {
				unavailable = append(unavailable, r.ID)
			}
		}
		slices.Sort(ids)
		return ids, unavailable
	}
	first := h.start().RunID
	want := []string{first}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"another Run", func() error {
			state, err := other.Start(t.Context(), h.caller, engine.StartRequest{Goal: "mend the door", Budget: 3})
			want = append(want, state.RunID)
			return err
		}},
		{"one that goes", func() error {
			gone := want[1]
			want = want[:1]
			return os.RemoveAll(filepath.Join(runs, gone))
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		sorted := slices.Sorted(slices.Values(want))
		if ids, unavailable := shown(); !slices.Equal(ids, sorted) || unavailable != nil {
			t.Errorf("%s: %q and %q, want %q", step.name, ids, unavailable, sorted)
		}
	}
	if err := os.Rename(filepath.Join(runs, first), filepath.Join(h.root, "away")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.root, "away"), filepath.Join(runs, first)); err != nil {
		t.Skip(err)
	}
	if ids, unavailable := shown(); ids != nil || !slices.Equal(unavailable, want) {
		t.Errorf("a link: %q and %q", ids, unavailable)
	}
}
