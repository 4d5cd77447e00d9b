package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"slipway/schema"
)

// sourceLimit is a limit of source.md, section 6: an Issue that meets it exactly, one
// that is beyond by one, and how a refresh classifies that one; "" where the envelope
// is refused.
type sourceLimit struct {
	name           string
	within, beyond func(*issue)
	classification string
}

// chapters makes the Issue one of n chapters.
func chapters(n int) func(*issue) {
	return func(i *issue) {
		for len(i.comments) < n {
			id := 3001 + len(i.comments)
			i.comments = append(i.comments, issueComment{key: fmt.Sprintf("more-%d", id), role: "constraints", text: fmt.Sprintf("As %d says.\n", id), id: id})
		}
		i.comments = i.comments[:n]
	}
}

// first edits the first chapter.
func first(edit func(*issueComment)) func(*issue) {
	return func(i *issue) { edit(&i.comments[0]) }
}

func titled(title string) func(*issue) { return first(func(c *issueComment) { c.title = title }) }
func keyed(key string) func(*issue)    { return first(func(c *issueComment) { c.key = key }) }
func payload(text string) func(*issue) { return first(func(c *issueComment) { c.text = text }) }
func marked(number int) func(*issue) {
	return sent(func(e map[string]any) { e["labels"] = slices.Repeat([]string{"a"}, number) })
}
func commented(number int) func(*issue) {
	return both(chapters(64), sent(func(e map[string]any) { comment(e, number) }))
}

// sent changes what is sent of the Issue.
func sent(change func(map[string]any)) func(*issue) {
	return func(i *issue) { i.change = change }
}

// comment sends so many comments, whatever the manifest names.
func comment(envelope map[string]any, number int) {
	comments := envelope["comments"].([]map[string]any)
	for id := 9001; len(comments) < number; id++ {
		more := map[string]any{}
		for key, value := range comments[0] {
			more[key] = value
		}
		more["node_id"], more["database_id"], more["url"] = fmt.Sprintf("IC_%d", id), id, fmt.Sprintf("%s#issuecomment-%d", envelope["canonical_url"], id)
		comments = append(comments, more)
	}
	envelope["comments"] = comments[:number]
}

// listing makes the JSON between the fences have so many bytes.
func listing(size int, filler string) func(*issue) {
	return sent(func(envelope map[string]any) {
		const opening, closing = "<!-- slipway-level: change/v2 -->\n```slipway-manifest\n", "\n```\n"
		body := envelope["body"].(string)
		used := len(body) - len(opening) - len(closing)
		envelope["body"] = opening + strings.Repeat(filler, (size-used)/len(filler)) + body[len(opening):]
	})
}

// full makes all texts together as long as they may be, and spare bytes longer. All
// but the last are equal.
func full(spare int) func(*issue) {
	return func(i *issue) {
		chapters(16)(i)
		for n := range i.comments {
			i.comments[n].text = strings.Repeat("x", 262_144)
		}
		if spare > 0 {
			chapters(17)(i)
			i.comments[16].text = strings.Repeat("y", spare)
		}
	}
}

func everySourceLimit() []sourceLimit {
	const invalid = "source_manifest_invalid"
	x := func(n int) string { return strings.Repeat("x", n) }
	return []sourceLimit{
		{"labels", marked(100), marked(101), ""},
		{"comments", commented(64), commented(65), ""},
		{"manifest, blanks", listing(262_144, " "), listing(262_145, " "), invalid},
		{"manifest, lines", listing(262_144, "\n"), listing(262_145, "\n"), invalid},
		{"most sections", chapters(64), both(chapters(65), sent(func(e map[string]any) { comment(e, 64) })), invalid},
		{"fewest sections", chapters(5), chapters(4), invalid},
		{"key", keyed(x(64)), keyed(x(65)), invalid},
		{"key, far beyond", keyed(x(64)), keyed(x(5_000)), invalid},
		{"unknown key, far beyond", sent(func(map[string]any) {}), sent(func(e map[string]any) {
			e["body"] = strings.Replace(e["body"].(string), `"profile"`, `"`+x(5_000)+`":1,"profile"`, 1)
		}), invalid},
		{"title", titled(x(512)), titled(x(513)), invalid},
		{"title, bytes", titled(strings.Repeat("é", 256)), titled(strings.Repeat("é", 256) + "x"), invalid},
		{"title, far beyond", titled(x(512)), titled(x(5_000)), invalid},
		{"shortest text", payload("x"), payload(""), "source_section_invalid"},
		{"longest text", payload(x(262_144)), payload(x(262_145)), "source_section_too_large"},
		{"longest text, bytes", payload(strings.Repeat("é", 131_072)), payload(strings.Repeat("é", 131_072) + "\n"), "source_section_too_large"},
		{"all texts", full(0), full(1), "source_bundle_too_large"},
	}
}

