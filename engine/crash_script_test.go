package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/journal"
	"slipway/schema"
	"slipway/source"
)

// paperGit finds the one worktree there is, which is seen as the test says.
type paperGit struct{ worktree *schema.Observation }

func (g *paperGit) Discover(context.Context, []string, string) (schema.WorkspaceIdentity, error) {
	return testWorkspace, nil
}

func (g *paperGit) Observe(context.Context, []string, schema.WorkspaceIdentity) (schema.Observation, gitwatch.Mode, error) {
	return *g.worktree, gitwatch.Scanned, nil
}

func (g *paperGit) ObserveFresh(context.Context, []string, schema.WorkspaceIdentity) (schema.Observation, error) {
	return *g.worktree, nil
}

var paperCaller = engine.Caller{Root: testWorkspace.WorktreeRoot}

// operator is one process with a Keeper. Its ids and its clock are those of the
// step that it carries out, so that the same step leaves the same bytes whoever
// does it.
type operator struct {
	keeper *engine.Keeper
	git    paperGit
	ids    int
	now    time.Time
}

func newOperator(files journal.FS, embedded bool) *operator {
	o := &operator{}
	o.keeper = engine.NewKeeper(engine.Options{
		Git: &o.git, FS: files, Embedded: embedded,
		Now: func() time.Time { return o.now },
		ID:  func() string { o.ids++; return actionID(o.ids) },
	})
	return o
}

// step is one request of the script.
type step struct {
	name     string
	do       func(k *engine.Keeper) (*schema.ProtocolState, error)
	worktree *schema.Observation
	ids      int  // ids given out before it
	records  int  // in the journal before it
	repeats  bool // an exact repeat succeeds and records nothing
	repeat   bool // it is one
}

// after is the number of records after it.
func (s step) after() int {
	if s.repeat {
		return s.records
	}
	return s.records + 1
}

// take carries out the step with the number n of a script.
func (o *operator) take(n int, s step) (*schema.ProtocolState, error) {
	o.git.worktree, o.ids = s.worktree, s.ids
	o.now = instantOf(n)
	return s.do(o.keeper)
}

// instantOf is the time of the step with the number n.
func instantOf(n int) time.Time { return startOfTime.Add(time.Duration(n) * 1500 * time.Millisecond) }

// script is a Run, made step by step while it is played for the first time.
type script struct {
	t     testing.TB
	steps []step
	state *schema.ProtocolState // after the last step

	operator *operator
	before   func(step) // told of each step before it is taken
	after    func()
	worktree *schema.Observation
}

const scriptBudget = 1000

// play takes one more step, which must succeed and, unless it is a repeat, records
// one event.
func (p *script) play(s step) {
	p.t.Helper()
	s.worktree, s.ids = p.worktree, p.operator.ids
	if n := len(p.steps); n > 0 {
		s.records = p.steps[n-1].after()
	}
	p.steps = append(p.steps, s)
	p.before(s)
	state, err := p.operator.take(len(p.steps)-1, s)
	if err != nil {
		p.t.Fatalf("step %d, %s: %v", len(p.steps), s.name, err)
	}
	p.state = state
	p.after()
}

func (p *script) start(goal string, envelope []byte) {
	q := engine.StartRequest{Goal: goal, Budget: scriptBudget, Review: true, Source: envelope}
	p.play(step{name: "start", do: func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Start(context.Background(), paperCaller, q)
	}})
}

func (p *script) submit(edits ...func(*schema.Outcome)) {
	p.t.Helper()
	o := outcomeOf(p.state.Action, edits...)
	o.Summary += ", größer als 漢字"
	q := engine.SubmitRequest{Run: p.state.RunID, Action: o.ActionID, Outcome: encode(p.t, o)}
	p.play(step{name: "submit " + string(o.ActionKind), repeats: true, do: func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Submit(context.Background(), paperCaller, q)
	}})
}

func (p *script) answer(q engine.AnswerRequest) {
	p.t.Helper()
	q.Run, q.Action = p.state.RunID, p.state.Action.ActionID
	p.play(step{name: "answer", repeats: true, do: func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Answer(context.Background(), paperCaller, q)
	}})
}

// again repeats the last step exactly.
func (p *script) again() {
	p.t.Helper()
	last := p.steps[len(p.steps)-1]
	p.play(step{name: last.name + " again", repeats: true, repeat: true, do: last.do})
}

func (p *script) skip() {
	p.t.Helper()
	q := engine.SkipRequest{Run: p.state.RunID, Action: p.state.Action.ActionID}
	p.play(step{name: "skip", do: func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Skip(context.Background(), paperCaller, q)
	}})
}

func (p *script) stop() {
	p.t.Helper()
	q := engine.StopRequest{Run: p.state.RunID}
	p.play(step{name: "stop", do: func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Stop(context.Background(), paperCaller, q)
	}})
}

func (p *script) resume(q engine.ResumeRequest) {
	p.t.Helper()
	q.Run, q.HasSource = p.state.RunID, q.Source != nil
	p.play(step{name: "resume", repeats: q.Candidate != nil, do: func(k *engine.Keeper) (*schema.ProtocolState, error) {
		return k.Resume(context.Background(), paperCaller, q)
	}})
}

