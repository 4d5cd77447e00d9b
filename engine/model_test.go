package engine_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// model is run.md once more: what every operation makes of the record of a Run,
// written from the text of the specification and working on the record itself.
// It is slow, holds everything twice, and shares no code with the engine.
//
// Where the specification leaves the wording free, the model learns it from the
// engine: a statement keeps the text that it had when it was first made.
type model struct {
	s            schema.RunStatus // without Next; Observations is kept whole
	texts        map[string]string
	instant      time.Time
	id           string // of the Action that the operation may issue
	expectations []expectation
}

// expectation is what a text must look like that is taken over from the engine.
type expectation struct {
	what  string
	find  func(got *schema.RunStatus) (text string, found bool)
	adopt func(text string)
	check func(text string) error
}

// verdict is how an operation ends.
type verdict struct {
	code     schema.Code // "" where it succeeds
	bare     bool        // the refusal carries no details
	resume   bool        // its next holds the resume choices only
	recorded bool
	asks     bool // it needs an observation
}

var done = verdict{recorded: true}

func refused(code schema.Code) verdict { return verdict{code: code} }

func (m *model) clone() *model {
	c := *m
	c.s.Actions = slices.Clone(m.s.Actions)
	c.s.Answers = slices.Clone(m.s.Answers)
	c.s.Observations = slices.Clone(m.s.Observations)
	c.s.KnownIssues = slices.Clone(m.s.KnownIssues)
	c.s.Uncertainties = slices.Clone(m.s.Uncertainties)
	c.s.Activities = slices.Clone(m.s.Activities)
	c.expectations = nil
	return &c
}

// modelOf begins with the record of a Run that was just started.
func modelOf(h *history) *model {
	s := *h.status()
	s.Next = schema.Next{}
	return &model{s: s, texts: map[string]string{}}
}

func (m *model) record(action string) *schema.ActionRecord {
	for i := range m.s.Actions {
		if m.s.Actions[i].Action.ActionID == action {
			return &m.s.Actions[i]
		}
	}
	return nil
}

func (m *model) answerTo(action string) *schema.Answer {
	for i := range m.s.Answers {
		if m.s.Answers[i].ActionID == action {
			return &m.s.Answers[i]
		}
	}
	return nil
}

func (m *model) isCurrent(action string) bool {
	return m.s.CurrentAction != nil && m.s.CurrentAction.ActionID == action
}

func (m *model) changed() bool { return schema.Changed(&m.s.InitialGit, &m.s.CurrentGit) }

// clearDestructive and pause are steps that many operations share.
func (m *model) clearDestructive() { m.s.PendingDestructiveRequest, m.s.DestructiveGrant = nil, nil }

func (m *model) pause(reason schema.PauseReason) {
	m.s.State, m.s.PauseReason = schema.Paused, reason
}

// issue is section 5. brief is how the brief must begin; "" where the wording is
// free.
func (m *model) issue(kind schema.Kind, brief string, grant *schema.Authorization) verdict {
	m.s.CurrentAction = nil
	if grant == nil {
		m.clearDestructive()
	}
	if m.s.RemainingBudget == 0 {
		m.clearDestructive()
		m.pause(schema.BudgetExhausted)
		return done
	}
	m.s.RemainingBudget--
	a := schema.Action{
		ContractVersion: 2, RunID: m.s.ID, ActionID: m.id, Kind: kind, Goal: m.s.Goal,
		DestructiveAuthorization: grant, RemainingBudget: m.s.RemainingBudget,
	}
	// The brief is free: so short that it never decides what fits in a walk.
	context, fits := referenceContext(&m.s, a)
	if !fits {
		return verdict{code: schema.CodeActionTooLarge, bare: true}
	}
	if !schema.IsText(context) {
		return verdict{code: schema.CodeInvalidAction, bare: true}
	}
	a.Context = context
	m.s.State, m.s.PauseReason = schema.Active, ""
	m.s.Actions = append(m.s.Actions, schema.ActionRecord{Action: a})
	m.s.CurrentAction = &m.s.Actions[len(m.s.Actions)-1].Action
	m.expectBrief(brief)
	return done
}

