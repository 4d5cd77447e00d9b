package engine_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// TestARecordThatIsTooLargeLeavesNothing: an envelope can name more than a record
// holds. That is refused before anything is written, texts of its sections
// included (storage.md, 3.2; source.md, section 10).
func TestARecordThatIsTooLargeLeavesNothing(t *testing.T) {
	h := newHouse(t)
	start := func(envelope []byte) (*schema.ProtocolState, error) {
		return h.keeper.Start(t.Context(), h.caller, engine.StartRequest{Goal: "print a page", Budget: 3, Source: envelope})
	}
	plain, longest := newIssue(), newIssue()
	longest.title = strings.Repeat("t", 4_194_304)
	_, err := start(longest.envelope(t))
	wantTooLarge(t, err, "inspect-runs")
	if left := filesBelow(t, filepath.Join(h.root, ".git", "slipway")); len(left) > 0 {
		t.Errorf("a refused start left %q", left)
	}

	state, err := start(plain.envelope(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.keeper.Stop(t.Context(), h.caller, engine.StopRequest{Run: state.RunID}); err != nil {
		t.Fatal(err)
	}
	amended := newIssue()
	amended.amend(state.PinnedSource.RequirementsRevision, "- Print it twice.\n")
	amended.title = longest.title
	for name, refreshed := range map[string]*issue{"the same requirements": longest, "an amendment": amended} {
		before := filesBelow(t, filepath.Join(h.root, ".git", "slipway", "runs", state.RunID))
		_, err := h.keeper.Resume(t.Context(), h.caller, engine.ResumeRequest{Run: state.RunID, HasSource: true, Source: refreshed.envelope(t)})
		wantTooLarge(t, err, "inspect-run")
		after := filesBelow(t, filepath.Join(h.root, ".git", "slipway", "runs", state.RunID))
		if !slices.Equal(after, before) {
			t.Errorf("%s: a refused refresh made %q of %q", name, after, before)
		}
	}
}

func wantTooLarge(t *testing.T, err error, next string) {
	t.Helper()
	var refusal *schema.Error
	if !errors.As(err, &refusal) || refusal.Code != schema.CodeJournalRecordTooLarge || refusal.ExitCode != 3 {
		t.Fatalf("got %v", err)
	}
	if v := refusal.Next.Variants; len(v) != 1 || v[0].ID != next {
		t.Errorf("next has %+v, want %s", v, next)
	}
}

// filesBelow lists the names and sizes of the files below a folder, but for
// run.json, which follows its journal in its own time.
func filesBelow(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "run.json" {
			return err
		}
		content, err := os.ReadFile(path)
		files = append(files, fmt.Sprintf("%s of %d bytes", filepath.Base(path), len(content)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
