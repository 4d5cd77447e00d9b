package engine_test

import (
	"testing"

	"slipway/engine"
	"slipway/schema"
	"slipway/source"
)

// sourcedRun has an issue as its source: started, refreshed once, and waiting with
// a candidate. Its last event made the candidate.
func sourcedRun(t tester, candidate func(*issue, schema.Digest)) *history {
	t.Helper()
	page := newIssue()
	first := headOf(t, page)
	h := startWith(t, clean, func(s *engine.Start) { s.Head = first })
	page.title = "Print a page twice"
	h.must(stop).must(engine.Resume{Head: headOf(t, page)}).must(stop)
	candidate(page, first.Source.RequirementsRevision)
	return h.must(engine.Resume{Head: headOf(t, page)})
}

func headOf(t tester, i *issue) *source.Head {
	t.Helper()
	envelope, err := source.DecodeEnvelope(i.envelope(t))
	if err != nil {
		t.Fatalf("%v", err)
	}
	head := source.Judge(envelope)
	return &head
}

// storage.md, 3.3: a history that breaks the rules of sources is none.
func TestReplayOfSourcesIsRefused(t *testing.T) {
	const refreshed, waiting = 2, -1
	amended := sourcedRun(t, func(i *issue, parent schema.Digest) { i.amend(parent, "- Print it twice.\n") })
	unusable := sourcedRun(t, func(i *issue, _ schema.Digest) { i.kept = 4 })
	pinned := func(do func(*schema.PinnedSource)) func(*engine.Change) {
		return func(c *engine.Change) {
			switch {
			case c.Started != nil:
				do(c.Started.Source)
			case c.Refreshed != nil:
				do(c.Refreshed)
			default:
				do(c.Candidate.Snapshot)
			}
		}
	}
	made := func(do func(*schema.SourceCandidate)) func(*engine.Change) {
		return func(c *engine.Change) { do(c.Candidate) }
	}
	other := digestOf("x")
	for name, c := range map[string]struct {
		h  *history
		at int
		do func(*engine.Change)
	}{
		"profile":                 {amended, 0, pinned(func(p *schema.PinnedSource) { p.Profile = "change/v3" })},
		"provider":                {amended, 0, pinned(func(p *schema.PinnedSource) { p.Provider = "gitlab" })},
		"parser":                  {amended, 0, pinned(func(p *schema.PinnedSource) { p.ParserVersion = 3 })},
		"repository":              {amended, 0, pinned(func(p *schema.PinnedSource) { p.RepositoryID = "" })},
		"number of another URL":   {amended, 0, pinned(func(p *schema.PinnedSource) { p.IssueNumber++ })},
		"former URL at the start": {amended, 0, pinned(func(p *schema.PinnedSource) { p.URLAliases = []string{p.CanonicalURL} })},
		"title":                   {amended, 0, pinned(func(p *schema.PinnedSource) { p.Title = "Another" })},
		"blank title":             {amended, 0, pinned(func(p *schema.PinnedSource) { p.Title = " " })},
		"malformed digest":        {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections[0].MaterialSHA256 = "sha256:ABC" })},
		"source revision":         {amended, 0, pinned(func(p *schema.PinnedSource) { p.SourceRevision = other })},
		"manifest revision":       {amended, 0, pinned(func(p *schema.PinnedSource) { p.ManifestRevision = other })},
		"requirements revision":   {amended, 0, pinned(func(p *schema.PinnedSource) { p.RequirementsRevision = other })},
		"section revision":        {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections[0].SectionRevision = other })},
		"parent Issue":            {amended, 0, pinned(func(p *schema.PinnedSource) { p.Parent = &schema.ParentIssue{IssueID: "I"} })},
		"too few sections":        {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections = p.Sections[1:] })},
		"key":                     {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections[0].Key = "Outcome" })},
		"size":                    {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections[0].Bytes = 0 })},
		"comment URL":             {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections[0].Provenance.URL += "1" })},
		"comment time":            {amended, 0, pinned(func(p *schema.PinnedSource) { p.Sections[0].Provenance.ObservedUpdatedAt = "now" })},
		"refresh of another":      {amended, refreshed, pinned(func(p *schema.PinnedSource) { p.IssueID = "I_other" })},
		"former URL of nobody":    {amended, refreshed, pinned(func(p *schema.PinnedSource) { p.URLAliases = []string{"https://github.com/o/n/issues/1"} })},
		"another drift":           {amended, refreshed, func(c *engine.Change) { c.Observations = []string{source.RefreshedUnchanged} }},
		"no drift":                {amended, refreshed, func(c *engine.Change) { c.Observations = nil }},
		"two names":               {amended, waiting, made(func(c *schema.SourceCandidate) { c.CandidateID = "other" })},
		"unusable, yet complete":  {amended, waiting, made(func(c *schema.SourceCandidate) { c.Valid = false })},
		"valid without source":    {amended, waiting, made(func(c *schema.SourceCandidate) { c.Snapshot = nil })},
		"title of another":        {amended, waiting, made(func(c *schema.SourceCandidate) { c.Title = "Another" })},
		"fork": {amended, waiting, pinned(func(p *schema.PinnedSource) {
			p.ParentRequirementsRevision = other
		})},
		"made at another time":    {amended, waiting, made(func(c *schema.SourceCandidate) { c.CreatedAt = c.CreatedAt.Add(1) })},
		"usable, yet incomplete":  {unusable, waiting, made(func(c *schema.SourceCandidate) { c.Valid = true })},
		"unknown code":            {unusable, waiting, made(func(c *schema.SourceCandidate) { c.ClassificationCode = "odd" })},
		"reason missing":          {unusable, waiting, made(func(c *schema.SourceCandidate) { c.ClassificationError = "" })},
		"reason too long":         {unusable, waiting, made(func(c *schema.SourceCandidate) { c.ClassificationError = repeated("r", 1025) })},
		"observation digest":      {unusable, waiting, made(func(c *schema.SourceCandidate) { c.ObservationSHA256 = "sha256:ABC" })},
		"title of an invalid one": {unusable, waiting, made(func(c *schema.SourceCandidate) { c.Title = "Print a page" })},
		"candidate of another":    {unusable, waiting, made(func(c *schema.SourceCandidate) { c.IssueID = "I_other" })},
	} {
		t.Run(name, func(t *testing.T) {
			c.h.wantRefusedWith(t, c.at, c.do)
		})
	}
}
