package deploy

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"
)

// texts holds the instruction texts (adapters.md, section 13): the body of each
// capability without its closing part, what several of them share, and the
// one-line descriptions. A line {{NAME}} in a body stands for texts/shared/NAME.md.
//
//go:embed texts
var texts embed.FS

// capabilityNames is the canonical order.
var capabilityNames = []string{
	"slipway-run", "slipway-clarify", "slipway-propose", "slipway-decompose",
	"slipway-implement", "slipway-review", "slipway-workflow",
}

// referencedBy is the capability that the reference file belongs to.
const referencedBy = "slipway-clarify"

// capability is one text that a user invokes on a host.
type capability struct {
	name        string
	description string // one line, fit to stand bare in YAML
	text        string // the same on every host; ends with one LF
}

var capabilities = sync.OnceValue(func() []capability {
	var descriptions map[string]string
	if err := json.Unmarshal([]byte(embedded("descriptions.json")), &descriptions); err != nil {
		panic("deploy: texts/descriptions.json: " + err.Error())
	}
	list := make([]capability, 0, len(capabilityNames))
	for _, name := range capabilityNames {
		list = append(list, capability{name: name, description: descriptions[name], text: compose(name)})
	}
	return list
})

// compose makes the whole text of a capability: its body with the shared parts
// in place, and the boundaries that close every text.
func compose(name string) string {
	lines := strings.Split(strings.TrimSpace(embedded(name+".md")), "\n")
	for i, line := range lines {
		if mark, ok := strings.CutPrefix(line, "{{"); ok {
			lines[i] = shared(strings.TrimSuffix(mark, "}}"))
		}
	}
	return strings.Join(lines, "\n") + "\n\n" + shared("common-boundaries") + "\n"
}

func shared(name string) string { return strings.TrimSpace(embedded("shared/" + name + ".md")) }

func referenceFile() []byte {
	return []byte(strings.TrimSpace(embedded("decision-interview-reference.md")) + "\n")
}

// embedded reads a text. A missing one is a fault of the build, which every test
// of this package shows.
func embedded(name string) string {
	content, err := texts.ReadFile("texts/" + name)
	if err != nil {
		panic("deploy: " + err.Error())
	}
	return string(content)
}
