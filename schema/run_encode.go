package schema

import (
	"encoding/json"
	"errors"
)

// MarshalJSON writes the status or the stub, whichever is set.
func (l ListedRun) MarshalJSON() ([]byte, error) {
	switch {
	case l.Status != nil && l.Stub == nil:
		return Marshal(l.Status)
	case l.Stub != nil && l.Status == nil:
		return Marshal(l.Stub)
	}
	return nil, errors.New("schema: a listed Run is either a status or a stub")
}

// UnmarshalJSON reads either form; a stub is what says that it is foreign.
func (l *ListedRun) UnmarshalJSON(data []byte) error {
	var form struct {
		WorkspaceForeign bool `json:"workspace_foreign"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*l = ListedRun{}
	if form.WorkspaceForeign {
		l.Stub = new(RunStub)
		return json.Unmarshal(data, l.Stub)
	}
	l.Status = new(RunStatus)
	return json.Unmarshal(data, l.Status)
}

// MarshalJSON writes both lists as arrays, also where there is nothing in them.
func (l StatusList) MarshalJSON() ([]byte, error) {
	type plain StatusList
	l.Runs, l.UnavailableRuns = present(l.Runs), present(l.UnavailableRuns)
	return Marshal(plain(l))
}

// MarshalJSON writes the aliases and sections as arrays, also where there are
// none.
func (p PinnedSource) MarshalJSON() ([]byte, error) {
	type plain PinnedSource
	p.URLAliases, p.Sections = present(p.URLAliases), present(p.Sections)
	return Marshal(plain(p))
}

// MarshalJSON writes the aliases as an array, also where there are none.
func (c SourceCandidate) MarshalJSON() ([]byte, error) {
	type plain SourceCandidate
	c.URLAliases = present(c.URLAliases)
	return Marshal(plain(c))
}

// MarshalJSON writes the findings and uncertainties as arrays, also where there
// are none.
func (r ReviewReport) MarshalJSON() ([]byte, error) {
	type plain ReviewReport
	r.Findings, r.Uncertainties = present(r.Findings), present(r.Uncertainties)
	return Marshal(plain(r))
}

// MarshalJSON writes the paths as arrays, also where there are none.
func (o Observation) MarshalJSON() ([]byte, error) {
	type plain Observation
	o.DirtyFiles, o.PathObservations = present(o.DirtyFiles), present(o.PathObservations)
	return Marshal(plain(o))
}
