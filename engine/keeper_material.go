package engine

import (
	"context"
	"errors"
	"sync"

	"slipway/journal"
	"slipway/schema"
	"slipway/source"
)

// MaterialRequest asks for the text of a section that an Action must follow
// (source.md, section 16).
type MaterialRequest struct {
	Run, Action, Section string
}

// ArgumentFault checks that everything is named.
func (q MaterialRequest) ArgumentFault() *ArgumentFault {
	switch {
	case q.Run == "":
		return fault(schema.CodeRunIDRequired, "name the Run", schema.NextInspectRuns)
	case q.Action == "" || !schema.ValidRunID(q.Run):
		return actionFaultOf(q.Run, q.Action)
	case q.Section == "":
		return fault(schema.CodeMaterialSectionRequired, "name the section", inspectRun(q.Run))
	}
	return nil
}

// SectionRequest asks for the text of a section of the pinned source.
type SectionRequest struct {
	Run, Section string
}

// ArgumentFault checks that everything is named. An empty Run id stands for none
// at all.
func (q SectionRequest) ArgumentFault() *ArgumentFault {
	switch {
	case q.Run == "":
		return fault(schema.CodeRunIDRequired, "name the Run whose section is to be shown", schema.NextInspectRuns)
	case !schema.ValidRunID(q.Run):
		return runIDFormFault(q.Run)
	case q.Section == "":
		return fault(schema.CodeMaterialSectionRequired, "name the section", inspectRun(q.Run))
	}
	return nil
}

// Material reads a section for the current Action. It writes nothing.
func (k *Keeper) Material(ctx context.Context, caller Caller, q MaterialRequest) (*schema.ActionMaterial, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	if err := v.checkSectionKey(q.Run, q.Section); err != nil {
		return nil, err
	}
	run, err := k.read(ctx, v, q.Run)
	if err != nil {
		return nil, v.materialReadFailure(q.Run, err)
	}
	s, err := run.readableStep(q.Action)
	if err != nil {
		return nil, err
	}
	section, err := v.section(run, s.pinned, q.Section)
	if err != nil {
		return nil, err
	}
	return &schema.ActionMaterial{
		ContractVersion: schema.ContractVersion, MessageType: schema.ActionMaterialType, RunID: run.id,
		ActionID: s.actionID, RequirementsRevision: requirementsOf(s.pinned), Section: *section,
	}, nil
}

// Section reads a section of the pinned source. It writes nothing.
func (k *Keeper) Section(ctx context.Context, caller Caller, q SectionRequest) (*schema.PinnedMaterial, error) {
	if f := q.ArgumentFault(); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	if err := v.checkSectionKey(q.Run, q.Section); err != nil {
		return nil, err
	}
	run, err := k.read(ctx, v, q.Run)
	if err != nil {
		return nil, v.readFailure(q.Run, err)
	}
	section, err := v.section(run, run.pinned, q.Section)
	if err != nil {
		return nil, err
	}
	sourceRevision, requirementsRevision := run.revisions()
	return &schema.PinnedMaterial{
		ContractVersion: schema.ContractVersion, MessageType: schema.PinnedMaterialType, RunID: run.id, RunState: run.state,
		SourceRevision: sourceRevision, RequirementsRevision: requirementsRevision, Section: *section,
	}, nil
}

func (v *visit) checkSectionKey(run, key string) error {
	if schema.ValidSectionKey(key) {
		return nil
	}
	return schema.Runtime(schema.CodeMaterialSectionInvalid, schema.NextInspectRun(v.place(), run), nil,
		"a section key has 1 to 64 characters of a-z 0-9 - _ . and begins with a letter or digit")
}

// materialReadFailure is what a reader of material says of a Run that it can not
// read; it differs from a status in one code (storage.md, section 9).
func (v *visit) materialReadFailure(id string, err error) error {
	var foreign *foreignError
	if errors.As(err, &foreign) || errors.Is(err, journal.ErrNoRun) || errors.Is(err, journal.ErrBusy) {
		return v.readFailure(id, err)
	}
	return v.unusable(id, err)
}

// readableStep is the step of an Action whose material may be read now.
func (r *Run) readableStep(actionID string) (*step, error) {
	i := r.stepOf(actionID)
	if i == none {
		return nil, schema.Runtime(schema.CodeMaterialActionNotFound, schema.NextInspectRun(r.workspace.Place(), r.id), nil,
			"the Run has no Action of this id")
	}
	if i != r.current {
		return nil, schema.Runtime(schema.CodeMaterialActionStale, r.Next(), nil, "the Action is not the current one of the Run")
	}
	return r.steps[i], nil
}

// section gives a section of a catalog with its text, checked.
func (v *visit) section(run *Run, pinned *schema.PinnedSource, key string) (*schema.MaterialSection, error) {
	refuse := func(code schema.Code, reason string) error {
		return schema.Runtime(code, schema.NextInspectRun(run.workspace.Place(), run.id), nil, "%s", reason)
	}
	if pinned == nil {
		return nil, refuse(schema.CodeMaterialUnavailable, "the Run has no issue as its source, so it has no sections")
	}
	entry, err := source.FindSection(source.Sections(pinned), key)
	var text string
	if err == nil {
		text, err = v.keeper.lately.text(v.store, run.id, entry)
	}
	var faulty *source.MaterialFault
	switch {
	case errors.As(err, &faulty):
		return nil, refuse(faulty.Code, faulty.Reason)
	case err != nil:
		return nil, refuse(schema.CodeMaterialUnavailable, "the stored text of the section can not be read: "+err.Error())
	}
	return &schema.MaterialSection{
		Key: entry.Key, Role: entry.Role, Title: entry.Title, SectionRevision: entry.SectionRevision, Markdown: text,
	}, nil
}

// textsKept is how much text is kept, in bytes: that of the largest Change.
const textsKept = source.MaxBundleBytes

// texts are those that were read last, by their entries in catalogs, which they were
// found to fit. What is stored is verified at each reading, but who has that digest is
// that text: it need not be put together again, nor its revision be computed.
type texts struct {
	mu    sync.Mutex
	bytes int
	known map[schema.RequirementSection]string
}

// text reads a section. Its error is a *source.MaterialFault, or says why the stored
// text is not available.
func (t *texts) text(store *journal.Store, run string, entry schema.RequirementSection) (string, error) {
	t.mu.Lock()
	text, known := t.known[entry]
	t.mu.Unlock()
	if known {
		return text, store.VerifyMaterial(run, entry.MaterialSHA256)
	}
	text, err := store.Material(run, entry.MaterialSHA256)
	if err == nil {
		err = source.CheckMaterial(entry, text)
	}
	if err == nil {
		t.keep(entry, text)
	}
	return text, err
}

func (t *texts) keep(entry schema.RequirementSection, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.known[entry]; known {
		return // somebody else was faster
	}
	if t.known == nil || t.bytes+len(text) > textsKept {
		t.known, t.bytes = make(map[schema.RequirementSection]string), 0
	}
	t.known[entry] = text
	t.bytes += len(text)
}
