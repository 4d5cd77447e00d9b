package source_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
	"slipway/source"
)

// An Action with what this package adds to it is one that schema accepts.
func TestActionOfAnIssueBackedRun(t *testing.T) {
	p := page().head(t).Source
	place := schema.Place{Root: "/work/page", Identity: framed("place")}
	a := &schema.Action{
		ContractVersion: schema.ContractVersion, RunID: "run", ActionID: "action", Kind: schema.Orient,
		Goal: "Print.", Brief: "Look.", Context: "Nothing yet.",
		Source: source.ActionSource(p), Requirements: source.Requirements(p, place, "run", "action"),
	}
	if err := a.Validate(); err != nil {
		t.Fatal(err)
	}
	wantSource := &schema.ActionSource{
		Kind: "change_issue", CanonicalURL: p.CanonicalURL, IssueID: "I_page_5",
		SourceRevision: p.SourceRevision, ManifestRevision: p.ManifestRevision, RequirementsRevision: p.RequirementsRevision,
	}
	if diff := cmp.Diff(wantSource, a.Source); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	order := keys(p.Sections)
	wantReader := schema.Reader{
		Operation: "read_material",
		BaseArgv:  []string{"slipway", "protocol", "material", "--root", "/work/page", "--run", "run", "--action", "action"},
		Input:     schema.Input{Name: "section", Type: "enum", Flag: "--section", Required: true, Choices: order},
	}
	if diff := cmp.Diff(wantReader, a.Requirements.Reader); diff != "" {
		t.Errorf("reader (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(order, a.Requirements.RequiredForAction); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	want := schema.RequirementSection{
		Key: "constraints", Role: "constraints", Title: "Constraints", Bytes: 6,
		SectionRevision: p.Sections[3].SectionRevision, MaterialSHA256: p.Sections[3].MaterialSHA256,
	}
	if diff := cmp.Diff(want, a.Requirements.Sections[3]); diff != "" {
		t.Errorf("section (-want +got):\n%s", diff)
	}
}

func TestMaterialIsChecked(t *testing.T) {
	const corrupt = schema.CodeMaterialCorrupt
	sections := source.Sections(page().head(t).Source)
	tests := []struct {
		name, content string
		edit          func(s *schema.RequirementSection)
		code          schema.Code
	}{
		{"as it was", "None.\n", func(*schema.RequirementSection) {}, ""},
		{"empty", "", func(*schema.RequirementSection) {}, corrupt},
		{"other text of the same size", "Nine.\n", func(*schema.RequirementSection) {}, corrupt},
		{"other size in the catalog", "None.\n", func(s *schema.RequirementSection) { s.Bytes++ }, corrupt},
		{"other title in the catalog", "None.\n", func(s *schema.RequirementSection) { s.Title += "!" }, corrupt},
		{"other revision in the catalog", "None.\n", func(s *schema.RequirementSection) { s.SectionRevision = framed("x") }, corrupt},
	}
	for _, test := range tests {
		s, err := source.FindSection(sections, "constraints")
		if err != nil {
			t.Fatal(err)
		}
		test.edit(&s)
		if got := materialCode(t, source.CheckMaterial(s, test.content)); got != test.code {
			t.Errorf("%s: %q, want %q", test.name, got, test.code)
		}
	}
	for _, key := range []string{"constraint", "Constraints", ""} {
		_, err := source.FindSection(sections, key)
		if got := materialCode(t, err); got != schema.CodeMaterialSectionNotFound {
			t.Errorf("%q: %q", key, got)
		}
	}
}

func materialCode(t *testing.T, err error) schema.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var fault *source.MaterialFault
	if !errors.As(err, &fault) || schema.IsBlank(err.Error()) || !schema.IsPlain(err.Error()) {
		t.Fatalf("error %v", err)
	}
	return fault.Code
}

// The check value of storage.md, section 7.
func TestMaterialDigest(t *testing.T) {
	c := page()
	c.sections[0].payload = "# Title\n"
	if got := c.head(t).Materials[0].Digest; got != "sha256:a4d7152cdabd1c3f269b065d588b815efc28edf251d3ec6a05c800ccbbb73ce6" {
		t.Error(got)
	}
}
