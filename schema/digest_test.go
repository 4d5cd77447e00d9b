package schema_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"slipway/schema"
)

func TestDigestForm(t *testing.T) {
	good := schema.Digest("sha256:" + strings.Repeat("0123456789abcdef", 4))
	if !good.Valid() {
		t.Error("a digest is refused")
	}
	for name, bad := range map[string]schema.Digest{
		"empty":         "",
		"no prefix":     good[len("sha256:"):],
		"upper case":    schema.Digest(strings.ToUpper(string(good))),
		"one digit":     good[:len(good)-1],
		"one more":      good + "0",
		"no hex":        good[:len(good)-1] + "g",
		"blank":         good[:len(good)-1] + " ",
		"other prefix":  "sha512:" + good[len("sha256:"):],
		"LF at the end": good + "\n",
	} {
		if bad.Valid() {
			t.Errorf("%s: accepted", name)
		}
	}
}

func checkDigest(t *testing.T, name string, got, want schema.Digest) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
}

func TestPayloadDigestIsOfTheExactBytes(t *testing.T) {
	content := []byte("{ }\n")
	checkDigest(t, "payload", schema.PayloadDigest(content), schema.Digest(fmt.Sprintf("sha256:%x", sha256.Sum256(content))))
}

// The values are those of source.md, section 7.
func TestFramedDigestCheckValues(t *testing.T) {
	checkDigest(t, "material", schema.FramedDigest("slipway-material/v1", "None.\n"),
		"sha256:41c28401efad54c04df30298d7c8ad9f00803fb4fb99f2ccd55125a654544b0c")
	checkDigest(t, "comment body",
		schema.FramedDigest("slipway-comment-body/v1", "<!-- slipway-section:v1 key=outcome -->\nOne page.\n"),
		"sha256:744551452804a4801906d0c27fa7f0e15439f3a96ad12bb815f02b7dff4903fd")
	checkDigest(t, "section",
		schema.FramedDigest("slipway-section/v2", "outcome", "outcome", "Outcome", "One page.\n"),
		"sha256:fa1f65ca739b0e5e0dad23cea3aac5ac62219ecd433f0ad7d4b4c60915c92963")
	checkDigest(t, "source",
		schema.FramedDigest("slipway-source/v2", "2", "github.com", "R_page", "I_page_5", "Print a page",
			"sha256:cf4d9d33400690a81ba8047148e0fcd707bf9a044abf4728ea232da50aa66053"),
		"sha256:3f0f7e86cf8f6417460a246c97c4cbe23689a5002df0b4a8911c612530ccbf67")
}

// The value is that of wire.md, 6.3.
func TestAnswerDigestCheckValue(t *testing.T) {
	checkDigest(t, "answer", schema.AnswerDigest("7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", false, "", "yes"),
		"sha256:bf841eed8cb135e03bbff12639f5406c9a49273ba157f1855e8be19082031a64")
}

// The values are those of run.md, 10.2, and wire.md, 3.4.
func TestScopeDigestCheckValues(t *testing.T) {
	checkDigest(t, "run.md",
		schema.ScopeDigest("3f6d2f0c-9a51-4c3e-8b7a-5d1e2c4b6a90", "drops it;\nno \"undo\"", []schema.Target{
			{Kind: schema.TargetGitRef, Value: "refs/heads/old"}, {Kind: schema.TargetPath, Value: `tmp/é\x`}}),
		"sha256:7368baff00d794eeffb02ab81f8100b09732820420f67aa2cd22bed97e7dc6de")
	checkDigest(t, "wire.md",
		schema.ScopeDigest("7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", "line one\nline two é", []schema.Target{
			{Kind: schema.TargetGitRef, Value: "refs/heads/old"}, {Kind: schema.TargetPath, Value: `build/"a"`}}),
		"sha256:a39f06064b3048ed52f52c58a67631e733a9fb052afbc63705b05fd906615d8f")
}

func TestScopeDigestEscapesOnlyWhatItMust(t *testing.T) {
	got := schema.ScopeDigest("r", "\x00\b\t\n\v\f\r\x1f\x7f\u2028</>", nil)
	canonical := `{"impact":"\u0000\b\t\n\u000b\f\r\u001f` + "\x7f\u2028" + `</>","request_id":"r","scope_version":1,"targets":[]}`
	checkDigest(t, "escapes", got, schema.PayloadDigest([]byte(canonical)))
}

// The value is that of git-observation.md, 4.2: 16,777,217 zero bytes.
func TestSectionHashCheckValue(t *testing.T) {
	const size, sample = 16_777_217, 65_536
	zeros := strings.Repeat("\x00", sample)
	var h schema.SectionHash
	h.Add("mode", schema.OversizeSample)
	h.AddInt("size", size)
	for _, offset := range []int64{0, size/2 - sample/2, size - sample} {
		h.Add("offset", strconv.FormatInt(offset, 10))
		h.Add("sample", zeros)
	}
	checkDigest(t, "samples", h.Sum(), "sha256:6d29f17a62f9aa9b9ea0baf8d096049f087b96df73bf608f2afc87e5546848e7")
}

func TestSectionHashWithoutSections(t *testing.T) {
	var h schema.SectionHash
	checkDigest(t, "nothing", h.Sum(), schema.PayloadDigest(nil))
}
