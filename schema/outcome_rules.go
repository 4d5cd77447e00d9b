package schema

import (
	"errors"
	"fmt"
	"slices"
)

// Validate checks what an Outcome says about the Action that it answers: row 5 of
// wire.md, 3.8, for which the host gets CodeInvalidOutcome. The Outcome must come
// from [DecodeOutcome].
func (o *Outcome) Validate(actionID string, kind Kind) error {
	switch {
	case o.ActionID != actionID:
		return errors.New("action_id is not the current Action")
	case o.ActionKind != kind:
		return fmt.Errorf("action_kind is not that of the current Action, which is %s", kind)
	case !isSolid(o.Summary):
		return errors.New("summary must be non-blank text")
	case !areTexts(o.Observations):
		return errors.New("observations must be texts")
	case !areTexts(o.KnownIssues):
		return errors.New("known_issues must be texts")
	}
	for _, check := range []func() error{
		o.checkCombination, o.checkSuggestions, o.checkPause, o.checkImplementation, o.checkReview,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func areTexts(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !IsText(s) })
}

// combination is what one kind and status may come with (wire.md, 3.7).
type combination struct {
	implementation []ImplementationResult // none: implementation is null
	review         []ReviewResult         // none: review is null
	pause          []PauseReason          // none: pause is null
	suggestion     bool
}

type kindAndStatus struct {
	kind   Kind
	status OutcomeStatus
}

var (
	ordinaryPauses  = []PauseReason{DecisionRequired, EnvironmentUnavailable}
	implementPauses = []PauseReason{DecisionRequired, EnvironmentUnavailable, DestructiveConfirmationRequired}
)

var legalCombinations = map[kindAndStatus]combination{
	{Orient, Completed}:     {suggestion: true},
	{Orient, Partial}:       {suggestion: true},
	{Orient, Failed}:        {suggestion: true},
	{Orient, NeedsInput}:    {pause: ordinaryPauses},
	{Clarify, Completed}:    {suggestion: true},
	{Clarify, Failed}:       {suggestion: true},
	{Clarify, NeedsInput}:   {pause: ordinaryPauses},
	{Implement, Completed}:  {implementation: []ImplementationResult{ResultApplied, ResultNotNeeded}},
	{Implement, Partial}:    {implementation: []ImplementationResult{ResultPartial}},
	{Implement, Failed}:     {implementation: []ImplementationResult{ResultUnable}},
	{Implement, NeedsInput}: {pause: implementPauses},
	{Review, Completed}:     {review: []ReviewResult{ReviewNoFindings, ReviewFindings}},
	{Review, Partial}:       {review: []ReviewResult{ReviewInconclusive}},
	{Review, Failed}:        {review: []ReviewResult{ReviewError}},
	{Summarize, Completed}:  {},
	{Summarize, Failed}:     {},
}

// checkCombination holds kind, status, branches, pause and suggestions against
// the table of legal combinations.
func (o *Outcome) checkCombination() error {
	legal, known := legalCombinations[kindAndStatus{o.ActionKind, o.Status}]
	if !known {
		return fmt.Errorf("%s has no status %q", o.ActionKind, o.Status)
	}
	var implementation ImplementationResult
	if o.Implementation != nil {
		implementation = o.Implementation.Result
	}
	var review ReviewResult
	if o.Review != nil {
		review = o.Review.Result
	}
	var reason PauseReason
	if o.Pause != nil {
		reason = o.Pause.Reason
	}
	switch {
	case !fits(o.Implementation != nil, implementation, legal.implementation):
		return o.unfit("implementation", legal.implementation)
	case !fits(o.Review != nil, review, legal.review):
		return o.unfit("review", legal.review)
	case !fits(o.Pause != nil, reason, legal.pause):
		return o.unfit("pause", legal.pause)
	case len(o.SuggestedActions) > 1, len(o.SuggestedActions) == 1 && !legal.suggestion:
		return o.unfit("suggested_actions", "[] or, from Orient and Clarify without needs_input, one item")
	}
	return nil
}

// fits reports whether a nullable object is there exactly when some value is
// legal for it, with one of them.
func fits[T comparable](present bool, value T, legal []T) bool {
	if len(legal) == 0 {
		return !present
	}
	return present && slices.Contains(legal, value)
}

func (o *Outcome) unfit(key string, legal any) error {
	return fmt.Errorf("%s of %s with status %s must be one of %v (none: null)", key, o.ActionKind, o.Status, legal)
}