// submit is 6.3. legal says whether the Outcome keeps the rules of wire.md.
func (m *model) submit(c engine.Submit, legal bool, git *engine.GitFact) verdict {
	r := m.record(c.ActionID)
	told := r != nil && r.Outcome != nil
	switch {
	case told && r.Voided:
		return refused(schema.CodeStaleAction)
	case told && r.OutcomePayloadSHA256 == c.Payload:
		return verdict{}
	case told:
		return refused(schema.CodeOutcomeConflict)
	case m.s.State == schema.Stopped, m.s.State == schema.Ended:
		return refused(schema.CodeRunNotActive)
	case r != nil && r.Voided:
		return refused(schema.CodeStaleAction)
	case m.s.State == schema.Paused:
		return refused(schema.CodeRunNotActive)
	case !m.isCurrent(c.ActionID):
		return refused(schema.CodeStaleAction)
	case !legal:
		return verdict{code: schema.CodeInvalidOutcome, bare: true}
	case c.Outcome.Pause != nil && !m.maySupersede(c.Outcome.Pause.SupersedesAnswerActionID):
		return refused(schema.CodeInvalidDecisionSupersession)
	}
	return m.accept(r, c, git)
}

func (m *model) maySupersede(action *string) bool {
	if action == nil {
		return true
	}
	a := m.answerTo(*action)
	return a != nil && a.Active && !a.ConfirmDestructive
}

func (m *model) accept(r *schema.ActionRecord, c engine.Submit, git *engine.GitFact) verdict {
	o := c.Outcome
	kind := r.Action.Kind
	r.Outcome, r.OutcomePayloadSHA256 = o, c.Payload
	m.s.Observations = append(m.s.Observations, o.Observations...)
	m.s.KnownIssues = append(m.s.KnownIssues, o.KnownIssues...)
	if o.Implementation != nil {
		m.s.Uncertainties = append(m.s.Uncertainties, o.Implementation.Uncertainties...)
		m.s.Activities = append(m.s.Activities, o.Implementation.Activities...)
	}
	if o.Review != nil {
		m.s.Uncertainties = append(m.s.Uncertainties, o.Review.Uncertainties...)
		m.s.ReviewPending = false
	}
	m.clearDestructive()
	if o.Status == schema.NeedsInput {
		if m.observe(git) {
			m.pause(o.Pause.Reason)
			m.s.PendingDestructiveRequest = o.Pause.DestructiveRequest
		}
		return observing(done)
	}
	m.s.PendingActions = append(slices.Clone(m.s.PendingActions), o.SuggestedActions...)
	m.s.CurrentAction = nil
	if kind == schema.Summarize {
		return observing(m.end(git, false))
	}
	if kind != schema.Review {
		if !m.observe(git) {
			return observing(done)
		}
		m.stateDiscrepancy(o)
	}
	v := m.route(kind)
	v.asks = kind != schema.Review
	return v
}

func observing(v verdict) verdict { v.asks = true; return v }

// route is 7.1 for all kinds but Summarize.
func (m *model) route(kind schema.Kind) verdict {
	if kind != schema.Review && m.s.ReviewEnabled && m.changed() {
		m.dropQueue()
		return m.issue(schema.Review, "", nil)
	}
	if len(m.s.PendingActions) > 0 {
		first := m.s.PendingActions[0]
		m.s.PendingActions = m.s.PendingActions[1:]
		if len(m.s.PendingActions) == 0 {
			m.s.PendingActions = nil
		}
		return m.issue(first.Kind, strings.TrimFunc(first.Brief, isWhiteSpace), nil)
	}
	return m.issue(schema.Summarize, "", nil)
}

