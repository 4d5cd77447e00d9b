package schema_test

import (
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"slipway/schema"
)

func TestTextForms(t *testing.T) {
	tests := []struct {
		name               string
		s                  string
		text, plain, blank bool
	}{
		{"empty", "", true, true, true},
		{"words", "two words", true, true, false},
		{"lines and tabs", "a\tb\r\nc", true, false, false},
		{"NUL", "a\x00", false, false, false},
		{"escape", "\x1b[0m", false, false, false},
		{"vertical tab", "\v", false, false, true},
		{"form feed", "\f", false, false, true},
		{"DEL", "\x7f", false, false, false},
		{"C1 control", "\u009f", false, false, false},
		{"next line", "\u0085", false, false, true},
		{"no-break space", "\u00a0", true, true, true},
		{"ogham, en quad, hair, narrow, mathematical, ideographic space", "\u1680\u2000\u200a\u202f\u205f\u3000", true, true, true},
		{"line and paragraph separator", "\u2028\u2029", true, true, true},
		{"zero width space", "\u200b", true, true, false},
		{"byte order mark inside", "\ufeff", true, true, false},
		{"Mongolian vowel separator", "\u180e", true, true, false},
		{"not UTF-8", "\xff", false, false, false},
		{"replacement character", "\ufffd", true, true, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := schema.IsText(test.s); got != test.text {
				t.Errorf("IsText = %v", got)
			}
			if got := schema.IsPlain(test.s); got != test.plain {
				t.Errorf("IsPlain = %v", got)
			}
			if got := schema.IsBlank(test.s); got != test.blank {
				t.Errorf("IsBlank = %v", got)
			}
		})
	}
}

func TestTrimWhiteSpaceTakesBothEnds(t *testing.T) {
	if got := schema.TrimWhiteSpace("\u3000\n a \u200b b\t\u0085"); got != "a \u200b b" {
		t.Errorf("got %q", got)
	}
}

func TestEncodedSizeOfEachKind(t *testing.T) {
	for s, want := range map[string]int{
		``: 2, `a`: 3, `"`: 4, `\`: 4, "\b": 4, "\t": 4, "\n": 4, "\f": 4, "\r": 4,
		"\x00": 8, "\x0b": 8, "\x1f": 8, "\x7f": 3, "\u0085": 4, "\u2028": 8, "\u2029": 8,
		`<>&/`: 6, "é": 4, "𝄞": 6,
	} {
		if got := schema.EncodedSize(s); got != want {
			t.Errorf("EncodedSize(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestEncodedSizeIsWhatMarshalWrites(t *testing.T) {
	awkward := rapid.OneOf(
		rapid.Rune(),
		rapid.RuneFrom(nil, unicode.Cc),
		rapid.SampledFrom([]rune("\"\\<>&/\u2028\u2029\u007f")),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(awkward, -1, 40, -1).Draw(t, "s")
		encoded, err := schema.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := schema.EncodedSize(s); got != len(encoded) {
			t.Fatalf("EncodedSize(%q) = %d, Marshal wrote %s", s, got, encoded)
		}
	})
}

func TestHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"a\tb\nc\r\nd":               "a\tb\nc\nd",
		"\r\x1b[2J\x00\x7f\u009b":    `\u000d\u001b[2J\u0000\u007f\u009b`,
		"\u202e\u2066\u200f\ufeff":   `\u202e\u2066\u200f\ufeff`,
		"\u2028\u2029\u0085\u200b":   `\u2028\u2029\u0085\u200b`,
		"\U000e0041\U0010ffff":       `\U000e0041\U0010ffff`,
		"é 漢字 🏔 e\u0301\u00a0\u3000": "é 漢字 🏔 e\u0301\u00a0\u3000",
	} {
		if got := schema.Harmless(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
