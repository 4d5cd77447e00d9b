package source

import (
	"fmt"

	"slipway/schema"
)

// MaxBundleBytes is the most bytes that all payloads together may have, equal
// ones counted each time.
const MaxBundleBytes = 4_194_304

// readComment is a comment with its normalised body and the digest of that.
type readComment struct {
	*Comment
	body   string
	digest schema.Digest
}

func readComments(comments []Comment) []readComment {
	read := make([]readComment, len(comments))
	for i := range comments {
		body := normalise(comments[i].Body)
		read[i] = readComment{&comments[i], body, commentBodyDigest(body)}
	}
	return read
}

// bundle is what the sections of a head amount to.
type bundle struct {
	sections  []schema.PinnedSection
	materials []Material
	stored    map[schema.Digest]bool
	size      int // bytes of all payloads so far
}

// readSections is rows 3 and 4 of source.md, 8.2.
func readSections(m *manifest, comments []readComment) (*bundle, *headFault) {
	byNode := make(map[string]*readComment, len(comments))
	for i := range comments {
		byNode[comments[i].NodeID] = &comments[i]
	}
	b := &bundle{stored: map[schema.Digest]bool{}}
	for i := range m.Sections {
		if fault := b.add(&m.Sections[i], byNode[m.Sections[i].CommentNodeID]); fault != nil {
			return nil, fault
		}
	}
	// Node ids are unique on both sides and every section found its comment.
	if len(comments) > len(m.Sections) {
		return nil, &headFault{SectionUnexpected, "the envelope has a comment that the manifest does not name"}
	}
	return b, nil
}

// add is rows 3a to 3g for one section; c is nil where it has no comment.
func (b *bundle) add(s *manifestSection, c *readComment) *headFault {
	fault := func(code, format string, args ...any) *headFault {
		return &headFault{code, fmt.Sprintf("the section %q: ", s.Key) + fmt.Sprintf(format, args...)}
	}
	switch {
	case c == nil:
		return fault(SectionMissing, "the envelope does not have its comment")
	case c.DatabaseID != s.CommentDatabaseID:
		return fault(SectionInvalid, "its comment has another database_id than the manifest names")
	case c.IsMinimized:
		return fault(SectionMinimized, "its comment is minimized")
	case c.digest != s.BodySHA256:
		return fault(SectionHashMismatch, "its comment does not have the digest that the manifest names")
	}
	marker, payload := firstSolidLine(c.body)
	switch {
	case marker != sectionMarker(s.Key):
		return fault(SectionInvalid, "its comment does not begin with its marker line")
	case schema.IsBlank(payload):
		return fault(SectionInvalid, "its text is blank")
	case len(payload) > schema.MaxSectionBytes:
		return fault(SectionTooLarge, "its text has more than %d bytes", schema.MaxSectionBytes)
	case b.size+len(payload) > MaxBundleBytes:
		return fault(BundleTooLarge, "with it the texts of all sections have more than %d bytes", MaxBundleBytes)
	}
	b.keep(s, c.Comment, payload)
	return nil
}

func sectionMarker(key string) string { return "<!-- slipway-section:v1 key=" + key + " -->" }

func (b *bundle) keep(s *manifestSection, c *Comment, payload string) {
	content := []byte(payload)
	material := materialDigest(content)
	b.size += len(payload)
	b.sections = append(b.sections, schema.PinnedSection{
		Key:             s.Key,
		Role:            s.Role,
		Title:           s.Title,
		BodySHA256:      s.BodySHA256,
		SectionRevision: sectionRevision(s.Key, s.Role, s.Title, content),
		MaterialSHA256:  material,
		Bytes:           len(payload),
		Provenance: schema.Provenance{
			CommentNodeID:     c.NodeID,
			CommentDatabaseID: c.DatabaseID,
			URL:               c.URL,
			AuthorID:          c.AuthorID,
			ObservedUpdatedAt: c.UpdatedAt,
		},
	})
	if !b.stored[material] {
		b.stored[material] = true
		b.materials = append(b.materials, Material{material, content})
	}
}
