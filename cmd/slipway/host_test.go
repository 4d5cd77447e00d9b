package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostScripts are what models and users do in whole Runs that a host drives by
// the text alone.
var hostScripts = map[string]func(*standIn){
	"ad hoc":               hostAdHoc,
	"destructive":          hostDestructive,
	"issue-backed":         hostIssueBacked,
	"candidate kept out":   hostKeepsPinned,
	"issue without Review": hostIssueWithoutReview,
}

// suggests makes an Outcome suggest a next step.
func suggests(kind string) func(map[string]any) {
	return func(o map[string]any) {
		o["suggested_actions"] = []any{map[string]any{"kind": kind, "brief": "The next step."}}
	}
}

// suggestsNothing leads to the summary.
func suggestsNothing(o map[string]any) { o["suggested_actions"] = []any{} }

// begin is what every start has in common.
func (h *standIn) begin(heading, goal string, n int) {
	h.identify()
	h.write("GOAL_FILE", []byte(goal))
	h.start(heading, n)
	h.state("active", "orient")
}

// change changes the worktree, as a model would.
func (h *standIn) change(name string) {
	if err := os.WriteFile(filepath.Join(h.w.vars["ROOT"], name), []byte("changed\n"), 0o600); err != nil {
		panic(err)
	}
}

const (
	answerDecision = "Answer a decision: `answer-decision`"
	resumeAdHoc    = "Resume an ad-hoc Run: `resume-ad-hoc`"
	skipCurrent    = "Skip the current Action: `skip-action`"
)

// stop is what follows the user's word.
func (h *standIn) stop() {
	h.take(h.object(h.command("Stop the Run"), ""))
	h.state("stopped", "")
}

// hostAdHoc has a question, a refused Outcome, lost answers, a stop, a skip and a
// Review.
func hostAdHoc(h *standIn) {
	h.begin("Start an ad-hoc Run", "tidy the notes", 9)
	h.report("orient", "completed", suggests("clarify"))
	h.report("clarify", "needs_input", nil)
	h.reply("answer-decision", answerDecision, "the left one")
	h.state("active", "orient")
	h.reportOnInput("orient", "completed", nil)
	h.state("active", "implement")
	h.change("notes.txt")
	h.reportInVain("implement", "completed", func(o map[string]any) { delete(o, "review") })

	// The answer gets lost; the very same bytes go in once more.
	h.write("OUTCOME_FILE", h.outcome("implement", "completed", nil))
	submit := h.variant("submit-outcome-file", submitFile)
	h.execute(submit, "")
	h.take(h.object(submit, ""))
	h.forget()
	h.state("active", "review")

	h.stop()
	h.resumable()
	h.execute(h.variant("resume-ad-hoc", resumeAdHoc), "") // lost: never repeated blindly
	h.look()
	h.state("active", "orient")
	h.stop()
	h.resumable()
	h.values["N"] = "5"
	h.step("resume-ad-hoc", "Resume an ad-hoc Run with a new budget")
	delete(h.values, "N")
	h.must(h.answer["budget_applied"] == true, "the new budget was not applied")
	h.step("skip-action", skipCurrent)
	h.finish()
}

// finish does what is left by the examples of the text.
func (h *standIn) finish() {
	for range 8 {
		action, _ := h.answer["action"].(map[string]any)
		if h.answer["state"] != "active" {
			break
		}
		kind := fmt.Sprint(action["kind"])
		var edit func(map[string]any)
		if kind == "orient" {
			edit = suggestsNothing
		}
		h.report(kind, "completed", edit)
	}
	h.state("ended", "")
	summary, _ := h.answer["summary"].(string)
	h.must(summary != "", "the Run ended without a summary")
}

// hostDestructive asks twice: the first request is declined, the second confirmed
// with a note.
func hostDestructive(h *standIn) {
	h.begin("Start an ad-hoc Run without Review", "drop the old branch", 10)
	h.report("orient", "completed", nil)
	h.report("implement", "needs_input", nil)
	h.fixedDigest()
	h.reply("decline-or-feedback", "Decline or comment on a destructive request: `decline-or-feedback`", "yes")
	h.report("orient", "completed", nil)
	h.report("implement", "needs_input", nil)
	h.fixedDigest()
	h.reply("confirm-destructive", "Confirm a destructive request: `confirm-destructive`", "")
	action := h.answer["action"].(map[string]any)
	grant, _ := action["destructive_authorization"].(map[string]any)
	h.must(grant["scope_sha256"] == h.values["SCOPE_SHA256"], "the grant is %v", grant)
	h.finish()
}

