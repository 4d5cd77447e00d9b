package engine

import (
	"errors"
	"fmt"
	"slices"

	"slipway/schema"
	"slipway/source"
)

// HistoryError says which event can not be part of the history of a Run.
type HistoryError struct {
	Event int64 // counts from 1
	Err   error
}

func (e *HistoryError) Error() string { return fmt.Sprintf("event %d: %v", e.Event, e.Err) }

// Unwrap gives the cause.
func (e *HistoryError) Unwrap() error { return e.Err }

// Replay makes the Run of its events. The error is a *[HistoryError]: they are not
// the history of a Run (storage.md, 3.3).
func Replay(id string, events []Event) (*Run, error) {
	if len(events) == 0 {
		return nil, &HistoryError{1, errors.New("there is none")}
	}
	run, err := begin(id, events[0])
	if err != nil {
		return nil, &HistoryError{1, err}
	}
	for _, e := range events[1:] {
		if err := run.apply(e); err != nil {
			return nil, &HistoryError{run.sequence, err}
		}
	}
	whole, err := run.withContext()
	if err != nil {
		return nil, &HistoryError{run.sequence, err}
	}
	return whole, nil
}

// Apply gives the Run after the event.
func (r *Run) Apply(e Event) (*Run, error) {
	next := r.clone()
	if err := next.apply(e); err != nil {
		return nil, err
	}
	return next.withContext()
}

// begin makes the Run of its first event.
func begin(id string, e Event) (*Run, error) {
	s := e.Change.Started
	switch {
	case e.Type != RunStarted || s == nil:
		return nil, errors.New("the first event is no start")
	case s.RunID != id:
		return nil, fmt.Errorf("belongs to the Run %q", s.RunID)
	case !s.WorkspaceIdentity.Valid():
		return nil, errors.New("the workspace identity does not match its digest")
	case !goalFits(s.Goal):
		return nil, errors.New("the goal is none")
	case !schema.ValidBudget(s.InitialBudget):
		return nil, errors.New("the initial budget is out of range")
	case e.Change.Observed == nil || e.Change.Observed.Git == nil:
		return nil, errors.New("the first observation is missing")
	case e.Change.Issued == nil:
		return nil, errors.New("the first Action is missing")
	}
	r := &Run{
		id: id, goal: s.Goal, workspace: s.WorkspaceIdentity, createdAt: e.At,
		reviewEnabled: s.ReviewEnabled, initialBudget: s.InitialBudget,
		remainingBudget: s.InitialBudget, initialGit: e.Change.Observed.Git,
		currentGit: e.Change.Observed.Git, current: none,
	}
	if s.Source != nil {
		if err := source.CheckStart(s.Source); err != nil {
			return nil, err
		}
		r.pin(s.Source)
	}
	return r, r.apply(e)
}

func goalFits(goal string) bool {
	code, _ := schema.GoalFault([]byte(goal))
	return code == ""
}

// apply changes r in place. The order is that of the effects in run.md, 6.3.
func (r *Run) apply(e Event) error {
	r.sequence++
	r.updatedAt = e.At
	c := &e.Change
	if err := r.checkEvent(e); err != nil {
		return err
	}
	asking := r.currentStep()
	for _, effect := range []func(*Change) error{
		r.applyOutcome, r.applySkip, r.applyVoid,
		func(c *Change) error { return r.applyAnswer(c, asking, e) },
		r.applyObservation, r.applyLists,
		func(c *Change) error { return r.applySource(c, e) },
	} {
		if err := effect(c); err != nil {
			return err
		}
	}
	r.state, r.pauseReason = c.State, c.PauseReason
	if err := r.applyQueue(c); err != nil {
		return err
	}
	if c.Resumed != nil {
		r.lastResume = c.Resumed
	}
	if c.Summary != "" {
		r.summary = c.Summary
	}
	r.applyDestructive(c, asking, e)
	if err := r.applyIssue(c); err != nil {
		return err
	}
	return r.checkFields()
}

