package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// waysToResume are the columns of [decidingRows]. $FORMER is a candidate that was
// resolved with $CHOSEN.
var waysToResume = []string{
	"",
	"--use-pinned-source=false --budget 7",
	"--use-pinned-source",
	"--source-file $TMP/same",
	"--source-file $TMP/unusable",
	"--source-file $TMP/other-issue",
	"--source-choice pinned --candidate unknown",
	"--source-choice adopt --candidate unknown",
	"--source-choice pinned --candidate $CANDIDATE",
	"--source-choice adopt --candidate $CANDIDATE",
	"--source-choice $CHOSEN --candidate $FORMER --budget 9",
	"--source-choice $SPURNED --candidate $FORMER",
	"--source-file $TMP/broken",
}

// decidingRows says for every state of a Run and every way to resume it which row
// of source.md, 11.1 decides. "-" is a way that there is not, "x" an envelope that
// can not be read, "ok" what the table leaves to Runs without a source; a letter
// tells what comes of a row apart.
const decidingRows = `
active               3   3   3   3   3   3   3   3   -   -   -   -   x
asked                3   3   3   3   3   3   3   3   -   -   -   -   x
destructive          3   3   3   3   3   3   3   3   -   -   -   -   x
environment          ok  ok  4   4   4   4   4   4   -   -   -   -   x
spent                ok  ok  4   4   4   4   4   4   -   -   -   -   x
stopped              ok  ok  4   4   4   4   4   4   -   -   -   -   x
ended                2   2   2   2   2   2   2   2   -   -   -   -   x
source               3   3   3   3   3   3   3   3   -   -   -   -   x
source,asked         3   3   3   3   3   3   3   3   -   -   -   -   x
source,environment   11  11  12  13  13c 13i 10  10  -   -   -   -   x
source,spent         11  11  12  13  13c 13i 10  10  -   -   -   -   x
source,stopped       11  11  12  13  13c 13i 10  10  -   -   -   -   x
source,ended         2   2   2   2   2   2   2   2   -   -   -   -   x
candidate            6   6   5   5   5   5   7   7   9p  9a  -   -   x
candidate,stopped    6   6   5   5   5   5   7   7   9p  9a  -   -   x
invalid              6   6   5   5   5   5   7   7   9p  8   -   -   x
invalid,stopped      6   6   5   5   5   5   7   7   9p  8   -   -   x
kept                 3   3   3   3   3   3   3   3   -   -   1   1x  x
kept,asked           3   3   3   3   3   3   3   3   -   -   1   1x  x
kept,environment     11  11  12  13  13c 13i 10  10  -   -   1   1x  x
kept,spent           11  11  12  13  13c 13i 10  10  -   -   1   1x  x
kept,stopped         11  11  12  13  13c 13i 10  10  -   -   1   1x  x
kept,ended           2   2   2   2   2   2   2   2   -   -   1   1x  x
kept,candidate       6   6   5   5   5   5   7   7   9p  9a  7   7   x
kept,invalid         6   6   5   5   5   5   7   7   9p  8   7   7   x
spurned,stopped      11  11  12  13  13c 13i 10  10  -   -   1   1x  x
adopted              3   3   3   3   3   3   3   3   -   -   1   1x  x
adopted,asked        3   3   3   3   3   3   3   3   -   -   1   1x  x
adopted,stopped      11  11  12  13  13c 13i 10  10  -   -   1   1x  x
adopted,ended        2   2   2   2   2   2   2   2   -   -   1   1x  x
adopted,candidate    6   6   5   5   5   5   7   7   9p  9a  7   7   x`

// refusals are what the rows refuse with, and whether next is the Run's own. Else
// it is that of [world.resumeChoices].
var refusals = map[string]struct {
	code schema.Code
	own  bool
}{
	"1x": {schema.CodeSourceChoiceConflict, false},
	"2":  {schema.CodeRunAlreadyEnded, true},
	"3":  {schema.CodeRunNotResumable, true},
	"4":  {schema.CodeSourceModeNotAllowed, false},
	"5":  {schema.CodeSourceCandidatePending, false},
	"6":  {schema.CodeSourceChoiceRequired, false},
	"7":  {schema.CodeStaleSourceCandidate, true},
	"8":  {schema.CodeInvalidSourceCandidateChoice, false},
	"10": {schema.CodeStaleSourceCandidate, true},
	"11": {schema.CodeSourceModeRequired, false},
}

// resumptions are what the other rows lead to: the operation of the answer, what it
// adds to the observations, and whether a candidate waits then.
var resumptions = map[string]struct {
	operation, observation string
	waits                  bool
}{
	"ok":  {"ad_hoc_resumed", "", false},
	"9p":  {"source_pinned", "source_pinned", false},
	"9a":  {"source_amended", "source_amended", false},
	"12":  {"source_refresh_skipped", "source_refresh_skipped", false},
	"13":  {"source_refreshed", "source_refreshed_unchanged", false},
	"13c": {"source_candidate_created", "source_candidate_invalid", true},
}

