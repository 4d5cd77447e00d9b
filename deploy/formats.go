package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"slipway/schema"
)

// The formats of generated files (adapters.md, 2.2).

// bodyFolder is where thin hosts have their bodies, below the ownership root.
const bodyFolder = "/slipway/capabilities/"

// invocationGuard is the front matter key that keeps a model from starting a
// capability by itself.
const invocationGuard = "disable-model-invocation: true\n"

func skillFile(c capability) []byte {
	return frontMatter("name: "+c.name+"\ndescription: "+c.description+"\n"+invocationGuard, c.text)
}

func policyFile(capability) []byte {
	return []byte("policy:\n  allow_implicit_invocation: false\n")
}

func agentFile(c capability) []byte {
	return frontMatter("name: "+c.name+"\ndescription: "+quoted(c.description)+"\n"+invocationGuard, c.text)
}

func bodyFile(c capability) []byte { return []byte(c.text) }

func kiloCommand(c capability) []byte {
	return frontMatter("description: "+quoted(c.description)+"\nsubtask: false\n", "@.kilocode"+bodyFolder+c.name+".md\n")
}

func steeringFile(c capability) []byte {
	return frontMatter("inclusion: manual\n", "#[[file:.kiro"+bodyFolder+c.name+".md]]\n")
}

// agentObject is Kiro's agent definition; the prompt's path is relative to it.
func agentObject(c capability) []byte {
	return indented(struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Prompt      string   `json:"prompt"`
		Tools       []string `json:"tools"`
	}{c.name, c.description, "file://.." + bodyFolder + c.name + ".md", []string{"*"}})
}

// describedReference renders a command that has a description and refers to its
// body below root.
func describedReference(root string) func(capability) []byte {
	return func(c capability) []byte {
		return frontMatter("description: "+quoted(c.description)+"\n", "@"+root+bodyFolder+c.name+".md\n")
	}
}

func frontMatter(keys, content string) []byte {
	return []byte("---\n" + keys + "---\n\n" + content)
}

func quoted(s string) string {
	text, err := schema.Marshal(s)
	if err != nil {
		panic("deploy: a string that is no JSON: " + err.Error())
	}
	return string(text)
}

// indented is the JSON form of files that people may read.
func indented(v any) []byte {
	compact, err := schema.Marshal(v)
	var text bytes.Buffer
	if err == nil {
		err = json.Indent(&text, compact, "", "  ")
	}
	if err != nil {
		panic("deploy: a value that is no JSON: " + err.Error())
	}
	text.WriteByte('\n')
	return text.Bytes()
}

// digestOf is a digest as manifests write it.
func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
