package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

func (h *history) summary() string {
	h.t.Helper()
	p, err := h.run.ProtocolState()
	if err != nil || p.State != schema.Ended || p.Summary == "" {
		h.t.Fatalf("no summary in state %s: %v", h.run.State(), err)
	}
	return p.Summary
}

// eventful is a Run in which everything happened that a summary tells.
func eventful(t *testing.T) *history {
	h := startWith(t, observation("1", regularFile("dirty.txt", 'd')), withBudget(40))
	h.submitSeeing(seen(h.git()), asking(schema.DecisionRequired), summarizing("which way?"))
	h.must(replying(h, "left\nthen right"))
	h.submitSeeing(seen(h.git()), suggesting(schema.Implement, "do it"), func(o *schema.Outcome) {
		o.Summary, o.Observations, o.KnownIssues = "two\nlines", []string{"b", "a", "b"}, []string{"slow"}
	})
	h.submitSeeing(seen(commit), func(o *schema.Outcome) {
		o.Implementation.FilesChanged = []string{"z", " a ", "", "z", "m", "\u00a0"}
		o.Implementation.Activities = []schema.Activity{{Kind: "build", Command: "make all", ExitCode: -9, Summary: "killed"}}
		o.Implementation.Uncertainties = []string{"who knows"}
	})
	h.submit(func(o *schema.Outcome) {
		o.Review.Result, o.Observations = schema.ReviewFindings, []string{"only in the Review"}
		o.Review.Findings = []schema.Finding{{Location: "a:1", Summary: "odd", Detail: "very"}}
	})
	h.must(engine.Stop{}).must(engine.Resume{})
	h.submitSeeing(seen(commit), asking(schema.EnvironmentUnavailable), summarizing("no network"))
	h.mustSeeing(engine.Skip{ActionID: h.action().ActionID}, seen(commit))
	h.must(engine.Skip{ActionID: h.action().ActionID})
	return h.submitSeeing(seen(commit), summarizing("the end"))
}

func (h *history) git() *schema.Observation { return &h.status().CurrentGit }

func summarizing(text string) func(*schema.Outcome) {
	return func(o *schema.Outcome) { o.Summary = text }
}

// run.md, 14.1: forms and order.
func TestSummary(t *testing.T) {
	h := eventful(t)
	s := h.status()
	changed, shared := s.Observations[3], s.Uncertainties[1]
	wantPrefixes(t, []string{changed, shared}, "observed_since_start:", "attribution_uncertainty:")
	decision := s.Answers[0].ActionID
	wantInOrder(t, h.summary(),
		"- orient (voided): which way?", "- orient: two\nlines", "- implement: did implement", "- review: did review",
		"- orient (skipped): no network", "- summarize: the end",
		changed, shared,
		"\n- a\n- m\n- z\n",
		"- action "+decision+": left\nthen right",
		"- b", "- a", "- b", "- "+changed,
		"- a:1: odd — very",
		"- build: make all (exit -9): killed",
		"- orient", "- review", // skipped
		"- orient", "- summarize", // voided
		"- slow",
		"- who knows", "- "+shared,
		"count=1", "retained=1", "path_fingerprint="+string(s.InitialGit.PathFingerprint),
		"- dirty.txt [untracked ??; regular; size=100; content_sha256="+string(digestOf("d"))+"]",
	)
	if strings.Contains(h.summary(), "only in the Review") {
		t.Error("the observations of a Review are told")
	}
	if err := checkSummary(s, h.summary(), false); err != nil {
		t.Error(err)
	}
}

func wantInOrder(t *testing.T, text string, items ...string) {
	t.Helper()
	at := 0
	for _, item := range items {
		i := strings.Index(text[at:], item)
		if i < 0 {
			t.Fatalf("%q is missing or out of order in:\n%s", item, text)
		}
		at += i + len(item)
	}
}

// A Run in which nothing happened has no optional part.
func TestSummaryOfNothing(t *testing.T) {
	h := startWith(t, clean).submit(summarizing("s1")).submit(summarizing("s2"))
	text := h.summary()
	wantInOrder(t, text, "- orient: s1\n- summarize: s2\n")
	if n := strings.Count(text, "\n- "); n != 2 {
		t.Errorf("%d items in:\n%s", n, text)
	}
	for _, absent := range []string{"observed_since_start", "Decisions", "Skipped", "Voided", "Known issues", "Uncertainties", "count="} {
		if strings.Contains(text, absent) {
			t.Errorf("%q in:\n%s", absent, text)
		}
	}
}

