package source

import (
	"fmt"
	"strings"

	"slipway/schema"
)

// MaterialFault says why a text can not be given out. Code is
// CodeMaterialSectionNotFound or CodeMaterialCorrupt (errors.md,
// 5.4).
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
	var keys []string
	for _, s := range sections {
		keys = append(keys, s.Key)
	}
	return schema.RequirementSection{}, &MaterialFault{schema.CodeMaterialSectionNotFound,
		"the requirements have no section with this key; they have " + strings.Join(keys, ", ")}
}

// CheckMaterial holds a stored text that has the digest of a section against its
// entry in the catalog (source.md, section 16). The error is a *[MaterialFault].
func CheckMaterial(s schema.RequirementSection, text string) error {
	fault := func(problem string) error {
		return &MaterialFault{schema.CodeMaterialCorrupt, fmt.Sprintf("the stored text of the section %q %s", s.Key, problem)}
	}
	switch {
	case len(text) != s.Bytes:
		return fault("does not have the size of the catalog")
	case sectionRevision(s.Key, s.Role, s.Title, []byte(text)) != s.SectionRevision:
		return fault("does not have the section revision of the catalog")
	}
	return nil
}
