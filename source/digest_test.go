package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
	"slipway/source"
)

// The check values of source.md, 7.1 and 7.2.
func TestDigestsOfAFirstHead(t *testing.T) {
	h := page().head(t)
	want := &schema.PinnedSource{
		SourceVersion: 2, ParserVersion: 2, ManifestVersion: 2, Profile: "change/v2",
		Provider: "github", Host: "github.com", RepositoryID: "R_page", IssueID: "I_page_5", IssueNumber: 5,
		CanonicalURL: "https://github.com/example-org/page/issues/5", URLAliases: []string{},
		SourceRevision:       "sha256:3f0f7e86cf8f6417460a246c97c4cbe23689a5002df0b4a8911c612530ccbf67",
		ManifestRevision:     "sha256:cf4d9d33400690a81ba8047148e0fcd707bf9a044abf4728ea232da50aa66053",
		RequirementsRevision: firstRevision,
		Title:                "Print a page",
		Sections: []schema.PinnedSection{
			pinnedSection(page().sections[0], 10,
				"sha256:744551452804a4801906d0c27fa7f0e15439f3a96ad12bb815f02b7dff4903fd",
				"sha256:fa1f65ca739b0e5e0dad23cea3aac5ac62219ecd433f0ad7d4b4c60915c92963",
				"sha256:dd4513412d349d061750663d890c433b91d2707cd608dbba255c47fbd69f97e3"),
			pinnedSection(page().sections[1], 12,
				"sha256:ed997724ab6442a233f2fe683582af0fd244500553d76e3f338b082616940c25",
				"sha256:0298ad9b940ed86851a7fdedf0656696354b98c90b79b4dc08c025a32bb792c7",
				framed("slipway-material/v1", "- Print it.\n")),
			pinnedSection(page().sections[2], 21,
				"sha256:d8f117339c361586e5270cfd31a4b3d3d9a592122470e683b345e074adf48790",
				"sha256:9d0680744deadd24c7f4d7a2a0f5768811c4f250116c3ae2d543c9465b1bb48b",
				framed("slipway-material/v1", "Given paper, a page.\n")),
			pinnedSection(page().sections[3], 6,
				"sha256:540313a38292677a1bbb1badbf75c18faa68eeededf537172176c2bf9be7816d",
				"sha256:f95abf3f22f63c0c25cad54d121511b923232a3b1975fc6c21ae8c4b80bf1a65",
				"sha256:41c28401efad54c04df30298d7c8ad9f00803fb4fb99f2ccd55125a654544b0c"),
			pinnedSection(page().sections[4], 6,
				"sha256:ae0e453c690b1b6bd99a5d51f091b4b9859c2e27ab29027d5b912b2a475db224",
				"sha256:0de04ed55a145f01b561556464876f495c37a4cbf08bc6ff2aa3ee91600650eb",
				"sha256:41c28401efad54c04df30298d7c8ad9f00803fb4fb99f2ccd55125a654544b0c"),
		},
	}
	if diff := cmp.Diff(want, h.Source); diff != "" {
		t.Errorf("pinned source (-want +got):\n%s", diff)
	}
	var texts []string
	for _, m := range h.Materials {
		if m.Digest != framed("slipway-material/v1", string(m.Content)) {
			t.Errorf("the material %q has the digest %s", m.Content, m.Digest)
		}
		texts = append(texts, string(m.Content))
	}
	if diff := cmp.Diff([]string{"One page.\n", "- Print it.\n", "Given paper, a page.\n", "None.\n"}, texts); diff != "" {
		t.Errorf("materials (-want +got):\n%s", diff)
	}
}

func pinnedSection(s section, size int, body, revision, material schema.Digest) schema.PinnedSection {
	return schema.PinnedSection{
		Key: s.key, Role: s.role, Title: s.title, Bytes: size,
		BodySHA256: body, SectionRevision: revision, MaterialSHA256: material,
		Provenance: schema.Provenance{
			CommentNodeID: s.node, CommentDatabaseID: s.number,
			URL:      "https://github.com/example-org/page/issues/5#issuecomment-" + s.node[len("IC_"):],
			AuthorID: "U_writer", ObservedUpdatedAt: "2026-01-05T08:00:00Z",
		},
	}
}

