package engine

import (
	"context"
	"fmt"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// MaxLogEvents bounds one answer of a log (daemon.md, section 5).
const MaxLogEvents = 1000

// EventLog is a page of a Run's events (daemon.md, run/log).
type EventLog struct {
	Events    []LoggedEvent `json:"events"`
	NextAfter *int64        `json:"next_after,omitempty"` // set while there are more
}

// LoggedEvent is one event for people and plugins: what happened, and how the Run
// stood afterwards.
type LoggedEvent struct {
	Sequence int64        `json:"sequence"`
	At       time.Time    `json:"at"`
	Type     EventType    `json:"type"`
	ActionID string       `json:"action_id,omitempty"`
	Kind     schema.Kind  `json:"kind,omitempty"`
	State    schema.State `json:"state"`
	Summary  string       `json:"summary"`
}

// Log tells the events of a Run after a sequence number, at most limit of them. It
// writes nothing.
func (k *Keeper) Log(ctx context.Context, caller Caller, id string, after int64, limit int) (*EventLog, error) {
	if f := runIDFormFault(id); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	if _, err := k.read(ctx, v, id); err != nil {
		return nil, v.readFailure(id, err)
	}
	records, _, _, err := v.store.Read(ctx, id, journal.Stamp{})
	if err != nil {
		return nil, v.readFailure(id, err)
	}
	return logOf(records, after, limit)
}

func logOf(records []journal.Record, after int64, limit int) (*EventLog, error) {
	log := &EventLog{Events: []LoggedEvent{}}
	kinds := map[string]schema.Kind{}
	if limit <= 0 || limit > MaxLogEvents {
		limit = MaxLogEvents
	}
	for _, r := range records {
		e, err := DecodeEvent(r.Type, r.At, r.Data)
		if err != nil {
			return nil, err
		}
		if i := e.Change.Issued; i != nil {
			kinds[i.ActionID] = i.Kind
		}
		if r.Sequence <= after {
			continue
		}
		if len(log.Events) == limit {
			last := log.Events[limit-1].Sequence
			log.NextAfter = &last
			break
		}
		log.Events = append(log.Events, logged(r.Sequence, e, kinds))
	}
	return log, nil
}

func logged(sequence int64, e Event, kinds map[string]schema.Kind) LoggedEvent {
	subject := e.subject()
	return LoggedEvent{
		Sequence: sequence, At: e.At, Type: e.Type, ActionID: subject, Kind: kinds[subject],
		State: e.Change.State, Summary: e.line(kinds[subject]),
	}
}

// subject is the Action that the event is about.
func (e Event) subject() string {
	c := &e.Change
	switch {
	case c.Submitted != nil:
		return c.Submitted.Outcome.ActionID
	case c.Answered != nil:
		return c.Answered.ActionID
	case c.Skipped != "":
		return c.Skipped
	case c.Voided != "":
		return c.Voided
	case c.Issued != nil:
		return c.Issued.ActionID
	}
	return ""
}

// line tells the event in one line, without any text of the host or the user.
func (e Event) line(kind schema.Kind) string {
	what := ""
	switch c := &e.Change; e.Type {
	case RunStarted:
		what = fmt.Sprintf("started with a budget of %d", c.Started.InitialBudget)
	case OutcomeSubmitted:
		what = fmt.Sprintf("%s reported %s", kind, c.Submitted.Outcome.Status)
	case AnswerRecorded:
		what = fmt.Sprintf("the question of %s was answered", kind)
		if c.Answered.ConfirmDestructive {
			what = fmt.Sprintf("the destructive request of %s was confirmed", kind)
		}
	case ActionSkipped:
		what = fmt.Sprintf("%s was skipped", kind)
	case RunStopped:
		what = "stopped"
	case RunResumed:
		what = "resumed"
	case SourceRefreshed:
		what = "resumed with its requirements as they are now"
	case SourceCandidateCreated:
		what = "its requirements changed: a choice is due"
	case SourceRefreshSkipped:
		what = "resumed with its requirements as they were"
	case SourceAmended:
		what = "the changed requirements were adopted"
	case SourcePinned:
		what = "the changed requirements were set aside"
	}
	return what + e.Change.outlook()
}

// outlook tells what follows.
func (c *Change) outlook() string {
	switch {
	case c.Issued != nil:
		return fmt.Sprintf("; %s was issued", c.Issued.Kind)
	case c.State == schema.Paused:
		return fmt.Sprintf("; paused: %s", c.PauseReason)
	case c.State == schema.Ended:
		return "; the Run ended"
	}
	return ""
}
