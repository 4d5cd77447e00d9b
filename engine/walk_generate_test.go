package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"slipway/engine"
	"slipway/schema"
)

// compare says how two values differ. An absent list and an empty one are the
// same in JSON where it matters.
func compare(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return "" // cmp is slow
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// dice throw numbers below n that are all as likely: rapid's own ranges prefer
// small ones, and a walk would hardly get anywhere.
var dice = func() (dice [130]*rapid.Generator[int]) {
	for n := range dice {
		dice[n] = rapid.Custom(func(t *rapid.T) int {
			v := 0
			for range 10 {
				v *= 2
				if coin.Draw(t, "") {
					v++
				}
			}
			return v % n
		})
	}
	return dice
}()

var coin = rapid.Bool()

// throw gives a number below n.
func (w *walk) throw(label string, n int) int { return dice[n].Draw(w.t, label) }

// one of several.
func one[T any](w *walk, label string, of []T) T { return of[w.throw(label, len(of))] }

var (
	worktreesAtStart = []*schema.Observation{clean, clean, clean, edited, deleted, crowded}
	worktreesLater   = []*engine.GitFact{
		seen(edited), seen(edited2), seen(commit), seen(deleted), seen(deletedUnsure), seen(crowded), unseen("git failed"), unseen("no git"),
	}
)

// operation is a command of a walk with the worktree that it meets.
type operation struct {
	name     string
	command  engine.Command
	git      *engine.GitFact
	expect   func(*model) verdict
	remember func(*walk)
}

func (w *walk) draw() *operation {
	kinds := w.likely()
	if w.rarely("anything", 4) {
		kinds = []func() *operation{w.drawSubmit, w.drawAnswer, w.drawRepeat, w.drawSkip, w.drawResume, w.drawStop}
	}
	op := one(w, "operation", kinds)()
	op.git = w.drawGit()
	if op.remember == nil {
		op.remember = func(*walk) {}
	}
	return op
}

// likely are the operations that bring the Run on from where it is.
func (w *walk) likely() []func() *operation {
	switch {
	case w.m.s.State == schema.Active:
		return []func() *operation{
			w.drawSubmit, w.drawSubmit, w.drawSubmit, w.drawSubmit, w.drawSubmit, w.drawSubmit, w.drawSubmit, w.drawSkip,
		}
	case w.m.next().Operation == schema.OperationAnswer:
		return []func() *operation{w.drawAnswer, w.drawAnswer, w.drawAnswer, w.drawAnswer, w.drawSkip, w.drawRepeat}
	case w.m.s.State == schema.Ended:
		return []func() *operation{w.drawRepeat}
	}
	return []func() *operation{w.drawResume, w.drawResume, w.drawResume, w.drawSkip, w.drawRepeat}
}

func (w *walk) pick(label string, of ...string) string { return one(w, label, of) }

// rarely is true once in n times.
func (w *walk) rarely(label string, n int) bool { return w.throw(label, n) == n-1 }

func (w *walk) drawGit() *engine.GitFact {
	if !w.rarely("worktree changes", 5) {
		return seen(&w.m.s.CurrentGit)
	}
	return one(w, "worktree", worktreesLater)
}

// current is the current Action, or an earlier one where none waits or the walk
// means another one.
func (w *walk) current() schema.Action {
	if w.m.s.CurrentAction != nil && !w.rarely("another Action", 12) {
		return *w.m.s.CurrentAction
	}
	a := one(w, "Action", w.m.s.Actions).Action
	if w.rarely("unknown Action", 5) {
		a.ActionID = "nobody"
	}
	return a
}

func (w *walk) drawSubmit() *operation {
	a := w.current()
	o := w.drawOutcome(&a)
	op := &operation{name: "submit"}
	legal := true
	if w.rarely("illegal", 8) {
		legal = false
		w.spoil(o)
	}
	document := encode(w.t, o)
	c := submittedBytes(w.t, a.ActionID, document)
	op.command = c
	op.expect = func(m *model) verdict { return m.submit(c, legal, op.git) }
	op.remember = func(w *walk) { w.accepted = append(w.accepted, c) }
	return op
}

// drawRepeat repeats an Outcome or an answer, exactly or in other words.
func (w *walk) drawRepeat() *operation {
	exact := w.rarely("exact", 2)
	op := &operation{name: "repeat"}
	if len(w.answered) > 0 && w.rarely("answer", 2) {
		c := one(w, "which", w.answered)
		if !exact {
			c.Text += " "
		}
		op.command, op.expect = c, func(m *model) verdict { return m.answer(c) }
		return op
	}
	if len(w.accepted) == 0 {
		return w.drawSubmit()
	}
	c := one(w, "which", w.accepted)
	if !exact {
		c.Payload = digestOf("the same in other bytes")
	}
	op.command, op.expect = c, func(m *model) verdict { return m.submit(c, true, op.git) }
	return op
}

func (w *walk) drawAnswer() *operation {
	a := w.current()
	c := engine.Reply{ActionID: a.ActionID}
	c.Text = w.pick("text", "", " \t\n", "yes", "do\r\nthis\n\nplease\n", "no\rway", "…", "yes", "rather not", "a\x01b")
	if strings.Contains(c.Text, "\x01") && !w.rarely("control", 6) {
		c.Text = "yes"
	}
	if w.m.s.PendingDestructiveRequest != nil && w.rarely("confirm", 2) {
		c.ConfirmDestructive = true
		c.Scope = string(w.m.s.PendingDestructiveRequest.ScopeSHA256)
	}
	if w.rarely("odd scope", 5) {
		c.ConfirmDestructive = w.rarely("confirm all the same", 2)
		c.Scope = w.pick("scope", "", " ", string(digestOf("another")), strings.ToUpper(c.Scope))
	}
	op := &operation{name: "answer", command: c, expect: func(m *model) verdict { return m.answer(c) }}
	op.remember = func(w *walk) { w.answered = append(w.answered, c) }
	return op
}

func (w *walk) drawSkip() *operation {
	c := engine.Skip{ActionID: w.current().ActionID}
	op := &operation{name: "skip", command: c}
	op.expect = func(m *model) verdict { return m.skip(c, op.git) }
	return op
}

func (w *walk) drawStop() *operation {
	return &operation{name: "stop", command: engine.Stop{}, expect: (*model).stop}
}

func (w *walk) drawResume() *operation {
	c := engine.Resume{UsePinned: w.rarely("source option", 10)}
	if w.rarely("with budget", 2) {
		n := 1 + w.throw("budget", 6)
		c.Budget = &n
	}
	return &operation{name: "resume", command: c, expect: func(m *model) verdict { return m.resume(c) }}
}

// drawOutcome makes an Outcome that is legal for the Action (wire.md, 3.7).
func (w *walk) drawOutcome(a *schema.Action) *schema.Outcome {
	o := outcomeOf(a)
	o.Summary = w.pick("summary", "fine", "first\r\nsecond\rthird", "\"quoted\" \u2028 text", "did "+string(a.Kind))
	o.Observations = w.drawObservations()
	if w.rarely("issues", 3) {
		o.KnownIssues = []string{w.pick("known issue", "slow", ""), w.pick("known issue", "two\r\nlines", "slow")}
	}
	asks := w.rarely("asks", 2)
	switch a.Kind {
	case schema.Orient, schema.Clarify:
		w.drawTalk(o, asks)
	case schema.Implement:
		w.drawWork(o, asks)
	case schema.Review:
		w.drawReview(o)
	case schema.Summarize:
		o.Status = schema.OutcomeStatus(w.pick("status", "completed", "error"))
	}
	return o
}

// drawObservations sometimes gives so many that the record can not show them
// all, and sometimes the very words of a statement.
func (w *walk) drawObservations() []string {
	texts := []string{"seen", "", "seen", "observed by the host"}
	for _, known := range w.m.texts {
		texts = append(texts, known)
	}
	slices.Sort(texts)
	list := []string{}
	for range w.throw("observations", 4) {
		list = append(list, one(w, "observation", texts))
	}
	if w.rarely("many observations", 15) {
		for i := range 120 + w.throw("how many", 12) {
			list = append(list, fmt.Sprintf("observation %d", i))
		}
	}
	return list
}

func (w *walk) drawTalk(o *schema.Outcome, asks bool) {
	switch {
	case asks:
		asking(schema.PauseReason(w.pick("reason", "decision_required", "decision_required", "environment_unavailable")))(o)
		w.drawSuperseded(o)
		return
	case o.ActionKind == schema.Orient:
		o.Status = schema.OutcomeStatus(w.pick("status", "completed", "partial", "error"))
	default:
		o.Status = schema.OutcomeStatus(w.pick("status", "completed", "error"))
	}
	if kind := w.pick("suggestion", "", "implement", "implement", "implement", "clarify", "clarify", "summarize"); kind != "" {
		brief := w.pick("brief", "look closer", " \u2003do it\u00a0\n", "two\nlines", repeated("é", 8192))
		suggesting(schema.Kind(kind), brief)(o)
	}
}

func (w *walk) drawSuperseded(o *schema.Outcome) {
	if o.Pause.Reason != schema.DecisionRequired || !w.rarely("supersedes", 3) {
		return
	}
	id := "nobody"
	if len(w.m.s.Answers) > 0 {
		id = one(w, "superseded", w.m.s.Answers).ActionID
	}
	superseding(id)(o)
}

func (w *walk) drawWork(o *schema.Outcome, asks bool) {
	if asks {
		reason := w.pick("reason", "decision_required", "environment_unavailable", "destructive_confirmation_required",
			"destructive_confirmation_required", "destructive_confirmation_required", "destructive_confirmation_required")
		asking(schema.PauseReason(reason))(o)
		w.drawSuperseded(o)
		return
	}
	result := schema.ImplementationResult(w.pick("result", "applied", "not_needed", "partial", "unable"))
	o.Implementation = implementation(result)
	switch result {
	case schema.ResultPartial:
		o.Status = schema.Partial
	case schema.ResultUnable:
		o.Status = schema.Failed
	}
	if w.rarely("details", 2) {
		o.Implementation.FilesChanged = []string{"c.txt", " a.txt ", "", "c.txt", "b.txt"}
		o.Implementation.Uncertainties = []string{"unsure", "unsure"}
		o.Implementation.Activities = []schema.Activity{{Kind: "test", Command: "go test", ExitCode: -1, Summary: "failed"}}
	}
}

func (w *walk) drawReview(o *schema.Outcome) {
	result := schema.ReviewResult(w.pick("result", "no_findings_reported", "findings_reported", "inconclusive", "error"))
	o.Review.Result = result
	switch result {
	case schema.ReviewInconclusive:
		o.Status = schema.Partial
	case schema.ReviewError:
		o.Status = schema.Failed
	}
	if result != schema.ReviewNoFindings {
		o.Review.Findings = []schema.Finding{{Location: "a.txt:1", Summary: "odd", Detail: "very\nodd"}}
		o.Review.Uncertainties = []string{"unsure"}
	}
}

// spoil makes the Outcome illegal, whatever it is.
func (w *walk) spoil(o *schema.Outcome) {
	switch w.pick("fault", "summary", "action", "kind", "status", "control", "pause", "suggestions", "branch") {
	case "summary":
		o.Summary = " \u2003\n"
	case "action":
		o.ActionID = "another"
	case "kind":
		o.ActionKind = map[bool]schema.Kind{true: schema.Review, false: schema.Orient}[o.ActionKind == schema.Orient]
	case "status":
		o.Status = "skipped"
	case "control":
		o.Observations = append(o.Observations, "bell \a")
	case "pause":
		if o.Pause != nil {
			o.Pause = nil
		} else {
			o.Pause = &schema.Pause{Reason: schema.BudgetExhausted, Question: "more?"}
		}
	case "suggestions":
		o.SuggestedActions = []schema.Suggestion{{Kind: schema.Clarify, Brief: "a"}, {Kind: schema.Clarify, Brief: "b"}}
	case "branch":
		if o.Review == nil {
			o.Review = &schema.ReviewReport{Result: schema.ReviewNoFindings, Findings: []schema.Finding{}, Uncertainties: []string{}}
		} else {
			o.Review.Result = schema.ReviewNotRun
		}
	}
}
