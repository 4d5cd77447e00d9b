package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"slipway/schema"
)

// referenceContext is run.md, section 12, done the way the text words it: each
// trial renders the complete context. s is the record with everything that is
// known, bare the Action that is to be issued, without its context. false: the
// Action would be too large.
func referenceContext(s *schema.RunStatus, bare schema.Action) (string, bool) {
	c := contextTrial{limit: 262_144 - encodedBytes(bare) - len("\n") + 2}
	if c.limit < 2 {
		return "", false
	}
	c.parts[0] = decisionItems(s)
	c.parts[1], c.parts[2] = outcomeItems(s)
	c.chooseItems()
	text := c.render()
	return text, c.fits(text)
}

// contextTrial is a choice of items: shown of parts, which stand in the order of
// the layout.
type contextTrial struct {
	limit int // bytes of the context as a JSON literal, quotes counted
	parts [3][]string
	shown [3]map[int]string
}

func (c *contextTrial) chooseItems() {
	for part := range c.parts {
		c.shown[part] = map[int]string{}
		for i := len(c.parts[part]) - 1; i >= 0; i-- {
			item := c.parts[part][i]
			c.shown[part][i] = item
			if c.fits(c.render()) {
				continue
			}
			c.cut(part, i, item)
			return
		}
	}
}

// cut shows the longest prefix of the item that fits with its marker, or nothing.
func (c *contextTrial) cut(part, i int, item string) {
	marker := fmt.Sprintf("...[truncated original_bytes=%d sha256=%x]\n", len(item), sha256.Sum256([]byte(item)))
	ends := []int{0}
	for at := range item {
		_, width := utf8.DecodeRuneInString(item[at:])
		ends = append(ends, at+width)
	}
	tooLong := sort.Search(len(ends), func(n int) bool {
		c.shown[part][i] = item[:ends[n]] + marker
		return !c.fits(c.render())
	})
	if tooLong == 0 {
		delete(c.shown[part], i)
		return
	}
	c.shown[part][i] = item[:ends[tooLong-1]] + marker
}

func (c *contextTrial) fits(text string) bool {
	return len(text) <= 131_072 && encodedBytes(text) <= c.limit
}

func (c *contextTrial) render() string {
	var b strings.Builder
	for part, names := range [3][2]string{
		{"Decisions", "decisions"}, {"Recent outcome", "recent outcomes"}, {"Earlier outcomes", "earlier outcomes"},
	} {
		b.WriteString(names[0] + ":\n")
		if len(c.parts[part]) == 0 {
			b.WriteString("(none)\n")
		}
		for i := range c.parts[part] {
			b.WriteString(c.shown[part][i])
		}
		if left := len(c.parts[part]) - len(c.shown[part]); left > 0 {
			fmt.Fprintf(&b, "[omitted %s: %d]\n", names[1], left)
		}
	}
	return b.String()
}

// encodedBytes is the size of a value as compact JSON.
func encodedBytes(v any) int {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Len() - len("\n")
}

func decisionItems(s *schema.RunStatus) (items []string) {
	for _, a := range s.Answers {
		if !a.Active || a.ConfirmDestructive || a.Text == "" {
			continue
		}
		text := "  " + strings.Join(lines(a.Text), "\n  ") + "\n"
		items = append(items, "- action "+a.ActionID+" decision:\n"+text)
	}
	return items
}

func outcomeItems(s *schema.RunStatus) (recent, earlier []string) {
	for _, r := range s.Actions {
		if r.Outcome == nil || r.Voided {
			continue
		}
		item := fmt.Sprintf("- %s action %s: %s\n", r.Action.Kind, r.Action.ActionID, strings.Join(lines(r.Outcome.Summary), "\n"))
		if len(r.Outcome.KnownIssues) > 0 {
			item += "  Known issues:\n"
		}
		for _, issue := range r.Outcome.KnownIssues {
			item += "  - " + strings.Join(lines(issue), "\n    ") + "\n"
		}
		earlier = append(earlier, item)
	}
	if n := len(earlier); n > 0 {
		recent, earlier = earlier[n-1:], earlier[:n-1]
	}
	return recent, earlier
}

func lines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}
