package source

import (
	"fmt"

	"slipway/schema"
)

// Limits of a manifest (source.md, section 6).
const (
	MaxManifestBytes = 262_144
	MinSections      = 5
	MaxSections      = schema.MaxSections
)

// What every manifest says about itself (source.md, section 4).
const (
	ManifestVersion = 2
	Profile         = "change/v2"
)

// manifest is the ordered list of sections in the body of a Change.
type manifest struct {
	ManifestVersion            int64             `json:"manifest_version"`
	Profile                    string            `json:"profile"`
	ParentRequirementsRevision schema.Digest     `json:"parent_requirements_revision"`
	Sections                   []manifestSection `json:"sections" max:"64"`
}

type manifestSection struct {
	Key               string        `json:"key"`
	Role              string        `json:"role"`
	Title             string        `json:"title"`
	CommentNodeID     string        `json:"comment_node_id"`
	CommentDatabaseID int64         `json:"comment_database_id"`
	BodySHA256        schema.Digest `json:"body_sha256"`
}

func manifestFault(format string, args ...any) *headFault {
	return &headFault{ManifestInvalid, fmt.Sprintf(format, args...)}
}

// decodeManifest decodes and checks the text of a manifest: source.md, section
// 3, row 6, and section 4.
func decodeManifest(text string) (*manifest, *headFault) {
	m := new(manifest)
	if err := schema.DecodeStrict([]byte(text), MaxManifestBytes, m); err != nil {
		return nil, manifestFault("the manifest is not the JSON object it should be: %v", err)
	}
	if reason := m.fault(); reason != "" {
		return nil, manifestFault("%s", reason)
	}
	return m, nil
}

func (m *manifest) fault() string {
	switch {
	case m.ManifestVersion != ManifestVersion:
		return fmt.Sprintf("manifest_version is not %d", ManifestVersion)
	case m.Profile != Profile:
		return fmt.Sprintf("the profile of the manifest is not %q", Profile)
	case m.ParentRequirementsRevision != "" && !m.ParentRequirementsRevision.Valid():
		return "parent_requirements_revision of the manifest is no digest"
	case len(m.Sections) < MinSections || len(m.Sections) > MaxSections:
		return fmt.Sprintf("the manifest has %d sections; it needs %d to %d", len(m.Sections), MinSections, MaxSections)
	}
	return m.sectionsFault()
}

var roles = []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"}

func (m *manifest) sectionsFault() string {
	keys, nodes, numbers, filled := map[string]bool{}, map[string]bool{}, map[int64]bool{}, map[string]bool{}
	for i := range m.Sections {
		s := &m.Sections[i]
		reason := s.fault()
		switch {
		case reason != "":
		case keys[s.Key]:
			reason = "its key is that of an earlier section"
		case nodes[s.CommentNodeID]:
			reason = "its comment_node_id is that of an earlier section"
		case numbers[s.CommentDatabaseID]:
			reason = "its comment_database_id is that of an earlier section"
		}
		if reason != "" {
			return fmt.Sprintf("section %d of the manifest: %s", i+1, reason)
		}
		keys[s.Key], nodes[s.CommentNodeID], numbers[s.CommentDatabaseID], filled[s.Role] = true, true, true, true
	}
	for _, role := range roles {
		if !filled[role] {
			return "the manifest has no section with the role " + role
		}
	}
	return ""
}

func (s *manifestSection) fault() string {
	switch {
	case !schema.ValidSectionKey(s.Key):
		return "its key does not have the form of a section key"
	case !schema.ValidSectionRole(s.Role):
		return "its role is unknown"
	case !isName(s.Title):
		return "its title is blank or has a control character"
	case len(s.Title) > schema.MaxSectionTitleBytes:
		return fmt.Sprintf("its title has more than %d bytes", schema.MaxSectionTitleBytes)
	case !isNodeID(s.CommentNodeID):
		return "its comment_node_id is no node id"
	case s.CommentDatabaseID < 1:
		return "its comment_database_id is not positive"
	case !s.BodySHA256.Valid():
		return "its body_sha256 is no digest"
	}
	return ""
}
