package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// standIn does what the text of slipway-run says, step by step: commands,
// Outcomes and what follows an answer come out of the text, and what a model and
// a user would add comes out of a script.
type standIn struct {
	w      *world
	text   *hostText
	used   map[string]bool // headings of the commands that were run
	values map[string]string
	place  any // the workspace_identity that every next has to carry
	answer map[string]any
}

// stray is a place where the text did not lead on.
type stray struct{ err error }

// follow goes through a script and says where it could not be followed.
func follow(w *world, text string, script func(*standIn)) (used map[string]bool, err error) {
	h := &standIn{w: w, used: map[string]bool{}, values: map[string]string{"ABSOLUTE_ROOT": w.vars["ROOT"]}}
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stray)
			if !ok {
				panic(r)
			}
			used, err = h.used, s.err
		}
	}()
	if h.text, err = readHostText(text); err != nil {
		return nil, err
	}
	script(h)
	return h.used, nil
}

func (h *standIn) must(ok bool, format string, args ...any) {
	if !ok {
		panic(stray{fmt.Errorf(format, args...)})
	}
}

// command is the one command below a heading, with its words in capitals
// replaced.
func (h *standIn) command(heading string) []string {
	var found [][]string
	for _, c := range h.text.commands {
		if c.heading == heading {
			found = append(found, c.words)
		}
	}
	h.must(len(found) == 1, "%d commands below %q", len(found), heading)
	h.used[heading] = true
	words := slices.Clone(found[0])
	for i, word := range words {
		if textWord.MatchString(word) {
			words[i] = h.value(word)
		}
	}
	return words
}

// value is what a word in capitals stands for; the text has to explain it.
func (h *standIn) value(word string) string {
	explained := slices.ContainsFunc(h.text.rows, func(row []string) bool { return slices.Contains(codes(row[0]), word) })
	h.must(explained, "no table explains %s", word)
	h.must(h.values[word] != "", "there is no value for %s", word)
	return h.values[word]
}

