package source

import (
	"fmt"

	"slipway/schema"
)

// MaterialFault says why a text can not be given out. Code is
// CodeMaterialSectionNotFound, CodeMaterialUnavailable or CodeMaterialCorrupt
// (errors.md, 5.4).
type MaterialFault struct {
	Code   schema.Code
	Reason string
}

// Error gives the reason.
func (f *MaterialFault) Error() string { return f.Reason }

// FindSection returns the entry of a catalog that has this key. The error is a
// *[MaterialFault].
func FindSection(sections []schema.RequirementSection, key string) (schema.RequirementSection, error) {
	for _, s := range sections {
		if s.Key == key {
			return s, nil
		}
	}
	return schema.RequirementSection{}, &MaterialFault{schema.CodeMaterialSectionNotFound, "the requirements have no section with this key"}
}

// CheckMaterial holds the stored bytes of a section against its entry in the
// catalog (source.md, section 16). The error is a *[MaterialFault].
func CheckMaterial(s schema.RequirementSection, content []byte) error {
	payload := string(content)
	fault := func(code schema.Code, problem string) error {
		return &MaterialFault{code, fmt.Sprintf("the stored text of the section %q %s", s.Key, problem)}
	}
	switch {
	case payload == "" || len(payload) > schema.MaxSectionBytes:
		return fault(schema.CodeMaterialUnavailable, fmt.Sprintf("does not have 1 to %d bytes", schema.MaxSectionBytes))
	case materialDigest(payload) != s.MaterialSHA256:
		return fault(schema.CodeMaterialUnavailable, "does not have its digest")
	case len(payload) != s.Bytes:
		return fault(schema.CodeMaterialCorrupt, "does not have the size of the catalog")
	case sectionRevision(s.Key, s.Role, s.Title, payload) != s.SectionRevision:
		return fault(schema.CodeMaterialCorrupt, "does not have the section revision of the catalog")
	}
	return nil
}
