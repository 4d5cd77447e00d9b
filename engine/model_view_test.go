package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/schema"
)

func (m *model) expect(e expectation) { m.expectations = append(m.expectations, e) }

// settle takes the texts over that the model could not know, and checks them.
func (m *model) settle(got *schema.RunStatus) error {
	for _, e := range m.expectations {
		text, found := e.find(got)
		if !found {
			return fmt.Errorf("%s: missing", e.what)
		}
		if err := e.check(text); err != nil {
			return fmt.Errorf("%s: %w: %q", e.what, err, text)
		}
		e.adopt(text)
	}
	m.expectations = nil
	return nil
}

// learn appends a statement of section 8. Its wording is free, but once made it
// stays: key says which statement it is. once: not where the list shows it
// already.
func (m *model) learn(l list, key string, check func(string) error, once bool) {
	all := l(&m.s)
	text, known := m.texts[key]
	if known && once && slices.Contains(projectedIf(all, all == &m.s.Observations), text) {
		return
	}
	*all = append(*all, text)
	if known {
		return
	}
	at := len(*all) - 1
	m.expect(expectation{
		what: key,
		find: func(got *schema.RunStatus) (string, bool) {
			shown := *l(got)
			i := at + len(shown) - len(*l(&m.s))
			if i < 0 || i >= len(shown) {
				return "", false
			}
			return shown[i], true
		},
		adopt: func(text string) { (*l(&m.s))[at], m.texts[key] = text, text },
		check: check,
	})
}

// list is one of the lists of a record.
type list func(*schema.RunStatus) *[]string

func observations(s *schema.RunStatus) *[]string  { return &s.Observations }
func knownIssues(s *schema.RunStatus) *[]string   { return &s.KnownIssues }
func uncertainties(s *schema.RunStatus) *[]string { return &s.Uncertainties }

func (m *model) stateObserved() {
	if !m.s.CurrentGit.ContentObservationComplete {
		const prefix = "git_content_observation_incomplete:"
		m.learn(uncertainties, prefix, beginning(prefix), true)
	}
	if m.changed() {
		m.learn(observations, "observed_since_start:", beginning("observed_since_start:"), true)
		m.learn(uncertainties, "attribution_uncertainty:", beginning("attribution_uncertainty:"), true)
	}
}

func (m *model) stateDiscrepancy(o *schema.Outcome) {
	if o.Implementation == nil {
		return
	}
	result := string(o.Implementation.Result)
	claims := result == "applied" || result == "partial"
	if claims == m.changed() {
		return
	}
	m.learn(observations, "report_discrepancy: "+result, func(text string) error {
		if err := beginning("report_discrepancy:")(text); err != nil {
			return err
		}
		return containing(result)(text)
	}, true)
}

func (m *model) dropQueue() {
	for _, s := range m.s.PendingActions {
		key := fmt.Sprintf("unresolved_suggestion: %s %s", s.Kind, s.Brief)
		m.learn(uncertainties, key, func(text string) error {
			switch {
			case !strings.HasPrefix(text, "unresolved_suggestion:"):
				return fmt.Errorf("has not its prefix")
			case !strings.HasSuffix(text, s.Brief):
				return fmt.Errorf("does not end with the brief %q", s.Brief)
			}
			return containing(string(s.Kind))(strings.TrimSuffix(text, s.Brief))
		}, true)
	}
	m.s.PendingActions = nil
}

func beginning(prefix string) func(string) error {
	return func(text string) error {
		if !strings.HasPrefix(text, prefix) || strings.TrimSpace(text) == prefix {
			return fmt.Errorf("is not a statement of %s", prefix)
		}
		return nil
	}
}

func containing(part string) func(string) error {
	return func(text string) error {
		if !strings.Contains(text, part) {
			return fmt.Errorf("does not contain %q", part)
		}
		return nil
	}
}

func projectedIf(all *[]string, bounded bool) []string {
	if bounded {
		return projected(*all)
	}
	return *all
}

// projected is section 15.
func projected(all []string) []string {
	if len(all) <= 128 {
		return all
	}
	hidden := len(all) - 128
	return append([]string{fmt.Sprintf("...[%d earlier observations in journal]", hidden)}, all[hidden:]...)
}

// expectBrief notes section 13 for the Action that was issued.
func (m *model) expectBrief(begins string) {
	issued := m.s.CurrentAction
	m.expect(expectation{
		what:  "brief of " + string(issued.Kind),
		find:  briefOfCurrent,
		adopt: func(text string) { issued.Brief = text },
		check: func(text string) error { return checkBrief(text, begins, issued.Kind, m.changed(), &m.s.InitialGit) },
	})
}

// expectSkipped: the brief says that the Action before was skipped.
func (m *model) expectSkipped() {
	if m.s.CurrentAction != nil {
		m.expect(expectation{
			what: "brief after a skip", find: briefOfCurrent, adopt: func(string) {}, check: containing("skipped"),
		})
	}
}

func briefOfCurrent(got *schema.RunStatus) (string, bool) {
	if got.CurrentAction == nil {
		return "", false
	}
	return got.CurrentAction.Brief, true
}

