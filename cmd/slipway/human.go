package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"slipway/engine"
	"slipway/schema"
)

// What people read instead of JSON (cli.md, 5.3). The wording is free; which
// facts have to be there is not.

const (
	// maxQuestion bounds the question in a status, in characters.
	maxQuestion = 200
	// maxSteps bounds the Actions that a status lists, and maxReport what it
	// shows of each report, in characters.
	maxSteps  = 12
	maxReport = 120
	// minGoal is the narrowest column that is worth showing a goal in, in cells.
	minGoal = 24
)

// started is the answer of run.
func (p paper) started(state *schema.ProtocolState) string {
	page := p.page()
	page.fact("Run", state.RunID)
	page.state(state.State, state.PauseReason)
	if a := state.Action; a != nil {
		page.fact("Goal", a.Goal)
		page.fact("Remaining budget", fmt.Sprint(a.RemainingBudget))
		page.action(a)
		page.fact("What to do", a.Brief)
	}
	return page.finishWith(state.Next)
}

// stopped is the answer of stop.
func (p paper) stopped(state *schema.ProtocolState) string {
	page := p.page()
	page.fact("Run", state.RunID)
	page.state(state.State, state.PauseReason)
	return page.finishWith(state.Next)
}

// status is the status of one Run.
func (p paper) status(run *schema.RunStatus) string {
	page := p.page()
	page.fact("Run", run.ID)
	page.state(run.State, run.PauseReason)
	page.fact("Goal", run.Goal)
	page.fact("Remaining budget", fmt.Sprintf("%d (%d at the start)", run.RemainingBudget, run.InitialBudget))
	page.fact("Started", p.ago(run.CreatedAt))
	page.fact("Last change", p.ago(run.UpdatedAt))
	page.source(run)
	page.steps(run)
	page.confirmed(run)
	page.styled("Question", shorten(question(run), maxQuestion), colours[string(schema.Paused)])
	if run.State == schema.Paused {
		page.request(run.PendingDestructiveRequest)
	}
	if a := run.CurrentAction; a != nil && run.State != schema.Stopped && run.State != schema.Ended {
		page.action(a)
		if run.State == schema.Active { // a paused one waits for somebody else
			page.fact("What to do", a.Brief)
		}
	}
	page.fact("Summary", run.Summary)
	return page.finishWith(run.Next)
}

func (p *page) state(state schema.State, reason schema.PauseReason) {
	p.styled("State", stateText(state, reason), colours[string(state)])
}

func (p *page) action(a *schema.Action) {
	p.styled("Current Action", string(a.Kind)+" "+a.ActionID, bold)
}

// source is where the requirements come from, and what may take its place.
func (p *page) source(run *schema.RunStatus) {
	if source := run.PinnedSource; source != nil {
		p.fact("Source", source.CanonicalURL)
		p.fact("Issue", source.IssueID)
		p.fact("Source revision", string(source.SourceRevision))
		p.fact("Requirements revision", string(source.RequirementsRevision))
	}
	if candidate := run.SourceCandidate; candidate != nil {
		p.fact("Source candidate", candidate.CandidateID)
		p.fact("Classification", candidate.Classification+" ("+candidate.ClassificationCode+")")
		p.fact("Reason", candidate.ClassificationError)
	}
}

// steps are the latest Actions and what became of them.
func (p *page) steps(run *schema.RunStatus) {
	first := max(len(run.Actions)-maxSteps, 0)
	label := "Actions"
	if first > 0 {
		p.fact(label, fmt.Sprintf("(%d earlier ones)", first))
		label = ""
	}
	digits := len(fmt.Sprint(len(run.Actions)))
	for i, record := range run.Actions[first:] {
		report := ""
		if record.Outcome != nil {
			report = schema.Harmless(shorten(record.Outcome.Summary, maxReport))
		}
		lead := fmt.Sprintf("%*d %-9s  %-11s  ", digits, first+i+1, record.Action.Kind, fateOf(run, record))
		p.rows = append(p.rows, labelled{label: label, text: strings.TrimRight(lead+report, " "), lead: len(lead)})
		label = ""
	}
}

