package main

import (
	"os"
	"runtime"
	"strings"

	"slipway/schema"
)

// page is a text of labelled lines whose values stand in one column.
type page struct {
	paper
	rows []labelled
}

// labelled is a line of a page. A line without a label belongs to the one above.
type labelled struct {
	label, text, style string
	lead               int // cells that further lines of the text leave free; 0 as the text says
}

// newPage is a page for stdout.
func newPage() *page { return paperOf(os.Stdout).page() }

func (p paper) page() *page { return &page{paper: p} }

// fact adds a labelled value; an empty one adds nothing. The further lines of a
// longer value stand below its first.
func (p *page) fact(label, value string) { p.styled(label, value, "") }

func (p *page) styled(label, value, style string) {
	if value == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(schema.Harmless(value), "\n"), "\n") {
		p.rows = append(p.rows, labelled{label: label, text: strings.ReplaceAll(line, "\t", "    "), style: style})
		label = ""
	}
}

// lines is the value in lines of at most n cells.
func (l labelled) lines(n int) []string {
	if l.lead > 0 {
		return hanging(l.text, n, l.lead)
	}
	return wrap(l.text, n)
}

// finish gives the text.
func (p *page) finish() string {
	column := 0
	for _, row := range p.rows {
		column = max(column, cellsOf(row.label)+2)
	}
	var b strings.Builder
	for _, row := range p.rows {
		label := row.label
		for _, line := range row.lines(p.width - column) {
			text := p.style(faint, fit(label, column)) + p.style(row.style, line)
			b.WriteString(strings.TrimRight(text, " ") + "\n")
			label = ""
		}
	}
	return b.String()
}

// finishWith ends the page with the choices of a next.
func (p *page) finishWith(next schema.Next) string { return p.finish() + p.choices(next) }

// choices are the ways on, after an empty line. A command is never cut, wrapped
// or spelled otherwise: it is there to be copied.
func (p paper) choices(next schema.Next) string {
	lines := next.Choices(p.shells())
	if len(lines) == 0 {
		return ""
	}
	return "\n" + p.style(bold, lines[0]) + "\n" + strings.Join(lines[1:], "\n") + "\n"
}

// shells are those that a command on the paper may be pasted into.
func (p paper) shells() schema.Shells {
	switch {
	case runtime.GOOS == "windows":
		return schema.WindowsShells
	case p.terminal:
		return schema.POSIXTerminal
	}
	return schema.POSIXShells
}

// table is lines in columns, as wide as their content. What is left of the line is
// for the last column, which is cut where a line has an end.
type table struct {
	heads []string
	rows  [][]string
	notes []string // of each row, below it and beside its first column; nil without any
	style func(row int) string
}

// widths are those of all columns but the last, in cells.
func (t *table) widths() []int {
	widths := make([]int, len(t.heads)-1)
	for _, row := range append([][]string{t.heads}, t.rows...) {
		for i := range widths {
			widths[i] = max(widths[i], cellsOf(row[i]))
		}
	}
	return widths
}

// columnGap is between two columns.
const columnGap = "  "

// room is how many cells of a line of the paper are left for the last column.
func (t *table) room(p paper) int {
	room := p.width
	for _, width := range t.widths() {
		room -= width + len(columnGap)
	}
	return room
}

func (t *table) text(p paper) string {
	widths := t.widths()
	line := func(row []string) string {
		var b strings.Builder
		for i, width := range widths {
			b.WriteString(fit(row[i], width) + columnGap)
		}
		left := b.String()
		return strings.TrimRight(cut(left+cutWords(row[len(row)-1], p.lineEnd()-cellsOf(left)), p.lineEnd()), " ")
	}
	text := p.style(bold, line(t.heads)) + "\n"
	for i, row := range t.rows {
		text += p.style(t.style(i), line(row)) + "\n"
		if t.notes != nil && t.notes[i] != "" {
			left := widths[0] + len(columnGap)
			text += strings.Repeat(" ", left) + p.style(t.style(i), cutWords(t.notes[i], p.lineEnd()-left)) + "\n"
		}
	}
	return text
}