func checkBrief(text, begins string, kind schema.Kind, changed bool, start *schema.Observation) error {
	attributes := changed && (kind == schema.Review || kind == schema.Summarize)
	switch {
	case len(text) > 8192 || !schema.IsText(text) || schema.IsBlank(text):
		return fmt.Errorf("is no brief: %d bytes", len(text))
	case begins != "" && !attributes && text != begins:
		return fmt.Errorf("is not the suggested text")
	case !attributes && begins == "" && strings.Contains(text, "path_fingerprint"):
		return fmt.Errorf("attributes a difference that was not seen")
	case !attributes:
		return nil
	}
	parts := []string{
		fmt.Sprintf("count=%d", start.PathCount), fmt.Sprintf("retained=%d", len(start.PathObservations)),
		"path_fingerprint=" + string(start.PathFingerprint), "initial_snapshot=" + string(start.SnapshotHash),
	}
	for _, p := range start.PathObservations {
		parts = append(parts, dirtyPathItem(p))
	}
	if begins != "" {
		parts = slices.Insert(parts, 0, begins+" ")
	}
	cut := truncationMark.FindStringIndex(text)
	at := 0
	for _, part := range parts {
		i := strings.Index(text[at:], part)
		if i < 0 && cut != nil {
			return nil // the rest may be cut
		}
		if i < 0 {
			return fmt.Errorf("has not %q", part)
		}
		at += i + len(part)
	}
	return nil
}

var truncationMark = regexp.MustCompile(`\.\.\.\[truncated original_bytes=([0-9]+) sha256=([0-9a-f]{64})\]$`)

// dirtyPathItem is the form of sections 13 and 14.
func dirtyPathItem(p schema.PathObservation) string {
	text := fmt.Sprintf("%s [%s %s; %s", p.Path, p.Category, p.State, p.Observation)
	if p.Size != nil {
		text += fmt.Sprintf("; size=%d", *p.Size)
	}
	if p.ContentSHA256 != "" {
		text += fmt.Sprintf("; content_sha256=%s", p.ContentSHA256)
	}
	return text + "]"
}

// next is the table of 3.1 with the commands of next.md, section 4.
func (m *model) next() schema.Next {
	action := ""
	if m.s.CurrentAction != nil {
		action = m.s.CurrentAction.ActionID
	}
	c := commands{run: m.s.ID, action: action, root: m.s.Workspace}
	n := schema.Next{Operation: "resume", WorkspaceIdentity: m.s.WorkspaceIdentity.ID, Variants: []schema.Variant{c.resume()}}
	switch {
	case m.s.State == "ended":
		n.Operation, n.Variants = "none", []schema.Variant{}
	case m.s.State == "active":
		n.Operation, n.Variants = "action", []schema.Variant{c.submitFile(), c.submitStdin(), c.skip()}
	case m.s.PauseReason == "decision_required":
		n.Operation, n.Variants = "answer", []schema.Variant{c.answer("answer-decision"), c.skip()}
	case m.s.PauseReason == "destructive_confirmation_required":
		scope := string(m.s.PendingDestructiveRequest.ScopeSHA256)
		n.Operation, n.Variants = "answer", []schema.Variant{c.confirm(scope), c.answer("decline-or-feedback"), c.skip()}
	case m.s.PauseReason == "environment_unavailable" && action != "":
		n.Variants = append(n.Variants, c.skip())
	}
	return n
}

// resumeChoices is the next of refusals that offer a resume and nothing else.
func (m *model) resumeChoices() schema.Next {
	n := schema.Next{Operation: "resume", WorkspaceIdentity: m.s.WorkspaceIdentity.ID}
	n.Variants = []schema.Variant{commands{run: m.s.ID, root: m.s.Workspace}.resume()}
	if m.s.State == "ended" {
		n.Operation, n.Variants = "none", []schema.Variant{}
	}
	return n
}

// status is the record as the engine must show it.
func (m *model) status() schema.RunStatus {
	s := m.s
	s.Observations = projected(m.s.Observations)
	s.Next = m.next()
	return s
}

type commands struct{ run, action, root string }

func (c commands) submitFile() schema.Variant {
	return schema.Variant{
		ID:       "submit-outcome-file",
		BaseArgv: []string{"slipway", "protocol", "submit", "--run", c.run, "--action", c.action, "--root", c.root},
		Inputs:   []schema.Input{{Name: "outcome_file", Type: "path", Flag: "--outcome-file", Required: true}},
	}
}

func (c commands) submitStdin() schema.Variant {
	v := c.submitFile()
	v.ID, v.BaseArgv, v.Inputs = "submit-outcome-stdin", append(v.BaseArgv, "--outcome-stdin"), []schema.Input{}
	return v
}

func (c commands) skip() schema.Variant {
	return schema.Variant{
		ID:       "skip-action",
		BaseArgv: []string{"slipway", "protocol", "skip", "--run", c.run, "--action", c.action, "--root", c.root},
		Inputs:   []schema.Input{},
	}
}

func (c commands) answer(id string) schema.Variant {
	return schema.Variant{
		ID:       id,
		BaseArgv: []string{"slipway", "protocol", "answer", "--run", c.run, "--action", c.action, "--root", c.root},
		Inputs:   []schema.Input{{Name: "text_file", Type: "path", Flag: "--text-file", Required: true}},
	}
}

func (c commands) confirm(scope string) schema.Variant {
	v := c.answer("confirm-destructive")
	v.BaseArgv = append(v.BaseArgv, "--confirm-destructive", "--scope-sha256", scope)
	v.Inputs[0].Required = false
	return v
}

func (c commands) resume() schema.Variant {
	return schema.Variant{
		ID:       "resume-ad-hoc",
		BaseArgv: []string{"slipway", "protocol", "resume", c.run, "--root", c.root},
		Inputs:   []schema.Input{{Name: "budget", Type: "string", Flag: "--budget"}},
	}
}
