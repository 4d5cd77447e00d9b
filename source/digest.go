package source

import (
	"slices"
	"strconv"
	"strings"

	"slipway/schema"
)

// The functions of this file are the rows of the table in source.md, section 7.

func commentBodyDigest(normalised string) schema.Digest {
	return schema.FramedDigest("slipway-comment-body/v1", normalised)
}

func materialDigest(payload []byte) schema.Digest {
	return schema.FramedContentDigest(payload, "slipway-material/v1")
}

func sectionRevision(key, role, title string, payload []byte) schema.Digest {
	return schema.FramedContentDigest(payload, "slipway-section/v2", key, role, title)
}

func manifestRevision(m *manifest) schema.Digest {
	fields := []string{"slipway-manifest/v2", strconv.Itoa(ManifestVersion), Profile, string(m.ParentRequirementsRevision)}
	for i := range m.Sections {
		s := &m.Sections[i]
		fields = append(fields, s.Key, s.Role, s.Title, s.CommentNodeID, strconv.FormatInt(s.CommentDatabaseID, 10), string(s.BodySHA256))
	}
	return schema.FramedDigest(fields...)
}

func requirementsRevision(sections []schema.PinnedSection) schema.Digest {
	fields := []string{"slipway-requirements/v2", Profile}
	for i := range sections {
		s := &sections[i]
		fields = append(fields, s.Key, s.Role, s.Title, string(s.SectionRevision))
	}
	return schema.FramedDigest(fields...)
}

// sourceRevision reads the identity, the title and the manifest revision of p.
func sourceRevision(p *schema.PinnedSource) schema.Digest {
	return schema.FramedDigest("slipway-source/v2", strconv.Itoa(Version), Host,
		p.RepositoryID, p.IssueID, p.Title, string(p.ManifestRevision))
}

func observationDigest(e *Envelope, normalisedBody string, comments []readComment) schema.Digest {
	sorted := slices.Clone(comments)
	slices.SortFunc(sorted, func(a, b readComment) int { return strings.Compare(a.NodeID, b.NodeID) })
	fields := []string{"slipway-source-observation/v2", Host, e.RepositoryID, e.IssueID, e.Title, normalisedBody}
	for _, c := range sorted {
		fields = append(fields, c.NodeID, string(c.digest))
	}
	return schema.FramedDigest(fields...)
}
