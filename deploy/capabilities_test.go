package deploy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestGeneratedPaths writes adapters.md, section 2 down once more.
func TestGeneratedPaths(t *testing.T) {
	skill := "%s/skills/CAP/SKILL.md"
	for _, want := range []struct {
		id, surface          string
		callable, supporting string
		reference            string
		files                int
	}{
		{"claude", "", ".claude/skills/CAP/SKILL.md", "", ".claude/skills/slipway-clarify/references/decision-interview.md", 8},
		{"codex", "", ".codex/skills/CAP/SKILL.md", ".codex/skills/CAP/agents/openai.yaml", ".codex/skills/slipway-clarify/references/decision-interview.md", 15},
		{"copilot", "", ".github/agents/CAP.agent.md", "", ".github/agents/references/decision-interview.md", 8},
		{"cursor", "", fmt.Sprintf(skill, ".cursor"), "", ".cursor/skills/slipway-clarify/references/decision-interview.md", 8},
		{"kilo", "", ".kilo/commands/CAP.md", ".kilocode/slipway/capabilities/CAP.md", ".kilocode/slipway/capabilities/references/decision-interview.md", 15},
		{"kiro", "ide", ".kiro/steering/CAP.md", ".kiro/slipway/capabilities/CAP.md", ".kiro/slipway/capabilities/references/decision-interview.md", 15},
		{"kiro", "cli", ".kiro/agents/CAP.json", ".kiro/slipway/capabilities/CAP.md", ".kiro/slipway/capabilities/references/decision-interview.md", 15},
		{"opencode", "", ".opencode/commands/CAP.md", ".opencode/slipway/capabilities/CAP.md", ".opencode/slipway/capabilities/references/decision-interview.md", 15},
		{"pi", "", fmt.Sprintf(skill, ".pi"), "", ".pi/skills/slipway-clarify/references/decision-interview.md", 8},
		{"qwen", "", fmt.Sprintf(skill, ".qwen"), "", ".qwen/skills/slipway-clarify/references/decision-interview.md", 8},
		{"windsurf", "", ".windsurf/workflows/CAP.md", ".windsurf/slipway/capabilities/CAP.md", ".windsurf/slipway/capabilities/references/decision-interview.md", 15},
	} {
		k := findHost(want.id).kit(want.surface)
		expected := []string{want.reference}
		for _, name := range allCapabilities {
			expected = append(expected, strings.ReplaceAll(want.callable, "CAP", name))
			if want.supporting != "" {
				expected = append(expected, strings.ReplaceAll(want.supporting, "CAP", name))
			}
		}
		if !slices.Equal(k.paths, inOrder(expected)) || len(k.paths) != want.files {
			t.Errorf("%s %s: generated\n%q, want\n%q", want.id, want.surface, k.paths, inOrder(expected))
		}
		for i, p := range k.parts {
			if p.name != allCapabilities[i] || p.callable.path != strings.ReplaceAll(want.callable, "CAP", p.name) {
				t.Errorf("%s: part %d is %s at %s", want.id, i, p.name, p.callable.path)
			}
		}
	}
	if got, want := HostIDs(), "claude codex copilot cursor kilo kiro opencode pi qwen windsurf"; strings.Join(got, " ") != want {
		t.Errorf("hosts are %q", got)
	}
}

// TestFormats writes adapters.md, 2.2 down once more, for one capability.
func TestFormats(t *testing.T) {
	c := capabilities()[0]
	skill := "---\nname: slipway-run\ndescription: " + c.description + "\ndisable-model-invocation: true\n---\n\n" + c.text
	desc := `"` + c.description + `"`
	for path, want := range map[string]string{
		".claude/skills/slipway-run/SKILL.md":            skill,
		".codex/skills/slipway-run/SKILL.md":             skill,
		".codex/skills/slipway-run/agents/openai.yaml":   "policy:\n  allow_implicit_invocation: false\n",
		".github/agents/slipway-run.agent.md":            "---\nname: slipway-run\ndescription: " + desc + "\ndisable-model-invocation: true\n---\n\n" + c.text,
		".kilo/commands/slipway-run.md":                  "---\ndescription: " + desc + "\nsubtask: false\n---\n\n@.kilocode/slipway/capabilities/slipway-run.md\n",
		".kilocode/slipway/capabilities/slipway-run.md":  c.text,
		".kiro/steering/slipway-run.md":                  "---\ninclusion: manual\n---\n\n#[[file:.kiro/slipway/capabilities/slipway-run.md]]\n",
		".kiro/agents/slipway-run.json":                  "{\n  \"name\": \"slipway-run\",\n  \"description\": " + desc + ",\n  \"prompt\": \"file://../slipway/capabilities/slipway-run.md\",\n  \"tools\": [\n    \"*\"\n  ]\n}\n",
		".opencode/commands/slipway-run.md":              "---\ndescription: " + desc + "\n---\n\n@.opencode/slipway/capabilities/slipway-run.md\n",
		".windsurf/workflows/slipway-run.md":             "---\ndescription: " + desc + "\n---\n\n@.windsurf/slipway/capabilities/slipway-run.md\n",
		".windsurf/slipway/capabilities/slipway-run.md":  c.text,
		".opencode/slipway/capabilities/slipway-run.md":  c.text,
		".kiro/slipway/capabilities/slipway-run.md":      c.text,
		".qwen/skills/slipway-run/SKILL.md":              skill,
		".pi/skills/slipway-run/SKILL.md":                skill,
		".cursor/skills/slipway-run/SKILL.md":            skill,
		".kiro/slipway/capabilities/slipway-workflow.md": capabilities()[6].text,
	} {
		found := false
		for _, h := range hosts() {
			for _, k := range h.kits {
				if f := k.byPath[path]; f != nil {
					found = true
					if string(f.content) != want {
						t.Errorf("%s is\n%s\nwant\n%s", path, f.content, want)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s is not generated", path)
		}
	}
}

func TestGeneratedBytes(t *testing.T) {
	for _, h := range hosts() {
		for _, k := range h.kits {
			for path, f := range k.byPath {
				switch {
				case !utf8.Valid(f.content) || bytes.HasPrefix(f.content, []byte("\ufeff")) || bytes.ContainsRune(f.content, '\r'):
					t.Errorf("%s is not LF-only UTF-8 without byte order mark", path)
				case !bytes.HasSuffix(f.content, []byte("\n")):
					t.Errorf("%s does not end with LF", path)
				case len(f.content) > maxGeneratedBytes:
					t.Errorf("%s is longer than what is compared", path)
				}
			}
			if full := (&manifest{claims: fullClaims(k)}).render(h); len(full) > maxManifestBytes {
				t.Errorf("the manifest of %s would be refused", h.id)
			}
		}
	}
}

// fullClaims claims everything that a kit generates.
func fullClaims(k *kit) map[string]string {
	claims := map[string]string{}
	for path, f := range k.byPath {
		claims[path] = f.digest
	}
	return claims
}
