package engine_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// run.md, 13: what each brief must say, whoever issued it.
func TestBriefs(t *testing.T) {
	declined, answered, granted := destructiveRun(t), decisionRun(t), grantedRun(t)
	declined.must(replying(declined, "no"))
	answered.must(replying(answered, "yes"))
	skippedTo := func(git *schema.Observation) *history {
		h := activeRun(t)
		return h.mustSeeing(engine.Skip{ActionID: h.action().ActionID}, seen(git))
	}
	reviewed := atKind(t, schema.Review)
	reviewed.must(engine.Skip{ActionID: reviewed.action().ActionID})
	for name, c := range map[string]struct {
		h    *history
		kind schema.Kind
		says string // words, all of which the brief has
	}{
		"start":        {activeRun(t), schema.Orient, "facts code git conventions before"},
		"resume":       {stoppedRun(t).must(engine.Resume{}), schema.Orient, "again interrupted worktree"},
		"decision":     {answered, schema.Orient, "re-orient decision"},
		"decline":      {declined, schema.Orient, "non-destructive not perform"},
		"confirmation": {granted, schema.Implement, "only exact scope stop ask target impact"},
		"suggestion":   {activeRun(t).submit(suggesting(schema.Implement, "\u3000 do\nit\t")), schema.Implement, "do\nit"},
		"summarize":    {atKind(t, schema.Summarize), schema.Summarize, "decisions changes activities issues uncertainties skipped dirty"},
		"review":       {atKind(t, schema.Review), schema.Review, "difference start findings uncertainties nothing"},
		"after a skip": {skippedTo(clean), schema.Summarize, "preceding skipped decisions"},
		"Review after": {skippedTo(edited), schema.Review, "preceding skipped findings"},
		"skipped one":  {reviewed, schema.Summarize, "preceding skipped decisions"},
	} {
		a := c.h.action()
		if a.Kind != c.kind {
			t.Errorf("%s: issued %s", name, a.Kind)
		}
		for _, word := range strings.Split(c.says, " ") {
			if !strings.Contains(strings.ToLower(a.Brief), word) {
				t.Errorf("%s: the brief does not say %q: %s", name, word, a.Brief)
			}
		}
	}
	if got := activeRun(t).submit(suggesting(schema.Implement, "\u3000 do\nit\t")).action().Brief; got != "do\nit" {
		t.Errorf("the suggested text is trimmed and nothing else: %q", got)
	}
}

// The attribution part belongs to Review and Summarize, and only to a
// difference.
func TestAttribution(t *testing.T) {
	dirty := observation("1", regularFile("a b.txt", 'a'), missingFile("gone"))
	for name, c := range map[string]struct {
		start, now *schema.Observation
		kind       schema.Kind
		want       bool
	}{
		"review":               {dirty, commit, schema.Review, true},
		"unchanged":            {dirty, dirty, schema.Summarize, false},
		"clean start":          {clean, edited, schema.Review, true},
		"details not retained": {truncated, commit, schema.Review, true},
		"crowded":              {crowded, commit, schema.Review, true},
	} {
		a := startWith(t, c.start).submitSeeing(seen(c.now)).action()
		if a.Kind != c.kind || strings.Contains(a.Brief, "path_fingerprint=") != c.want {
			t.Errorf("%s: %s: %s", name, a.Kind, a.Brief)
		}
		if err := checkBrief(a.Brief, "", a.Kind, c.want, c.start); err != nil {
			t.Errorf("%s: the brief %v: %s", name, err, a.Brief)
		}
	}
	few := startWith(t, dirty).submitSeeing(seen(commit)).action().Brief
	for _, want := range []string{
		" count=2, retained=2, path_fingerprint=sha256:",
		fmt.Sprintf("a b.txt [untracked ??; regular; size=97; content_sha256=%s]", digestOf("a")),
		"gone [ordinary .D; missing]",
	} {
		if !strings.Contains(few, want) {
			t.Errorf("%q is missing in %s", want, few)
		}
	}
	if none := startWith(t, clean).submitSeeing(seen(edited)).action().Brief; !strings.Contains(none, "count=0") || !strings.HasSuffix(none, "none.") {
		t.Errorf("a clean start: %s", none)
	}
	if implement := startWith(t, dirty, withoutReview).submitSeeing(seen(commit), suggesting(schema.Implement, "do it")).action(); implement.Brief != "do it" {
		t.Errorf("an Implement is not told of the difference: %s", implement.Brief)
	}
	suggested := startWith(t, dirty, withoutReview).submitSeeing(seen(commit), suggesting(schema.Summarize, " sum up ")).action().Brief
	if !strings.HasPrefix(suggested, "sum up ") || !strings.Contains(suggested, "path_fingerprint=") {
		t.Errorf("a suggested Summarize: %s", suggested)
	}
}

