package schema

import "fmt"

// OutcomeFault says why a document is no Outcome. Code is CodeInvalidOutcome (a
// usage error) or CodeContractVersionMismatch (a runtime error).
type OutcomeFault struct {
	Code   Code
	Reason string
}

// Error gives the reason.
func (f *OutcomeFault) Error() string { return f.Reason }

// DecodeOutcome decodes the exact bytes that a host sent: rows 1 to 3 of wire.md,
// 3.8. Every array of the result is there, be it empty. What the Outcome says is
// judged by [Outcome.Validate], once the Action is known.
func DecodeOutcome(data []byte) (*Outcome, *OutcomeFault) {
	var outcome Outcome
	late, err := decodeStrict(data, MaxOutcomeBytes, &outcome, true)
	switch {
	case err != nil:
		return nil, &OutcomeFault{CodeInvalidOutcome, err.Error()}
	case outcome.ContractVersion != ContractVersion:
		return nil, &OutcomeFault{CodeContractVersionMismatch, fmt.Sprintf(
			"the Outcome has contract_version %d (0 stands for none); this build takes %d and nothing else", outcome.ContractVersion, ContractVersion)}
	case late != nil:
		return nil, &OutcomeFault{CodeInvalidOutcome, late.Error()}
	}
	return &outcome, nil
}
