package schema

import (
	"fmt"
	"slices"
)

// ActionFault says why an Action can not be issued. Code is CodeActionTooLarge or
// CodeInvalidAction.
type ActionFault struct {
	Code   Code
	Reason string
}

// Error gives the reason.
func (f *ActionFault) Error() string { return f.Reason }

// EncodedSize is the bytes of the Action as compact JSON with one LF (run.md,
// section 1).
func (a *Action) EncodedSize() int {
	// Goal and context are most of it, and their size is known without encoding.
	small := *a
	small.Goal, small.Context = "", ""
	encoded, err := Marshal(&small)
	if err != nil {
		// Strings, integers and a time within four-digit years always encode.
		panic("schema: an Action does not encode: " + err.Error())
	}
	texts := EncodedSize(a.Goal) + EncodedSize(a.Context) - 2*len(`""`)
	return len(encoded) + texts + 1
}

// Validate checks that the Action has one of its six forms and keeps its limits
// (wire.md, section 4). The error is an *[ActionFault]. A rule about form wins
// over a limit.
func (a *Action) Validate() error {
	if reason := a.formFault(); reason != "" {
		return &ActionFault{CodeInvalidAction, reason}
	}
	switch size := a.EncodedSize(); {
	case len(a.Brief) > MaxBriefBytes:
		return tooLarge("its brief", len(a.Brief), MaxBriefBytes)
	case len(a.Context) > MaxContextBytes:
		return tooLarge("its context", len(a.Context), MaxContextBytes)
	case size > MaxEncodedActionBytes:
		return tooLarge("it", size, MaxEncodedActionBytes)
	}
	return nil
}

func tooLarge(what string, size, limit int) *ActionFault {
	return &ActionFault{CodeActionTooLarge, fmt.Sprintf("the Action is too large: %s has %d bytes of at most %d", what, size, limit)}
}

var actionKinds = []Kind{Orient, Clarify, Implement, Review, Summarize}

// formFault says which rule about form the Action breaks.
func (a *Action) formFault() string {
	switch {
	case a.ContractVersion != ContractVersion:
		return "the Action is of another contract version"
	case !isName(a.RunID), !isName(a.ActionID):
		return "an id of the Action is malformed"
	case !slices.Contains(actionKinds, a.Kind):
		return fmt.Sprintf("the Action has the unknown kind %q", a.Kind)
	case !isSolid(a.Goal):
		return "the goal of the Action is blank or has a control character"
	case !isSolid(a.Brief):
		return "the brief of the Action is blank or has a control character"
	case !isSolid(a.Context):
		return "the context of the Action is blank or has a control character"
	case a.RemainingBudget < 0:
		return "the Action has a negative budget"
	case (a.Source == nil) != (a.Requirements == nil):
		return "the Action has a source without requirements or requirements without a source"
	case a.DestructiveAuthorization != nil && a.Kind != Implement:
		return "an Action that is no Implement has an authorization"
	}
	if a.DestructiveAuthorization != nil && !a.DestructiveAuthorization.sound() {
		return "the authorization of the Action is malformed"
	}
	if a.Source != nil && (!a.Source.sound() || !a.requirementsSound()) {
		return "the source or the requirements of the Action are malformed"
	}
	return ""
}

// sound reports whether the authorization is that of a valid request.
func (a *Authorization) sound() bool {
	request := DestructiveRequest{RequestID: a.RequestID, Targets: a.Targets, Impact: a.Impact, ScopeSHA256: a.ScopeSHA256}
	return a.ScopeVersion == ScopeVersion && isName(a.OriginatingActionID) && !a.ConfirmedAt.IsZero() && request.Validate() == nil
}

// SourceKind is the only kind of source that an Action has.
const SourceKind = "change_issue"

var issueURLForm = Pattern(`^https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+/issues/[1-9][0-9]*$`)

func (s *ActionSource) sound() bool {
	return s.Kind == SourceKind && issueURLForm(s.CanonicalURL) && isName(s.IssueID) &&
		s.SourceRevision.Valid() && s.ManifestRevision.Valid() && s.RequirementsRevision.Valid()
}

// Limits of the sections of a source (wire.md, 4.2): their number in an Action,
// the bytes of a title, and the bytes of one section.
const (
	MaxSections          = 64
	MaxSectionTitleBytes = 512
	MaxSectionBytes      = 262_144
)

var sectionKeyForm = Pattern(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// ValidSectionKey reports whether s can be the key of a section.
func ValidSectionKey(s string) bool { return sectionKeyForm(s) }

var sectionRoles = []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"}

// ValidSectionRole reports whether s is one of the five roles of a section.
func ValidSectionRole(s string) bool { return slices.Contains(sectionRoles, s) }

func (s *RequirementSection) sound() bool {
	return ValidSectionKey(s.Key) && ValidSectionRole(s.Role) && isName(s.Title) && len(s.Title) <= MaxSectionTitleBytes &&
		s.SectionRevision.Valid() && s.MaterialSHA256.Valid() && 1 <= s.Bytes && s.Bytes <= MaxSectionBytes
}

// requirementsSound checks the catalog, that nothing less than all of it is
// required, and that the reader is the one that belongs to this Action.
func (a *Action) requirementsSound() bool {
	r := a.Requirements
	if r.RequirementsRevision != a.Source.RequirementsRevision || len(r.Sections) == 0 || len(r.Sections) > MaxSections {
		return false
	}
	keys := make([]string, len(r.Sections))
	for i := range r.Sections {
		if !r.Sections[i].sound() {
			return false
		}
		keys[i] = r.Sections[i].Key
	}
	return slices.Equal(keys, r.RequiredForAction) && len(r.Reader.BaseArgv) == readerLength &&
		equalReader(r.Reader, NewReader(Place{Root: r.Reader.BaseArgv[readerRoot]}, a.RunID, a.ActionID, keys))
}

// Where the root stands in the command of a reader, and how long that is.
const (
	readerRoot   = 4
	readerLength = 9
)

// ReadMaterial is the operation of every [Reader].
const ReadMaterial = "read_material"

// NewReader makes the command that reads one section of an Action's requirements
// (wire.md, 4.2). keys are the section keys in order.
func NewReader(p Place, run, action string, keys []string) Reader {
	return Reader{
		Operation: ReadMaterial,
		BaseArgv:  []string{"slipway", "protocol", "material", "--root", p.Root, "--run", run, "--action", action},
		Input:     Input{Name: "section", Type: InputEnum, Flag: "--section", Required: true, Choices: keys},
	}
}

func equalReader(a, b Reader) bool {
	return a.Operation == b.Operation && slices.Equal(a.BaseArgv, b.BaseArgv) &&
		equalInputs([]Input{a.Input}, []Input{b.Input})
}