// observe is section 8 after an Outcome or a skip of Orient, Clarify or
// Implement; false where it fails and the Run pauses.
func (m *model) observe(git *engine.GitFact) bool {
	if git.Observation == nil {
		m.pause(schema.EnvironmentUnavailable)
		m.learn(knownIssues, "failed "+git.Failure, containing(git.Failure), false)
		return false
	}
	m.s.CurrentGit = *git.Observation
	m.s.ReviewPending = m.s.ReviewEnabled && m.changed()
	m.stateObserved()
	return true
}

// end is 7.4.
func (m *model) end(git *engine.GitFact, skipped bool) verdict {
	if git.Observation == nil {
		m.learn(uncertainties, "failed at the end "+git.Failure, containing(git.Failure), false)
	} else {
		m.s.CurrentGit = *git.Observation
		m.s.FinalGitObserved = true
		m.stateObserved()
	}
	m.s.State, m.s.PauseReason, m.s.CurrentAction = schema.Ended, "", nil
	m.expect(expectation{
		what:  "summary",
		find:  func(got *schema.RunStatus) (string, bool) { return got.Summary, got.Summary != "" },
		adopt: func(text string) { m.s.Summary = text },
		check: func(text string) error { return checkSummary(&m.s, text, skipped) },
	})
	return done
}

// skip is 6.5.
func (m *model) skip(c engine.Skip, git *engine.GitFact) verdict {
	switch {
	case m.s.State != schema.Active && m.s.State != schema.Paused:
		return refused(schema.CodeRunNotSkippable)
	case !m.isCurrent(c.ActionID):
		return refused(schema.CodeStaleAction)
	}
	r := m.record(c.ActionID)
	r.Skipped = true
	m.s.CurrentAction = nil
	m.clearDestructive()
	switch r.Action.Kind {
	case schema.Summarize:
		v := m.end(git, true)
		m.dropQueue()
		return observing(v)
	case schema.Review:
		m.s.ReviewPending = false
		if r.Outcome == nil {
			r.ReviewProjection = &schema.ReviewReport{Result: "not_run", Findings: []schema.Finding{}, Uncertainties: []string{}}
		}
		m.dropQueue()
		v := m.issue(schema.Summarize, "", nil)
		m.expectSkipped()
		return v
	}
	observed := m.observe(git)
	m.dropQueue()
	kind := schema.Summarize
	switch {
	case !observed:
		return observing(done)
	case m.s.ReviewEnabled && m.changed():
		kind = schema.Review
	}
	v := m.issue(kind, "", nil)
	m.expectSkipped()
	return observing(v)
}

// stop is 6.6.
func (m *model) stop() verdict {
	if m.s.State == schema.Ended {
		return refused(schema.CodeRunAlreadyEnded)
	}
	m.clearDestructive()
	m.voidCurrent()
	m.s.State, m.s.PauseReason = schema.Stopped, ""
	return done
}

func (m *model) voidCurrent() {
	if m.s.CurrentAction != nil {
		m.record(m.s.CurrentAction.ActionID).Voided = true
		m.s.CurrentAction = nil
	}
}

// resume is 6.7 for an ad-hoc Run.
func (m *model) resume(c engine.Resume) verdict {
	switch {
	case m.s.State == schema.Ended:
		return refused(schema.CodeRunAlreadyEnded)
	case m.next().Operation != "resume":
		return refused(schema.CodeRunNotResumable)
	case c.UsePinned:
		return verdict{code: schema.CodeSourceModeNotAllowed, resume: true}
	}
	m.voidCurrent()
	m.s.PendingActions = nil
	m.clearDestructive()
	switch {
	case c.Budget != nil:
		m.s.RemainingBudget = *c.Budget
	case m.s.RemainingBudget == 0:
		m.s.RemainingBudget = max(m.s.InitialBudget, 3)
	}
	m.s.LastResumeResult = &schema.ResumeResult{Operation: "ad_hoc_resumed", BudgetApplied: true}
	return m.issue(schema.Orient, "", nil)
}

