package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"slipway/schema"
)

// Text on a terminal is counted in cells, not in bytes or characters.

// cells is how many cells a character takes: two for the wide ones of East Asian
// scripts and emoji, none for what is put onto the character before it.
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1F300 && r <= 0x1FAFF: // pictures, which not all tables count as wide
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func cellsOf(text string) int {
	n := 0
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// fit cuts or pads a text to exactly n cells.
func fit(text string, n int) string {
	text = cut(text, n)
	return text + strings.Repeat(" ", max(n-cellsOf(text), 0))
}

// cut shortens a text to at most n cells.
func cut(text string, n int) string {
	if cellsOf(text) <= n {
		return text
	}
	used := 0
	for i, r := range text {
		if used+cells(r) > n-1 {
			if n <= 0 {
				return ""
			}
			return text[:i] + "…"
		}
		used += cells(r)
	}
	return text
}

// cutWords is cut that leaves no part of a word, where one ends in the second half.
func cutWords(text string, n int) string {
	short := cut(text, n)
	if short == text || short == "" {
		return short
	}
	kept := strings.TrimSuffix(short, "…")
	end := strings.LastIndexByte(kept, ' ')
	if end < 0 || text[len(kept)] == ' ' || cellsOf(kept[:end]) < n/2 {
		return short
	}
	return kept[:end+1] + "…"
}

// plain makes one harmless line of a text.
func plain(text string) string { return schema.Harmless(collapse(text)) }
