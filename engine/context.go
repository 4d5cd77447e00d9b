package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// The context of an Action (run.md, section 12) tells a host that remembers
// nothing what was decided and what happened so far. Its items are chosen by
// priority and shown in order; what does not fit is counted, never dropped
// silently.

// part is one headed list of the context. An item is rendered only when its turn
// comes: most of a long history never fits.
type part struct {
	heading string
	omitted string // what the line of left-out items calls them
	count   int
	item    func(i int) item // of count, oldest first
	chosen  []item           // newest first
}

// item is an entry of the context with its size.
type item struct {
	text string
	size size
}

func newItem(text string) item { return item{text, sizeOf(text)} }

// size is a length in bytes, and in bytes of the JSON literal without quotes.
type size struct{ bytes, encoded int }

func (s size) plus(t size) size { return size{s.bytes + t.bytes, s.encoded + t.encoded} }

func sizeOf(text string) size { return size{len(text), schema.EncodedSize(text) - 2} }

// withContext renders the context of the current Action, if there is one. It
// leaves r itself alone.
func (r *Run) withContext() (*Run, error) {
	s := r.currentStep()
	if s == nil || s.context != "" {
		return r, nil
	}
	context, err := r.contextOf(s)
	if err != nil {
		return nil, err
	}
	c := r.clone()
	issued := *s
	issued.context = context
	c.steps[c.current] = &issued
	return c, nil
}

// contextOf renders the context of an Action as it was when the Action was
// issued, whatever happened since.
func (r *Run) contextOf(s *step) (string, error) {
	if s.context != "" {
		return s.context, nil
	}
	bare := r.actionWith(s, "")
	limit := size{
		bytes:   schema.MaxContextBytes,
		encoded: schema.MaxEncodedActionBytes - bare.EncodedSize(),
	}
	if limit.encoded < 0 {
		return "", &schema.ActionFault{Code: schema.CodeActionTooLarge, Reason: "goal and brief leave no room for the context"}
	}
	parts := r.contextParts(s)
	if !fits(choose(parts, limit), limit) {
		return "", &schema.ActionFault{Code: schema.CodeActionTooLarge, Reason: "the context does not fit beside goal and brief"}
	}
	return render(parts), nil
}

// contextParts finds what was known when the Action was issued.
func (r *Run) contextParts(issued *step) []*part {
	at, requirements := issued.issuedAt, requirementsOf(issued.pinned)
	var decisions []*answer
	for _, a := range r.answers {
		if a.decidesAt(at) && a.RequirementsRevision == requirements {
			decisions = append(decisions, a)
		}
	}
	var told []*step
	for _, s := range r.steps {
		if s.toldAt(at) {
			told = append(told, s)
		}
	}
	earlier := max(len(told)-1, 0)
	return []*part{
		{heading: "Decisions:\n", omitted: "decisions", count: len(decisions),
			item: func(i int) item { return newItem(decisionItem(decisions[i])) }},
		{heading: "Recent outcome:\n", omitted: "recent outcomes", count: len(told) - earlier,
			item: func(i int) item { return told[earlier+i].told }},
		{heading: "Earlier outcomes:\n", omitted: "earlier outcomes", count: earlier,
			item: func(i int) item { return told[i].told }},
	}
}

// decidesAt says whether the answer counted as a decision at an event.
func (a *answer) decidesAt(at int64) bool {
	return a.recordedAt <= at && !a.ConfirmDestructive && a.Text != "" &&
		(a.supersededAt == 0 || a.supersededAt > at)
}

// toldAt says whether the Action had an Outcome that counted at an event.
func (s *step) toldAt(at int64) bool {
	return s.outcome != nil && s.outcomeAt <= at && (s.voidedAt == 0 || s.voidedAt > at)
}

func decisionItem(a *answer) string {
	return fmt.Sprintf("- action %s decision:\n%s", a.ActionID, indented(a.Text, "  "))
}