// The check values of source.md, 7.3.
func TestDigestsOfAnAmendment(t *testing.T) {
	p := amended().head(t).Source
	s := p.Sections[1]
	got := []schema.Digest{s.BodySHA256, s.SectionRevision, s.MaterialSHA256, p.ManifestRevision, p.RequirementsRevision, p.SourceRevision}
	want := []schema.Digest{
		"sha256:b9a9d4d8d111752dc54cce452038a99bb59d6778a6e429644cde354cb18f6e5b",
		"sha256:06363b93e64c97258689ccc509ebcfdf3b4769ec1443f46e838a6489ebcbb942",
		"sha256:f474b964e8ae7dc5cb7bc50dad2b96368e4ab33bc144e2657b325185a944421c",
		"sha256:5aa82d7d9074570ee037c7d3c267a2bd5ed3cf7ddb6b4e71b3028668ebcccb3f",
		"sha256:4c7071bbfc61fc7a1bf8d2bf74aeb4fe48bfec9664b8c633d08b15e2c618dff8",
		"sha256:33b752dc572acba807837a31fe0e28e3a7980be6964ac6ef4c2e32fa43fe7685",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("digests (-want +got):\n%s", diff)
	}
	if p.ParentRequirementsRevision != firstRevision || s.Bytes != 18 {
		t.Errorf("parent revision %s, %d bytes", p.ParentRequirementsRevision, s.Bytes)
	}
}

// The check values of source.md, 7.4.
func TestObservationDigests(t *testing.T) {
	e := page().envelope()
	comments := e.Comments
	e.Body, e.Comments = "Not a Change yet.", []source.Comment{}
	h := wantCode(t, e, source.ChangeMarkerRequired)
	if h.Observation != "sha256:9ab79beda5eb76140d0f2e92dc6ab1a675cbee1a8948217e1e393e34c0880410" {
		t.Errorf("without comments: %s", h.Observation)
	}
	e.Body, e.Comments = "Not a Change yet.\r\n", []source.Comment{comments[1], comments[0]}
	h = wantCode(t, e, source.ChangeMarkerRequired)
	if h.Observation != "sha256:c2209b5c441f11e62758f2999ed767b6c1d261ceaa9b7348f9dff3e9996b596d" {
		t.Errorf("with two comments: %s", h.Observation)
	}
}

// What the digests cover, and what they do not (source.md, section 7).
func TestWhatTheRevisionsCover(t *testing.T) {
	const none, sourceOnly, manifestAndSource, all = 0, 1, 2, 3
	base := page().head(t).Source
	tests := map[string]struct {
		edit func(c *change, e *source.Envelope)
		want int
	}{
		"labels": {func(_ *change, e *source.Envelope) { e.Labels = []string{} }, none},
		"envelope times": {func(_ *change, e *source.Envelope) {
			e.UpdatedAt, e.FetchedAt = "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"
		}, none},
		"author":   {func(_ *change, e *source.Envelope) { e.Comments[0].AuthorID = "U_other" }, none},
		"order":    {func(_ *change, e *source.Envelope) { e.Comments[0], e.Comments[4] = e.Comments[4], e.Comments[0] }, none},
		"transfer": {func(c *change, _ *source.Envelope) { c.number, c.repository = 9, "other/place" }, none},
		"parent issue": {func(c *change, _ *source.Envelope) {
			c.issueParent = &schema.ParentIssue{RepositoryID: "R", IssueID: "I", CanonicalURL: "https://github.com/a/b/issues/1"}
		}, none},
		"tail":             {func(c *change, _ *source.Envelope) { c.tail = "A note.\n" }, none},
		"layout":           {func(c *change, e *source.Envelope) { e.Body = frame(" "+encode(c.manifest())+"\n\n", "") }, none},
		"title":            {func(c *change, _ *source.Envelope) { c.title = "Print two pages" }, sourceOnly},
		"repository id":    {func(c *change, _ *source.Envelope) { c.repositoryID = "R_other" }, sourceOnly},
		"issue id":         {func(c *change, _ *source.Envelope) { c.issueID = "I_other" }, sourceOnly},
		"comment ids":      {func(c *change, _ *source.Envelope) { c.sections[0].node, c.sections[0].number = "IC_99", 99 }, manifestAndSource},
		"parent revision":  {func(c *change, _ *source.Envelope) { c.parent = firstRevision }, manifestAndSource},
		"section title":    {func(c *change, _ *source.Envelope) { c.sections[0].title = "Result" }, all},
		"order of entries": {func(c *change, _ *source.Envelope) { c.sections[0], c.sections[1] = c.sections[1], c.sections[0] }, all},
		"payload":          {func(c *change, _ *source.Envelope) { c.sections[0].payload += "\n" }, all},
	}
	for name, test := range tests {
		c := page()
		test.edit(&c, c.envelope()) // what is of the Change
		e := c.envelope()
		test.edit(&c, e) // what is of the envelope
		p := source.Judge(decoded(t, e)).Source
		got := none
		switch {
		case p.RequirementsRevision != base.RequirementsRevision:
			got = all
		case p.ManifestRevision != base.ManifestRevision:
			got = manifestAndSource
		case p.SourceRevision != base.SourceRevision:
			got = sourceOnly
		}
		if got != test.want {
			t.Errorf("%s: covered by %d, want %d", name, got, test.want)
		}
		if got >= manifestAndSource && p.SourceRevision == base.SourceRevision {
			t.Errorf("%s: the source revision stays", name)
		}
	}
}
