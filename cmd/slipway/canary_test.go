package main

import (
	"bytes"
	"io/fs"
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
		answered(0, "status", state.RunID, "--section", chapters[0].key)
		answered(0, "daemon", "stop") // it refreshes projections until it ends
		forbidden := []string{mark, "slipway-level:", "slipway-manifest", "slipway-section:v1 key=" + chapters[0].key + " -->\\n", "is_minimized", ".4711Z", ".4712Z", `"labels"`}
		files := 0
		for _, folder := range []string{w.storage(".."), homeOf(w.env)} {
			files += grep(t, folder, forbidden)
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

// grep looks for words in the names and the content of all files of a folder, and
// says how many these are. Materials are what the sections say, word for word.
func grep(t *testing.T, folder string, words []string) (files int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if filepath.Base(filepath.Dir(path)) == "materials" {
			return err
		}
		for _, word := range words {
			if bytes.Contains(content, []byte(word)) || strings.Contains(entry.Name(), word) {
				t.Errorf("%s holds %q", path, word)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
