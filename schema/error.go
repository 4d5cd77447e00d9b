package schema

import "fmt"

// Code names a failure; hosts branch on it (errors.md).
type Code string

// Exit statuses of a failure (errors.md, section 2).
const (
	ExitUsage   = 2
	ExitRuntime = 3
)

// Error is a failure as the contract shows it (wire.md, section 9). It is built
// where the fact is known and passed through unchanged.
type Error struct {
	ContractVersion int     `json:"contract_version"`
	Code            Code    `json:"code"`
	Message         string  `json:"message"`
	Next            Next    `json:"next"`
	ExitCode        int     `json:"exit_code"`
	Details         Details `json:"details,omitempty"`
}

// Usage makes the error of a wrong invocation: arguments, the files they name,
// the place they name (exit 2). Such an error has no details and has changed
// nothing.
func Usage(code Code, next Next, format string, args ...any) *Error {
	return newError(ExitUsage, code, next, nil, format, args)
}

// Runtime makes the error of a right invocation whose operation did not succeed
// (exit 3). details is nil where errors.md gives the code none.
func Runtime(code Code, next Next, details Details, format string, args ...any) *Error {
	return newError(ExitRuntime, code, next, details, format, args)
}

func newError(exit int, code Code, next Next, details Details, format string, args []any) *Error {
	message := fmt.Sprintf(format, args...)
	if message == "" {
		message = string(code)
	}
	return &Error{ContractVersion: ContractVersion, Code: code, Message: message, Next: next, ExitCode: exit, Details: details}
}

// Error gives the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Details is the details object of an Error: one of the Details types of this
// package, or nil where the code carries none. An Error that was decoded from
// JSON holds a map instead.
type Details any

// RunDetails accompanies every refusal by the state of a loaded Run. State is
// the state after the operation.
type RunDetails struct {
	RunID string `json:"run_id"`
	State State  `json:"state"`
}

// IssueDetails accompanies CodeSourceIssueMismatch.
type IssueDetails struct {
	PinnedIssueID    string `json:"pinned_issue_id"`
	RefreshedIssueID string `json:"refreshed_issue_id"`
	RunID            string `json:"run_id"`
	State            State  `json:"state"`
}

// WorkspaceDetails accompanies CodeWorkspaceIdentityMismatch: what was found, or
// why nothing could be found.
type WorkspaceDetails struct {
	DiscoveryError            string `json:"discovery_error,omitempty"`
	ExpectedWorkspaceIdentity Digest `json:"expected_workspace_identity"`
	ObservedWorkspaceIdentity Digest `json:"observed_workspace_identity,omitempty"`
}

// MutationDetails accompanies the mutation codes and the CodeRunBusy of a
// mutation. Phase is one of the names in storage.md, section 12.
type MutationDetails struct {
	Ambiguous         bool   `json:"ambiguous"`
	Committed         bool   `json:"committed"`
	NamespaceDetached bool   `json:"namespace_detached"`
	Phase             string `json:"phase"`
	ProjectionStale   bool   `json:"projection_stale"`
}

// RecordDetails accompanies CodeJournalRecordTooLarge. Size and Limit are bytes.
type RecordDetails struct {
	Context string `json:"context"`
	Limit   int    `json:"limit"`
	Size    int    `json:"size"`
}

// AdapterDetails accompanies CodeInstallFailed and CodeUninstallFailed. Report
// is the change report (wire.md, 10.2).
type AdapterDetails struct {
	Report             any    `json:"report"`
	TransactionOutcome string `json:"transaction_outcome"`
}

// DaemonDetails accompanies CodeDaemonUnavailable and CodeDaemonUnresponsive
// (daemon.md). An error with neither field carries no details at all.
type DaemonDetails struct {
	LogTail []string `json:"log_tail,omitempty"`
	Socket  string   `json:"socket,omitempty"`
}
