package engine

import (
	"fmt"

	"slipway/schema"
	"slipway/source"
)

// Next is what can be done now (next.md, section 3).
func (r *Run) Next() schema.Next {
	place := r.workspace.Place()
	actionID := ""
	if s := r.currentStep(); s != nil {
		actionID = s.actionID
	}
	switch {
	case r.state == schema.Ended:
		return schema.NextNone(place)
	case r.candidate != nil:
		return r.resumeChoices()
	case r.state == schema.Active:
		return schema.NextAction(place, r.id, actionID)
	case r.pauseReason == schema.DecisionRequired:
		return schema.NextDecision(place, r.id, actionID)
	case r.pauseReason == schema.DestructiveConfirmationRequired:
		return schema.NextDestructive(place, r.id, actionID, r.pendingRequest.ScopeSHA256)
	}
	return schema.NextResume(place, r.id, r.resumption(), actionID)
}

// resumeChoices are the ways to resume alone, whatever the state (next.md,
// section 3).
func (r *Run) resumeChoices() schema.Next {
	if r.state == schema.Ended {
		return schema.NextNone(r.workspace.Place())
	}
	return schema.NextResume(r.workspace.Place(), r.id, r.resumption(), "")
}

// resumption is the way in which the Run can be resumed.
func (r *Run) resumption() schema.Resumption {
	way := schema.Resumption{Source: r.pinned != nil}
	if r.candidate != nil {
		way.Candidate, way.Adoptable = r.candidate.CandidateID, r.candidate.Valid
	}
	return way
}

// actionWith is the Action of a step with a given context.
func (r *Run) actionWith(s *step, context string) *schema.Action {
	a := &schema.Action{
		ContractVersion: schema.ContractVersion, RunID: r.id, ActionID: s.actionID, Kind: s.kind,
		Goal: r.goal, Brief: s.brief, Context: context,
		DestructiveAuthorization: s.authorization, RemainingBudget: s.remaining,
	}
	if s.pinned != nil {
		a.Source = source.ActionSource(s.pinned)
		a.Requirements = source.Requirements(s.pinned, r.workspace.Place(), r.id, s.actionID)
	}
	return a
}

// action is the Action of a step as it was issued.
func (r *Run) action(s *step) (*schema.Action, error) {
	context, err := r.contextOf(s)
	if err != nil {
		return nil, fmt.Errorf("the context of Action %s: %w", s.actionID, err)
	}
	return r.actionWith(s, context), nil
}

// ProtocolState is the answer of an operation on the Run (wire.md, section 5).
func (r *Run) ProtocolState() (*schema.ProtocolState, error) {
	p := &schema.ProtocolState{
		ContractVersion: schema.ContractVersion, RunID: r.id, State: r.state,
		PauseReason: r.pauseReason, Summary: r.summary, Next: r.Next(),
		PinnedSource: r.pinned, SourceCandidate: r.candidate,
	}
	s := r.currentStep()
	if s == nil {
		return p, nil
	}
	var err error
	p.Action, err = r.action(s)
	return p, err
}

// Status is the whole record of the Run (run.md, section 2).
func (r *Run) Status() (*schema.RunStatus, error) {
	actions := make([]*schema.Action, len(r.steps))
	for i, s := range r.steps {
		var err error
		if actions[i], err = r.action(s); err != nil {
			return nil, err
		}
	}
	return r.statusWith(actions), nil
}

// statusWith is the record with the given Actions, one for each step.
func (r *Run) statusWith(actions []*schema.Action) *schema.RunStatus {
	status := &schema.RunStatus{
		ContractVersion: schema.ContractVersion, ID: r.id, Goal: r.goal,
		Workspace: r.workspace.WorktreeRoot, WorkspaceIdentity: r.workspace,
		State: r.state, PauseReason: r.pauseReason,
		ReviewEnabled: r.reviewEnabled, ReviewPending: r.reviewPending,
		InitialBudget: r.initialBudget, RemainingBudget: r.remainingBudget,
		InitialGit: *r.initialGit, CurrentGit: *r.currentGit, FinalGitObserved: r.finalGitObserved,
		PinnedSource: r.pinned, SourceCandidate: r.candidate, LastSourceChoice: r.lastChoice(),
		LastResumeResult: r.lastResume, PendingActions: r.queue, Observations: r.projectedObservations(),
		KnownIssues: r.knownIssues, Uncertainties: r.uncertainties, Activities: r.activities,
		Summary: r.summary, PendingDestructiveRequest: r.pendingRequest, DestructiveGrant: r.grant,
		CreatedAt: r.createdAt, UpdatedAt: r.updatedAt, Next: r.Next(),
	}
	for _, a := range r.answers {
		status.Answers = append(status.Answers, a.Answer)
	}
	for i, s := range r.steps {
		status.Actions = append(status.Actions, s.record(actions[i]))
	}
	if r.current != none {
		status.CurrentAction = actions[r.current]
	}
	return status
}

// record of the step's Action and what became of it.
func (s *step) record(action *schema.Action) schema.ActionRecord {
	record := schema.ActionRecord{
		Action: *action, Outcome: s.outcome, OutcomePayloadSHA256: s.payload,
		Voided: s.voided(), Skipped: s.skipped(),
	}
	if s.kind == schema.Review && s.skipped() && s.outcome == nil {
		record.ReviewProjection = &schema.ReviewReport{
			Result: schema.ReviewNotRun, Findings: []schema.Finding{}, Uncertainties: []string{},
		}
	}
	return record
}

// projectedObservations are the last ones, after a line that counts the others
// (run.md, section 15).
func (r *Run) projectedObservations() []string {
	shown := recent(r.observations)
	hidden := len(r.observations) - len(shown)
	if hidden == 0 {
		return shown
	}
	return append([]string{fmt.Sprintf("...[%d earlier observations in journal]", hidden)}, shown...)
}

// Stub is what another worktree sees of the Run that an event started
// (storage.md, 11.3).
func Stub(id string, started Event) (*schema.RunStub, error) {
	s := started.Change.Started
	if started.Type != RunStarted || s == nil || s.RunID != id || !s.WorkspaceIdentity.Valid() {
		return nil, fmt.Errorf("the first record is not the start of the Run %q", id)
	}
	return &schema.RunStub{
		ContractVersion: schema.ContractVersion, CreatedAt: started.At, Goal: s.Goal, ID: id,
		Next: schema.NextStubInWorkspace(s.WorkspaceIdentity.Place(), id), State: schema.Active,
		Workspace: s.WorkspaceIdentity.WorktreeRoot, WorkspaceForeign: true,
		WorkspaceIdentity: s.WorkspaceIdentity,
	}, nil
}
