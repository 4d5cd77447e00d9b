package source

import (
	"slices"
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// tailFault says what is wrong with the text after the manifest: a second
// manifest fence or level marker outside a fenced code block (source.md, 3.1).
// Which lines are in such a block depends on the quotes and list items around
// them; the words used here are those of the table there.
func tailFault(tail string) string {
	if !strings.Contains(tail, manifestFence) && !strings.Contains(tail, levelMarkerHead) {
		return "" // a long discussion is not worth reading line by line
	}
	t := tailReader{firstQuote: noQuote}
	for line := range strings.SplitSeq(tail, "\n") {
		if reason := t.read(line); reason != "" {
			return reason
		}
	}
	return ""
}

// tailReader reads the lines after the manifest.
//
// Every open list item is a container chain, and each of these chains is the
// beginning of the next one. So one chain holds them all: the one in which the
// latest line stood. It may end in quotes, which close no list item.
type tailReader struct {
	chain      []container
	firstQuote int         // where the first quote of chain stands, or noQuote
	paragraph  bool        // a paragraph is open, in exactly chain
	block      fence       // the fenced block that is open, in chain
	fresh      []container // the new containers of one line, kept for its memory
}

const noQuote = -1

// container is a quote, or the width of a list item, which is never 0.
type container uint8

const quote container = 0

// fence is the run of characters that opens a fenced block; its mark is 0 where
// there is none.
type fence struct {
	mark   byte
	length int
}

func (t *tailReader) read(line string) (fault string) {
	if t.block.mark != 0 {
		if t.readInBlock(line) {
			return ""
		}
		t.block = fence{}
	}
	if blank, quoted := isBlankLine(line); blank {
		t.readBlank(quoted)
		return ""
	}
	if len(line) >= len(manifestFence) && schema.TrimWhiteSpace(line) == manifestFence {
		return "there is a second manifest fence after the manifest"
	}
	rest := t.place(line)
	t.paragraph = false
	if t.block = openingFence(rest); t.block.mark != 0 {
		return ""
	}
	t.paragraph = startsParagraph(rest)
	if strings.Contains(line, levelMarkerHead) {
		return "there is a second level marker after the manifest"
	}
	return ""
}

// readInBlock reports whether the line belongs to the open block, and closes the
// block with its last line.
func (t *tailReader) readInBlock(line string) bool {
	if blank, _ := isBlankLine(line); blank {
		return true
	}
	for _, c := range t.chain {
		var inside bool
		if line, inside = c.takeOff(line); !inside {
			return false
		}
	}
	if t.block.closedBy(line) {
		t.block = fence{}
	}
	return true
}

// readBlank ends paragraphs, and with a line that is not quoted also quotes.
func (t *tailReader) readBlank(quoted bool) {
	t.paragraph = false
	if !quoted && t.firstQuote != noQuote {
		t.chain, t.firstQuote = t.chain[:t.firstQuote], noQuote
	}
}

// place makes chain the one that the line stands in, its base and its new
// containers, and returns what is left of the line.
func (t *tailReader) place(line string) (rest string) {
	base, rest := t.base(line)
	fresh, same := t.fresh[:0], true
	for {
		c, numbered, left, found := takeMark(rest)
		at := base + len(fresh)
		if !found || numbered && t.paragraph && same && at == len(t.chain) {
			break
		}
		same = same && at < len(t.chain) && t.chain[at] == c
		fresh = append(fresh, c)
		rest = left
	}
	t.fresh = fresh
	t.chain = append(t.chain[:base], fresh...)
	if t.firstQuote == noQuote || t.firstQuote >= base {
		t.firstQuote = noQuote
		if i := slices.Index(fresh, quote); i >= 0 {
			t.firstQuote = base + i
		}
	}
	return rest
}

// base finds the innermost open list item that the line is inside of: how much of
// chain leads to it, and what is left of the line.
func (t *tailReader) base(line string) (depth int, rest string) {
	rest = line
	for i, c := range t.chain {
		var inside bool
		if line, inside = c.takeOff(line); !inside {
			break
		}
		if c != quote {
			depth, rest = i+1, line
		}
	}
	return depth, rest
}

// takeOff takes the container off a line that is inside it.
func (c container) takeOff(line string) (rest string, inside bool) {
	if c == quote {
		return takeQuote(line)
	}
	width := int(c)
	if leadingSpaces(line, width) < width {
		return line, false
	}
	return line[width:], true
}

// maxIndent is the most spaces in front of a mark, a fence or a paragraph.
const maxIndent = 3

// takeIndent takes up to maxIndent spaces; more are refused.
func takeIndent(line string) (rest string, ok bool) {
	n := leadingSpaces(line, maxIndent+1)
	return line[n:], n <= maxIndent
}

// leadingSpaces counts the spaces at the start of line, no more than most.
func leadingSpaces(line string, most int) int {
	n := 0
	for n < len(line) && n < most && line[n] == ' ' {
		n++
	}
	return n
}

// leadingRun counts how often c stands at the start of line.
func leadingRun(line string, c byte) int {
	n := 0
	for n < len(line) && line[n] == c {
		n++
	}
	return n
}

func takeQuote(line string) (rest string, found bool) {
	rest, ok := takeIndent(line)
	if !ok || !strings.HasPrefix(rest, ">") {
		return line, false
	}
	return strings.TrimPrefix(rest[1:], " "), true
}

// takeMark takes a quote or list mark. numbered tells a number other than 1.
func takeMark(line string) (c container, numbered bool, rest string, found bool) {
	if rest, found = takeQuote(line); found {
		return quote, false, rest, true
	}
	return takeListMark(line)
}

// maxItemSpaces is the most spaces after a list mark that belong to the mark.
const maxItemSpaces = 4

func takeListMark(line string) (c container, numbered bool, rest string, found bool) {
	rest, ok := takeIndent(line)
	if !ok {
		return 0, false, line, false
	}
	rest, numbered, found = takeBulletOrNumber(rest)
	if !found {
		return 0, false, line, false
	}
	width := len(line) - len(rest)
	if rest == "" {
		return container(width + 1), numbered, "", true
	}
	spaces := leadingSpaces(rest, maxItemSpaces+1)
	switch {
	case spaces == 0:
		return 0, false, line, false
	case spaces > maxItemSpaces:
		spaces = 1
	}
	return container(width + spaces), numbered, rest[spaces:], true
}

// maxNumberDigits bounds the number of a numbered mark.
const maxNumberDigits = 9

func takeBulletOrNumber(line string) (rest string, numbered, found bool) {
	if line != "" && (line[0] == '-' || line[0] == '+' || line[0] == '*') {
		return line[1:], false, true
	}
	n := 0
	for n < len(line) && n <= maxNumberDigits && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	if n == 0 || n > maxNumberDigits || n == len(line) || line[n] != '.' && line[n] != ')' {
		return line, false, false
	}
	return line[n+1:], strings.TrimLeft(line[:n], "0") != "1", true
}

const minFence = 3

// openingFence returns the fence that a line without its containers is.
func openingFence(rest string) fence {
	rest, ok := takeIndent(rest)
	if !ok || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}
	}
	mark := rest[0]
	length := leadingRun(rest, mark)
	if length < minFence || mark == '`' && strings.Contains(rest[length:], "`") {
		return fence{}
	}
	return fence{mark, length}
}

