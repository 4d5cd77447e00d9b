package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/schema"
)

// damages are what can have become of a stored text; the path is that of the file.
var damages = map[string]func(path string) error{
	"missing":            os.Remove,
	"empty":              func(path string) error { return os.Truncate(path, 0) },
	"truncated":          func(path string) error { return os.Truncate(path, 5) },
	"longer":             func(path string) error { return os.WriteFile(path, []byte("About outcome.\n\n"), 0o600) },
	"replaced":           func(path string) error { return os.WriteFile(path, []byte("About_outcome.\n"), 0o600) },
	"of another section": func(path string) error { return os.WriteFile(path, []byte("About constraints.\n"), 0o600) },
	"longest":            func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("x"), 262_144), 0o600) },
	"too long":           func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("x"), 262_145), 0o600) },
	"linked": func(path string) error {
		return errors.Join(os.Rename(path, path+".copy"), os.Symlink(filepath.Base(path)+".copy", path))
	},
	"linked to nothing": func(path string) error { return errors.Join(os.Remove(path), os.Symlink("nothing", path)) },
	"a folder":          func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	"without its folder": func(path string) error {
		return os.RemoveAll(filepath.Dir(path))
	},
}

// TestDamagedMaterial: reading fails and nothing else does, until the same text comes
// once more (source.md, the end of section 16).
func TestDamagedMaterial(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, w *world) {
		for name, damage := range damages {
			t.Run(name, func(t *testing.T) {
				within := *w
				within.t = t
				within.runWithout(name, damage)
			})
		}
		t.Run("of a candidate", func(t *testing.T) {
			within := *w
			within.t = t
			within.adoptWithout()
		})
	})
}

// materialPath is where a text of the Run is stored.
func (w *world) materialPath(text string) string {
	w.t.Helper()
	path := w.storage(w.vars["RUN"], "materials", strings.TrimPrefix(framed("slipway-material/v1", text), "sha256:"))
	if content, err := os.ReadFile(path); err != nil || string(content) != text {
		w.t.Fatalf("%q is not in %s: %q %v", text, path, content, err)
	}
	return path
}

// runWithout leads a Run on whose first section was damaged.
func (w *world) runWithout(name string, damage func(string) error) {
	w.t.Helper()
	w.file("head", newIssue().envelope(w.t))
	w.acts(w.json("run --json --no-review --source-file $TMP/head tidy"))
	path := w.materialPath("About outcome.\n")
	if err := damage(path); err != nil {
		w.t.Skip(err) // Windows without the right to make links
	}
	w.unreadable()
	if name != "without its folder" {
		w.reads("requirements", "About requirements.\n")
	}

	w.file("outcome", w.outcome(nil))
	w.acts(w.json("protocol submit --run $RUN --action $A --outcome-file $TMP/outcome"))
	w.json("status --json $RUN")
	w.json("stop --json $RUN")
	w.acts(w.json("protocol resume $RUN --use-pinned-source"))
	w.unreadable()

	w.json("stop --json $RUN")
	journal := w.stored(w.vars["RUN"])[w.storage(w.vars["RUN"], "journal.jsonl")]
	refresh := "protocol resume $RUN --source-file $TMP/head"
	if name != "missing" && name != "without its folder" {
		failure, err := w.run(w.env, "", w.argv(refresh)...).failed()
		want := wrong{code: schema.CodeMutationNotCommitted, exit: 3, next: nothing, details: mutation}
		if err != nil || brief(failure) != want.brief() {
			w.t.Fatalf("%s %v", brief(failure), err)
		}
		if now := w.stored(w.vars["RUN"])[w.storage(w.vars["RUN"], "journal.jsonl")]; now != journal {
			w.t.Error("a refresh that fails is in the journal")
		}
		if err := os.RemoveAll(path); err != nil {
			w.t.Fatal(err)
		}
	}
	w.acts(w.json(refresh))
	w.reads("outcome", "About outcome.\n")
	w.reads("requirements", "About requirements.\n")
}

// adoptWithout adopts a candidate one of whose texts is gone.
func (w *world) adoptWithout() {
	w.t.Helper()
	started := w.json("run --json --no-review --source-file " + w.file("head", newIssue().envelope(w.t)) + " tidy")
	w.acts(started)
	w.vars["REQUIREMENTS"] = started["pinned_source"].(map[string]any)["requirements_revision"].(string)
	w.json("stop --json $RUN")
	amended := w.amended()
	candidate := w.json("protocol resume $RUN --source-file " + w.file("head", amended.envelope(w.t)))["source_candidate"].(map[string]any)
	w.vars["CANDIDATE"] = candidate["candidate_id"].(string)
	if err := os.Remove(w.materialPath(amended.comments[0].text)); err != nil {
		w.t.Fatal(err)
	}
	w.acts(w.json("protocol resume $RUN --source-choice adopt --candidate $CANDIDATE"))
	w.unreadable()
	w.json("stop --json $RUN")
	w.acts(w.json("protocol resume $RUN --source-file $TMP/head"))
	w.reads("outcome", amended.comments[0].text)
}

// acts takes the Run and the Action of an answer.
func (w *world) acts(answer map[string]any) {
	action := answer["action"].(map[string]any)
	w.vars["RUN"], w.vars["A"], w.vars["KIND"] = answer["run_id"].(string), action["action_id"].(string), action["kind"].(string)
}

var readers = map[string]string{
	"protocol material --run $RUN --action $A --section ": "action_material",
	"status --json $RUN --section ":                       "pinned_material",
}

// unreadable looks that the first section can not be read.
func (w *world) unreadable() {
	w.t.Helper()
	want := wrong{code: schema.CodeMaterialUnavailable, exit: 3, next: inspectOne}
	for line := range readers {
		failure, err := w.run(w.env, "", w.argv(line+"outcome")...).failed()
		if err != nil || brief(failure) != want.brief() {
			w.t.Errorf("%q: %s %v", line, brief(failure), err)
		}
	}
}

// reads looks that a section can.
func (w *world) reads(section, text string) {
	w.t.Helper()
	for line, kind := range readers {
		answer := w.json(line + section)
		if got := answer["section"].(map[string]any)["markdown"]; got != text || answer["message_type"] != kind {
			w.t.Errorf("%q reads %q as %v", line+section, got, answer["message_type"])
		}
	}
}