// fixedDigest takes the digest out of the variant, as the text says, and holds it
// against what the status shows.
func (h *standIn) fixedDigest() {
	h.state("destructive_confirmation_required", "implement")
	for _, entry := range h.answer["next"].(map[string]any)["variants"].([]any) {
		v := entry.(map[string]any)
		argv := stringsOf(v["base_argv"])
		if i := slices.Index(argv, "--scope-sha256"); v["id"] == "confirm-destructive" && i > 0 {
			h.values["SCOPE_SHA256"] = argv[i+1]
		}
	}
	request, _ := h.look()["pending_destructive_request"].(map[string]any)
	h.must(request["scope_sha256"] == h.values["SCOPE_SHA256"], "the pending request is %v", request)
}

const (
	refreshSource = "Resume with a freshly fetched source: `refresh-source`"
	usePinned     = "Resume without a refresh: `use-pinned-source`"
)

// hostIssueBacked loses the answer of the start, reads the requirements of every
// Action, asks a question, resumes with the pinned source and with an amended one.
func hostIssueBacked(h *standIn) {
	h.identify()
	h.must(len(h.runs()) == 0, "there is a Run already")
	h.write("GOAL_FILE", []byte("do what the Change says"))
	h.write("SOURCE_FILE", newIssue().envelope(h.w.t))
	h.values["N"] = "9"
	h.execute(h.command("Start an issue-backed Run"), "") // lost: the Runs are listed before another start
	h.forget()
	listed := h.runs()
	h.must(len(listed) == 1 && listed[0]["next"].(map[string]any)["operation"] == "action", "the Runs are %v", listed)
	h.values["RUN"] = fmt.Sprint(listed[0]["id"])
	status := h.look()
	h.must(status["review_enabled"] == true && status["initial_budget"] == 9.0, "the Run is %v", status)
	h.must(listed[0]["pinned_source"].(map[string]any)["issue_id"] == newIssue().id, "the source is %v", listed[0]["pinned_source"])
	delete(h.values, "N")

	h.report("orient", "completed", suggests("clarify"))
	h.report("clarify", "needs_input", nil)
	h.reply("answer-decision", answerDecision, "as the Change says")
	h.report("orient", "completed", nil)
	h.change("widgets.txt")
	h.reportInVain("implement", "completed", func(o map[string]any) { o["status"] = "done" })
	h.report("implement", "completed", nil)
	h.state("active", "review")

	h.stop()
	h.resumable()
	h.step("use-pinned-source", usePinned)
	h.stop()
	h.refresh(h.amended())
	h.step("adopt", "Adopt the candidate: `adopt`")
	h.finish()
}

// amended is the Issue with a chapter that follows the pinned revision.
func (h *standIn) amended() *issue {
	h.w.vars["REQUIREMENTS"] = fmt.Sprint(h.look()["pinned_source"].(map[string]any)["requirements_revision"])
	return h.w.amended()
}

// refresh resumes a stopped Run with another state of its Issue, which leads to a
// candidate.
func (h *standIn) refresh(head *issue) {
	h.resumable()
	h.write("SOURCE_FILE", head.envelope(h.w.t))
	h.step("refresh-source", refreshSource)
	h.state("decision_required", "")
	candidate := h.answer["source_candidate"].(map[string]any)
	h.values["CANDIDATE"] = fmt.Sprint(candidate["candidate_id"])
}

// hostKeepsPinned meets a body without a manifest.
func hostKeepsPinned(h *standIn) {
	h.write("SOURCE_FILE", newIssue().envelope(h.w.t))
	h.begin("Start an issue-backed Run", "do what the Change says", 9)
	h.stop()
	i := newIssue()
	i.body, i.comments = "no manifest any more\n", nil
	h.refresh(i)
	h.step("keep-pinned", "Keep the pinned source: `keep-pinned`")
	h.finish()
}

func hostIssueWithoutReview(h *standIn) {
	h.write("SOURCE_FILE", newIssue().envelope(h.w.t))
	h.begin("Start an issue-backed Run without Review", "do what the Change says", 9)
	h.report("orient", "completed", nil)
	h.change("widgets.txt")
	h.report("implement", "completed", nil)
	h.finish()
}

