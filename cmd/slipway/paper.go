package main

import (
	"cmp"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// paper is what a text for people is laid out for: a terminal of some width, or
// anything else. The zero value is plain text without an end to its lines.
type paper struct {
	terminal bool
	width    int // cells of a line; 0 where nothing bounds it, or a terminal does not say
	colour   bool
	now      time.Time // what ages are told from
}

// Styles beside the colours of states (ECMA-48).
const (
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
)

// paperOf looks at where a stream goes. Only a terminal gets colours and a width;
// it gets none of either where the user does not want them (cli.md, section 1).
func paperOf(stream *os.File) paper {
	p := paper{now: time.Now()}
	if !term.IsTerminal(int(stream.Fd())) {
		return p
	}
	p.terminal = true
	if width, _, err := term.GetSize(int(stream.Fd())); err == nil && width > 0 {
		p.width = width
	}
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		// A console that takes no colours now shows the text without them. What was
		// changed of it is left so: it is the shell's again in a moment.
		_, err := prepareOutput()
		p.colour = err == nil
	}
	return p
}

// lineEnd is how many cells a line may have.
func (p paper) lineEnd() int { return cmp.Or(p.width, math.MaxInt) }

func (p paper) style(style, text string) string {
	return painter{colour: p.colour}.style(style, text)
}

// minWrapped is the narrowest column that is worth wrapping a text into, in cells.
const minWrapped = 20

// wrap breaks a text into lines of at most n cells, between words where it can.
// A word that is longer stays whole, so that a path can be copied. The further
// lines of an indented text and of an item of a list stand below its first word.
func wrap(text string, n int) []string {
	words := strings.TrimLeft(text, " ")
	words = strings.TrimPrefix(words, "- ")
	return hanging(text, n, len(text)-len(words))
}

// hanging is wrap for a text whose first cells are a lead, beside which its further
// lines stand free. Where that is most of the room and leaves too little they begin at the margin.
func hanging(text string, n, lead int) []string {
	if n < minWrapped || cellsOf(text) <= n {
		return []string{text}
	}
	indent := strings.Repeat(" ", lead)
	if lead > n/2 && n-lead < minWrapped {
		indent = ""
	}
	words := strings.TrimLeft(text, " ")
	line, fresh := text[:len(text)-len(words)], true
	var lines []string
	for word := range strings.SplitSeq(words, " ") {
		switch {
		case fresh:
		case cellsOf(line)+1+cellsOf(word) > n && cellsOf(line) > lead:
			lines = append(lines, strings.TrimRight(line, " "))
			line = indent
		default:
			line += " "
		}
		line += word
		fresh = false
	}
	return append(lines, line)
}

// ago is an instant as people read it, and how long it is since then.
func (p paper) ago(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.DateTime) + ", " + since(at, p.now) + " ago"
}
