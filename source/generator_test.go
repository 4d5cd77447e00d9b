package source_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
	"slipway/source"
)

// generator is the program of the contract that builds envelopes and computes
// their digests. It stands beside the repository where the contract does.
const generator = "../../shared/conformance/make_envelope.py"

// printedDigests is what the generator prints of an envelope.
type printedDigests struct {
	SourceRevision       schema.Digest    `json:"source_revision"`
	ManifestRevision     schema.Digest    `json:"manifest_revision"`
	RequirementsRevision schema.Digest    `json:"requirements_revision"`
	ObservationSHA256    schema.Digest    `json:"observation_sha256"`
	Sections             []printedSection `json:"sections"`
}

type printedSection struct {
	Key             string        `json:"key"`
	Bytes           int           `json:"bytes"`
	BodySHA256      schema.Digest `json:"body_sha256"`
	MaterialSHA256  schema.Digest `json:"material_sha256"`
	SectionRevision schema.Digest `json:"section_revision"`
}

func generate(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.Command("python3", append([]string{generator}, args...)...).Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

func judgedBytes(t *testing.T, data []byte) *source.Head {
	t.Helper()
	e, err := source.DecodeEnvelope(data)
	if err != nil {
		t.Fatal(err)
	}
	h := source.Judge(e)
	checkHead(t, &h)
	return &h
}

// checkPrinted holds a usable head against the digests that the generator prints.
func checkPrinted(t *testing.T, h *source.Head, printed []byte) {
	t.Helper()
	var want printedDigests
	if err := json.Unmarshal(printed, &want); err != nil {
		t.Fatal(err)
	}
	if !h.Usable() {
		t.Fatalf("%s: %s", h.Code, h.Reason)
	}
	got := printedDigests{
		SourceRevision: h.Source.SourceRevision, ManifestRevision: h.Source.ManifestRevision,
		RequirementsRevision: h.Source.RequirementsRevision, ObservationSHA256: want.ObservationSHA256,
	}
	for _, s := range h.Source.Sections {
		got.Sections = append(got.Sections, printedSection{s.Key, s.Bytes, s.BodySHA256, s.MaterialSHA256, s.SectionRevision})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("digests (-generator +here):\n%s", diff)
	}
}

func TestAgainstTheGenerator(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(generator); err != nil {
		t.Skip("the contract does not stand beside the repository")
	}
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("10-outcome.md", "# Äußerung\r\n\r\nOne page.\r")
	write("20-requirements.md", "\n\n- Print it.\u2028\ufeff")
	write("30-acceptance-examples.md", "| a | b |\r\r\n")
	write("40-limits.constraints.md", "# Limits \nNone.\n\n\n")
	write("50-non-goals.md", "```\n<!-- slipway-level: change/v2 -->")

	for name, args := range map[string][]string{
		"plain":  {folder},
		"CR LF":  {folder, "--crlf", "--tail", "A note.\n"},
		"parent": {folder, "--parent-revision", string(firstRevision), "--title", "Größe", "--parent-issue", "a/b#3:I_x"},
	} {
		t.Run(name, func(t *testing.T) {
			checkPrinted(t, judgedBytes(t, generate(t, args...)), generate(t, append(args, "--digests")...))
		})
	}

	first := generate(t, folder)
	base := write("one.json", string(first))
	h := judgedBytes(t, first)
	pinned, accepted := h.Source, source.Accepted{}.With(h.Source)

	more := write("more.txt", "More than one page.")
	amendment := []string{"--base", base, "--set", "outcome=" + more, "--add", "x:constraints:Extra=" + more}
	h = judgedBytes(t, generate(t, amendment...))
	checkPrinted(t, h, generate(t, append(amendment, "--digests")...))
	if c := source.Refresh(pinned, accepted, h); c.Verdict != source.ValidCandidate {
		t.Errorf("amendment: verdict %d (%s)", c.Verdict, c.Reason)
	}

	for kind, code := range map[string]string{
		"unexpected": source.SectionUnexpected, "wrong-marker": source.SectionInvalid,
		"unmarked": source.ChangeMarkerRequired, "unclosed": source.ManifestInvalid,
	} {
		args := []string{"--base", base, "--keep", "--break", kind}
		h := judgedBytes(t, generate(t, args...))
		var printed printedDigests
		if err := json.Unmarshal(generate(t, append(args, "--digests")...), &printed); err != nil {
			t.Fatal(err)
		}
		if h.Code != code || h.Observation != printed.ObservationSHA256 {
			t.Errorf("%s: code %s, observation %s, want %s, %s", kind, h.Code, h.Observation, code, printed.ObservationSHA256)
		}
	}
}