// bring brings a Run step by step into the state of a line of [decidingRows].
func (w *world) bring(steps string) {
	w.t.Helper()
	for _, name := range []string{"CANDIDATE", "FORMER", "CHOSEN", "SPURNED"} {
		delete(w.vars, name)
	}
	same := newIssue()
	for i, step := range strings.Split(steps, ",") {
		switch {
		case step == "candidate" && i == 0, step == "source":
			w.reach(step)
		case step == "candidate":
			w.stop()
			w.refresh(w.amendment(3001))
		case step == "invalid" && i == 0:
			w.reach("invalid candidate")
		case step == "invalid":
			w.stop()
			w.refresh(unusable())
		case step == "kept":
			w.reach("candidate")
			w.draft()
			w.choose("pinned")
		case step == "spurned":
			w.reach("invalid candidate")
			w.choose("pinned")
		case step == "adopted":
			w.reach("candidate")
			same = w.amended()
			w.vars["FIRST"] = w.vars["REQUIREMENTS"]
			w.choose("adopt")
		case i == 0:
			w.reach(step)
		default:
			w.lead(step)
		}
	}
	other := newIssue()
	other.id = "I_8"
	for name, head := range map[string]*issue{"same": same, "unusable": unusable(), "other-issue": other} {
		w.file(name, head.envelope(w.t))
	}
	w.file("broken", []byte("{"))
}

// draft leaves the revision that waits in $DRAFT.
func (w *world) draft() {
	w.vars["DRAFT"] = fmt.Sprint(w.last["source_candidate"].(map[string]any)["requirements_revision"])
}

// lead leads the Run on from its first Action.
func (w *world) lead(step string) {
	w.t.Helper()
	switch step {
	case "asked":
		w.submit(asks(schema.DecisionRequired, "which one?"))
	case "environment":
		w.submit(asks(schema.EnvironmentUnavailable, "is the network back?"))
	case "spent":
		w.stop()
		w.do("run/resume", map[string]any{"run": w.vars["RUN"], "use_pinned_source": true, "budget": 1})
		w.submit(nil)
	case "stopped":
		w.stop()
	case "ended":
		w.submit(nil)
		w.submit(nil)
	default:
		w.t.Fatalf("no step %q", step)
	}
}

// TestEveryWayToResume tries each way to resume in each state of a Run, with a
// daemon and without one.
func TestEveryWayToResume(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t)
	for line := range strings.Lines(strings.TrimPrefix(decidingRows, "\n")) {
		cells := strings.Fields(line)
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			w := shared.world(t)
			w.bring(cells[0])
			w.refuseAll(cells[1:])
			for i, row := range cells[1:] {
				if _, ok := resumptions[row]; ok {
					for _, mode := range []string{"SLIPWAY_DAEMON=require", "SLIPWAY_DAEMON=off"} {
						w.bring(cells[0])
						w.resumes(mode, waysToResume[i], row)
					}
				}
			}
		})
	}
}

// refuseAll tries the ways that change nothing, and looks that they do not.
func (w *world) refuseAll(rows []string) {
	w.t.Helper()
	status, files := w.statusOf(w.vars["RUN"]), w.stored(w.vars["RUN"])
	for i, row := range rows {
		_, resumes := resumptions[row]
		switch {
		case row == "-" || resumes:
			continue
		case row == "1":
			w.repeats(waysToResume[i], status)
		default:
			w.refuses(waysToResume[i], row, status)
		}
		if diff := gocmp.Diff(files, w.stored(w.vars["RUN"])); diff != "" {
			w.t.Fatalf("%q changes what is stored:\n%s", waysToResume[i], diff)
		}
	}
	if diff := gocmp.Diff(status, w.statusOf(w.vars["RUN"])); diff != "" {
		w.t.Errorf("the status changes:\n%s", diff)
	}
}

// refuses holds a refusal against its row.
func (w *world) refuses(way, row string, status map[string]any) {
	w.t.Helper()
	choices := w.resumeChoices(status)
	c := wrong{exit: 3, line: "protocol resume $RUN " + way, next: choices, details: runDetails}
	switch refusal, ok := refusals[row]; {
	case row == "x":
		c.code, c.exit, c.details = schema.CodeInvalidSourceCandidate, 2, ""
	case row == "13i":
		c.code, c.next, c.details = schema.CodeSourceIssueMismatch, "start start-with-source", "pinned_issue_id refreshed_issue_id run_id state"
	case ok:
		c.code = refusal.code
		if refusal.own {
			c.next = shown(status["next"])
		}
	default:
		w.t.Fatalf("no row %q", row)
	}
	failure := w.onTheLine(c)
	if c.details == "" {
		return
	}
	want := map[string]any{"run_id": w.vars["RUN"], "state": status["state"]}
	if row == "13i" {
		want["pinned_issue_id"], want["refreshed_issue_id"] = "I_7", "I_8"
	}
	if diff := gocmp.Diff(want, failure["details"]); diff != "" {
		w.t.Errorf("%q: details (-want +got):\n%s", way, diff)
	}
	if c.next == shown(status["next"]) {
		if diff := gocmp.Diff(status["next"], failure["next"]); diff != "" {
			w.t.Errorf("%q: next is not the Run's:\n%s", way, diff)
		}
	}
}

