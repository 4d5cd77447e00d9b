package main

import (
	"bytes"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/schema"
)

// TestWhatIsNeverStored: what source.md, section 10, and storage.md, section 12,
// keep out of Runs is in no file that Slipway writes, the daemon's log included.
func TestWhatIsNeverStored(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, w *world) {
		const mark = "canary-"
		chapters := someChapters(rand.New(rand.NewPCG(3, 4)))[:5]
		for i, role := range []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"} {
			chapters[i].role = role
		}
		secrets := func(e map[string]any) {
			e["labels"], e["updated_at"], e["fetched_at"] = []string{mark + "label"}, "2031-01-05T08:00:00.4711Z", "2031-01-05T08:00:00.4712Z"
		}
		discussed := func(e map[string]any) { // one comment more than the manifest names
			secrets(e)
			comments := e["comments"].([]any)
			extra := maps.Clone(comments[0].(map[string]any))
			extra["node_id"], extra["author_id"], extra["body"] = mark+"node", mark+"author", mark+"discussion"
			extra["database_id"], extra["url"] = 9_999_999, e["canonical_url"].(string)+"#issuecomment-9999999"
			e["comments"] = append(comments, extra)
		}
		unread := func(e map[string]any) { // its comments are another's, its title is new
			secrets(e)
			e["body"], e["title"] = mark+"body of no Change", mark+"title"
			for _, c := range e["comments"].([]any) {
				c.(map[string]any)["body"], c.(map[string]any)["author_id"] = mark+"discussion", mark+"author"
			}
		}
		another := func(e map[string]any) {
			unread(e)
			e["issue_id"] = mark + "refused"
		}
		tail := "\n" + mark + "text after the manifest\n"
		path := w.file(mark+"path.json", envelopeOf(t, "Widgets", tail, chapters, secrets))
		env := append(w.env, "GITHUB_TOKEN="+mark+"credential")
		answered := func(exit int, args ...string) []byte {
			t.Helper()
			r := w.run(env, "", args...)
			if r.exit != exit {
				t.Fatalf("%q: exit %d, not %d: %s", args, r.exit, exit, r.stderr)
			}
			return r.stdout
		}
		var state schema.ProtocolState
		if err := decodeNumbers(answered(0, "run", "--json", "--source-file", path, "tidy"), &state); err != nil {
			t.Fatal(err)
		}
		resume := []string{"protocol", "resume", state.RunID, "--source-file", path}
		answered(0, "stop", state.RunID)
		answered(0, resume...) // unchanged
		answered(0, "stop", state.RunID)
		w.file(mark+"path.json", []byte(`{"`+mark+`key": "`+mark+`value"}`))
		answered(2, resume...)
		answered(2, "run", "--source-file", path, "tidy")
		w.file(mark+"path.json", envelopeOf(t, "Widgets", tail, chapters, another))
		answered(3, resume...)
		w.file(mark+"path.json", envelopeOf(t, "Widgets", tail, chapters, unread))
		answered(2, "run", "--source-file", path, "tidy")
		answered(0, resume...) // an invalid candidate
		answered(0, "stop", state.RunID)
		var waiting schema.RunStatus
		if err := decodeNumbers(answered(0, "status", state.RunID, "--json"), &waiting); err != nil || waiting.SourceCandidate == nil {
			t.Fatalf("no candidate: %v", err)
		}
		answered(0, "protocol", "resume", state.RunID, "--source-choice", "pinned", "--candidate", waiting.SourceCandidate.CandidateID)
		answered(0, "stop", state.RunID)
		w.file(mark+"path.json", envelopeOf(t, "Widgets", tail, chapters, discussed))
		answered(2, "run", "--source-file", path, "tidy")
		answered(0, resume...) // an invalid candidate
		answered(0, "status", state.RunID, "--section", chapters[0].key)
		answered(0, "daemon", "stop") // it refreshes projections until it ends
		forbidden := []string{mark, "slipway-level:", "slipway-manifest", "slipway-section:v1 key=" + chapters[0].key + " -->\\n", "is_minimized", ".4711Z", ".4712Z", `"labels"`}
		var texts strings.Builder
		for _, c := range chapters {
			texts.WriteString(c.payload)
		}
		files, materials := 0, 0
		for _, folder := range []string{w.storage(".."), homeOf(w.env)} {
			found := searchFolder(t, folder, forbidden)
			files, materials = files+found.files, materials+found.materials
			for _, place := range found.places {
				if !place.material || !strings.Contains(texts.String(), place.word) { // a section may say anything
					t.Errorf("%s holds %q", place.path, place.word)
				}
			}
		}
		if materials != len(chapters) {
			t.Errorf("%d materials for %d sections", materials, len(chapters))
		}
		if least := 1 + 1 + len(chapters); files < least {
			t.Errorf("only %d files were looked at", files)
		}
	})
}

// homeOf is the home of an environment, in which the daemon keeps its files too.
func homeOf(env []string) (home string) {
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, "HOME="); found {
			home = value
		}
	}
	return home
}

// TestTheSearchFindsWhatIsPlanted: a search that finds nothing proves something only
// where it would have found it, materials and names of files included.
func TestTheSearchFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"journal.jsonl":         `{"a":"canary-x"}`,
		"materials/aa":          "text\ncanary-x\n",
		"deep/er/run.json":      "canary-x",
		"materials/.canary-xbb": "text",
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := searchFolder(t, folder, []string{"canary-x"}); len(found.places) != 1 || found.files != 1 {
			t.Errorf("%s: %+v", name, found)
		}
		if found := searchFolder(t, folder, []string{"canary-y"}); len(found.places) != 0 || found.files != 1 {
			t.Errorf("%s, of another word: %+v", name, found)
		}
	}
}

// searched is what a search has looked at and found.
type searched struct {
	files, materials int
	places           []finding
}

// finding is a word in a file.
type finding struct {
	path, word string
	material   bool
}

// searchFolder looks for words in the names and the content of all files of a folder.
func searchFolder(t *testing.T, folder string, words []string) (found searched) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		found.files++
		material := filepath.Base(filepath.Dir(path)) == "materials"
		if material {
			found.materials++
		}
		content, err := os.ReadFile(path)
		for _, word := range words {
			if bytes.Contains(content, []byte(word)) || strings.Contains(entry.Name(), word) {
				found.places = append(found.places, finding{path, word, material})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
