package deploy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	someDigest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	piFile     = ".pi/skills/slipway-run/SKILL.md"
)

// entry is one claim as JSON.
func entry(path, digest string) string {
	return fmt.Sprintf(`{"path": %q, "sha256": %q}`, path, digest)
}

func piManifest(files string) string {
	return `{"version": 2, "tool_id": "pi", "files": ` + files + `}`
}

// TestManifestChecks goes through the table of adapters.md, 3.1.
func TestManifestChecks(t *testing.T) {
	for _, test := range []struct {
		name, host, content string
		check               int // 0: valid
	}{
		{"empty file", "pi", "", 3},
		{"no object", "pi", "[]", 3},
		{"a second value", "pi", piManifest("[]") + "{}", 3},
		{"white space after it", "pi", piManifest("[]") + " \r\n\t", 0},
		{"duplicate key", "pi", `{"version": 2, "version": 2, "tool_id": "pi", "files": []}`, 3},
		{"duplicate key in a surface", "pi", `{"version": 2, "tool_id": "pi", "surface": {"a": 1, "a": 1}, "files": []}`, 3},
		{"duplicate key in an entry", "pi", piManifest(`[{"path": "a", "path": "a", "sha256": "` + someDigest + `"}]`), 3},
		{"unknown key", "pi", `{"version": 2, "tool_id": "pi", "files": [], "owner": "me"}`, 3},
		{"key in another case", "pi", `{"Version": 2, "tool_id": "pi", "files": []}`, 3},
		{"unknown key in an entry", "pi", piManifest(`[{"path": "` + piFile + `", "sha256": "` + someDigest + `", "mode": 1}]`), 3},
		{"unknown key wins over version", "pi", `{"version": 1, "tool_id": "pi", "files": [{"path": "a", "x": 1}]}`, 3},
		{"byte order mark", "pi", "\ufeff" + piManifest("[]"), 3},
		{"older", "pi", `{"version": 1, "tool_id": "pi", "files": []}`, 4},
		{"newer", "pi", `{"version": 3, "tool_id": "pi", "files": []}`, 4},
		{"version as text", "pi", `{"version": "2", "tool_id": "pi", "files": []}`, 4},
		{"no version", "pi", `{"tool_id": "pi", "files": []}`, 4},
		{"version wins over host", "pi", `{"version": 1, "tool_id": "qwen", "files": []}`, 4},
		{"another host", "pi", `{"version": 2, "tool_id": "qwen", "files": []}`, 5},
		{"no host", "pi", `{"version": 2, "files": []}`, 5},
		{"surface on another host", "pi", `{"version": 2, "tool_id": "pi", "surface": {"kiro": "ide"}, "files": []}`, 0},
		{"surface null on another host", "pi", `{"version": 2, "tool_id": "pi", "surface": null, "files": []}`, 0},
		{"no surface", "kiro", `{"version": 2, "tool_id": "kiro", "files": []}`, 6},
		{"surface of another name", "kiro", `{"version": 2, "tool_id": "kiro", "surface": {"kiro": "IDE"}, "files": []}`, 6},
		{"empty surface", "kiro", `{"version": 2, "tool_id": "kiro", "surface": {"kiro": ""}, "files": []}`, 6},
		{"surface is no object", "kiro", `{"version": 2, "tool_id": "kiro", "surface": "ide", "files": []}`, 6},
		{"surface wins over files", "kiro", `{"version": 2, "tool_id": "kiro", "files": null}`, 6},
		{"other keys in surface", "kiro", `{"version": 2, "tool_id": "kiro", "surface": {"a": [1], "kiro": "cli"}, "files": []}`, 0},
		{"no files", "pi", `{"version": 2, "tool_id": "pi"}`, 7},
		{"files null", "pi", piManifest("null"), 7},
		{"empty files", "pi", piManifest("[]"), 0},
		{"empty path", "pi", piManifest("[" + entry(" \t", someDigest) + "]"), 8},
		{"no path", "pi", piManifest(`[{"sha256": "` + someDigest + `"}]`), 8},
		{"absolute path", "pi", piManifest("[" + entry("/etc/passwd", someDigest) + "]"), 8},
		{"path that leads out", "pi", piManifest("[" + entry(".pi/../../elsewhere", someDigest) + "]"), 8},
		{"parent", "pi", piManifest("[" + entry("..", someDigest) + "]"), 8},
		{"path twice", "pi", piManifest("[" + entry(piFile, someDigest) + "," + entry("./"+piFile, someDigest) + "]"), 8},
		{"short digest", "pi", piManifest("[" + entry(piFile, someDigest[1:]) + "]"), 8},
		{"no digest", "pi", piManifest(`[{"path": "` + piFile + `"}]`), 8},
		{"digest with prefix", "pi", piManifest("[" + entry(piFile, "sha256:"+someDigest) + "]"), 8},
		{"a later bad entry wins over a foreign path", "pi", piManifest("[" + entry("mine", someDigest) + "," + entry("", someDigest) + "]"), 8},
		{"foreign path", "pi", piManifest("[" + entry(".pi/rules/mine.md", someDigest) + "]"), 9},
		{"the manifest itself", "pi", piManifest("[" + entry(".pi/slipway/ownership-manifest.json", someDigest) + "]"), 9},
		{"the sentinel", "pi", piManifest("[" + entry(".pi/slipway/.adapter-generated", someDigest) + "]"), 9},
		{"path of the other surface", "kiro", `{"version": 2, "tool_id": "kiro", "surface": {"kiro": "ide"}, "files": [` +
			entry(".kiro/agents/slipway-run.json", someDigest) + `]}`, 9},
		{"trimmed and cleaned", "pi", piManifest("[" + entry(" .pi/./x/../skills/slipway-run/SKILL.md\n", " "+strings.ToUpper(someDigest)+" ") + "]"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorktree(t)
			h := findHost(test.host)
			w.write(h.manifestPath(), test.content)
			m, err := load(t, w, h)
			got := 0
			if err != nil {
				got = err.check
			}
			if got != test.check {
				t.Fatalf("check %d failed (%v), want %d", got, err, test.check)
			}
			if (m == nil) != (err != nil) {
				t.Fatalf("manifest %v with error %v", m, err)
			}
		})
	}
}