// resumeChoices are the resume choices only (next.md, section 3), in short.
func (w *world) resumeChoices(status map[string]any) string {
	candidate, _ := status["source_candidate"].(map[string]any)
	switch {
	case status["state"] == "ended":
		return nothing
	case candidate != nil && candidate["valid"] == true:
		return chooseNext
	case candidate != nil:
		return "resume keep-pinned"
	case status["pinned_source"] == nil:
		return "resume resume-ad-hoc"
	}
	return sourceNext
}

// repeats makes a choice once more: the answer is the Run as it is.
func (w *world) repeats(way string, status map[string]any) {
	w.t.Helper()
	operation := map[string]string{"pinned": "source_pinned", "adopt": "source_amended"}[w.vars["CHOSEN"]]
	want := map[string]any{
		"run_id": w.vars["RUN"], "state": status["state"], "next": status["next"], "pinned_source": status["pinned_source"],
		"action": status["current_action"], "resume_operation": operation, "budget_applied": true,
	}
	if status["current_action"] == nil {
		delete(want, "action")
	}
	for _, mode := range []string{"SLIPWAY_DAEMON=require", "SLIPWAY_DAEMON=off"} {
		got := w.answerOf(mode, "protocol resume $RUN "+way)
		for name := range got {
			if _, looked := want[name]; !looked {
				delete(got, name)
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			w.t.Errorf("%s: %q (-want +got):\n%s", mode, way, diff)
		}
	}
}

// resumes takes a way that leads on.
func (w *world) resumes(mode, way, row string) {
	w.t.Helper()
	want, before := resumptions[row], w.statusOf(w.vars["RUN"])
	got := w.answerOf(mode, "protocol resume $RUN "+way)
	after := w.statusOf(w.vars["RUN"])
	action, _ := got["action"].(map[string]any)
	state := "active"
	if want.waits {
		state = "paused"
	}
	brief := fmt.Sprint(got["state"], got["resume_operation"], got["budget_applied"], action["kind"] == "orient", got["source_candidate"] != nil)
	if expected := fmt.Sprint(state, want.operation, !want.waits, !want.waits, want.waits); brief != expected {
		w.t.Errorf("%s: %q: %s, not %s", mode, way, brief, expected)
	}
	if shown(got["next"]) != map[bool]string{false: stepNext, true: "resume keep-pinned"}[want.waits] {
		w.t.Errorf("%s: %q: next %s", mode, way, shown(got["next"]))
	}
	if diff := gocmp.Diff(got["next"], after["next"]); diff != "" {
		w.t.Errorf("%s: %q: the status has another next:\n%s", mode, way, diff)
	}
	added := observations(after)[len(observations(before)):]
	if want.observation == "" && len(added) > 0 || want.observation != "" && (len(added) != 1 || added[0] != want.observation) {
		w.t.Errorf("%s: %q: observed %v", mode, way, added)
	}
	if current, ok := before["current_action"].(map[string]any); ok {
		w.isVoided(after, fmt.Sprint(current["action_id"]))
	}
}

// observations are those of a status.
func observations(status map[string]any) []any {
	list, _ := status["observations"].([]any)
	return list
}

// isVoided looks that an Action does not count any more.
func (w *world) isVoided(status map[string]any, action string) {
	w.t.Helper()
	for _, entry := range status["actions"].([]any) {
		record := entry.(map[string]any)
		if record["action"].(map[string]any)["action_id"] == action && record["voided"] != true {
			w.t.Errorf("the Action that waited is not voided: %v", record)
		}
	}
}

// answerOf is what a line prints in a mode.
func (w *world) answerOf(mode, line string) map[string]any {
	w.t.Helper()
	moded := *w
	moded.env = append(slices.Clip(w.env), mode)
	return moded.json(line)
}

// json is what a line prints; it has to succeed.
func (w *world) json(line string) map[string]any {
	w.t.Helper()
	r := w.run(w.env, "", w.argv(line)...)
	var answer map[string]any
	if err := decodeNumbers(r.stdout, &answer); err != nil || r.exit != 0 {
		w.t.Fatalf("%q: exit %d, %s %v", line, r.exit, r.stderr, err)
	}
	return answer
}

// statusOf is the status of a Run.
func (w *world) statusOf(run string) map[string]any {
	w.t.Helper()
	return w.json("status --json -- " + run)
}

// stored are the files of a Run, but for the picture of it, finished or not, that
// follows when there is time (storage.md, section 5).
func (w *world) stored(run string) map[string]string {
	w.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(w.storage(run), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(entry.Name(), "run.json") {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}