// checkEvent refuses an event that could not have followed.
func (r *Run) checkEvent(e Event) error {
	c := &e.Change
	has := map[EventType]bool{
		RunStarted:       c.Started != nil && r.sequence == 1,
		OutcomeSubmitted: c.Submitted != nil,
		AnswerRecorded:   c.Answered != nil,
		ActionSkipped:    c.Skipped != "",
		RunStopped:       c.State == schema.Stopped,
	}
	if operation, resumes := resumeOperations[e.Type]; resumes {
		has[e.Type] = c.Resumed != nil && resultFits(e.Type, operation, c.Resumed)
	}
	switch fits, known := has[e.Type]; {
	case !known:
		return fmt.Errorf("unknown type %q", e.Type)
	case !fits:
		return fmt.Errorf("a %s without its content", e.Type)
	case r.state == schema.Ended:
		return errors.New("nothing follows the end of a Run")
	case (c.Started != nil) != (e.Type == RunStarted),
		(c.Submitted != nil) != (e.Type == OutcomeSubmitted),
		(c.Answered != nil) != (e.Type == AnswerRecorded),
		(c.Skipped != "") != (e.Type == ActionSkipped),
		(c.Resumed != nil) != (resumeOperations[e.Type] != ""),
		(c.Refreshed != nil) != (e.Type == SourceRefreshed),
		(c.Candidate != nil) != (e.Type == SourceCandidateCreated):
		return fmt.Errorf("content of another event in a %s", e.Type)
	case c.RemainingBudget < 0:
		return errors.New("negative budget")
	case !c.isText():
		return errors.New("a statement or summary that is no text")
	}
	if c.Observed == nil || c.Observed.Git == nil {
		return nil
	}
	return c.Observed.Git.Validate()
}

// isText says whether what Slipway itself adds can be shown.
func (c *Change) isText() bool {
	for _, list := range [][]string{c.Observations, c.KnownIssues, c.Uncertainties, {c.Summary}} {
		if slices.ContainsFunc(list, func(text string) bool { return !schema.IsText(text) }) {
			return false
		}
	}
	return true
}

// resultFits is the table of wire.md, 8.3.
func resultFits(e EventType, operation schema.ResumeOperation, result *schema.ResumeResult) bool {
	names := e == SourceCandidateCreated || e == SourceAmended || e == SourcePinned
	return result.Operation == operation && result.BudgetApplied == (e != SourceCandidateCreated) &&
		(result.CandidateID != "") == names
}

// mark replaces the step at index i by a changed copy.
func (r *Run) mark(i int, change func(*step)) {
	s := *r.steps[i]
	s.context = ""
	change(&s)
	r.steps[i] = &s
}

func (r *Run) applyOutcome(c *Change) error {
	if c.Submitted == nil {
		return nil
	}
	o := &c.Submitted.Outcome
	s := r.currentStep()
	if s == nil || r.state != schema.Active {
		return errors.New("an Outcome while no Action waited for one")
	}
	if err := o.Validate(s.actionID, s.kind); err != nil {
		return fmt.Errorf("the Outcome of %s: %w", s.actionID, err)
	}
	if !c.Submitted.PayloadSHA256.Valid() {
		return errors.New("malformed payload digest")
	}
	r.mark(r.current, func(s *step) {
		s.outcome, s.payload, s.outcomeAt = o, c.Submitted.PayloadSHA256, r.sequence
		s.told = newItem(outcomeItem(s))
		if o.Status == schema.NeedsInput {
			s.context = r.steps[r.current].context
		}
	})
	r.addReported(o)
	if s.kind == schema.Review {
		r.reviewPending = false
	}
	if o.Status != schema.NeedsInput {
		r.current = none
	}
	return nil
}

