package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// Verification is what Verify found: every stored Run that was asked for, and
// whether all of them are sound.
type Verification struct {
	Sound bool       `json:"sound"`
	Runs  []RunCheck `json:"stored_runs"` // by id
}

// RunCheck is the examination of one stored Run.
type RunCheck struct {
	ID        string          `json:"id"`
	Sound     bool            `json:"sound"`
	Busy      bool            `json:"busy,omitempty"` // not examined: another operation held it all the time
	Faults    []string        `json:"faults"`         // why it is not sound; empty where it is
	Notes     []string        `json:"notes"`          // harmless things worth knowing
	Workspace string          `json:"workspace,omitempty"`
	State     schema.State    `json:"state,omitempty"` // where the Run can be read
	Bytes     int             `json:"journal_bytes"`
	Tail      journal.Tail    `json:"tail"`
	Records   []RecordCheck   `json:"records"` // those that are sound
	Materials []MaterialCheck `json:"materials"`
	// Projection is how run.json is compared with the journal.
	Projection ProjectionState `json:"projection"`
	Revision   int64           `json:"projection_revision,omitempty"`
}

// RecordCheck is one record of a journal whose checksum is right.
type RecordCheck struct {
	Sequence int64     `json:"sequence"`
	Type     EventType `json:"type"`
	At       time.Time `json:"at"`
	Bytes    int64     `json:"bytes"`
	Chain    string    `json:"chain"`
}

// MaterialCheck is one material that the journal refers to.
type MaterialCheck struct {
	Digest schema.Digest `json:"digest"`
	Bytes  int           `json:"bytes"`           // 0 where it can not be read
	Fault  string        `json:"fault,omitempty"` // why it can not
}

// ProjectionState compares run.json with the journal.
type ProjectionState string

// The states of a projection. Only ProjectionAhead is a fault: the projection is made
// after the record, so one that is ahead shows that records are missing at the end,
// which the journal itself can not show.
const (
	ProjectionCurrent ProjectionState = "current"
	ProjectionStale   ProjectionState = "stale"
	ProjectionMissing ProjectionState = "missing"
	ProjectionDamaged ProjectionState = "damaged"
	ProjectionAhead   ProjectionState = "ahead"
	ProjectionUnknown ProjectionState = "unknown" // there is nothing to compare it with
)

