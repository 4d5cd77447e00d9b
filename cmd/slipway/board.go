package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/schema"
)

// board is what watch shows: the Runs of a repository, the ones that work or wait
// on top.
type board struct {
	root    string
	entries map[string]entry // by Run id
	notice  string           // instead of the Runs, while there are none to show
}

// entry is one Run on the board.
type entry struct {
	id       string
	state    string
	action   string // kind of the current Action
	budget   string // remaining of initial
	created  time.Time
	changed  time.Time
	waits    string // why it is paused, and the question
	goal     string
	standing int // groups of the order: 0 works or waits, 1 stopped, 2 ended, 3 others
}

func entryOf(run *schema.RunStatus) entry {
	e := entry{
		id: run.ID, state: string(run.State), goal: plain(run.Goal), created: run.CreatedAt, changed: run.UpdatedAt,
		budget: fmt.Sprintf("%d/%d", run.RemainingBudget, run.InitialBudget),
	}
	switch run.State {
	case schema.Stopped:
		e.standing = 1
	case schema.Ended:
		e.standing = 2
	default:
		if run.CurrentAction != nil {
			e.action = string(run.CurrentAction.Kind)
		}
	}
	e.waits = waits(run)
	return e
}

// waits is what a paused Run waits for, in one line.
func waits(run *schema.RunStatus) string {
	text := string(run.PauseReason)
	if question := plain(question(run)); question != "" {
		return text + ": " + question
	}
	if run.State == schema.Paused && run.SourceCandidate != nil {
		return text + ": the Issue has changed, a choice is due"
	}
	return text
}

// show puts a list on the board in place of what was there.
func (b *board) show(list *schema.StatusList) {
	b.entries = map[string]entry{}
	for _, listed := range list.Runs {
		if listed.Status != nil {
			b.root = listed.Status.Workspace
			b.put(entryOf(listed.Status))
			continue
		}
		stub := listed.Stub
		b.put(entry{id: stub.ID, state: "foreign", created: stub.CreatedAt, changed: stub.CreatedAt, standing: 3, goal: plain(stub.Workspace + ": " + stub.Goal)})
	}
	for _, run := range list.UnavailableRuns {
		b.put(entry{id: run.ID, state: "error", standing: 3, goal: plain(string(run.Code) + ": " + run.Detail)})
	}
	b.notice = ""
	if len(b.entries) == 0 {
		b.notice = "There is no Run in this repository yet; slipway run starts one."
	}
}

func (b *board) put(e entry) {
	b.entries[e.id] = e
	b.notice = ""
}

// sorted lists the entries, the last changed of each group first.
func (b *board) sorted() []entry {
	var all []entry
	for _, e := range b.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.standing, y.standing), y.changed.Compare(x.changed), cmp.Compare(x.id, y.id))
	})
	return all
}

// Widths of the columns, in cells. What is left of the line is for the goal. An id
// is never cut: commands take whole ones only.
const (
	stateCells  = 7
	actionCells = 9
	budgetCells = 9
	ageCells    = 4
	gap         = " "
)

// Colours of states (ECMA-48), on terminals that want them.
var colours = map[string]string{
	string(schema.Active): "\x1b[32m", string(schema.Paused): yellow, "error": red,
	string(schema.Stopped): faint, string(schema.Ended): faint, "foreign": faint,
}

const (
	bold       = "\x1b[1m"
	plainStyle = "\x1b[0m"
)

// painter lays a board out.
type painter struct {
	width  int // cells of a line
	colour bool
}

func (p painter) style(style, text string) string {
	if !p.colour || style == "" {
		return text
	}
	return style + text + plainStyle
}

// lines is the whole board: a title, the heads of the columns, the Runs.
func (p painter) lines(b *board, now time.Time) (head, body []string) {
	all := b.sorted()
	live := 0
	for _, e := range all {
		if e.standing == 0 {
			live++
		}
	}
	count := fmt.Sprintf("  %d Runs, %d live", len(all), live)
	if len(all) == 1 {
		count = fmt.Sprintf("  1 Run, %d live", live)
	}
	root := cut(plain(b.root), max(p.width-cellsOf(count), 0))
	head = append(head, p.style(bold, cut(fit(root, p.width-cellsOf(count))+count, p.width)))
	if b.notice != "" {
		return head, []string{cut(b.notice, p.width)}
	}
	ids := p.idCells(all)
	for _, line := range arranged(ids, "RUN", columns("STATE", "ACTION", "BUDGET", "AGE", "LAST")+"GOAL") {
		head = append(head, p.style(bold, cut(line, p.width)))
	}
	for _, e := range all {
		body = append(body, p.row(e, ids, now)...)
	}
	return head, body
}

// idCells is the width of a column for the ids; 0 where a line has no room for one
// beside the rest, and every id gets a line of its own.
func (p painter) idCells(all []entry) int {
	ids := 0
	for _, e := range all {
		ids = max(ids, cellsOf(e.id))
	}
	if ids+len(gap)+cellsOf(columns("", "", "", "", ""))+minGoal > p.width {
		return 0
	}
	return ids
}

func columns(state, action, budget, age, last string) string {
	return fit(state, stateCells) + gap + fit(action, actionCells) + gap +
		fit(budget, budgetCells) + gap + fit(age, ageCells) + gap + fit(last, ageCells) + gap
}

// indent is what a line begins with that belongs to the id above it.
const indent = "  "

// arranged puts the rest of a line beside an id or, without a column for ids, below.
func arranged(idCells int, id, rest string) []string {
	if idCells > 0 {
		return []string{fit(id, idCells) + gap + rest}
	}
	return []string{id, indent + rest}
}

// row is a Run, and a further line for what it waits for.
func (p painter) row(e entry, idCells int, now time.Time) []string {
	left := max(idCells+len(gap), len(indent))
	rest := columns(e.state, e.action, e.budget, since(e.created, now), since(e.changed, now))
	rest += cutWords(e.goal, p.width-left-cellsOf(rest))
	lines := arranged(idCells, e.id, rest)
	if e.waits != "" {
		lines = append(lines, strings.Repeat(" ", left)+cutWords(e.waits, p.width-left))
	}
	for i, line := range lines {
		lines[i] = p.style(colours[e.state], cut(line, p.width))
	}
	return lines
}

// since is how long ago something was, in at most four cells.
func since(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	switch d := max(now.Sub(at), 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", min(d/(24*time.Hour), 999))
	}
}
