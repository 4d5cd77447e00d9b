package deploy

import (
	"maps"
	"slices"

	"slipway/schema"
)

// Outcome says what became of the changes of a command (adapters.md, section 7).
type Outcome string

// The outcomes of a command.
const (
	// OutcomeCommitted: every planned change is in place, also where there was
	// none. In an error: in place, but cleaning up afterwards failed.
	OutcomeCommitted Outcome = "committed"
	// OutcomeNotCommitted: no change was begun.
	OutcomeNotCommitted Outcome = "not_committed"
	// OutcomeRolledBack: changes were begun, and the former state is restored.
	OutcomeRolledBack Outcome = "rolled_back"
	// OutcomeAmbiguous: undoing was incomplete, or the root was replaced after a
	// change.
	OutcomeAmbiguous Outcome = "ambiguous"
)

// ChangeReport is the answer of [Install] and [Uninstall] (adapters.md, section
// 9). Paths are relative to the worktree root, with / as separator. Every list is
// sorted and free of repeats; none is nil.
type ChangeReport struct {
	ContractVersion   int      `json:"contract_version"`
	Hosts             []string `json:"hosts"`
	Outcome           Outcome  `json:"transaction_outcome"`
	Written           []string `json:"written"`            // empty unless committed
	Removed           []string `json:"removed"`            // empty unless committed
	Preserved         []string `json:"preserved"`          // ordinary files that were left alone
	RecoveryArtifacts []string `json:"recovery_artifacts"` // objects kept for the user
	Warnings          []string `json:"warnings"`           // sentences
}

// newChangeReport puts a report in order.
func newChangeReport(outcome Outcome, lists reportLists) *ChangeReport {
	if outcome != OutcomeCommitted {
		lists.written, lists.removed = nil, nil
	}
	return &ChangeReport{
		ContractVersion: schema.ContractVersion, Outcome: outcome,
		Hosts: inOrder(lists.hosts), Written: inOrder(lists.written), Removed: inOrder(lists.removed),
		Preserved: inOrder(lists.preserved), RecoveryArtifacts: inOrder(lists.artifacts), Warnings: inOrder(lists.warnings),
	}
}

// reportLists is what a command collects for its report.
type reportLists struct {
	hosts, written, removed, preserved, artifacts, warnings []string
}

func (l *reportLists) add(more reportLists) {
	l.hosts = append(l.hosts, more.hosts...)
	l.written = append(l.written, more.written...)
	l.removed = append(l.removed, more.removed...)
	l.preserved = append(l.preserved, more.preserved...)
	l.artifacts = append(l.artifacts, more.artifacts...)
	l.warnings = append(l.warnings, more.warnings...)
}

func inOrder(list []string) []string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if list == nil {
		return []string{}
	}
	return list
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// ListReport is the answer of [List]: all hosts in registry order (adapters.md,
// section 10).
type ListReport struct {
	ContractVersion int          `json:"contract_version"`
	Hosts           []HostStatus `json:"hosts"`
}

// HostStatus is what list says about one host.
type HostStatus struct {
	ID           string   `json:"id"`
	Detected     bool     `json:"detected"`
	Installed    bool     `json:"installed"`     // a valid manifest exists
	NeedsRefresh bool     `json:"needs_refresh"` // installed, but not exactly as this build would leave it
	Capabilities []string `json:"capabilities"`  // the healthy ones in canonical order; never nil
	Warning      string   `json:"warning,omitempty"`
}

// DoctorReport is the answer of [Doctor] (adapters.md, section 11).
type DoctorReport struct {
	ContractVersion int     `json:"contract_version"`
	Checks          []Check `json:"checks"`
}

// CheckStatus says how a check turned out.
type CheckStatus string

// The statuses of a check.
const (
	StatusOK      CheckStatus = "ok"
	StatusWarning CheckStatus = "warning"
	StatusError   CheckStatus = "error"
)

// NoHost is the HostID of a check that is about no host.
const NoHost = "-"

// Check is one finding of doctor.
type Check struct {
	Code       string      `json:"code"` // ^[a-z][a-z0-9_]*$
	Status     CheckStatus `json:"status"`
	HostID     string      `json:"host_id"` // a host, or NoHost
	Name       string      `json:"name"`
	Detail     string      `json:"detail"` // for people; never empty
	Durability *Durability `json:"durability,omitempty"`
}

// Durability says how far Run storage can be brought to the disk.
type Durability struct {
	Level         string `json:"level"`
	FileSync      bool   `json:"file_sync"`
	DirectorySync bool   `json:"directory_sync"`
	Limitation    string `json:"limitation,omitempty"`
}
