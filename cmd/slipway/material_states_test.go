package main

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// TestMaterialInEveryState: who works reads while the Action waits for its Outcome or
// an answer; everyone may look at any time (source.md, section 16).
func TestMaterialInEveryState(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t)
	for _, state := range []struct {
		steps string
		works bool   // the Action is still to be worked on
		text  string // of the first section
	}{
		{"source", true, "About outcome.\n"},
		{"source,asked", true, "About outcome.\n"},
		{"source,environment", true, "About outcome.\n"},
		{"source,spent", false, "About outcome.\n"},
		{"source,stopped", false, "About outcome.\n"},
		{"source,ended", false, "About outcome.\n"},
		{"candidate", false, "About outcome.\n"},
		{"invalid", false, "About outcome.\n"},
		{"kept", true, "About outcome.\n"},
		{"kept,ended", false, "About outcome.\n"},
		{"adopted", true, "Something else, as 2001 says.\n"},
		{"adopted,candidate", false, "Something else, as 2001 says.\n"},
	} {
		t.Run(state.steps, func(t *testing.T) {
			t.Parallel()
			w := shared.world(t)
			w.bring(state.steps)
			status, files := w.statusOf(w.vars["RUN"]), w.stored(w.vars["RUN"])
			const read = "protocol material --run $RUN --action "
			for _, mode := range []string{"SLIPWAY_DAEMON=require", "SLIPWAY_DAEMON=off"} {
				w.isPinned(mode, status, state.text)
				if state.works {
					w.isOfTheAction(mode, status, state.text)
				}
			}
			if state.works {
				w.onTheLine(wrong{code: schema.CodeMaterialSectionNotFound, exit: 3, line: read + "$A --section unknown", next: inspectOne})
			} else {
				own := shown(status["next"])
				w.onTheLine(wrong{code: schema.CodeMaterialActionStale, exit: 3, line: read + "$A --section outcome", next: own})
				w.onTheLine(wrong{code: schema.CodeMaterialActionStale, exit: 3, line: read + "$A --section unknown", next: own})
			}
			w.onTheLine(wrong{code: schema.CodeMaterialActionNotFound, exit: 3, line: read + "nobody --section unknown", next: inspectOne})
			w.onTheLine(wrong{code: schema.CodeMaterialSectionInvalid, exit: 3, line: read + "nobody --section Outcome", next: inspectOne})
			w.onTheLine(wrong{code: schema.CodeMaterialSectionNotFound, exit: 3, line: "status $RUN --section unknown", next: inspectOne})
			if diff := gocmp.Diff(files, w.stored(w.vars["RUN"])); diff != "" {
				t.Errorf("reading changes what is stored:\n%s", diff)
			}
		})
	}
}

// isPinned holds what status shows of the first section against the status.
func (w *world) isPinned(mode string, status map[string]any, text string) {
	w.t.Helper()
	pinned := status["pinned_source"].(map[string]any)
	want := map[string]any{
		"contract_version": status["contract_version"], "message_type": "pinned_material", "run_id": w.vars["RUN"], "run_state": status["state"],
		"source_revision": pinned["source_revision"], "requirements_revision": pinned["requirements_revision"], "section": firstSection(pinned, text),
	}
	if diff := gocmp.Diff(want, w.answerOf(mode, "status --json $RUN --section outcome")); diff != "" {
		w.t.Errorf("%s: status (-want +got):\n%s", mode, diff)
	}
}

// isOfTheAction holds what an Action reads of the first section against the status.
func (w *world) isOfTheAction(mode string, status map[string]any, text string) {
	w.t.Helper()
	pinned := status["pinned_source"].(map[string]any)
	want := map[string]any{
		"contract_version": status["contract_version"], "message_type": "action_material", "run_id": w.vars["RUN"], "action_id": w.vars["A"],
		"requirements_revision": pinned["requirements_revision"], "section": firstSection(pinned, text),
	}
	if diff := gocmp.Diff(want, w.answerOf(mode, "protocol material --run $RUN --action $A --section outcome")); diff != "" {
		w.t.Errorf("%s: material (-want +got):\n%s", mode, diff)
	}
}

// firstSection is the first section of a catalog with its text.
func firstSection(pinned map[string]any, text string) map[string]any {
	entry := pinned["sections"].([]any)[0].(map[string]any)
	return map[string]any{
		"key": entry["key"], "role": entry["role"], "title": entry["title"], "section_revision": entry["section_revision"], "markdown": text,
	}
}