// The number of details that were not kept is told, also in the summary.
func TestAttributionWithoutAllDetails(t *testing.T) {
	long := make([]schema.PathObservation, 20)
	for i := range long {
		long[i] = missingFile(repeated(fmt.Sprintf("%02d/", i), 4000))
	}
	start := observation("1", long...)
	left := start.PathCount - len(start.PathObservations)
	if left == 0 {
		t.Fatal("all details were retained")
	}
	h := startWith(t, start).submitSeeing(seen(observation("2", long...))).submit()
	s := h.submitSeeing(seen(commit)).status()
	if want := fmt.Sprintf("%d more", left); !strings.Contains(s.Summary, want) && !strings.Contains(s.Summary, "[summary truncated") {
		t.Errorf("%q is missing", want)
	}
	if !strings.Contains(s.Actions[1].Action.Brief, fmt.Sprintf("count=20, retained=%d,", 20-left)) {
		t.Error(s.Actions[1].Action.Brief)
	}
}

// A brief of more than 8,192 bytes is cut between characters and says of what.
func TestBriefLimit(t *testing.T) {
	const suggested = 8192
	for _, unit := range []string{"x", "é", "日", "🙂"} {
		brief := repeated(unit, suggested)
		whole := startWith(t, clean, withoutReview).submitSeeing(seen(edited), suggesting(schema.Implement, brief)).action().Brief
		if whole != brief {
			t.Fatalf("%q: a brief of %d bytes was cut", unit, suggested)
		}
		cut := startWith(t, clean, withoutReview).submitSeeing(seen(edited), suggesting(schema.Summarize, brief)).action().Brief
		m := truncationMark.FindStringSubmatch(cut)
		if m == nil || len(cut) > suggested || len(cut) <= suggested-len("🙂") {
			t.Fatalf("%q: %d bytes, mark %v", unit, len(cut), m)
		}
		text := strings.TrimSuffix(cut, m[0])
		if !strings.HasPrefix(brief, text) || !schema.IsText(text) {
			t.Errorf("%q: cut within a character", unit)
		}
	}
	// The whole of a cut brief: the suggested text, a space, the attribution.
	short := startWith(t, clean, withoutReview).submitSeeing(seen(edited), suggesting(schema.Summarize, "s")).action().Brief
	brief := repeated("x", suggested)
	whole := brief + strings.TrimPrefix(short, "s")
	cut := startWith(t, clean, withoutReview).submitSeeing(seen(edited), suggesting(schema.Summarize, brief)).action().Brief
	if want := fmt.Sprintf("...[truncated original_bytes=%d sha256=%x]", len(whole), sha256.Sum256([]byte(whole))); !strings.HasSuffix(cut, want) {
		t.Errorf("%s\nwant %s", cut[8000:], want)
	}
}

// A path with control characters would make the Action invalid.
func TestPathWithControlCharacters(t *testing.T) {
	start := observation("1", missingFile("a\x01\nb"))
	h := startWith(t, start).submitSeeing(seen(commit)).submit()
	if s := h.submitSeeing(seen(commit)).status(); strings.ContainsRune(s.Summary, '\x01') {
		t.Error("the summary has a control character")
	}
}