// fateOf is what became of an Action, in a word or two. That an answer voids the
// Action that asked is nothing a person has to know.
func fateOf(run *schema.RunStatus, record schema.ActionRecord) string {
	answered := func(a schema.Answer) bool { return a.ActionID == record.Action.ActionID }
	switch {
	case record.Skipped:
		return "skipped"
	case slices.ContainsFunc(run.Answers, confirmation(record)):
		return "confirmed"
	case slices.ContainsFunc(run.Answers, answered):
		return "answered"
	case record.Voided:
		return "voided"
	case record.Outcome != nil:
		return strings.ReplaceAll(string(record.Outcome.Status), "_", " ")
	}
	return "open"
}

// confirmation tells the answer that confirmed what an Action asked for.
func confirmation(record schema.ActionRecord) func(schema.Answer) bool {
	return func(a schema.Answer) bool { return a.ConfirmDestructive && a.ActionID == record.Action.ActionID }
}

// confirmed is every destruction that somebody allowed, for good: the summary of a
// Run has no place for it.
func (p *page) confirmed(run *schema.RunStatus) {
	for _, record := range run.Actions {
		i := slices.IndexFunc(run.Answers, confirmation(record))
		if i < 0 || record.Outcome == nil || record.Outcome.Pause == nil || record.Outcome.Pause.DestructiveRequest == nil {
			continue
		}
		request := record.Outcome.Pause.DestructiveRequest
		p.fact("Confirmed", p.ago(run.Answers[i].At)+"\n"+request.Impact+"\n"+targetsOf(request))
	}
}

// targetsOf lists what a request is about.
func targetsOf(request *schema.DestructiveRequest) string {
	var targets []string
	for _, target := range request.Targets {
		targets = append(targets, "- "+string(target.Kind)+" "+target.Value)
	}
	return strings.Join(targets, "\n")
}

// request is what a destructive confirmation would allow.
func (p *page) request(request *schema.DestructiveRequest) {
	if request == nil {
		return
	}
	p.styled("Impact", request.Impact, red)
	p.styled("Targets", targetsOf(request), red)
	p.fact("Scope", string(request.ScopeSHA256))
}

// section is a section for people: what it is, and then the chapter as it stands.
func (p paper) section(m *schema.PinnedMaterial) string {
	page := p.page()
	page.fact("Run", m.RunID)
	page.fact("State", string(m.RunState))
	page.fact("Section", m.Section.Key)
	page.fact("Role", m.Section.Role)
	page.fact("Section revision", string(m.Section.SectionRevision))
	page.fact("Requirements revision", string(m.RequirementsRevision))
	page.fact("Use", "for inspection; it authorises no work")
	page.fact("Title", m.Section.Title)
	chapter := m.Section.Markdown
	if p.terminal {
		chapter = schema.Harmless(chapter)
	}
	if !strings.HasSuffix(chapter, "\n") {
		chapter += "\n"
	}
	return page.finish() + "\n" + chapter
}

// list is the status without a Run id.
func (p paper) list(list *schema.StatusList) string {
	var parts []string
	for _, part := range []string{p.own(list), p.foreign(list), p.unavailable(list)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "There is no Run in this repository yet; slipway run starts one.\n"
	}
	return strings.Join(parts, "\n")
}

// own are the Runs of this worktree. Without an end to its lines each has exactly
// one; at a terminal it has a further one for what it waits for, and where a table
// has no room, lines of its own.
func (p paper) own(list *schema.StatusList) string {
	t := table{heads: []string{"RUN", "STATE", "BUDGET", "CHANGED", "GOAL"}}
	var styles []string
	for _, entry := range list.Runs {
		run := entry.Status
		if run == nil {
			continue
		}
		state := string(run.State)
		if p.width == 0 {
			state = stateText(run.State, run.PauseReason)
		}
		t.rows = append(t.rows, []string{run.ID, state, fmt.Sprint(run.RemainingBudget), since(run.UpdatedAt, p.now) + " ago", plain(run.Goal)})
		t.notes = append(t.notes, waits(run))
		styles = append(styles, colours[string(run.State)])
	}
	if len(styles) == 0 {
		return ""
	}
	t.style = func(row int) string { return styles[row] }
	switch {
	case p.width == 0:
		t.notes = nil
		return t.text(p)
	case t.room(p) >= minGoal:
		return t.text(p)
	}
	var b strings.Builder
	for i, row := range t.rows {
		p.stacked(&b, styles[i], row[0], row[1]+", budget "+row[2]+", changed "+row[3], row[4], t.notes[i])
	}
	return b.String()
}

