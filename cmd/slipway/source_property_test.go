package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"slipway/schema"
)

// chapter is a section of an Issue as a test invents it: the payload is what has
// to come of it, the body how it stands in its comment.
type chapter struct {
	key, role, title, payload, body string
	number                          int
}

// framed is the digest of source.md, section 7, written down once more.
func framed(fields ...string) string {
	var all []byte
	for _, field := range fields {
		all = append(binary.BigEndian.AppendUint64(all, uint64(len(field))), field...)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(all))
}

func lineFeeds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// pieces are what texts are made of: all that a reader of Markdown could trip over.
var pieces = []string{
	"word ", "\n", "\n\n", "\r\n", "\r", "\t", "```\n", "````\n", "~~~\n", "    ```\n", "   ~~~~ js\n", "> ```\n", "- ```\n  ",
	"````\n```\n~~~\n```slipway-manifest\n```\n~~~\n````\n", "<!-- slipway-level: change/v2 -->\n", "<!-- slipway-section:v1 key=k0 -->\n",
	"<!-- slipway-level: objective/v1 -->", "{\"a\":1}", "\\u0041", "$(rm -rf .)", "`id`", "\u2028", "\u2029", "\ufeff", "\u200b", "\u202e",
	"\u0301", "é", "漢字", "🏔", "\U0010ffff", "\uffff", "\u00a0", " ", "# ", "---\n", "</script>", "\"", "'", "&amp;", "%s", "\\",
}

func someText(random *rand.Rand) string {
	for {
		var b strings.Builder
		for range 1 + random.IntN(30) {
			if random.IntN(8) == 0 {
				r := rune(random.IntN(0x110000))
				if r < 0xa0 || 0xd800 <= r && r < 0xe000 {
					continue // controls and what is no character
				}
				b.WriteRune(r)
				continue
			}
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if !schema.IsBlank(b.String()) {
			return b.String()
		}
	}
}

func someChapters(random *rand.Rand) []chapter {
	roles := []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"}
	chapters := make([]chapter, 5+random.IntN(20))
	for i := range chapters {
		text := someText(random)
		c := chapter{key: fmt.Sprintf("k%d", i), role: roles[i%5], title: "§ " + strings.Join(strings.Fields(fmt.Sprint(random.Perm(4))), "é"), number: 101 + i}
		c.payload = lineFeeds(text)
		end := []string{"\n", "\r\n", "\r"}[random.IntN(3)]
		if end == "\r" && strings.HasPrefix(text, "\n") {
			end = "\r\n" // one line end, not two
		}
		c.body = strings.Repeat(" \t"+end, random.IntN(3)) + "<!-- slipway-section:v1 key=" + c.key + " -->" + end + text
		chapters[i] = c
	}
	random.Shuffle(len(chapters), func(i, j int) { chapters[i], chapters[j] = chapters[j], chapters[i] })
	return chapters
}

// revisions are computed from the chapters alone.
func revisions(title string, chapters []chapter) (manifest, requirements, source string) {
	m := []string{"slipway-manifest/v2", "2", "change/v2", ""}
	r := []string{"slipway-requirements/v2", "change/v2"}
	for _, c := range chapters {
		m = append(m, c.key, c.role, c.title, fmt.Sprintf("IC_%d", c.number), fmt.Sprint(c.number), framed("slipway-comment-body/v1", lineFeeds(c.body)))
		r = append(r, c.key, c.role, c.title, framed("slipway-section/v2", c.key, c.role, c.title, c.payload))
	}
	manifest, requirements = framed(m...), framed(r...)
	return manifest, requirements, framed("slipway-source/v2", "2", "github.com", "R_1", "I_7", title, manifest)
}

// envelopeOf spells the chapters as a host would; tail stands after the manifest.
func envelopeOf(t *testing.T, title, tail string, chapters []chapter, change func(map[string]any)) []byte {
	t.Helper()
	const at, url = "2026-01-05T08:00:00Z", "https://github.com/example-org/widgets/issues/7"
	sections, comments := []any{}, []any{}
	for _, c := range chapters {
		node := fmt.Sprintf("IC_%d", c.number)
		sections = append(sections, map[string]any{"key": c.key, "role": c.role, "title": c.title, "comment_node_id": node,
			"comment_database_id": c.number, "body_sha256": framed("slipway-comment-body/v1", lineFeeds(c.body))})
		comments = append(comments, map[string]any{"node_id": node, "database_id": c.number, "url": fmt.Sprintf("%s#issuecomment-%d", url, c.number),
			"updated_at": at, "author_id": "U_1", "is_minimized": false, "body": c.body})
	}
	manifest, err := json.MarshalIndent(map[string]any{"manifest_version": 2, "profile": "change/v2", "sections": sections}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	envelope := map[string]any{
		"source_version": 2, "provider": "github", "host": "github.com", "repository_id": "R_1", "issue_id": "I_7", "issue_number": 7,
		"canonical_url": url, "updated_at": at, "fetched_at": at, "title": title, "labels": []string{}, "comments": comments,
		"body": "<!-- slipway-level: change/v2 -->\r\n```slipway-manifest\n" + string(manifest) + "\n```\n" + tail,
	}
	if change != nil {
		change(envelope)
	}
	text, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inBothModes runs a test with a daemon and without one, in a world of its own.
func inBothModes(t *testing.T, test func(*testing.T, *world)) {
	for mode, setting := range map[string]string{"daemon": "require", "embedded": "off"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(t, newWorlds(t, "SLIPWAY_DAEMON="+setting).world(t))
		})
	}
}

// TestRunsOfInventedIssues: whatever the sections say, the Run has the revisions
// that follow from them, and gives every text back as it was.
func TestRunsOfInventedIssues(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, w *world) {
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		rounds := 8
		if os.Getenv("SLIPWAY_SOAK") != "" {
			rounds = 300
		}
		for range rounds {
			chapters := someChapters(random)
			title := "Title " + strings.Join(strings.Fields(someText(random)), " ")
			path := w.file("envelope.json", envelopeOf(t, title, "", chapters, nil))
			answer := w.run(w.env, "", "run", "--json", "--source-file", path, "tidy the notes")
			var state schema.ProtocolState
			if err := json.Unmarshal(answer.stdout, &state); err != nil || answer.exit != 0 {
				t.Fatalf("seed %d: %s %v", seed, answer.stderr, err)
			}
			manifest, requirements, source := revisions(title, chapters)
			got := state.PinnedSource
			if string(got.ManifestRevision) != manifest || string(got.RequirementsRevision) != requirements || string(got.SourceRevision) != source {
				t.Fatalf("seed %d: other revisions than computed: %+v", seed, got)
			}
			c := chapters[random.IntN(len(chapters))]
			answer = w.run(w.env, "", "protocol", "material", "--run", state.RunID, "--action", state.Action.ActionID, "--section", c.key)
			var material schema.ActionMaterial
			if err := json.Unmarshal(answer.stdout, &material); err != nil || material.Section.Markdown != c.payload {
				t.Fatalf("seed %d: %s reads %q, not %q (%v)", seed, c.key, material.Section.Markdown, c.payload, err)
			}
			answer = w.run(w.env, "", "status", state.RunID, "--section", c.key)
			if !bytes.HasSuffix(answer.stdout, []byte("\n\n"+strings.TrimSuffix(c.payload, "\n")+"\n")) {
				t.Fatalf("seed %d: %s shows %q, not %q", seed, c.key, answer.stdout, c.payload)
			}
		}
	})
}