func (o *Outcome) checkSuggestions() error {
	for _, s := range o.SuggestedActions {
		switch {
		case s.Kind != Clarify && s.Kind != Implement && s.Kind != Summarize:
			return fmt.Errorf("%q can not be suggested", s.Kind)
		case !isSolid(s.Brief):
			return errors.New("the brief of a suggested Action must be non-blank text")
		case len(s.Brief) > MaxBriefBytes:
			return fmt.Errorf("the brief of a suggested Action has more than %d bytes", MaxBriefBytes)
		}
	}
	return nil
}

func (o *Outcome) checkPause() error {
	p := o.Pause
	if p == nil {
		return nil
	}
	switch {
	case !isSolid(p.Question):
		return errors.New("pause.question must be non-blank text")
	case (p.Reason == DestructiveConfirmationRequired) != (p.DestructiveRequest != nil):
		return fmt.Errorf("pause.destructive_request belongs to %s and to nothing else", DestructiveConfirmationRequired)
	case p.SupersedesAnswerActionID != nil && p.Reason != DecisionRequired:
		return fmt.Errorf("pause.supersedes_answer_action_id belongs to %s only", DecisionRequired)
	case p.SupersedesAnswerActionID != nil && !isName(*p.SupersedesAnswerActionID):
		return errors.New("pause.supersedes_answer_action_id is no id")
	case p.DestructiveRequest != nil:
		return p.DestructiveRequest.Validate()
	}
	return nil
}

// requestIDForm is a UUID of the RFC variant, which the nil UUID is not.
var requestIDForm = Pattern(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// Validate checks a destructive request (wire.md, 3.4): its form, the order of
// its targets and the digest of its scope.
func (r *DestructiveRequest) Validate() error {
	switch {
	case !requestIDForm(r.RequestID):
		return errors.New("request_id is no lower-case UUID of the RFC variant")
	case !isSolid(r.Impact):
		return errors.New("impact must be non-blank text")
	}
	if err := checkTargets(r.Targets); err != nil {
		return err
	}
	if r.ScopeSHA256 != ScopeDigest(r.RequestID, r.Impact, r.Targets) {
		return errors.New("scope_sha256 is not the digest of the scope")
	}
	return nil
}

var targetKinds = []TargetKind{TargetPath, TargetGitRef, TargetExternalResource, TargetDataDomain}

func checkTargets(targets []Target) error {
	if len(targets) == 0 {
		return errors.New("targets are missing")
	}
	for i, t := range targets {
		switch {
		case !slices.Contains(targetKinds, t.Kind):
			return fmt.Errorf("unknown kind of target %q", t.Kind)
		case !isName(t.Value):
			return errors.New("the value of a target must be non-blank and without control characters")
		case i > 0 && !targets[i-1].before(t):
			return errors.New("targets must be in ascending order of kind, then value, without repeats")
		}
	}
	return nil
}

func (t Target) before(u Target) bool {
	return t.Kind < u.Kind || t.Kind == u.Kind && t.Value < u.Value
}

func (o *Outcome) checkImplementation() error {
	i := o.Implementation
	if i == nil {
		return nil
	}
	switch {
	case slices.ContainsFunc(i.FilesChanged, func(s string) bool { return !IsPlain(s) }):
		return errors.New("implementation.files_changed must be without control characters")
	case !areTexts(i.Uncertainties):
		return errors.New("implementation.uncertainties must be texts")
	case i.Attempts < 1:
		return errors.New("implementation.attempts must be at least 1")
	}
	for _, a := range i.Activities {
		switch {
		case !slices.Contains(activityKinds, a.Kind):
			return fmt.Errorf("unknown kind of activity %q", a.Kind)
		case !isSolid(a.Command), !isSolid(a.Summary):
			return errors.New("command and summary of an activity must be non-blank text")
		}
	}
	return nil
}

var activityKinds = []ActivityKind{ActivityTest, ActivityTypecheck, ActivityBuild, ActivityLint}

func (o *Outcome) checkReview() error {
	r := o.Review
	if r == nil {
		return nil
	}
	switch {
	case r.Result == ReviewNoFindings && len(r.Findings) > 0:
		return fmt.Errorf("review.findings must be empty with %s", ReviewNoFindings)
	case r.Result == ReviewFindings && len(r.Findings) == 0:
		return fmt.Errorf("review.findings must not be empty with %s", ReviewFindings)
	case !areTexts(r.Uncertainties):
		return errors.New("review.uncertainties must be texts")
	}
	for _, f := range r.Findings {
		switch {
		case !isName(f.Location):
			return errors.New("the location of a finding must be non-blank and without control characters")
		case !isSolid(f.Summary), !isSolid(f.Detail):
			return errors.New("summary and detail of a finding must be non-blank text")
		}
	}
	return nil
}
