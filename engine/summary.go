package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"slipway/schema"
)

// maxSummaryBytes bounds the final summary (run.md, 14.2).
const maxSummaryBytes = 65_536

// finalSummary is the report of an ended Run whose Summarize was accepted
// (run.md, 14.1). It repeats what was reported and seen; it claims nothing.
func (r *Run) finalSummary(finalObserved bool) string {
	w := &summaryWriter{}
	w.line("The automatic queue of this Run has ended. What follows was reported by the host or observed in Git; nothing of it is certified.")
	w.section("Outcomes:", r.outcomeLines())
	w.section("Git:", r.gitLines(finalObserved))
	w.section("Files that Implement reported:", orSentence(r.reportedFiles(), "No changed file was reported."))
	w.section("Decisions in force:", r.decisionLines())
	w.section("Observations:", bulleted(r.reportedObservations()))
	w.section("Review:", r.reviewLines())
	w.section("Activities:", orSentence(r.activityLines(), "No activity was reported."))
	w.section("Skipped Actions:", r.kindsWhere((*step).skipped))
	w.section("Voided Actions:", r.kindsWhere((*step).voided))
	w.section("Known issues:", bulleted(r.knownIssues))
	w.section("Uncertainties:", bulleted(r.uncertainties))
	w.section("Paths that were dirty before the Run:", dirtyLines(r.initialGit))
	return boundedSummary(w.String())
}

// skippedSummary is the report of a Run whose Summarize was skipped (run.md,
// 14.3).
func (r *Run) skippedSummary(finalObserved bool) string {
	w := &summaryWriter{}
	w.line("The final summary was skipped; there is no report from the host.")
	w.section("Git:", r.gitLines(finalObserved))
	return boundedSummary(w.String())
}

// summaryWriter writes headed parts; a part without lines is left out.
type summaryWriter struct{ strings.Builder }

func (w *summaryWriter) line(text string) {
	w.WriteString(text)
	w.WriteByte('\n')
}

func (w *summaryWriter) section(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	w.line("")
	w.line(heading)
	for _, l := range lines {
		w.line(l)
	}
}

func orSentence(lines []string, sentence string) []string {
	if len(lines) == 0 {
		return []string{sentence}
	}
	return lines
}

func bulleted(texts []string) []string {
	lines := make([]string, len(texts))
	for i, t := range texts {
		lines[i] = "- " + t
	}
	return lines
}

func (r *Run) outcomeLines() (lines []string) {
	for _, s := range r.steps {
		if s.outcome == nil {
			continue
		}
		note := ""
		switch {
		case s.skipped():
			note = " (skipped)"
		case s.voided():
			note = " (voided)"
		}
		lines = append(lines, fmt.Sprintf("- %s%s: %s", s.kind, note, s.outcome.Summary))
	}
	return lines
}

func (r *Run) gitLines(finalObserved bool) []string {
	switch {
	case !finalObserved:
		return []string{"The worktree could not be observed at the end; nothing is said about its present state."}
	case r.changedSinceStart():
		return []string{changedStatement, sharedStatement}
	}
	return []string{"The final observation does not differ from the start of the Run."}
}

func (r *Run) reportedFiles() []string {
	var files []string
	for _, s := range r.steps {
		if s.outcome == nil || s.outcome.Implementation == nil {
			continue
		}
		for _, f := range s.outcome.Implementation.FilesChanged {
			if f = schema.TrimWhiteSpace(f); f != "" {
				files = append(files, f)
			}
		}
	}
	slices.Sort(files)
	return bulleted(slices.Compact(files))
}

func (r *Run) decisionLines() (lines []string) {
	for _, a := range r.answers {
		if a.Active {
			lines = append(lines, fmt.Sprintf("- action %s: %s", a.ActionID, a.Text))
		}
	}
	return lines
}

// reportedObservations are those of all Outcomes but Reviews, then Slipway's own
// that are not among them.
func (r *Run) reportedObservations() (texts []string) {
	for _, s := range r.steps {
		if s.outcome != nil && s.outcome.Review == nil {
			texts = append(texts, s.outcome.Observations...)
		}
	}
	reported := make(map[string]bool, len(texts))
	for _, t := range texts {
		reported[t] = true
	}
	for _, t := range r.observations {
		own := strings.HasPrefix(t, "observed_since_start:") || strings.HasPrefix(t, "report_discrepancy:")
		if own && !reported[t] {
			texts = append(texts, t)
			reported[t] = true
		}
	}
	return texts
}

// reviewLines gives the first account of Review that applies.
func (r *Run) reviewLines() []string {
	var findings []string
	var last *schema.Outcome
	skipped, voided := false, false
	for _, s := range r.steps {
		if s.kind != schema.Review {
			continue
		}
		skipped = skipped || s.skipped()
		voided = voided || s.voided()
		if s.outcome == nil {
			continue
		}
		last = s.outcome
		for _, f := range s.outcome.Review.Findings {
			findings = append(findings, fmt.Sprintf("- %s: %s — %s", f.Location, f.Summary, f.Detail))
		}
	}
	switch {
	case len(findings) > 0:
		return findings
	case skipped:
		return []string{"Review was skipped by the user."}
	case last != nil:
		return []string{fmt.Sprintf("%s: %s", last.Review.Result, last.Summary)}
	case voided:
		return []string{"Review was issued, but voided before it was reported."}
	case !r.reviewEnabled:
		return []string{"Review was disabled for this Run."}
	}
	return []string{"Review was not run, because no change was observed."}
}

func (r *Run) activityLines() (lines []string) {
	for _, a := range r.activities {
		lines = append(lines, fmt.Sprintf("- %s: %s (exit %d): %s", a.Kind, a.Command, a.ExitCode, a.Summary))
	}
	return lines
}

func (r *Run) kindsWhere(marked func(*step) bool) (lines []string) {
	for _, s := range r.steps {
		if marked(s) {
			lines = append(lines, "- "+string(s.kind))
		}
	}
	return lines
}

func dirtyLines(start *schema.Observation) []string {
	if start.PathCount == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("count=%d, retained=%d, path_fingerprint=%s",
		start.PathCount, len(start.PathObservations), start.PathFingerprint)}
	for i := range start.PathObservations {
		lines = append(lines, "- "+dirtyPath(&start.PathObservations[i]))
	}
	if left := start.PathCount - len(start.PathObservations); left > 0 {
		lines = append(lines, fmt.Sprintf("%d more without details", left))
	}
	return lines
}

// boundedSummary cuts a summary that is too long. How many digits the count
// takes depends on the cut, so the cut is made for the largest count first.
func boundedSummary(text string) string {
	if len(text) <= maxSummaryBytes {
		return text
	}
	mark := func(omitted int) string {
		return fmt.Sprintf("\n\n...[summary truncated omitted_bytes=%d original_sha256=sha256:%x]\n", omitted, sha256.Sum256([]byte(text)))
	}
	end := cutBefore(text, maxSummaryBytes-len(mark(len(text))))
	return text[:end] + mark(len(text)-end)
}