// TestSourceLimits meets each limit exactly and by one too many, at the start of a
// Run and in a refresh, the one with a daemon, the other without.
func TestSourceLimits(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.bring("source,stopped")
	for _, l := range everySourceLimit() {
		within, beyond := newIssue(), newIssue()
		l.within(within)
		l.beyond(beyond)
		w.file("within", within.envelope(t))
		w.file("beyond", beyond.envelope(t))
		w.notStarted(l.name)
		started := w.json("run --json --no-review --source-file $TMP/within tidy")
		if got := len(started["pinned_source"].(map[string]any)["sections"].([]any)); got != len(within.comments) {
			t.Errorf("%s: %d sections are pinned, not %d", l.name, got, len(within.comments))
		}

		for _, head := range []*issue{within, beyond} {
			head.parent = w.vars["REQUIREMENTS"]
			for n := range head.comments {
				head.comments[n].id += 10_000
			}
		}
		w.file("within", within.envelope(t))
		w.file("beyond", beyond.envelope(t))
		w.classified(l.name, "within", "valid_change")
		if l.classification == "" {
			w.meetOff("protocol resume $RUN --source-file $TMP/beyond", schema.CodeInvalidSourceCandidate, 2)
			continue
		}
		w.classified(l.name, "beyond", l.classification)
	}
}

// notStarted looks that no Run starts from beyond.
func (w *world) notStarted(name string) {
	w.t.Helper()
	before, err := os.ReadDir(w.storage())
	if err != nil {
		w.t.Fatal(err)
	}
	failure, err := w.run(w.env, "", w.argv("run --no-review --source-file $TMP/beyond tidy")...).failed()
	if err != nil || brief(failure) != `invalid_source, exit 2, next "start start-with-source", details ""` {
		w.t.Errorf("%s: %s %v", name, brief(failure), err)
	}
	if after, err := os.ReadDir(w.storage()); err != nil || len(after) != len(before) {
		w.t.Errorf("%s: %d Runs are %d (%v)", name, len(before), len(after), err)
	}
}

// classified refreshes the Run and looks what the head is found to be.
func (w *world) classified(name, file, want string) {
	w.t.Helper()
	answer := w.answerOf("SLIPWAY_DAEMON=off", "protocol resume $RUN --source-file $TMP/"+file)
	candidate, ok := answer["source_candidate"].(map[string]any)
	if !ok || candidate["classification_code"] != want {
		w.t.Fatalf("%s, %s: %v, not %s", name, file, candidate["classification_code"], want)
	}
	reason, ok := candidate["classification_error"].(string)
	if ok == (want == "valid_change") || ok && (schema.IsBlank(reason) || len(reason) > 1_024 || !schema.IsPlain(reason)) {
		w.t.Errorf("%s: classification_error %q", name, reason)
	}
	w.vars["CANDIDATE"] = fmt.Sprint(candidate["candidate_id"])
	w.choose("pinned")
	w.stop()
}

// meetOff is [world.meet] without a daemon and without an input.
func (w *world) meetOff(line string, code schema.Code, exit int) {
	w.t.Helper()
	other := *w
	other.env = append(slices.Clip(w.env), "SLIPWAY_DAEMON=off")
	other.meet(line, "", code, exit)
}

// TestLongestEnvelope: white space counts, and one byte more is refused before the
// Run is looked at.
func TestLongestEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorlds(t).world(t)
	w.bring("source,stopped")
	head := newIssue().envelope(t)
	longest := append(head, bytes.Repeat([]byte(" "), 16_777_216-len(head))...)
	w.file("within", longest)
	w.file("beyond", append(longest, '\n'))
	before := w.stored(w.vars["RUN"])
	w.meet("protocol resume $RUN --source-file $TMP/beyond", "", schema.CodeInvalidSourceCandidate, 2)
	if after := w.stored(w.vars["RUN"]); len(after) != len(before) {
		t.Error("a refused envelope leaves something")
	}
	w.meet("protocol resume $RUN --source-file $TMP/within", "", "", 0)
}
