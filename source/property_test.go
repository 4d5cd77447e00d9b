package source_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slipway/schema"
	"slipway/source"
)

// textPieces are what section texts are made of, line ends of every kind among
// them.
var textPieces = []string{
	"\r\n", "\r", "\n", "\n\n", "\r\r\n", "\t", " ", "\u00a0", "\u2028", "\ufeff", "e\u0301", "é", "漢", "\U0001f600",
	"```", "~~~", "```slipway-manifest\n", "<!-- slipway-level: change/v2 -->", "<!-- slipway-section:v1 key=outcome -->",
	"\"", "\\", "<&>", "- ", "> ", "word",
}

func payloads() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(textPieces), rapid.Map(rapid.String(), func(s string) string {
		return strings.Map(func(r rune) rune {
			if !schema.IsText(string(r)) {
				return '\ufffd'
			}
			return r
		}, s)
	}))
	return rapid.Custom(func(r *rapid.T) string {
		payload := strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(r, "pieces"), "")
		if schema.IsBlank(payload) {
			payload += "x"
		}
		return payload
	})
}

// Any text comes back as it was, with LF for its line ends, and with the digests
// that the table of source.md, section 7 gives it.
func TestSectionTextsRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := page()
		for i := range c.sections {
			c.sections[i].payload = payloads().Draw(r, "payload")
		}
		e, err := source.DecodeEnvelope([]byte(encode(c.envelope())))
		if err != nil {
			r.Fatal(err)
		}
		h := source.Judge(e)
		if !h.Usable() {
			r.Fatalf("%s: %s", h.Code, h.Reason)
		}
		stored := map[schema.Digest]string{}
		for _, m := range h.Materials {
			stored[m.Digest] = string(m.Content)
		}
		entries := source.Sections(h.Source)
		requirements := []string{"slipway-requirements/v2", "change/v2"}
		for i, s := range c.sections {
			payload := lf("\n" + s.payload)[1:] // after the LF of the marker line
			got := h.Source.Sections[i]
			revision := framed("slipway-section/v2", s.key, s.role, s.title, payload)
			requirements = append(requirements, s.key, s.role, s.title, string(revision))
			switch {
			case stored[got.MaterialSHA256] != payload:
				r.Errorf("payload %q, want %q", stored[got.MaterialSHA256], payload)
			case got.Bytes != len(payload), got.MaterialSHA256 != framed("slipway-material/v1", payload):
				r.Errorf("payload %q: %d bytes, material %s", payload, got.Bytes, got.MaterialSHA256)
			case got.SectionRevision != revision, got.BodySHA256 != bodyDigest(s.body()):
				r.Errorf("payload %q: section revision %s, body %s", payload, got.SectionRevision, got.BodySHA256)
			}
			if err := source.CheckMaterial(entries[i], payload); err != nil {
				r.Errorf("payload %q: %v", payload, err)
			}
		}
		if h.Source.RequirementsRevision != framed(requirements...) {
			r.Errorf("requirements revision %s", h.Source.RequirementsRevision)
		}
	})
}

// A refresh with the same envelope changes nothing but what moved, and a
// candidate leaves the accepted requirements alone until it is adopted.
func TestRefreshProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := page()
		first := source.Judge(c.envelope())
		pinned, accepted := first.Source, source.Accepted{}.With(first.Source)
		for range rapid.IntRange(1, 12).Draw(r, "refreshes") {
			c.number = rapid.Int64Range(1, 4).Draw(r, "number")
			if rapid.Bool().Draw(r, "amend") {
				c.parent = pinned.RequirementsRevision
				i := rapid.IntRange(0, 4).Draw(r, "section")
				c.sections[i].number += 1000
				c.sections[i].node += "x"
				c.sections[i].payload += "More.\n"
			}
			h := source.Judge(c.envelope())
			compared := source.Refresh(pinned, accepted, &h)
			switch compared.Verdict {
			case source.Refreshed:
				pinned = compared.Snapshot
			case source.ValidCandidate:
				candidate := compared.Candidate("id", noon)
				kept := source.KeepPinned(pinned, candidate)
				if diff := cmp.Diff(pinned.Sections, kept.Sections); diff != "" || kept.RequirementsRevision != pinned.RequirementsRevision {
					r.Fatalf("keeping changes the requirements:\n%s", diff)
				}
				pinned = source.Adopt(candidate)
				accepted = accepted.With(pinned)
			default:
				r.Fatalf("verdict %d: %s", compared.Verdict, compared.Reason)
			}
			checkAliases(r, pinned)
			again := source.Refresh(pinned, accepted, &h)
			if again.Verdict != source.Refreshed || again.Observation != source.RefreshedUnchanged || !cmp.Equal(again.Snapshot, pinned) {
				r.Fatalf("the same again: verdict %d, %s", again.Verdict, again.Observation)
			}
		}
	})
}

func checkAliases(r *rapid.T, p *schema.PinnedSource) {
	seen := map[string]bool{p.CanonicalURL: true}
	for _, alias := range p.URLAliases {
		if seen[alias] {
			r.Fatalf("%s stands twice among the URLs %q and %q", alias, p.CanonicalURL, p.URLAliases)
		}
		seen[alias] = true
	}
}
