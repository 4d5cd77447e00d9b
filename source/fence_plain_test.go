package source_test

import (
	"regexp"
	"slices"
	"strings"

	"slipway/schema"
)

// This file is source.md, 3.1 a second time, read word by word: every open list
// item has a chain of its own, marks are regular expressions, and nothing is fast.

type plainContainer struct {
	quote bool
	width int
}

type plainChain []plainContainer

type plainReader struct {
	items     []plainChain
	paragraph plainChain // nil where none is open
	block     string     // the fence of the open block, or empty
	inside    plainChain
}

var (
	plainQuote  = regexp.MustCompile(`^ {0,3}> ?`)
	plainItem   = regexp.MustCompile(`^( {0,3})([-+*]|[0-9]{1,9}[.)])( +|$)`)
	plainFence  = regexp.MustCompile("^ {0,3}(`{3,}[^`]*$|~{3,})")
	plainRun    = regexp.MustCompile("`+|~+")
	plainHead   = regexp.MustCompile(`^ {0,3}#{1,6}([ \t]|$)`)
	plainBreak  = regexp.MustCompile(`^[ \t]*(\*[ \t]*(\*[ \t]*){2,}|-[ \t]*(-[ \t]*){2,}|_[ \t]*(_[ \t]*){2,})$`)
	plainFilled = regexp.MustCompile(`^ {0,3}[^ ]`)
	plainOne    = regexp.MustCompile(`^0*1[.)]$`)
)

func plainTailAccepted(tail string) bool {
	var r plainReader
	for _, line := range strings.Split(tail, "\n") {
		if !r.accepts(line) {
			return false
		}
	}
	return true
}

func (r *plainReader) accepts(line string) bool {
	if r.block != "" {
		if plainBlank(line) {
			return true
		}
		if rest, ok := r.inside.takeOff(line); ok {
			if plainCloses(rest, r.block) {
				r.block = ""
			}
			return true
		}
		r.block = ""
	}
	if schema.TrimWhiteSpace(line) == "```slipway-manifest" {
		return false
	}
	base, fresh, rest := r.place(line)
	all := append(slices.Clone(base), fresh...)
	if plainFence.MatchString(rest) {
		r.block, r.inside, r.paragraph = plainRun.FindString(rest), all, nil
		r.items = all.items()
		return true
	}
	r.ordinary(line, base, all, rest)
	return !strings.Contains(line, "<!-- slipway-level:")
}

func (r *plainReader) ordinary(line string, base, all plainChain, rest string) {
	if plainBlank(line) {
		r.paragraph = nil
		if schema.IsBlank(line) {
			first := slices.IndexFunc(r.items, func(c plainChain) bool { return slices.Contains(c, plainContainer{quote: true}) })
			if first >= 0 {
				r.items = r.items[:first]
			}
		}
		return
	}
	var kept []plainChain
	for _, item := range r.items {
		if len(item) <= len(base) {
			kept = append(kept, item)
		}
	}
	for _, item := range all.items() {
		if len(item) > len(base) {
			kept = append(kept, item)
		}
	}
	r.items, r.paragraph = kept, nil
	if plainFilled.MatchString(rest) && !plainHead.MatchString(rest) && !plainBreak.MatchString(rest) {
		r.paragraph = append(plainChain{}, all...)
	}
}

func (r *plainReader) place(line string) (base, fresh plainChain, rest string) {
	rest = line
	for _, item := range slices.Backward(r.items) {
		if left, ok := item.takeOff(line); ok {
			base, rest = item, left
			break
		}
	}
	for {
		if mark := plainQuote.FindString(rest); mark != "" {
			fresh, rest = append(fresh, plainContainer{quote: true}), rest[len(mark):]
			continue
		}
		mark := plainItem.FindStringSubmatch(rest)
		if mark == nil {
			return base, fresh, rest
		}
		so := append(slices.Clone(base), fresh...)
		numbered := strings.ContainsAny(mark[2], ".)") && !plainOne.MatchString(mark[2])
		if numbered && r.paragraph != nil && slices.Equal(so, r.paragraph) {
			return base, fresh, rest
		}
		spaces := len(mark[3])
		taken := spaces
		switch {
		case spaces > 4:
			spaces, taken = 1, 1
		case spaces == 0:
			spaces = 1
		}
		fresh = append(fresh, plainContainer{width: len(mark[1]) + len(mark[2]) + spaces})
		rest = rest[len(mark[1])+len(mark[2])+taken:]
	}
}

// items are the chains within c that end in a list item.
func (c plainChain) items() []plainChain {
	var all []plainChain
	for i, container := range c {
		if !container.quote {
			all = append(all, c[:i+1])
		}
	}
	return all
}

func (c plainChain) takeOff(line string) (string, bool) {
	for _, container := range c {
		if container.quote {
			mark := plainQuote.FindString(line)
			if mark == "" {
				return "", false
			}
			line = line[len(mark):]
			continue
		}
		if !strings.HasPrefix(line, strings.Repeat(" ", container.width)) {
			return "", false
		}
		line = line[container.width:]
	}
	return line, true
}

func plainBlank(line string) bool {
	for plainQuote.MatchString(line) {
		line = line[len(plainQuote.FindString(line)):]
	}
	return schema.IsBlank(line)
}

func plainCloses(rest, opening string) bool {
	spaces := len(rest) - len(strings.TrimLeft(rest, " "))
	run := plainRun.FindString(rest)
	return spaces <= 3 && strings.HasPrefix(rest[spaces:], run) && strings.HasPrefix(run, opening) && schema.IsBlank(rest[spaces+len(run):])
}