// execute runs a command somewhere outside the worktree.
func (h *standIn) execute(words []string, stdin string) ran {
	h.must(len(words) > 0 && words[0] == "slipway", "%q is no command of slipway", words)
	cmd := exec.Command(program(words[0]), words[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin = h.w.env, h.w.vars["TMP"], strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	h.must(err == nil || cmd.ProcessState != nil, "%q: %v", words, err)
	return ran{cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes()}
}

// object is the JSON that a successful command printed.
func (h *standIn) object(words []string, stdin string) map[string]any {
	r := h.execute(words, stdin)
	h.must(r.exit == 0, "%q: exit %d: %s", words, r.exit, r.stderr)
	var object map[string]any
	err := json.Unmarshal(r.stdout, &object)
	h.must(err == nil && object["contract_version"] == 2.0, "%q printed %.200q", words, r.stdout)
	return object
}

// take makes an answer the current one ("The loop", step 1).
func (h *standIn) take(answer map[string]any) {
	h.answer = answer
	h.values["RUN"] = fmt.Sprint(answer["run_id"])
	if action, ok := answer["action"].(map[string]any); ok {
		h.values["ACTION"] = fmt.Sprint(action["action_id"])
	}
	next, ok := answer["next"].(map[string]any)
	h.must(ok, "an answer without next: %v", answer)
	if h.place == nil {
		h.place = next["workspace_identity"]
	}
	h.must(reflect.DeepEqual(h.place, next["workspace_identity"]), "another workspace: %v", next["workspace_identity"])
	if reason := answer["pause_reason"]; reason != nil {
		h.must(len(h.text.cells("`paused`", fmt.Sprintf("`%v`", reason))) == 1, "no row for the pause %v", reason)
	} else {
		h.must(len(h.text.cells(fmt.Sprintf("`%v`", answer["state"]), "")) == 1, "no row for the state %v", answer["state"])
	}
}

// write makes the private temporary file that a word stands for.
func (h *standIn) write(word string, content []byte) {
	path := filepath.Join(h.w.vars["TMP"], strings.ToLower(word))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		panic(err)
	}
	h.values[word] = path
}

// forget deletes the private files, now that an answer is there.
func (h *standIn) forget() {
	for word, path := range h.values {
		if strings.HasSuffix(word, "_FILE") {
			os.Remove(path)
			delete(h.values, word)
		}
	}
}

// identify is the identity check of the boundaries.
func (h *standIn) identify() {
	hosts, _ := h.object(h.command("Identity check"), "")["hosts"].([]any)
	h.must(len(hosts) > 0, "no hosts")
	for _, entry := range hosts {
		host, _ := entry.(map[string]any)
		_, listed := host["capabilities"].([]any)
		h.must(host["id"] != "" && listed, "host %v", host)
	}
}

// runs lists the Runs.
func (h *standIn) runs() (listed []map[string]any) {
	entries, ok := h.object(h.command("List the Runs"), "")["runs"].([]any)
	h.must(ok, "no list of Runs")
	for _, entry := range entries {
		listed = append(listed, entry.(map[string]any))
	}
	return listed
}

// look takes the Run as it is now.
func (h *standIn) look() map[string]any {
	status := h.object(h.command("Look at a Run"), "")
	status["run_id"], status["action"] = status["id"], status["current_action"]
	h.take(status)
	return status
}

// start starts a Run of n Actions.
func (h *standIn) start(heading string, n int) {
	h.values["N"] = fmt.Sprint(n)
	h.take(h.object(h.command(heading), ""))
	h.forget()
	status := h.look()
	h.must(status["initial_budget"] == float64(n), "a budget of %v", status["initial_budget"])
	delete(h.values, "N")
	_, pinned := status["pinned_source"]
	h.must(pinned == strings.Contains(heading, "issue-backed"), "%s: pinned_source is %v", heading, status["pinned_source"])
	h.must(status["review_enabled"] == !strings.Contains(heading, "without Review"), "%s: review_enabled is %v", heading, status["review_enabled"])
}

// variant resolves a variant of next by the rules of the text. Optional inputs
// get a value where their word has one. The text shows the same command.
func (h *standIn) variant(id, heading string) []string {
	next := h.answer["next"].(map[string]any)
	for _, entry := range next["variants"].([]any) {
		v := entry.(map[string]any)
		if v["id"] != id {
			continue
		}
		words, added := stringsOf(v["base_argv"]), []string{}
		for _, entry := range v["inputs"].([]any) {
			input := entry.(map[string]any)
			word := strings.ToUpper(fmt.Sprint(input["name"]))
			if word == "BUDGET" {
				word = "N"
			}
			if input["required"] == true || h.values[word] != "" {
				added = append(added, fmt.Sprint(input["flag"]), h.value(word))
			}
		}
		at := len(words)
		if i := slices.Index(words, "--"); i >= 0 {
			at = i
		}
		words = slices.Insert(words, at, added...)
		shown := h.command(heading)
		h.must(slices.Equal(words, shown), "%s is %q, and the text shows %q", id, words, shown)
		return words
	}
	h.must(false, "%s is no variant of %v", id, next["variants"])
	return nil
}

// step runs a variant and takes its answer.
func (h *standIn) step(id, heading string) {
	h.take(h.object(h.variant(id, heading), ""))
	h.forget()
}

// reply answers a pause through a variant that the row of the pause names.
func (h *standIn) reply(id, heading, text string) {
	row := h.text.cells("`paused`", fmt.Sprintf("`%v`", h.answer["pause_reason"]))
	h.must(len(row) == 1 && slices.Contains(codes(row[0][0]), id), "the row of %v does not name %s", h.answer["pause_reason"], id)
	if text != "" {
		h.write("TEXT_FILE", []byte(text))
	}
	h.step(id, heading)
}

// outcome is the example of the text for the current Action, changed by edit.
func (h *standIn) outcome(kind, status string, edit func(map[string]any)) []byte {
	action, _ := h.answer["action"].(map[string]any)
	h.must(h.answer["state"] == "active" && action["kind"] == kind, "%v: %v is no %s", h.answer["state"], action["kind"], kind)
	for _, shown := range h.text.outcomes {
		if shown["action_kind"] != kind || shown["status"] != status {
			continue
		}
		outcome := maps.Clone(shown)
		outcome["action_id"] = h.values["ACTION"]
		if edit != nil {
			edit(outcome)
		}
		text, err := json.Marshal(outcome)
		h.must(err == nil, "%v", err)
		return text
	}
	h.must(false, "no Outcome of %s, %s is shown", kind, status)
	return nil
}

const submitFile = "Submit from a file: `submit-outcome-file`"

// report does the current Action: it reads the requirements and submits.
func (h *standIn) report(kind, status string, edit func(map[string]any)) {
	h.readRequirements()
	h.write("OUTCOME_FILE", h.outcome(kind, status, edit))
	h.step("submit-outcome-file", submitFile)
}

// reportOnInput is report through the other submit variant.
func (h *standIn) reportOnInput(kind, status string, edit func(map[string]any)) {
	h.readRequirements()
	text := h.outcome(kind, status, edit)
	h.take(h.object(h.variant("submit-outcome-stdin", "Submit on standard input: `submit-outcome-stdin`"), string(text)))
}

// reportInVain submits an Outcome that is refused, and gives what the table of
// errors says.
func (h *standIn) reportInVain(kind, status string, edit func(map[string]any)) {
	h.write("OUTCOME_FILE", h.outcome(kind, status, edit))
	r := h.execute(h.variant("submit-outcome-file", submitFile), "")
	failure, err := r.failed()
	h.must(err == nil, "%v", err)
	code, exit := fmt.Sprintf("`%v`", failure["code"]), fmt.Sprintf("`exit_code` %v", failure["exit_code"])
	i := slices.IndexFunc(h.text.rows, func(row []string) bool {
		return len(row) == 2 && (strings.Contains(row[0], code) || strings.HasPrefix(row[0], exit))
	})
	h.must(i >= 0 && strings.Contains(h.text.rows[i][1], "correct"), "no row says what to do after %s", r.stderr)
	before := h.values["ACTION"]
	h.look()
	h.must(h.values["ACTION"] == before, "the refused Outcome changed the Run")
}

// readRequirements reads every section of an issue-backed Action, as "Read the
// requirements of an Action" says.
func (h *standIn) readRequirements() {
	action := h.answer["action"].(map[string]any)
	requirements, ok := action["requirements"].(map[string]any)
	if !ok {
		return
	}
	revisions := map[string]any{}
	for _, entry := range requirements["sections"].([]any) {
		section := entry.(map[string]any)
		revisions[fmt.Sprint(section["key"])] = section["section_revision"]
	}
	for _, key := range stringsOf(requirements["required_for_action"]) {
		h.values["KEY"] = key
		reader := requirements["reader"].(map[string]any)
		words := append(stringsOf(reader["base_argv"]), "--section", key)
		shown := h.command("Read the requirements of an Action")
		h.must(slices.Equal(words, shown), "the reader is %q, and the text shows %q", words, shown)
		material := h.object(words, "")
		section := material["section"].(map[string]any)
		err := errors.Join(
			equal(material["message_type"], "action_material"), equal(material["run_id"], h.values["RUN"]), equal(material["action_id"], h.values["ACTION"]),
			equal(material["requirements_revision"], requirements["requirements_revision"]), equal(section["key"], key),
			equal(section["section_revision"], revisions[key]))
		h.must(err == nil && section["markdown"] != "", "section %s: %v", key, err)
	}
}

// resumable chooses the Run to resume, as "Resume" says.
func (h *standIn) resumable() {
	var found []map[string]any
	for _, entry := range h.runs() {
		if next := entry["next"].(map[string]any); next["operation"] == "resume" {
			found = append(found, entry)
		}
	}
	h.must(len(found) == 1, "%d Runs can be resumed", len(found))
	h.values["RUN"] = fmt.Sprint(found[0]["id"])
	h.answer["next"] = found[0]["next"]
}

// state checks what the script expects.
func (h *standIn) state(state, kind string) {
	action, _ := h.answer["action"].(map[string]any)
	got := fmt.Sprint(h.answer["state"])
	if reason := h.answer["pause_reason"]; reason != nil {
		got = fmt.Sprint(reason)
	}
	h.must(got == state && (kind == "" || action["kind"] == kind), "%s with %v, want %s with %s", got, action["kind"], state, kind)
}

func equal(got, want any) error {
	if got != want {
		return fmt.Errorf("%v in place of %v", got, want)
	}
	return nil
}

func stringsOf(list any) (words []string) {
	for _, word := range list.([]any) {
		words = append(words, fmt.Sprint(word))
	}
	return words
}
