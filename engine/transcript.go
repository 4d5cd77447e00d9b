package engine

import (
	"fmt"
	"strings"
	"time"

	"slipway/schema"
)

// transcript tells the history of a Run in Markdown, event by event. Whatever a host
// or the user wrote stands in block quotes, so that it can not pass for a part of
// the transcript.
func transcript(x *examination) string {
	t := &transcriber{kinds: map[string]schema.Kind{}}
	t.line("# Run %s", x.ID)
	if len(x.Faults) > 0 {
		t.line("\nThis Run is damaged; the transcript goes as far as its records are sound.\n")
		for _, fault := range x.Faults {
			t.line("- %s", fault)
		}
	}
	for i, e := range x.events {
		t.event(i+1, e)
	}
	if x.run != nil && x.run.summary != "" {
		t.line("\n## Summary")
		t.quote(x.run.summary)
	}
	return schema.Harmless(t.text.String())
}

// transcriber writes Markdown.
type transcriber struct {
	text  strings.Builder
	kinds map[string]schema.Kind // of the Actions so far, by id
}

func (t *transcriber) line(format string, args ...any) {
	fmt.Fprintf(&t.text, format+"\n", args...)
}

// quote writes a text of any length as a block quote of its own. Every line of it is
// indented to a code block, in which nothing is markup.
func (t *transcriber) quote(text string) {
	t.line("")
	for line := range strings.SplitSeq(strings.TrimRight(lineFeeds.Replace(text), "\n"), "\n") {
		t.line("%s", strings.TrimRight(">     "+line, " "))
	}
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// quoted writes a titled text, unless it is blank.
func (t *transcriber) quoted(title, text string) {
	if !schema.IsBlank(text) {
		t.line("\n%s:", title)
		t.quote(text)
	}
}

// listed writes a titled list of texts, unless there are none.
func (t *transcriber) listed(title string, texts []string) {
	if len(texts) > 0 {
		t.quoted(title, "- "+strings.Join(texts, "\n- "))
	}
}

func (t *transcriber) event(n int, e Event) {
	c := &e.Change
	if c.Issued != nil {
		t.kinds[c.Issued.ActionID] = c.Issued.Kind
	}
	t.line("\n## %d. %s\n", n, strings.ReplaceAll(string(e.Type), "_", " "))
	t.line("%s: %s", e.At.UTC().Format(time.RFC3339), e.line(t.kinds[e.subject()]))
	if s := c.Started; s != nil {
		t.quoted("Goal", s.Goal)
		t.quoted("Worktree", s.WorkspaceIdentity.WorktreeRoot)
		t.line("\nBudget %d; Review %s", s.InitialBudget, onOff(s.ReviewEnabled))
		t.source("Source", s.Source)
	}
	if c.Submitted != nil {
		t.outcome(&c.Submitted.Outcome)
	}
	if a := c.Answered; a != nil {
		t.quoted("Answer", a.Text)
		if a.ConfirmDestructive {
			t.line("\nThe destructive request with the scope `%s` was confirmed.", a.ScopeSHA256)
		}
	}
	t.source("Source", c.Refreshed)
	if c.Candidate != nil {
		t.line("\nSource candidate `%s`: %s", c.Candidate.CandidateID, c.Candidate.ClassificationCode)
		t.quoted("Reason", c.Candidate.ClassificationError)
		t.source("It would become", c.Candidate.Snapshot)
	}
	t.listed("Slipway observed", c.Observations)
	t.listed("Known issues", c.KnownIssues)
	t.listed("Uncertainties", c.Uncertainties)
	if i := c.Issued; i != nil {
		t.line("\nAction `%s`, %s; %d left", i.ActionID, i.Kind, c.RemainingBudget)
		t.quoted("Brief", i.Brief)
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (t *transcriber) outcome(o *schema.Outcome) {
	t.line("\nOutcome of Action `%s`, %s: %s", o.ActionID, o.ActionKind, o.Status)
	t.quoted("Report", o.Summary)
	t.listed("Observations", o.Observations)
	t.listed("Known issues", o.KnownIssues)
	for _, s := range o.SuggestedActions {
		t.quoted("Suggests "+string(s.Kind), s.Brief)
	}
	if p := o.Pause; p != nil {
		t.quoted("Asks ("+string(p.Reason)+")", p.Question)
		if d := p.DestructiveRequest; d != nil {
			t.quoted("Impact", d.Impact)
			var targets []string
			for _, target := range d.Targets {
				targets = append(targets, fmt.Sprintf("%s %s", target.Kind, target.Value))
			}
			t.listed("Targets", targets)
		}
	}
	if i := o.Implementation; i != nil {
		t.line("\nImplementation: %s, %d attempts", i.Result, i.Attempts)
		t.listed("Files changed", i.FilesChanged)
		for _, a := range i.Activities {
			t.quoted(fmt.Sprintf("%s, exit %d", a.Kind, a.ExitCode), a.Command+"\n"+a.Summary)
		}
		t.listed("Uncertainties", i.Uncertainties)
	}
	if r := o.Review; r != nil {
		t.line("\nReview: %s", r.Result)
		for _, f := range r.Findings {
			t.quoted("Finding", f.Location+"\n"+f.Summary+"\n"+f.Detail)
		}
		t.listed("Uncertainties", r.Uncertainties)
	}
}

// source lists the sections of a source and where the archive has them.
func (t *transcriber) source(title string, p *schema.PinnedSource) {
	if p == nil {
		return
	}
	t.line("\n%s: <%s>, requirements `%s`\n", title, p.CanonicalURL, p.RequirementsRevision)
	for _, s := range p.Sections {
		t.line("- [%s](%s%s), %d bytes", s.Key, exportedMaterials, strings.TrimPrefix(string(s.MaterialSHA256), "sha256:"), s.Bytes)
	}
}
