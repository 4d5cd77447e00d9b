package engine

import (
	"errors"

	"slipway/schema"
)

func (r *Run) details() schema.RunDetails { return schema.RunDetails{RunID: r.id, State: r.state} }

// refuse is a refusal by the state of the Run (errors.md, 5.2): it offers what
// the Run itself offers.
func (r *Run) refuse(code schema.Code, format string, args ...any) *schema.Error {
	return schema.Runtime(code, r.Next(), r.details(), format, args...)
}

// refuseToResume is a refusal that offers the ways to resume and nothing else.
func (r *Run) refuseToResume(code schema.Code, format string, args ...any) *schema.Error {
	return schema.Runtime(code, r.resumeChoices(), r.details(), format, args...)
}

func (r *Run) refuseBudget() *schema.Error {
	return r.refuseToResume(schema.CodeBudgetExhausted,
		"the confirmation was recorded, but no budget is left for the Action; resume the Run and ask again")
}

// actionRefusal turns the fault of an Action that was to be issued into the
// answer; the Run stays as it was (run.md, section 5).
func (r *Run) actionRefusal(err error) *schema.Error {
	code, reason := actionFault(err)
	return schema.Runtime(code, r.Next(), nil, "the next Action can not be issued: %s; nothing was recorded", reason)
}

func actionFault(err error) (schema.Code, string) {
	var fault *schema.ActionFault
	if errors.As(err, &fault) {
		return fault.Code, fault.Reason
	}
	return schema.CodeInvalidAction, err.Error()
}