func (f fence) closedBy(rest string) bool {
	rest, ok := takeIndent(rest)
	if !ok {
		return false
	}
	length := leadingRun(rest, f.mark)
	return length >= f.length && schema.IsBlank(rest[length:])
}

// isBlankLine reports whether only White_Space is left of a line after its quote
// marks, and whether it had such marks.
func isBlankLine(line string) (blank, quoted bool) {
	for {
		if line != "" && '>' < line[0] && line[0] < utf8.RuneSelf {
			return false, quoted // most lines begin with a letter
		}
		rest, found := takeQuote(line)
		if !found {
			return schema.IsBlank(line), quoted
		}
		line, quoted = rest, true
	}
}

func startsParagraph(rest string) bool {
	text, ok := takeIndent(rest)
	return ok && text != "" && !isHeading(text) && !isThematicBreak(text)
}

const maxHeadingLevel = 6

func isHeading(text string) bool {
	level := leadingRun(text, '#')
	if level == 0 || level > maxHeadingLevel {
		return false
	}
	return level == len(text) || text[level] == ' ' || text[level] == '\t'
}

const minThematicBreak = 3

func isThematicBreak(text string) bool {
	if text[0] != '*' && text[0] != '-' && text[0] != '_' {
		return false
	}
	mark := text[:1]
	return strings.Trim(text, mark+" \t") == "" && strings.Count(text, mark) >= minThematicBreak
}