// stacked writes a Run as lines of its own: the id, which is never cut, and what is
// known of it, each shortened to a line.
func (p paper) stacked(b *strings.Builder, style, id, about string, more ...string) {
	b.WriteString(p.style(style, id))
	if cellsOf(id)+2+cellsOf(about) > p.lineEnd() {
		b.WriteByte('\n')
	}
	b.WriteString("  " + about + "\n")
	for _, text := range more {
		if text != "" {
			b.WriteString("  " + cutWords(text, p.lineEnd()-2) + "\n")
		}
	}
}

// foreign are the Runs of other worktrees of the repository.
func (p paper) foreign(list *schema.StatusList) string {
	t := table{heads: []string{"RUN", "STATE", "WORKTREE", "GOAL"}, style: func(int) string { return faint }}
	for _, entry := range list.Runs {
		if run := entry.Stub; run != nil {
			t.rows = append(t.rows, []string{run.ID, string(run.State) + " (foreign)", plain(run.Workspace), plain(run.Goal)})
		}
	}
	if len(t.rows) == 0 {
		return ""
	}
	title := "Runs of other worktrees, as they were at their start:\n"
	if p.width == 0 || t.room(p) >= minGoal {
		return title + t.text(p)
	}
	var b strings.Builder
	for _, row := range t.rows {
		p.stacked(&b, faint, row[0], row[1]+", of "+row[2], row[3])
	}
	return title + b.String()
}

// unavailable are the folders that can not be read as a Run.
func (p paper) unavailable(list *schema.StatusList) string {
	if len(list.UnavailableRuns) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Runs that can not be read:\n")
	for _, run := range list.UnavailableRuns {
		what, detail := run.ID+"  "+string(run.Code), plain(run.Detail)
		b.WriteString(p.style(red, what))
		if cellsOf(what)+2+cellsOf(detail) > p.lineEnd() {
			b.WriteByte('\n')
		}
		b.WriteString("  " + strings.Join(wrap(detail, p.width-2), "\n  ") + "\n")
	}
	return b.String()
}

// failure is an error as a sentence with the ways on, for a person at a terminal.
func (p paper) failure(e *schema.Error) string {
	const name = "slipway:"
	sentence := strings.ReplaceAll(schema.Harmless(e.Message), "\n", " ") + " (" + string(e.Code) + ")"
	lines := wrap(sentence, p.width-len(name)-1)
	text := p.style(red, name) + " " + strings.Join(lines, "\n"+strings.Repeat(" ", len(name)+1)) + "\n"
	return text + p.details(e.Details) + p.choices(e.Next)
}

// details are those that tell a person more than the message: the state of a Run
// is in it, flags are for programs.
func (p paper) details(details schema.Details) string {
	encoded, err := schema.Marshal(details)
	if err != nil {
		return ""
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return ""
	}
	page := p.page()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[key].(type) {
		case string:
			page.fact("  "+key, value)
		case []any:
			var items []string
			for _, item := range value {
				items = append(items, fmt.Sprint(item))
			}
			page.fact("  "+key, strings.Join(items, "\n"))
		}
	}
	return page.finish()
}

// event is a line of a log.
func (p paper) event(e engine.LoggedEvent) string {
	when := fmt.Sprintf("%4d  %s  ", e.Sequence, e.At.Local().Format(time.DateTime))
	lead := when + fmt.Sprintf("%-7s  ", e.State)
	text := strings.Join(hanging(lead+plain(e.Summary), p.width, len(lead)), "\n") + "\n"
	state := string(e.State)
	return when + p.style(colours[state], state) + strings.TrimPrefix(text, when+state)
}

func stateText(state schema.State, reason schema.PauseReason) string {
	if reason == "" {
		return string(state)
	}
	return string(state) + " (" + string(reason) + ")"
}

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

// shorten makes one line of a text that has at most n characters.
func shorten(text string, n int) string {
	line := collapse(text)
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	return string([]rune(line)[:n-1]) + "…"
}
