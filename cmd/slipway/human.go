package main

import (
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"slipway/schema"
)

// What people read instead of JSON (cli.md, 5.3). The wording is free; which
// facts have to be there is not.

// maxQuestion bounds the question in a status, in characters.
const maxQuestion = 200

// page is a text of labelled lines whose values stand in one column.
type page struct {
	text strings.Builder
	rows *tabwriter.Writer
}

func newPage() *page {
	p := &page{}
	p.rows = tabwriter.NewWriter(&p.text, 0, 0, 2, ' ', 0)
	return p
}

// fact adds a labelled line; an empty value adds nothing. The further lines of
// a longer value stand below its first.
func (p *page) fact(label, value string) {
	if value == "" {
		return
	}
	for i, line := range strings.Split(strings.TrimRight(value, "\r\n"), "\n") {
		if i > 0 {
			label = ""
		}
		if line = strings.ReplaceAll(line, "\t", "    "); line == "" {
			fmt.Fprintln(p.rows, "\t")
			continue
		}
		fmt.Fprintf(p.rows, "%s\t%s\n", label, line)
	}
}

// finish gives the text.
func (p *page) finish() string {
	p.rows.Flush()
	return p.text.String()
}

// finishWith ends the page with the choices of a next.
func (p *page) finishWith(next schema.Next) string {
	p.rows.Flush()
	choices := next.Choices(runtime.GOOS == "windows")
	if len(choices) > 0 {
		p.text.WriteString("\n" + strings.Join(choices, "\n") + "\n")
	}
	return p.text.String()
}

// startedText is the answer of run.
func startedText(state *schema.ProtocolState) string {
	p := newPage()
	p.fact("Run", state.RunID)
	p.fact("State", stateText(state.State, state.PauseReason))
	if a := state.Action; a != nil {
		p.fact("Goal", a.Goal)
		p.fact("Remaining budget", fmt.Sprint(a.RemainingBudget))
		p.fact("Current Action", actionText(a))
	}
	return p.finishWith(state.Next)
}

// stoppedText is the answer of stop.
func stoppedText(state *schema.ProtocolState) string {
	p := newPage()
	p.fact("Run", state.RunID)
	p.fact("State", stateText(state.State, state.PauseReason))
	return p.finishWith(state.Next)
}

// statusText is the status of one Run.
func statusText(run *schema.RunStatus) string {
	p := newPage()
	p.fact("Run", run.ID)
	p.fact("State", stateText(run.State, run.PauseReason))
	p.fact("Goal", run.Goal)
	p.fact("Remaining budget", fmt.Sprint(run.RemainingBudget))
	if source := run.PinnedSource; source != nil {
		p.fact("Source", source.CanonicalURL)
		p.fact("Issue", source.IssueID)
		p.fact("Source revision", string(source.SourceRevision))
		p.fact("Requirements revision", string(source.RequirementsRevision))
	}
	p.fact("Question", shorten(question(run)))
	if candidate := run.SourceCandidate; candidate != nil {
		p.fact("Source candidate", candidate.CandidateID)
		p.fact("Classification", candidate.Classification+" ("+candidate.ClassificationCode+")")
		p.fact("Reason", candidate.ClassificationError)
	}
	if a := run.CurrentAction; a != nil && run.State != schema.Stopped && run.State != schema.Ended {
		p.fact("Current Action", actionText(a))
	}
	p.fact("Summary", run.Summary)
	return p.finishWith(run.Next)
}

// listText is the status without a Run id.
func listText(list *schema.StatusList) string {
	if len(list.Runs) == 0 && len(list.UnavailableRuns) == 0 {
		return "There is no Run in this repository yet; slipway run starts one.\n"
	}
	var b strings.Builder
	for _, entry := range list.Runs {
		switch {
		case entry.Status != nil:
			run := entry.Status
			fmt.Fprintf(&b, "%s  %s  budget %d  %s\n", run.ID, stateText(run.State, run.PauseReason), run.RemainingBudget, collapse(run.Goal))
		case entry.Stub != nil:
			run := entry.Stub
			fmt.Fprintf(&b, "%s  %s  foreign, of the worktree %s  %s\n", run.ID, run.State, run.Workspace, collapse(run.Goal))
		}
	}
	for _, run := range list.UnavailableRuns {
		fmt.Fprintf(&b, "%s  unavailable  %s: %s\n", run.ID, run.Code, run.Detail)
	}
	return b.String()
}

func stateText(state schema.State, reason schema.PauseReason) string {
	if reason == "" {
		return string(state)
	}
	return string(state) + " (" + string(reason) + ")"
}

func actionText(a *schema.Action) string { return string(a.Kind) + " " + a.ActionID }

// question is what a paused Run waits for an answer to.
func question(run *schema.RunStatus) string {
	if run.State != schema.Paused || run.CurrentAction == nil {
		return ""
	}
	for _, record := range run.Actions {
		if record.Action.ActionID == run.CurrentAction.ActionID && record.Outcome != nil && record.Outcome.Pause != nil {
			return record.Outcome.Pause.Question
		}
	}
	return ""
}

// collapse makes one line of a text.
func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }

// shorten makes one line of a text that has at most maxQuestion characters.
func shorten(text string) string {
	line := collapse(text)
	if utf8.RuneCountInString(line) <= maxQuestion {
		return line
	}
	return string([]rune(line)[:maxQuestion-1]) + "…"
}