// installFor installs the adapters of a coding host with the program and gives
// the text that the user's invocation leads to.
func installFor(t *testing.T, w *world, c codingHost) string {
	t.Helper()
	args := []string{"install", "--root", w.vars["ROOT"], "--tool", c.id, "--json"}
	if c.surface != "" {
		args = append(args, "--surface", c.surface)
	}
	if r := w.run(w.env, "", args...); r.exit != 0 {
		t.Fatalf("%q: %s", args, r.stderr)
	}
	text, err := c.instructions(w.vars["ROOT"])
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestHostsReadTheSameText: what the user's invocation leads to is the same bytes
// on every host (adapters.md, 2.1).
func TestHostsReadTheSameText(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t, "SLIPWAY_DAEMON=off")
	first := installFor(t, shared.world(t), codingHosts[0])
	for _, c := range codingHosts[1:] {
		if text := installFor(t, shared.world(t), c); text != first {
			t.Errorf("%s %s leads to another text of %d bytes", c.id, c.surface, len(text))
		}
	}
}

// TestHostsFollowTheirTexts: the installed text is exact enough to drive whole
// Runs by, with a daemon and without one. Each command that it shows is run.
func TestHostsFollowTheirTexts(t *testing.T) {
	t.Parallel()
	for mode, settings := range map[string][]string{"daemon": nil, "off": {"SLIPWAY_DAEMON=off"}} {
		shared := newWorlds(t, settings...)
		for _, c := range codingHosts {
			if !c.driven {
				continue
			}
			t.Run(mode+"/"+c.id+c.surface, func(t *testing.T) {
				t.Parallel()
				followAll(t, shared, c)
			})
		}
	}
}

func followAll(t *testing.T, shared *worlds, c codingHost) {
	t.Helper()
	used, text := map[string]bool{}, ""
	for name, script := range hostScripts {
		w := shared.world(t)
		text = installFor(t, w, c)
		headings, err := follow(w, text, script)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		maps.Copy(used, headings)
	}
	checkAllUsed(t, text, used)
}

func checkAllUsed(t *testing.T, text string, used map[string]bool) {
	t.Helper()
	shown, err := readHostText(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.commands) < 20 {
		t.Errorf("the text shows %d commands", len(shown.commands))
	}
	for _, c := range shown.commands {
		if !used[c.heading] {
			t.Errorf("the command below %q was never run", c.heading)
		}
	}
}

// faultyText is a text with one fault.
type faultyText struct {
	name, heading, text string
}

// faultsOf spoils each flag of each command, once by leaving it out and once by
// a letter too much.
func faultsOf(t *testing.T, text string) (spoiled []faultyText) {
	t.Helper()
	shown, err := readHostText(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range shown.commands {
		line := strings.Join(c.words, " ")
		for i, word := range c.words {
			if !strings.HasPrefix(word, "--") {
				continue
			}
			end := i + 1
			if end < len(c.words) && !strings.HasPrefix(c.words[end], "--") {
				end++
			}
			for how, words := range map[string][]string{
				"without": slices.Delete(slices.Clone(c.words), i, end),
				"wrong":   slices.Replace(slices.Clone(c.words), i, i+1, word+"x"),
			} {
				block := "\n### " + c.heading + "\n"
				from, to, ok := strings.Cut(strings.ReplaceAll(text, "\n#### ", "\n### "), block)
				if !ok {
					t.Fatalf("no heading %q", c.heading)
				}
				changed := strings.Replace(to, "\n"+line+"\n", "\n"+strings.Join(words, " ")+"\n", 1)
				spoiled = append(spoiled, faultyText{how + " " + word + " below " + c.heading, c.heading, from + block + changed})
			}
		}
	}
	return spoiled
}

// TestHostsStumbleOverFaultyTexts: the test above notices a text that is wrong in
// one flag.
func TestHostsStumbleOverFaultyTexts(t *testing.T) {
	t.Parallel()
	shared := newWorlds(t, "SLIPWAY_DAEMON=off")
	text := installFor(t, shared.world(t), codingHosts[0])
	scriptOf := map[string]string{} // by heading
	for name, script := range hostScripts {
		used, err := follow(shared.world(t), text, script)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for heading := range used {
			scriptOf[heading] = name
		}
	}
	spoiled := faultsOf(t, text)
	if len(spoiled) < 100 {
		t.Fatalf("%d mutations", len(spoiled))
	}
	for i, m := range spoiled {
		if i%every(9) != 0 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if _, err := follow(shared.world(t), m.text, hostScripts[scriptOf[m.heading]]); err == nil {
				t.Error("nobody noticed")
			}
		})
	}
}

// every lets `make soak` leave nothing out.
func every(n int) int {
	if os.Getenv("SLIPWAY_SOAK") != "" {
		return 1
	}
	return n
}
