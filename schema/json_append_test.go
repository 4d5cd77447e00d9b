package schema_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slipway/schema"
)

// A message with a long text is encoded by a way of its own, to the same bytes.
func TestMaterialsInJSON(t *testing.T) {
	same := func(t rapid.TB, text string) {
		section := schema.MaterialSection{Key: "k", Role: "outcome", Title: text, SectionRevision: emptySHA, Markdown: text}
		action := schema.ActionMaterial{ContractVersion: 2, RunID: `""}}`, Section: section}
		pinned := schema.PinnedMaterial{ContractVersion: 2, RunState: schema.Active, Section: section}
		spelled, err := section.TextJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []interface {
			Text() schema.MaterialSection
			Around([]byte) ([][]byte, error)
		}{action, pinned} {
			want, err := schema.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Around(spelled)
			if err != nil || !bytes.Equal(bytes.Join(got, nil), want) || m.Text() != section {
				t.Fatalf("%q: %q, %v", text, got, err)
			}
		}
	}
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(strings.Repeat("x", length))
				text[at] = byte(c)
				same(t, string(text))
			}
		}
	}
	for _, text := range []string{"\u2028", "a\u2029b", "é\u2027\U0010ffff", "\xe2\x80", strings.Repeat("\x00", 10_000)} {
		same(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~\n\t\"\\\\\u2028é]*")).Draw(t, "text"))
	})
}
