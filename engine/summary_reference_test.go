package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/schema"
)

// checkSummary holds the summary of an ended Run against run.md, section 14. s is
// the record of the Run at its end, with all its observations.
func checkSummary(s *schema.RunStatus, text string, skipped bool) error {
	if len(text) > 65_536 || !strings.HasSuffix(text, "\n") {
		return fmt.Errorf("has %d bytes and ends with %q", len(text), text[max(0, len(text)-10):])
	}
	for _, claim := range []string{"success", "approved", "authored by"} {
		if strings.Contains(strings.ToLower(text), claim) {
			return fmt.Errorf("claims %q", claim)
		}
	}
	items := gitItems(s)
	if !skipped {
		items = summaryItems(s)
	}
	cut := summaryMark.MatchString(text)
	at := 0
	for _, item := range items {
		i := strings.Index(text[at:], item+"\n")
		if i < 0 && cut {
			return nil
		}
		if i < 0 {
			return fmt.Errorf("misses the line %q after byte %d", item, at)
		}
		at += i + len(item) + 1
	}
	return nil
}

var summaryMark = regexp.MustCompile(`\n\n\.\.\.\[summary truncated omitted_bytes=([0-9]+) original_sha256=sha256:([0-9a-f]{64})\]\n$`)

// summaryItems are the lines of 14.1 whose form is fixed, in order.
func summaryItems(s *schema.RunStatus) []string {
	return slices.Concat(
		outcomeSummaries(s), gitItems(s), fileItems(s), decisionSummaries(s), observationItems(s), reviewItems(s),
		activityItems(s), marked(s, func(r *schema.ActionRecord) bool { return r.Skipped }),
		marked(s, func(r *schema.ActionRecord) bool { return r.Voided }),
		dashed(s.KnownIssues), dashed(s.Uncertainties), dirtyItems(&s.InitialGit))
}

func outcomeSummaries(s *schema.RunStatus) (items []string) {
	for _, r := range s.Actions {
		if r.Outcome == nil {
			continue
		}
		note := ""
		if r.Voided {
			note = " (voided)"
		}
		if r.Skipped {
			note = " (skipped)"
		}
		items = append(items, fmt.Sprintf("- %s%s: %s", r.Action.Kind, note, r.Outcome.Summary))
	}
	return items
}

func gitItems(s *schema.RunStatus) (items []string) {
	if !s.FinalGitObserved || !schema.Changed(&s.InitialGit, &s.CurrentGit) {
		return nil
	}
	for _, prefix := range []string{"observed_since_start:", "attribution_uncertainty:"} {
		i := slices.IndexFunc(slices.Concat(s.Observations, s.Uncertainties), func(t string) bool { return strings.HasPrefix(t, prefix) })
		items = append(items, slices.Concat(s.Observations, s.Uncertainties)[i])
	}
	return items
}

func fileItems(s *schema.RunStatus) []string {
	var files []string
	for _, r := range s.Actions {
		if r.Outcome == nil || r.Outcome.Implementation == nil {
			continue
		}
		for _, f := range r.Outcome.Implementation.FilesChanged {
			if f = strings.TrimFunc(f, isWhiteSpace); f != "" && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	slices.Sort(files)
	return dashed(files)
}

func decisionSummaries(s *schema.RunStatus) (items []string) {
	for _, a := range s.Answers {
		if a.Active {
			items = append(items, fmt.Sprintf("- action %s: %s", a.ActionID, a.Text))
		}
	}
	return items
}

func observationItems(s *schema.RunStatus) []string {
	var texts []string
	for _, r := range s.Actions {
		if r.Outcome != nil && r.Outcome.Review == nil {
			texts = append(texts, r.Outcome.Observations...)
		}
	}
	for _, t := range s.Observations {
		if (strings.HasPrefix(t, "observed_since_start:") || strings.HasPrefix(t, "report_discrepancy:")) && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return dashed(texts)
}

// reviewItems has a line only where its form is fixed.
func reviewItems(s *schema.RunStatus) (items []string) {
	skipped, last := false, ""
	for _, r := range s.Actions {
		if r.Action.Kind != schema.Review {
			continue
		}
		skipped = skipped || r.Skipped
		if r.Outcome == nil {
			continue
		}
		last = fmt.Sprintf("%s: %s", r.Outcome.Review.Result, r.Outcome.Summary)
		for _, f := range r.Outcome.Review.Findings {
			items = append(items, fmt.Sprintf("- %s: %s — %s", f.Location, f.Summary, f.Detail))
		}
	}
	if len(items) == 0 && !skipped && last != "" {
		return []string{last}
	}
	return items
}

func activityItems(s *schema.RunStatus) (items []string) {
	for _, a := range s.Activities {
		items = append(items, fmt.Sprintf("- %s: %s (exit %d): %s", a.Kind, a.Command, a.ExitCode, a.Summary))
	}
	return items
}

func marked(s *schema.RunStatus, is func(*schema.ActionRecord) bool) (items []string) {
	for i := range s.Actions {
		if is(&s.Actions[i]) {
			items = append(items, "- "+string(s.Actions[i].Action.Kind))
		}
	}
	return items
}

func dirtyItems(start *schema.Observation) (items []string) {
	for _, p := range start.PathObservations {
		items = append(items, "- "+dirtyPathItem(p))
	}
	return items
}

func dashed(texts []string) []string {
	items := make([]string, len(texts))
	for i, t := range texts {
		items[i] = "- " + t
	}
	return items
}

// isWhiteSpace is the list of wire.md, 1.2.
func isWhiteSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return 0x2000 <= r && r <= 0x200a
}

func isDigest(s string) bool { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(s) }