// Part 7 is the first account of Review that applies.
func TestSummaryOfReview(t *testing.T) {
	reviewed := func(h *history) *history { return h.submitSeeing(seen(edited)) }
	ended := func(h *history) *history { return h.submitSeeing(seen(edited)) }
	skip := func(h *history) *history { return h.must(engine.Skip{ActionID: h.action().ActionID}) }
	inconclusive := func(o *schema.Outcome) {
		o.Status, o.Review.Result, o.Summary = schema.Partial, schema.ReviewInconclusive, "could not tell"
	}
	for name, c := range map[string]struct {
		h    *history
		says string
	}{
		"skipped": {ended(skip(reviewed(activeRun(t)))), "skipped by the user"},
		"skipped after a result": {
			ended(skip(reviewed(reviewed(activeRun(t)).submit(inconclusive).must(stop).must(resume)))), "skipped by the user",
		},
		"result":   {ended(reviewed(activeRun(t)).submit(inconclusive)), "\ninconclusive: could not tell\n"},
		"voided":   {ended(endSeeing(reviewed(activeRun(t)).must(engine.Stop{}).must(engine.Resume{}), clean)), "voided"},
		"disabled": {ended(ended(startWith(t, clean, withoutReview))), "disabled"},
		"not run":  {startWith(t, clean).submit().submit(), "no change was"},
	} {
		if !strings.Contains(c.h.summary(), c.says) {
			t.Errorf("%s: %q is missing in:\n%s", name, c.says, c.h.summary())
		}
	}
}

// endSeeing settles the Orient of a Run in a given worktree.
func endSeeing(h *history, git *schema.Observation) *history { return h.submitSeeing(seen(git)) }

// Without a final observation nothing is claimed about the worktree.
func TestSummaryUnseen(t *testing.T) {
	h := atKind(t, schema.Implement).submitSeeing(seen(edited)).submit().submitSeeing(unseen("git is gone"))
	s := h.status()
	if s.FinalGitObserved || s.CurrentGit.SnapshotHash != edited.SnapshotHash {
		t.Errorf("the final observation: %v %s", s.FinalGitObserved, s.CurrentGit.SnapshotHash)
	}
	last := s.Uncertainties[len(s.Uncertainties)-1]
	if !strings.Contains(last, "git is gone") || len(s.KnownIssues) != 0 {
		t.Errorf("%q %q", s.Uncertainties, s.KnownIssues)
	}
	git := part(t, h.summary(), "Git:")
	if strings.Contains(git, "observed_since_start") || !strings.Contains(git, "could not be observed") {
		t.Errorf("part 3: %s", git)
	}
}

// part is what stands below a heading.
func part(t *testing.T, summary, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(summary, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no part %q in:\n%s", heading, summary)
	}
	text, _, _ := strings.Cut(after, "\n\n")
	return text
}

// run.md, 14.3: nothing but the skip and the final observation.
func TestSummaryOfASkippedSummarize(t *testing.T) {
	for name, c := range map[string]struct {
		git  *engine.GitFact
		says []string
	}{
		"unchanged": {seen(clean), []string{"skipped", "no report", "does not differ"}},
		"changed":   {seen(edited), []string{"skipped", "no report", "\nobserved_since_start:", "\nattribution_uncertainty:"}},
		"unseen":    {unseen("x"), []string{"skipped", "no report", "could not be observed"}},
	} {
		h := atKind(t, schema.Summarize)
		h.mustSeeing(engine.Skip{ActionID: h.action().ActionID}, c.git)
		wantInOrder(t, h.summary(), c.says...)
		if text := h.summary(); strings.Contains(text, "did orient") || !strings.HasSuffix(text, "\n") || len(text) > 600 {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// run.md, 14.2, to the byte: a summary of 65,536 bytes is whole, one more is cut.
func TestSummaryLimit(t *testing.T) {
	const limit = 65_536
	ending := func(text string) string {
		return startWith(t, clean).submit().submit(summarizing(text)).summary()
	}
	around := len(ending("x")) - 1
	whole := ending(repeated("x", limit-around))
	if len(whole) != limit || summaryMark.MatchString(whole) {
		t.Fatalf("%d bytes", len(whole))
	}
	for _, unit := range []string{"x", "é", "日", "🙂"} {
		for _, n := range []int{limit - around + 1, limit, 10 * limit, 900_000} {
			checkCutSummary(t, ending(repeated(unit, n)), strings.Replace(ending("\x21\x21"), "\x21\x21", repeated(unit, n), 1))
		}
	}
}

func checkCutSummary(t *testing.T, cut, whole string) {
	t.Helper()
	m := summaryMark.FindStringSubmatch(cut)
	if m == nil || len(cut) > 65_536 {
		t.Fatalf("%d bytes, ending with %q", len(cut), cut[len(cut)-120:])
	}
	kept := strings.TrimSuffix(cut, m[0])
	if !strings.HasPrefix(whole, kept) || !schema.IsText(kept) {
		t.Errorf("what is kept is not the beginning")
	}
	omitted, _ := strconv.Atoi(m[1])
	if omitted != len(whole)-len(kept) || "sha256:"+m[2] != string(digestOf(whole)) {
		t.Errorf("the mark says %s of %d bytes, %d kept", m[0], len(whole), len(kept))
	}
	if spare := 65_536 - len(cut); spare > len("🙂")-1+len(fmt.Sprint(len(whole)))-len(m[1]) {
		t.Errorf("%d bytes were left unused", spare)
	}
}
