package source

import (
	"slipway/schema"
)

// ActionSource is the source of an Action that is issued while p is pinned
// (wire.md, 4.1).
func ActionSource(p *schema.PinnedSource) *schema.ActionSource {
	return &schema.ActionSource{
		Kind:                 schema.SourceKind,
		CanonicalURL:         p.CanonicalURL,
		IssueID:              p.IssueID,
		SourceRevision:       p.SourceRevision,
		ManifestRevision:     p.ManifestRevision,
		RequirementsRevision: p.RequirementsRevision,
	}
}

// Requirements is the catalog of an Action that is issued while p is pinned
// (wire.md, 4.2): all sections, all of them required, and the command that reads
// one. place is that of the Run.
func Requirements(p *schema.PinnedSource, place schema.Place, run, action string) *schema.Requirements {
	keys := make([]string, len(p.Sections))
	choices := make([]string, len(p.Sections))
	for i := range p.Sections {
		keys[i], choices[i] = p.Sections[i].Key, p.Sections[i].Key
	}
	return &schema.Requirements{
		RequirementsRevision: p.RequirementsRevision,
		Sections:             Sections(p),
		RequiredForAction:    keys,
		Reader:               schema.NewReader(place, run, action, choices),
	}
}

// Sections is the catalog of p without provenance, in manifest order.
func Sections(p *schema.PinnedSource) []schema.RequirementSection {
	sections := make([]schema.RequirementSection, len(p.Sections))
	for i := range p.Sections {
		s := &p.Sections[i]
		sections[i] = schema.RequirementSection{
			Key:             s.Key,
			Role:            s.Role,
			Title:           s.Title,
			SectionRevision: s.SectionRevision,
			MaterialSHA256:  s.MaterialSHA256,
			Bytes:           s.Bytes,
		}
	}
	return sections
}