// answer is 6.4 and 10.3.
func (m *model) answer(c engine.Reply) verdict {
	payload := answerDigest(c)
	if a := m.answerTo(c.ActionID); a != nil {
		switch {
		case a.PayloadSHA256 != payload:
			return refused(schema.CodeAnswerConflict)
		case m.s.PauseReason == schema.BudgetExhausted && m.s.RemainingBudget == 0 && c.ConfirmDestructive:
			return verdict{code: schema.CodeBudgetExhausted, resume: true}
		}
		return verdict{}
	}
	switch {
	case m.s.State != schema.Paused:
		return refused(schema.CodeAnswerNotExpected)
	case m.s.PauseReason == schema.EnvironmentUnavailable:
		return verdict{code: schema.CodeAnswerNotAllowed, resume: true}
	case m.s.PauseReason == schema.BudgetExhausted:
		return refused(schema.CodeAnswerNotExpected)
	case !m.isCurrent(c.ActionID):
		return refused(schema.CodeStaleAction)
	}
	record := schema.Answer{
		ActionID: c.ActionID, Text: c.Text, ConfirmDestructive: c.ConfirmDestructive,
		PayloadSHA256: payload, Active: !c.ConfirmDestructive, At: m.instant,
	}
	if m.s.PauseReason == schema.DecisionRequired {
		return m.decision(c, record)
	}
	return m.destructive(c, record)
}

func (m *model) decision(c engine.Reply, record schema.Answer) verdict {
	by := m.record(c.ActionID).Outcome.Pause.SupersedesAnswerActionID
	switch {
	case c.ConfirmDestructive || c.Scope != "":
		return refused(schema.CodeDestructiveConfirmationNotExpected)
	case strings.TrimFunc(c.Text, isWhiteSpace) == "":
		return refused(schema.CodeAnswerRequired)
	case !m.maySupersede(by):
		return refused(schema.CodeInvalidDecisionSupersession)
	}
	if by != nil {
		old := m.answerTo(*by)
		old.Active, old.SupersededBy = false, c.ActionID
	}
	return m.orientWith(record)
}

func (m *model) orientWith(record schema.Answer) verdict {
	m.voidCurrent()
	m.clearDestructive()
	m.s.Answers = append(m.s.Answers, record)
	m.s.PendingActions = nil
	return m.issue(schema.Orient, "", nil)
}

func (m *model) destructive(c engine.Reply, record schema.Answer) verdict {
	request := m.s.PendingDestructiveRequest
	switch {
	case !c.ConfirmDestructive && c.Scope != "":
		return refused(schema.CodeDestructiveConfirmationFlagRequired)
	case !c.ConfirmDestructive && strings.TrimFunc(c.Text, isWhiteSpace) == "":
		return refused(schema.CodeAnswerRequired)
	case !c.ConfirmDestructive:
		return m.orientWith(record)
	case !isDigest(c.Scope):
		return refused(schema.CodeDestructiveScopeRequired)
	case c.Scope != string(request.ScopeSHA256):
		return refused(schema.CodeDestructiveScopeMismatch)
	}
	record.ScopeSHA256 = request.ScopeSHA256
	m.s.Answers = append(m.s.Answers, record)
	m.dropQueue()
	if m.s.RemainingBudget == 0 {
		m.voidCurrent()
		m.clearDestructive()
		m.pause(schema.BudgetExhausted)
		return verdict{code: schema.CodeBudgetExhausted, resume: true, recorded: true}
	}
	grant := &schema.Authorization{
		RequestID: request.RequestID, OriginatingActionID: c.ActionID, ScopeVersion: 1, ScopeSHA256: request.ScopeSHA256,
		Targets: request.Targets, Impact: request.Impact, ConfirmedAt: m.instant,
	}
	m.s.DestructiveGrant = grant
	return m.issue(schema.Implement, "", grant)
}

// answerDigest is the framing of 6.4.
func answerDigest(c engine.Reply) schema.Digest {
	h := sha256.New()
	for _, field := range []string{"slipway-answer/v1", c.ActionID, strconv.FormatBool(c.ConfirmDestructive), c.Scope, c.Text} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		h.Write([]byte(field))
	}
	return schema.Digest(fmt.Sprintf("sha256:%x", h.Sum(nil)))
}
