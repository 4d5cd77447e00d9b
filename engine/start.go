package engine

import (
	"slipway/schema"
	"slipway/source"
)

// Start is the command that makes a Run (run.md, 6.2). Its values have passed
// the checks of the arguments.
type Start struct {
	RunID     string
	Goal      string
	Budget    int
	Review    bool
	Workspace schema.WorkspaceIdentity
	Head      *source.Head // usable; nil in an ad-hoc Run
}

// DecideStart makes the first event of a Run. f.Git must hold an observation.
// The error is a *schema.Error: the first Action is not valid.
func DecideStart(s Start, f Facts) (Decision, error) {
	c := Change{
		Started: &Started{
			RunID: s.RunID, Goal: s.Goal, WorkspaceIdentity: s.Workspace,
			ReviewEnabled: s.Review, InitialBudget: s.Budget,
		},
		Observed:        &Observed{Git: f.Git.Observation},
		RemainingBudget: s.Budget,
	}
	if s.Head != nil {
		c.Started.Source = s.Head.Source
	}
	before := &Run{initialGit: f.Git.Observation, currentGit: f.Git.Observation, current: none}
	before.stateObservation(&c)
	c.issue(f, schema.Orient, briefStart)
	e := Event{Type: RunStarted, At: f.Now, Change: c}
	run, err := Replay(s.RunID, []Event{e})
	if err == nil {
		err = run.checkIssued(&c)
	}
	if err != nil {
		code, reason := actionFault(err)
		return Decision{}, schema.Runtime(code, schema.NextStart(s.Workspace.Place(), s.Budget, s.Review, s.Head != nil), nil,
			"the first Action can not be issued: %s; shorten or clean the goal", reason)
	}
	d := Decision{Event: &e, Run: run}
	if s.Head != nil {
		d.Materials = s.Head.Materials
	}
	return d, nil
}