// Verify examines one stored Run, or all of the repository where id is empty, those
// of other worktrees included: each record and its checksum, the history they make,
// the materials they refer to, and the projection. It takes the shared locks, writes
// nothing and trusts nothing that is in memory. What is wrong with a Run stands in
// its report; the error is about the place, the storage or an id that is none.
func (k *Keeper) Verify(ctx context.Context, caller Caller, id string) (*Verification, error) {
	if id != "" {
		if f := runIDFormFault(id); f != nil {
			return nil, f.At(k.Place(ctx, caller))
		}
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	ids := []string{id}
	if id == "" {
		if ids, err = v.store.RunIDs(); err != nil {
			return nil, v.notListed(err)
		}
	}
	report := &Verification{Sound: true, Runs: []RunCheck{}}
	for _, each := range ids {
		check, err := v.examine(ctx, each)
		if errors.Is(err, journal.ErrNoRun) && id == "" {
			continue // removed since it was listed
		}
		if errors.Is(err, journal.ErrBusy) && id == "" {
			check, err = newExamination(each), nil
			check.Busy = true
			check.fault("another operation holds the Run: it could not be examined")
		}
		if err != nil {
			return nil, v.readFailure(each, err)
		}
		report.Runs = append(report.Runs, check.RunCheck)
		report.Sound = report.Sound && check.Sound
	}
	return report, nil
}

// examination is a RunCheck in the making, and what it rests on.
type examination struct {
	RunCheck
	stored *journal.Inspection
	events []Event // of the sound records
	run    *Run    // nil where they make none
}

func newExamination(id string) *examination {
	return &examination{RunCheck: RunCheck{
		ID: id, Faults: []string{}, Notes: []string{}, Records: []RecordCheck{}, Materials: []MaterialCheck{}, Projection: ProjectionMissing,
	}}
}

func (v *visit) examine(ctx context.Context, id string) (*examination, error) {
	x := newExamination(id)
	var err error
	if x.stored, err = v.store.Inspect(ctx, id); err != nil {
		return nil, err
	}
	x.Bytes, x.Tail = len(x.stored.Journal), x.stored.Tail
	x.checkRecords()
	x.checkMaterials(v.store)
	x.checkProjection()
	switch x.Tail {
	case journal.TailTorn:
		x.note("the last write was interrupted; the next operation cuts its rest off")
	case journal.TailUnterminated:
		x.note("the last record lacks its line end; the next operation adds it")
	}
	if at, ok := x.lastLineOnly(); ok {
		x.note("only the last line of the journal is damaged: its first %d bytes are sound", at)
	}
	for _, what := range x.stored.Obstacles {
		x.note("%s: it keeps the Run from going on until it is moved away", what)
	}
	for _, name := range x.stored.Strays {
		x.note("%s does not belong there", name)
	}
	x.Sound = len(x.Faults) == 0
	return x, nil
}

// lastLineOnly says where the last line begins, if it is all that is damaged: what a
// power cut may leave of a write that nobody was told of, and what a person may cut
// off who knows that.
func (x *examination) lastLineOnly() (at int64, ok bool) {
	if x.stored.Fault == nil || len(x.stored.Records) == 0 {
		return 0, false
	}
	last := x.stored.Records[len(x.stored.Records)-1]
	at = last.Offset + last.Size
	rest := x.stored.Journal[at:]
	return at, bytes.IndexByte(rest, '\n') == len(rest)-1
}

func (x *examination) fault(format string, args ...any) {
	x.Faults = append(x.Faults, fmt.Sprintf(format, args...))
}

func (x *examination) note(format string, args ...any) {
	x.Notes = append(x.Notes, fmt.Sprintf(format, args...))
}

// checkRecords decodes the records and makes the Run of them.
func (x *examination) checkRecords() {
	for _, r := range x.stored.Records {
		e, err := DecodeEvent(r.Type, r.At, r.Data)
		if err != nil {
			x.fault("record %d: %v", r.Sequence, err)
			return
		}
		x.events = append(x.events, e)
		x.Records = append(x.Records, RecordCheck{Sequence: r.Sequence, Type: e.Type, At: r.At, Bytes: r.Size, Chain: r.Chain})
	}
	if x.stored.Fault != nil {
		x.fault("%v", x.stored.Fault)
	}
	if len(x.events) == 0 {
		return
	}
	run, err := Replay(x.ID, x.events)
	if err != nil {
		x.fault("%v", err)
		return
	}
	x.run, x.Workspace = run, run.workspace.WorktreeRoot
	if x.stored.Fault == nil {
		x.State = run.state
	}
}

// materials are the digests that the events refer to, in their order.
func (x *examination) materials() []schema.Digest {
	var all []schema.Digest
	seen := map[schema.Digest]bool{}
	add := func(p *schema.PinnedSource) {
		if p == nil {
			return
		}
		for _, section := range p.Sections {
			if !seen[section.MaterialSHA256] {
				seen[section.MaterialSHA256] = true
				all = append(all, section.MaterialSHA256)
			}
		}
	}
	for _, e := range x.events {
		if e.Change.Started != nil {
			add(e.Change.Started.Source)
		}
		add(e.Change.Refreshed)
		if e.Change.Candidate != nil {
			add(e.Change.Candidate.Snapshot)
		}
	}
	return all
}

func (x *examination) checkMaterials(store *journal.Store) {
	referenced := map[schema.Digest]bool{}
	for _, digest := range x.materials() {
		referenced[digest] = true
		check := MaterialCheck{Digest: digest}
		content, err := store.Material(x.ID, digest)
		if err != nil {
			check.Fault = err.Error()
			x.fault("the material %s: %v", digest, err)
		}
		check.Bytes = len(content)
		x.Materials = append(x.Materials, check)
	}
	for _, digest := range x.stored.Materials {
		if !referenced[digest] {
			x.note("no record refers to the material %s", digest)
		}
	}
}

func (x *examination) checkProjection() {
	switch {
	case x.stored.ProjectionFault != nil:
		x.Projection = ProjectionDamaged
		x.note("run.json can not be read: %v", x.stored.ProjectionFault)
		return
	case x.stored.Projection == nil:
		return
	}
	x.Projection, x.Revision = projectionState(x.stored.Projection, x.run)
	if x.Projection == ProjectionAhead && x.stored.Fault == nil {
		x.fault("run.json is of record %d, the journal ends with %d: records are missing at its end", x.Revision, len(x.Records))
	}
}

// projectionState compares the content of run.json with a Run; nil stands for one
// that can not be read.
func projectionState(content []byte, run *Run) (ProjectionState, int64) {
	var stored struct {
		Revision int64           `json:"revision"`
		Data     json.RawMessage `json:"data"`
	}
	if err := schema.DecodeStrict(content, len(content), &stored); err != nil || stored.Revision < 1 {
		return ProjectionDamaged, 0
	}
	switch {
	case run == nil:
		return ProjectionUnknown, stored.Revision
	case stored.Revision > run.sequence:
		return ProjectionAhead, stored.Revision
	case stored.Revision < run.sequence:
		return ProjectionStale, stored.Revision
	}
	if current, err := run.Projection(); err != nil || !bytes.Equal(current, content) {
		return ProjectionDamaged, stored.Revision
	}
	return ProjectionCurrent, stored.Revision
}

// Damaged tells whether any Run that was examined is not sound.
func (v *Verification) Damaged() bool {
	return slices.ContainsFunc(v.Runs, func(r RunCheck) bool { return !r.Sound && !r.Busy })
}

// notListed is the error where the directory of Runs can not be read.
func (v *visit) notListed(err error) *schema.Error {
	return schema.Runtime(schema.CodeRuntimeError, schema.NextNone(v.place()), nil, "the Runs can not be listed: %v", err)
}