func outcomeItem(s *step) string {
	line := "- " + string(s.kind) + " action " + s.actionID + ": " + withLF(s.outcome.Summary) + "\n"
	if len(s.outcome.KnownIssues) == 0 {
		return line
	}
	var b strings.Builder
	b.WriteString(line)
	b.WriteString("  Known issues:\n")
	for _, issue := range s.outcome.KnownIssues {
		b.WriteString("  - ")
		b.WriteString(strings.TrimPrefix(indented(issue, "    "), "    "))
	}
	return b.String()
}

// indented puts a prefix before every line, empty ones too, and ends with LF.
func indented(text, prefix string) string {
	return prefix + strings.ReplaceAll(withLF(text), "\n", "\n"+prefix) + "\n"
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// withLF gives the text with LF line ends. Few texts have others.
func withLF(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return lineEnds.Replace(text)
}

// choose takes items in order of priority until one does not fit whole; that one
// is cut, and the rest is left out. It returns the size of the whole.
func choose(parts []*part, limit size) size {
	used := size{}
	for _, p := range parts {
		for i := p.count - 1; i >= 0; i-- {
			next := p.item(i)
			p.chosen = append(p.chosen, next)
			if taken := used.plus(next.size); fits(taken.plus(frame(parts)), limit) {
				used = taken
				continue
			}
			last := len(p.chosen) - 1
			p.chosen[last] = newItem(cutItem(next.text, used.plus(frame(parts)), limit))
			used = used.plus(p.chosen[last].size)
			if p.chosen[last].text == "" {
				p.chosen = p.chosen[:last]
			}
			return used.plus(frame(parts))
		}
	}
	return used.plus(frame(parts))
}

func fits(s, limit size) bool { return s.bytes <= limit.bytes && s.encoded <= limit.encoded }

// frame is the size of everything that is no item: headings, the words for an
// empty part, and the lines that count what is left out. It is asked for once an
// item, so it is computed without making the lines.
func frame(parts []*part) size {
	var s size
	for _, p := range parts {
		s = s.plus(plainLine(len(p.heading)))
		switch left := p.count - len(p.chosen); {
		case p.count == 0:
			s = s.plus(plainLine(len(emptyPart)))
		case left > 0:
			s = s.plus(plainLine(len("[omitted : ]\n") + len(p.omitted) + digits(left)))
		}
	}
	return s
}

// plainLine is the size of a line of letters with its LF, which counts twice in
// JSON.
func plainLine(bytes int) size { return size{bytes, bytes + 1} }

// digits counts those of a positive number.
func digits(n int) int {
	count := 0
	for ; n > 0; n /= 10 {
		count++
	}
	return count
}

const emptyPart = "(none)\n"

// closing is the line after the items of a part, if it has one.
func (p *part) closing() string {
	switch left := p.count - len(p.chosen); {
	case p.count == 0:
		return emptyPart
	case left > 0:
		return fmt.Sprintf("[omitted %s: %d]\n", p.omitted, left)
	}
	return ""
}

// cutItem gives the longest prefix of an item that fits beside what is used, with
// the mark that says what is missing; "" where not even the mark fits.
func cutItem(item string, used, limit size) string {
	mark := truncationMark(item) + "\n"
	used = used.plus(sizeOf(mark))
	if !fits(used, limit) {
		return ""
	}
	end := 0
	for end < len(item) {
		_, width := utf8.DecodeRuneInString(item[end:])
		used = used.plus(sizeOf(item[end : end+width]))
		if !fits(used, limit) {
			break
		}
		end += width
	}
	return item[:end] + mark
}

// truncationMark ends a text that was cut, naming the whole of it.
func truncationMark(whole string) string {
	return fmt.Sprintf("...[truncated original_bytes=%d sha256=%x]", len(whole), sha256.Sum256([]byte(whole)))
}

func render(parts []*part) string {
	var pieces []string
	for _, p := range parts {
		pieces = append(pieces, p.heading)
		for _, shown := range slices.Backward(p.chosen) {
			pieces = append(pieces, shown.text)
		}
		pieces = append(pieces, p.closing())
	}
	return strings.Join(pieces, "")
}
