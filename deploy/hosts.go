package deploy

import (
	"slices"
	"strings"
	"sync"
)

// host is one AI coding tool that capabilities can be installed for (adapters.md,
// section 1).
type host struct {
	id            string
	markers       []string // the host is detected where one of these is a folder
	ownershipRoot string
	kits          []*kit // one, except for a host with surfaces
}

const (
	kiroID     = "kiro"
	surfaceIDE = "ide"
	surfaceCLI = "cli"
)

// hosts is the registry, in its fixed order. It is made once, when first needed.
var hosts = sync.OnceValue(func() []*host {
	return []*host{
		skillHost("claude"),
		{id: "codex", markers: []string{".codex"}, ownershipRoot: ".codex", kits: []*kit{newKit("", layout{
			callable: ".codex/skills/CAP/SKILL.md", render: skillFile,
			supporting: ".codex/skills/CAP/agents/openai.yaml", renderSupporting: policyFile, isPolicy: true,
			reference: ".codex/skills/slipway-clarify/references/decision-interview.md",
		})}},
		{
			id:            "copilot",
			markers:       []string{".github/agents", ".github/copilot", ".github/prompts", ".github/skills"},
			ownershipRoot: ".github/copilot",
			kits: []*kit{newKit("", layout{
				callable: ".github/agents/CAP.agent.md", render: agentFile,
				reference: ".github/agents/references/decision-interview.md",
			})},
		},
		skillHost("cursor"),
		{
			id: "kilo", markers: []string{".kilo", ".kilocode"}, ownershipRoot: ".kilocode",
			kits: []*kit{newKit("", thinLayout(".kilocode", ".kilo/commands/CAP.md", kiloCommand))},
		},
		{
			id: kiroID, markers: []string{".kiro"}, ownershipRoot: ".kiro",
			kits: []*kit{
				newKit(surfaceIDE, thinLayout(".kiro", ".kiro/steering/CAP.md", steeringFile)),
				newKit(surfaceCLI, thinLayout(".kiro", ".kiro/agents/CAP.json", agentObject)),
			},
		},
		{
			id: "opencode", markers: []string{".opencode"}, ownershipRoot: ".opencode",
			kits: []*kit{newKit("", thinLayout(".opencode", ".opencode/commands/CAP.md", describedReference(".opencode")))},
		},
		skillHost("pi"),
		skillHost("qwen"),
		{
			id: "windsurf", markers: []string{".windsurf"}, ownershipRoot: ".windsurf",
			kits: []*kit{newKit("", thinLayout(".windsurf", ".windsurf/workflows/CAP.md", describedReference(".windsurf")))},
		},
	}
})

func skillHost(id string) *host {
	folder := "." + id
	return &host{id: id, markers: []string{folder}, ownershipRoot: folder, kits: []*kit{newKit("", layout{
		callable: folder + "/skills/CAP/SKILL.md", render: skillFile,
		reference: folder + "/skills/slipway-clarify/references/decision-interview.md",
	})}}
}

// thinLayout has a callable that refers to a body below the ownership root.
func thinLayout(root, callable string, render func(capability) []byte) layout {
	return layout{
		callable: callable, render: render,
		supporting: root + bodyFolder + "CAP.md", renderSupporting: bodyFile,
		reference: root + bodyFolder + "references/decision-interview.md",
	}
}

func (h *host) manifestPath() string { return h.ownershipRoot + "/slipway/ownership-manifest.json" }
func (h *host) sentinelPath() string { return h.ownershipRoot + "/slipway/.adapter-generated" }

// hasSurfaces reports whether a surface has to be chosen.
func (h *host) hasSurfaces() bool { return len(h.kits) > 1 }

// kit returns what is generated for a surface; for a host without surfaces that
// is the same for every one. nil: there is no such surface.
func (h *host) kit(surface string) *kit {
	if !h.hasSurfaces() {
		return h.kits[0]
	}
	for _, k := range h.kits {
		if k.surface == surface {
			return k
		}
	}
	return nil
}

func findHost(id string) *host {
	for _, h := range hosts() {
		if h.id == id {
			return h
		}
	}
	return nil
}

// HostIDs returns the ids of all hosts in registry order.
func HostIDs() []string {
	ids := make([]string, 0, len(hosts()))
	for _, h := range hosts() {
		ids = append(ids, h.id)
	}
	return ids
}

// layout says where the files of a host go and how they are made; CAP stands for
// the name of the capability.
type layout struct {
	callable         string
	render           func(capability) []byte
	supporting       string // empty: none
	renderSupporting func(capability) []byte
	isPolicy         bool   // the supporting file keeps a model from starting the callable
	reference        string // belongs to slipway-clarify
}

// kit is everything that this build generates for a host on one surface
// (adapters.md, section 2).
type kit struct {
	surface string
	parts   []part // in canonical order
	byPath  map[string]*generatedFile
	paths   []string // sorted
}

// part is one capability's share of a kit.
type part struct {
	name       string
	callable   *generatedFile
	supporting []*generatedFile
	policy     *generatedFile // the one of them that must outlive the callable, or nil
}

// generatedFile is a file as this build generates it.
type generatedFile struct {
	path    string
	content []byte
	digest  string // as in manifests: bare hexadecimal
}

func newKit(surface string, l layout) *kit {
	k := &kit{surface: surface, byPath: map[string]*generatedFile{}}
	add := func(pattern string, c capability, content []byte) *generatedFile {
		f := &generatedFile{path: strings.ReplaceAll(pattern, "CAP", c.name), content: content, digest: digestOf(content)}
		k.byPath[f.path] = f
		k.paths = append(k.paths, f.path)
		return f
	}
	for _, c := range capabilities() {
		p := part{name: c.name, callable: add(l.callable, c, l.render(c))}
		if l.supporting != "" {
			p.supporting = append(p.supporting, add(l.supporting, c, l.renderSupporting(c)))
		}
		if l.isPolicy {
			p.policy = p.supporting[0]
		}
		if c.name == referencedBy {
			p.supporting = append(p.supporting, add(l.reference, c, referenceFile()))
		}
		k.parts = append(k.parts, p)
	}
	slices.Sort(k.paths)
	return k
}
