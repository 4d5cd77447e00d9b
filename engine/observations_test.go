package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/schema"
)

func numbered(from, to int) func(*schema.Outcome) {
	return func(o *schema.Outcome) {
		for i := from; i < to; i++ {
			o.Observations = append(o.Observations, fmt.Sprintf("seen %d", i))
		}
	}
}

// run.md, 15: the record shows the last 128 observations.
func TestObservationsAreBounded(t *testing.T) {
	h := startWith(t, clean)
	if got := h.submit(suggesting(schema.Clarify, "more"), numbered(0, 128)).status().Observations; len(got) != 128 || got[0] != "seen 0" {
		t.Fatalf("%d, first %q", len(got), got[0])
	}
	for _, more := range []int{129, 200, 500} {
		all := 0
		for _, r := range h.status().Actions {
			if r.Outcome != nil {
				all += len(r.Outcome.Observations)
			}
		}
		got := h.submit(suggesting(schema.Clarify, "more"), numbered(all, more)).status().Observations
		want := fmt.Sprintf("...[%d earlier observations in journal]", more-128)
		if len(got) != 129 || got[0] != want || got[1] != fmt.Sprintf("seen %d", more-128) || got[128] != fmt.Sprintf("seen %d", more-1) {
			t.Errorf("of %d: %d shown, %q, %q … %q", more, len(got), got[0], got[1], got[128])
		}
	}
	summary := h.submit().submit().summary()
	wantInOrder(t, summary, "- seen 0\n", "- seen 1\n", "- seen 499\n")
}

// A statement is repeated once it is out of sight, and only then (run.md,
// section 8).
func TestStatementOutOfSight(t *testing.T) {
	h := startWith(t, clean, withoutReview)
	h.submitSeeing(seen(edited), suggesting(schema.Clarify, "more"))
	h.submitSeeing(seen(edited), suggesting(schema.Clarify, "more"), numbered(0, 127))
	s := h.status()
	wantPrefixes(t, s.Observations[:1], "observed_since_start:")
	if len(s.Observations) != 128 {
		t.Fatalf("%d observations", len(s.Observations))
	}
	s = h.submitSeeing(seen(edited), suggesting(schema.Clarify, "more"), numbered(127, 128)).status()
	wantPrefixes(t, s.Observations[128:], "observed_since_start:")
	if !strings.HasPrefix(s.Observations[0], "...[2 earlier") {
		t.Errorf("%q", s.Observations[0])
	}
	if countPrefix(s.Uncertainties, "attribution_uncertainty:") != 1 {
		t.Errorf("uncertainties are not bounded: %q", s.Uncertainties)
	}
}

// A statement that pushes another one out of sight makes it necessary again.
func TestStatementPushedOutOfSight(t *testing.T) {
	h := startWith(t, clean, withoutReview, withBudget(9)).toImplement()
	notNeeded := func(o *schema.Outcome) { o.Implementation.Result = schema.ResultNotNeeded }
	h.submitSeeing(seen(edited), notNeeded) // 1: observed_since_start, 2: report_discrepancy
	h.must(stop).must(resume)
	// One more than fit: the discrepancy is the oldest one in sight.
	h.submitSeeing(seen(clean), suggesting(schema.Implement, "again"), numbered(0, 127))
	s := h.submitSeeing(seen(edited), notNeeded).status()
	wantPrefixes(t, s.Observations[len(s.Observations)-2:], "observed_since_start:", "report_discrepancy:")
}