func (p *script) choose(choice string) {
	p.t.Helper()
	p.resume(engine.ResumeRequest{SourceChoice: &choice, Candidate: &p.state.SourceCandidate.CandidateID})
}

// longScript plays a Run through every kind of mutation, and the ways to resume an
// issue-backed one in turn.
func (p *script) longScript() {
	p.t.Helper()
	p.worktree = clean
	issue := newIssue()
	p.start("print a page", issue.envelope(p.t))
	for round := range 6 {
		p.workRound()
		p.stop()
		switch round % 4 {
		case 0:
			issue.title = fmt.Sprintf("Print a page, round %d", round)
			p.resume(engine.ResumeRequest{Source: issue.envelope(p.t)})
		case 1:
			issue.amend(p.state.PinnedSource.RequirementsRevision, fmt.Sprintf("- Print it %d times.\n", round))
			p.resume(engine.ResumeRequest{Source: issue.envelope(p.t)})
			p.stop()
			p.choose("adopt")
			p.again()
		case 2:
			broken := newIssue()
			broken.kept = 3
			p.resume(engine.ResumeRequest{Source: broken.envelope(p.t)})
			p.choose("pinned")
		case 3:
			p.resume(engine.ResumeRequest{UsePinnedSource: true})
		}
	}
	p.submit()
	p.submit() // Summarize: the Run ends
	p.again()
}

// workRound goes once around, from an Orient to a Review that is skipped.
func (p *script) workRound() {
	p.t.Helper()
	p.submit(suggesting(schema.Implement, "do it"), knowing("paper is short"))
	p.submit(asking(schema.DecisionRequired))
	p.answer(engine.AnswerRequest{Text: "use both sides\n\nas ever: ä"})
	p.again()
	p.submit(suggesting(schema.Implement, "do it on both sides"))
	p.submit(asking(schema.DestructiveConfirmationRequired))
	p.answer(engine.AnswerRequest{Text: "go on", ConfirmDestructive: true, ScopeSHA256: string(destructiveRequest().ScopeSHA256)})
	p.worktree = edited
	p.submit()
	p.again()
	p.skip() // the Review
	p.worktree = clean
}

func knowing(issue string) func(*schema.Outcome) {
	return func(o *schema.Outcome) { o.KnownIssues = append(o.KnownIssues, issue) }
}

// issue is a GitHub Issue whose head is a Change.
type issue struct {
	title    string
	parent   schema.Digest
	comments []issueComment
	kept     int // how many comments the envelope holds; 0 = all
}

type issueComment struct {
	key, role, payload string
	number             int64
}

func newIssue() *issue {
	return &issue{title: "Print a page", comments: []issueComment{
		{"outcome", "outcome", "One page.\n", 11},
		{"requirements", "requirements", "- Print it.\n", 12},
		{"acceptance-examples", "acceptance_examples", "Given paper, a page.\n", 13},
		{"constraints", "constraints", "No more than " + strings.Repeat("one sheet, ", 300) + "that is.\n", 14},
		{"non-goals", "non_goals", "None.\n", 15},
	}}
}

// amend replaces the requirements by another comment.
func (i *issue) amend(parent schema.Digest, requirements string) {
	i.parent = parent
	i.comments[1].payload = requirements
	i.comments[1].number += 1000
}

func (c issueComment) body() string {
	return "<!-- slipway-section:v1 key=" + c.key + " -->\n" + c.payload
}

func (c issueComment) node() string { return fmt.Sprintf("IC_%d", c.number) }

func (i *issue) envelope(t tester) []byte {
	t.Helper()
	const url = "https://github.com/example-org/page/issues/5"
	var sections []map[string]any
	var comments []source.Comment
	for _, c := range i.comments {
		sections = append(sections, map[string]any{
			"key": c.key, "role": c.role, "title": "About " + c.key, "comment_node_id": c.node(), "comment_database_id": c.number,
			"body_sha256": schema.FramedDigest("slipway-comment-body/v1", c.body()),
		})
		comments = append(comments, source.Comment{
			NodeID: c.node(), DatabaseID: c.number, URL: fmt.Sprintf("%s#issuecomment-%d", url, c.number),
			UpdatedAt: "2026-01-05T08:00:00Z", AuthorID: "U_writer", Body: c.body(),
		})
	}
	manifest := map[string]any{"manifest_version": source.ManifestVersion, "profile": source.Profile, "sections": sections}
	if i.parent != "" {
		manifest["parent_requirements_revision"] = i.parent
	}
	if i.kept > 0 {
		comments = comments[:i.kept]
	}
	return encode(t, &source.Envelope{
		SourceVersion: source.Version, Provider: source.Provider, Host: source.Host,
		RepositoryID: "R_page", IssueID: "I_page_5", IssueNumber: 5, CanonicalURL: url,
		UpdatedAt: "2026-01-05T08:00:00Z", FetchedAt: "2026-01-05T08:05:00Z", Title: i.title,
		Body:   "<!-- slipway-level: change/v2 -->\n```slipway-manifest\n" + string(encode(t, manifest)) + "\n```\n",
		Labels: []string{"level:change"}, Comments: comments,
	})
}

// codeOf is the code of an error that a caller gets; empty for none.
func codeOf(err error) schema.Code {
	var e *schema.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return schema.Code(fmt.Sprintf("%T", err))
	}
	return ""
}