// addReported appends what the host reported, as given.
func (r *Run) addReported(o *schema.Outcome) {
	r.observations = append(r.observations, o.Observations...)
	r.knownIssues = append(r.knownIssues, o.KnownIssues...)
	if o.Implementation != nil {
		r.uncertainties = append(r.uncertainties, o.Implementation.Uncertainties...)
		r.activities = append(r.activities, o.Implementation.Activities...)
	}
	if o.Review != nil {
		r.uncertainties = append(r.uncertainties, o.Review.Uncertainties...)
	}
}

func (r *Run) applySkip(c *Change) error {
	if c.Skipped == "" {
		return nil
	}
	if !r.isCurrent(c.Skipped) {
		return errors.New("a skipped Action was not the current one")
	}
	if r.currentStep().kind == schema.Review {
		r.reviewPending = false
	}
	r.mark(r.current, func(s *step) { s.skippedAt = r.sequence })
	r.current = none
	return nil
}

func (r *Run) applyVoid(c *Change) error {
	if c.Voided == "" {
		return nil
	}
	if !r.isCurrent(c.Voided) {
		return errors.New("a voided Action was not the current one")
	}
	r.mark(r.current, func(s *step) { s.voidedAt = r.sequence })
	r.current = none
	return nil
}

func (r *Run) applyAnswer(c *Change, asking *step, e Event) error {
	a := c.Answered
	if a == nil {
		return nil
	}
	if err := r.checkAnswer(c, asking); err != nil {
		return err
	}
	if by := asking.outcome.Pause.SupersedesAnswerActionID; by != nil && r.pauseReason == schema.DecisionRequired {
		i := r.answerTo(*by)
		if i == none || !r.answers[i].Active {
			return errors.New("supersedes an answer that is not active")
		}
		r.supersede(i, a.ActionID)
	}
	sourceRevision, requirementsRevision := r.revisions()
	r.answers = append(r.answers, &answer{recordedAt: r.sequence, Answer: schema.Answer{
		ActionID: a.ActionID, Text: a.Text, ConfirmDestructive: a.ConfirmDestructive,
		ScopeSHA256: a.ScopeSHA256, PayloadSHA256: a.PayloadSHA256,
		SourceRevision: sourceRevision, RequirementsRevision: requirementsRevision,
		Active: !a.ConfirmDestructive, At: e.At,
	}})
	r.current = none
	return nil
}

// checkAnswer holds an answer against the question: who asked what, and that the
// asking Action stays valid only where its request was granted.
func (r *Run) checkAnswer(c *Change, asking *step) error {
	a := c.Answered
	destructive := r.pauseReason == schema.DestructiveConfirmationRequired
	granted := a.ConfirmDestructive && c.Issued != nil
	switch {
	case asking == nil || asking.actionID != a.ActionID, !destructive && r.pauseReason != schema.DecisionRequired:
		return errors.New("an answer that nothing asked for")
	case r.answerTo(a.ActionID) != none:
		return errors.New("a second answer to one Action")
	case a.ConfirmDestructive && (!destructive || a.ScopeSHA256 != r.pendingRequest.ScopeSHA256):
		return errors.New("a confirmation of another scope than the pending one")
	case !a.ConfirmDestructive && a.ScopeSHA256 != "":
		return errors.New("a scope without a confirmation")
	case (c.Voided == "") != granted:
		return errors.New("the answer and the fate of the asking Action do not fit")
	case a.PayloadSHA256 != schema.AnswerDigest(a.ActionID, a.ConfirmDestructive, string(a.ScopeSHA256), a.Text):
		return errors.New("the payload digest is not that of the answer")
	}
	return nil
}

// supersede makes an answer inactive for good.
func (r *Run) supersede(i int, by string) {
	old := *r.answers[i]
	old.Active, old.SupersededBy, old.supersededAt = false, by, r.sequence
	r.answers[i] = &old
}

func (r *Run) applyObservation(c *Change) error {
	if c.Observed == nil {
		return nil
	}
	if c.Observed.Git != nil {
		r.currentGit = c.Observed.Git
	}
	if kind := r.kindLookedAfter(c); looksAtWorktree(kind) {
		r.reviewPending = r.reviewEnabled && r.changedSinceStart()
	} else if kind == schema.Summarize {
		r.finalGitObserved = true
	}
	return nil
}