// load loads a manifest as commands do.
func load(t *testing.T, w *worktree, h *host) (*manifest, *manifestError) {
	t.Helper()
	root, err := openFolder(w.root)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m, err := loadManifest(root, h)
	if err == nil {
		return m, nil
	}
	return m, err.(*manifestError)
}

func TestManifestFile(t *testing.T) {
	h := findHost("copilot")
	for name, test := range map[string]struct {
		prepare func(*worktree)
		check   int
		absent  bool
	}{
		"absent":                 {func(*worktree) {}, 0, true},
		"folder":                 {func(w *worktree) { w.folder(h.manifestPath()) }, 2, false},
		"too long":               {func(w *worktree) { w.write(h.manifestPath(), strings.Repeat(" ", maxManifestBytes+1)) }, 2, false},
		"link":                   {func(w *worktree) { w.write("real", "{}"); w.link(h.manifestPath(), w.path("real")) }, 1, false},
		"dangling link":          {func(w *worktree) { w.link(h.manifestPath(), "nowhere") }, 1, false},
		"linked sentinel alone":  {func(w *worktree) { w.link(h.sentinelPath(), "nowhere") }, 1, false},
		"linked folder":          {func(w *worktree) { w.folder("real"); w.link(".github", w.path("real")) }, 1, false},
		"linked folder inside":   {func(w *worktree) { w.folder("real"); w.link(".github/copilot", w.path("real")) }, 1, false},
		"file in a folder place": {func(w *worktree) { w.write(".github/copilot/slipway", "x") }, 1, false},
		"sentinel is a folder":   {func(w *worktree) { w.folder(h.sentinelPath()) }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorktree(t)
			test.prepare(w)
			m, err := load(t, w, h)
			got := 0
			if err != nil {
				got = err.check
			}
			if got != test.check || (m == nil && err == nil) != test.absent {
				t.Fatalf("manifest %v, error %v; want check %d, absent %t", m, err, test.check, test.absent)
			}
		})
	}
}

func TestManifestRendering(t *testing.T) {
	m := &manifest{surface: "ide", claims: map[string]string{".kiro/steering/slipway-run.md": someDigest, ".kiro/slipway/capabilities/slipway-run.md": someDigest}}
	want := `{
  "version": 2,
  "tool_id": "kiro",
  "surface": {
    "kiro": "ide"
  },
  "files": [
    {
      "path": ".kiro/slipway/capabilities/slipway-run.md",
      "sha256": "` + someDigest + `"
    },
    {
      "path": ".kiro/steering/slipway-run.md",
      "sha256": "` + someDigest + `"
    }
  ]
}
`
	if diff := cmp.Diff(want, string(m.render(findHost("kiro")))); diff != "" {
		t.Error(diff)
	}
	if got := string((&manifest{}).render(findHost("pi"))); strings.Contains(got, "surface") {
		t.Errorf("a surface on pi: %s", got)
	}
}

// FuzzManifest: whatever a repository holds, a manifest claims generated paths
// only, and what is written back reads the same.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(piManifest("[" + entry(piFile, someDigest) + "]")))
	f.Add([]byte(`{"version": 2, "tool_id": "pi", "surface": null, "files": [{"path": "..", "sha256": ""}]}`))
	f.Add([]byte(strings.Repeat("[", 1000)))
	h := findHost("pi")
	f.Fuzz(func(t *testing.T, content []byte) {
		m, check, err := parseManifest(h, content)
		if err != nil {
			if m != nil || check < 3 || check > 9 {
				t.Fatalf("manifest %v, check %d, error %v", m, check, err)
			}
			return
		}
		for path, digest := range m.claims {
			if h.kits[0].byPath[path] == nil || len(digest) != 64 {
				t.Fatalf("claims %q with %q", path, digest)
			}
		}
		again, _, err := parseManifest(h, m.render(h))
		if err != nil || !cmp.Equal(again.claims, m.claims) {
			t.Fatalf("written back: %v, %v", again, err)
		}
	})
}
