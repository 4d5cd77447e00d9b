package deploy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What the instruction texts say (adapters.md, section 13) is held here, phrase
// by phrase, so that no edit loses an item unnoticed. Whether the commands and
// documents in them are right is in texts_contract_test.go.

// textOf is the whole text of a capability, without "slipway-" in its name.
func textOf(t *testing.T, name string) string {
	t.Helper()
	for _, c := range capabilities() {
		if c.name == "slipway-"+name {
			return c.text
		}
	}
	t.Fatalf("there is no capability %s", name)
	return ""
}

// sharedBy is the matrix of section 13, and the further parts that several texts
// need word for word.
var sharedBy = map[string]string{
	"common-boundaries":  "run clarify propose decompose implement review workflow",
	"decision-interview": "run clarify workflow",
	"source-bundle":      "run propose decompose",
	"github-rest-routes": "propose decompose",

	"action-protocol":    "run clarify implement review",
	"implement-action":   "run implement",
	"review-action":      "run review",
	"github-access":      "run propose decompose",
	"issue-shapes":       "propose decompose",
	"change-publication": "propose decompose",
}

func TestSharedTexts(t *testing.T) {
	entries, err := texts.ReadDir("texts/shared")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".md")
		users, known := sharedBy[name]
		if !known {
			t.Errorf("which texts share %s?", name)
		}
		for _, c := range capabilities() {
			want := 0
			if slices.Contains(strings.Fields(users), strings.TrimPrefix(c.name, "slipway-")) {
				want = 1
			}
			if got := strings.Count(c.text, shared(name)); got != want {
				t.Errorf("%s contains %s %d times, want %d", c.name, name, got, want)
			}
			// Not a part of it either.
			heading, _, _ := strings.Cut(shared(name), "\n")
			if got := strings.Count("\n"+c.text, "\n"+heading+"\n"); got != want {
				t.Errorf("%s has the heading %q %d times, want %d", c.name, heading, got, want)
			}
		}
	}
	if len(entries) != len(sharedBy) {
		t.Errorf("there are %d shared texts, want %d", len(entries), len(sharedBy))
	}
}

// hostSyntax is how hosts spell the invocation of a capability (adapters.md,
// section 2).
var hostSyntax = regexp.MustCompile(`[/$#:]slipway-[a-z]+\b|--agent|kiro-cli`)

func TestFormOfTexts(t *testing.T) {
	documents := map[string]string{"the reference file": string(referenceFile())}
	for _, c := range capabilities() {
		documents[c.name] = c.text
		if !strings.HasSuffix(c.text, "\n\n"+shared("common-boundaries")+"\n") {
			t.Errorf("%s does not end with the common boundaries", c.name)
		}
		if linked := strings.Contains(c.text, "(references/decision-interview.md)"); linked != (c.name == referencedBy) {
			t.Errorf("%s links the reference file: %t", c.name, linked)
		}
		title, rest, _ := strings.Cut(c.text, "\n\n")
		opening, _, _ := strings.Cut(rest, "\n\n")
		if !strings.HasPrefix(title, "# Slipway ") || !strings.HasPrefix(opening, "Use this only ") || !strings.Contains(opening, " Ordinary conversation ") {
			t.Errorf("%s does not open with when it may be used: %q", c.name, opening)
		}
	}
	for name, text := range documents {
		switch {
		case !utf8.ValidString(text) || strings.ContainsAny(text, "\r\t\ufeff"):
			t.Errorf("%s is not plain LF-only UTF-8", name)
		case !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n"):
			t.Errorf("%s does not end with one LF", name)
		case strings.Contains(text, "{{") || strings.Contains(text, "}}"):
			t.Errorf("%s has an unrendered mark", name)
		case strings.Contains(text, " \n") || strings.Contains(text, "\n\n\n"):
			t.Errorf("%s has stray white space", name)
		}
		if found := hostSyntax.FindString(text); found != "" {
			t.Errorf("%s names the syntax of a host: %q", name, found)
		}
	}
}

// yamlWords would not be read as strings when they stand bare.
var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "null", "~", ""}

// TestDescriptions: a description stands bare in YAML front matter.
func TestDescriptions(t *testing.T) {
	plainScalar := regexp.MustCompile(`^[A-Za-z][ -~]*[^ :]$`)
	for _, c := range capabilities() {
		d := c.description
		if !plainScalar.MatchString(d) || strings.Contains(d, ": ") || strings.Contains(d, " #") || slices.Contains(yamlWords, strings.ToLower(d)) {
			t.Errorf("%s: the description is no plain scalar: %q", c.name, d)
		}
	}
}

// item is one row of the lists in adapters.md, section 13: the texts that must
// state it, and words of theirs that do.
type item struct {
	id, texts string
	phrases   []string
}

const (
	everyText    = "run clarify propose decompose implement review workflow"
	interviewing = "run clarify workflow"
	bundling     = "run propose decompose"
	publishing   = "propose decompose"
	noActivity   = "print exactly `No test, typecheck, build, or lint activity was reported.`"
)

// TestChecklistIsComplete: every id of section 13 has a row.
func TestChecklistIsComplete(t *testing.T) {
	want := []string{"13 opening", "13.3 recipe", "13.4", "13.7", "13.10"}
	for letter, count := range map[string]int{"C": 12, "I": 8, "B": 7, "R": 19, "K": 5, "P": 10, "D": 9, "M": 7, "V": 6, "W": 10} {
		for n := 1; n <= count; n++ {
			want = append(want, fmt.Sprint(letter, n))
		}
	}
	var got []string
	for _, row := range checklist() {
		got = append(got, row.id)
	}
	slices.Sort(want)
	if got = slices.Compact(inOrder(got)); !slices.Equal(got, want) {
		t.Errorf("the checklist has\n%q, want\n%q", got, want)
	}
}

func TestChecklist(t *testing.T) {
	for _, row := range checklist() {
		for _, name := range strings.Fields(row.texts) {
			text := textOf(t, name)
			for _, phrase := range row.phrases {
				if !strings.Contains(text, phrase) {
					t.Errorf("%s: the text of %s does not say %q", row.id, name, phrase)
				}
			}
		}
	}
}

func checklist() []item {
	return slices.Concat(boundaryItems, interviewItems, sourceItems, runItems, clarifyItems,
		publicationItems, decomposeItems, implementItems, reviewItems, workflowItems)
}