// kindLookedAfter is the kind of the Action whose Outcome or skip the
// observation followed; empty at the start.
func (r *Run) kindLookedAfter(c *Change) schema.Kind {
	switch {
	case c.Submitted != nil:
		return c.Submitted.Outcome.ActionKind
	case c.Skipped != "":
		return r.steps[r.stepOf(c.Skipped)].kind
	}
	return ""
}

func (r *Run) applyLists(c *Change) error {
	r.observations = append(r.observations, c.Observations...)
	r.knownIssues = append(r.knownIssues, c.KnownIssues...)
	r.uncertainties = append(r.uncertainties, c.Uncertainties...)
	return r.applyBudget(c)
}

// applyBudget: an issued Action takes one, and only a resume gives (run.md,
// section 4).
func (r *Run) applyBudget(c *Change) error {
	before := c.RemainingBudget
	if c.Issued != nil {
		before++
	}
	if c.Resumed == nil && before != r.remainingBudget || before > schema.MaxBudget {
		return errors.New("the budget does not add up")
	}
	r.remainingBudget = c.RemainingBudget
	return nil
}

// applyQueue: suggestions leave the queue at its head, be they issued or dropped.
func (r *Run) applyQueue(c *Change) error {
	queue := r.queue
	if c.Submitted != nil {
		queue = slices.Concat(queue, c.Submitted.Outcome.SuggestedActions)
	}
	gone := len(queue) - len(c.PendingActions)
	if gone < 0 || !slices.Equal(queue[gone:], c.PendingActions) {
		return errors.New("the queue holds what nobody suggested")
	}
	r.queue = c.PendingActions
	return nil
}

// applyDestructive keeps request and grant for exactly as long as run.md,
// section 10 lets them live: anything but the two cases below ends them.
func (r *Run) applyDestructive(c *Change, asking *step, e Event) {
	pending := r.pendingRequest
	r.pendingRequest, r.grant = nil, nil
	switch {
	case c.Submitted != nil && c.Submitted.Outcome.Pause != nil && c.PauseReason == schema.DestructiveConfirmationRequired:
		r.pendingRequest = c.Submitted.Outcome.Pause.DestructiveRequest
	case c.Answered != nil && c.Answered.ConfirmDestructive && c.Issued != nil:
		r.pendingRequest = pending
		r.grant = &schema.Authorization{
			RequestID: pending.RequestID, OriginatingActionID: asking.actionID, ScopeVersion: 1,
			ScopeSHA256: pending.ScopeSHA256, Targets: pending.Targets, Impact: pending.Impact,
			ConfirmedAt: e.At,
		}
	}
}

func (r *Run) applyIssue(c *Change) error {
	if c.Issued == nil {
		return nil
	}
	switch {
	case r.current != none:
		return errors.New("an Action was issued while another one waits")
	case r.stepOf(c.Issued.ActionID) != none:
		return errors.New("an Action was issued twice")
	case c.State != schema.Active:
		return errors.New("an Action was issued into a Run that is not active")
	case !c.Issued.sound():
		return errors.New("an Action was issued that is none")
	}
	r.steps = append(r.steps, &step{
		actionID: c.Issued.ActionID, kind: c.Issued.Kind, brief: c.Issued.Brief,
		remaining: c.RemainingBudget, issuedAt: r.sequence, authorization: r.grant, pinned: r.pinned,
	})
	r.current = len(r.steps) - 1
	return nil
}

// sound holds what only the event says of an Action against wire.md, section 4.
func (i *Issued) sound() bool {
	kind := looksAtWorktree(i.Kind) || i.Kind == schema.Review || i.Kind == schema.Summarize
	id := schema.IsPlain(i.ActionID) && !schema.IsBlank(i.ActionID)
	brief := schema.IsText(i.Brief) && !schema.IsBlank(i.Brief) && len(i.Brief) <= schema.MaxBriefBytes
	return kind && id && brief
}
