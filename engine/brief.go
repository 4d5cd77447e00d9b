package engine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// What each issued Action asks for when nobody suggested a text (run.md,
// section 13).
const (
	briefStart = "Orient yourself before anything is changed: investigate the facts, the code, the Git state and " +
		"the conventions of this repository that the goal touches. Report what you found, and suggest the one Action that should follow."
	briefResume = "Work was interrupted. Look at the worktree again before relying on anything earlier: files, Git state and " +
		"conventions may have changed meanwhile. Report what stands, and suggest the one Action that should follow."
	briefDecision = "The question was answered; the decision is in the context. Re-orient with it: check what it means for the " +
		"goal and for what was done so far, and suggest the one Action that should follow."
	briefDeclined = "The destructive operation was not authorized; the answer is in the context. Do not perform the requested " +
		"operation. Look for non-destructive ways to reach the goal, and suggest the one Action that should follow."
	briefConfirmed = "The destructive operation was confirmed. Perform only the exact scope in destructive_authorization. If a " +
		"target or the impact turns out to be different, stop and ask again with a new request."
	briefReview = "Inspect the difference between the start of the Run and the worktree as it is now. Report findings and " +
		"uncertainties; change nothing."
	briefSummarize = "Summarize the Run: decisions, observed changes, activities, known issues, uncertainties, skipped work, " +
		"and the files that were dirty before the Run."
	briefAfterSkip = "The preceding Action was skipped. "
)

// defaultBrief is the text for a Review or Summarize that routing issues.
func defaultBrief(kind schema.Kind) string {
	if kind == schema.Review {
		return briefReview
	}
	return briefSummarize
}

// attributed adds to the brief of a Review or Summarize who else may have caused
// the difference, and bounds the whole.
func (r *Run) attributed(kind schema.Kind, brief string) string {
	if (kind == schema.Review || kind == schema.Summarize) && r.changedSinceStart() {
		brief += " " + attribution(r.initialGit)
	}
	return boundedBrief(brief)
}

func attribution(start *schema.Observation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Attribution: others than this Run may have caused the difference from its start. "+
		"Paths that were dirty at the start: count=%d, retained=%d, path_fingerprint=%s, initial_snapshot=%s: ",
		start.PathCount, len(start.PathObservations), start.PathFingerprint, start.SnapshotHash)
	if start.PathCount == 0 {
		b.WriteString("none.")
		return b.String()
	}
	for i := range start.PathObservations {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(dirtyPath(&start.PathObservations[i]))
	}
	if left := start.PathCount - len(start.PathObservations); left > 0 {
		fmt.Fprintf(&b, "; %d more without details", left)
	}
	b.WriteString(".")
	return b.String()
}

// dirtyPath tells one path in the form that briefs and the summary share.
func dirtyPath(p *schema.PathObservation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s [%s %s; %s", printable(p.Path), p.Category, p.State, p.Observation)
	if p.Size != nil {
		fmt.Fprintf(&b, "; size=%d", *p.Size)
	}
	if p.ContentSHA256 != "" {
		fmt.Fprintf(&b, "; content_sha256=%s", p.ContentSHA256)
	}
	b.WriteString("]")
	return b.String()
}

// printable quotes a path that holds control characters: raw, they would make
// the Action invalid.
func printable(path string) string {
	if schema.IsPlain(path) {
		return path
	}
	return strconv.Quote(path)
}

func boundedBrief(brief string) string {
	if len(brief) <= schema.MaxBriefBytes {
		return brief
	}
	mark := truncationMark(brief)
	return brief[:cutBefore(brief, schema.MaxBriefBytes-len(mark))] + mark
}

// cutBefore gives the last boundary between characters at or before n bytes.
func cutBefore(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
