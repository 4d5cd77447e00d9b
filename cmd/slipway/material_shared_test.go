package main

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// TestDamageOfOneOfTwoRuns: that a text was given out, for another Run or for this
// one, lets nobody read it where it is damaged.
func TestDamageOfOneOfTwoRuns(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, w *world) {
		w.t = t
		change := newIssue()
		change.comments[0].text = "About outcome.\n" + strings.Repeat("\u2028<&>\\\"\u00e9", 10_000) + "\n"
		w.file("head", change.envelope(t))
		start := func() {
			w.acts(w.json("run --json --no-review --source-file $TMP/head tidy"))
		}
		start()
		first := maps.Clone(w.vars)
		start()
		text := change.comments[0].text
		w.reads("outcome", text)
		damaged, other := w.materialPath(text), w.materialPath("About requirements.\n")
		changePlaces(t, damaged, other)
		w.unreadable()
		second := w.vars
		w.vars = first
		w.reads("outcome", text)
		w.vars = second
		w.unreadable()
		changePlaces(t, damaged, other)
		w.reads("outcome", text)
		w.reads("requirements", "About requirements.\n")
	})
}

// changePlaces lets two files change places.
func changePlaces(t *testing.T, one, other string) {
	t.Helper()
	for _, move := range [][2]string{{one, one + ".aside"}, {other, one}, {one + ".aside", other}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			t.Fatal(err)
		}
	}
}
