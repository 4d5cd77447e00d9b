package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// hostText is what a host can take from the text of a capability and nothing
// else: the commands and Outcomes in its fenced blocks, and its tables.
type hostText struct {
	commands []hostCommand
	outcomes []map[string]any
	rows     [][]string // of all tables
}

// hostCommand is a command with the heading that it stands below.
type hostCommand struct {
	heading string
	words   []string
}

var (
	textFence = regexp.MustCompile("^( *```+)([a-z]*)$")
	textWord  = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`) // to be replaced
	textCode  = regexp.MustCompile("`([^`]+)`")
)

func readHostText(text string) (*hostText, error) {
	taken := &hostText{}
	var heading, open, language, block string // open: the fence that the block ends with
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fence := textFence.FindStringSubmatch(line)
		switch {
		case open != "" && line == open:
			if err := taken.add(heading, language, block); err != nil {
				return nil, err
			}
			open = ""
		case open != "":
			block += line + "\n"
		case fence != nil:
			open, language, block = fence[1], fence[2], ""
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimLeft(line, "# ")
		case strings.HasPrefix(line, "|"):
			taken.rows = append(taken.rows, rowCells(line))
		}
	}
	return taken, nil
}

func (t *hostText) add(heading, language, block string) error {
	switch language {
	case "sh":
		t.commands = append(t.commands, hostCommand{heading, strings.Fields(block)})
	case "json":
		var object map[string]any
		if err := json.Unmarshal([]byte(block), &object); err != nil {
			return fmt.Errorf("the block below %q: %w", heading, err)
		}
		if object["action_kind"] != nil {
			t.outcomes = append(t.outcomes, object)
		}
	}
	return nil
}

// cells are the rows of tables that begin with these cells, taken from the text.
func (t *hostText) cells(first ...string) (found [][]string) {
	for _, row := range t.rows {
		if len(row) > len(first) && slices.Equal(row[:len(first)], first) {
			found = append(found, row[len(first):])
		}
	}
	return found
}

func rowCells(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// codes are the words that a cell has in code style.
func codes(cell string) (words []string) {
	for _, match := range textCode.FindAllStringSubmatch(cell, -1) {
		words = append(words, match[1])
	}
	return words
}

// codingHost is how a tool finds the text of a capability. One of each form is
// driven through whole Runs.
type codingHost struct {
	id, surface, callable string
	driven                bool
}

var codingHosts = []codingHost{
	{"claude", "", ".claude/skills/slipway-run/SKILL.md", true},
	{"codex", "", ".codex/skills/slipway-run/SKILL.md", false},
	{"copilot", "", ".github/agents/slipway-run.agent.md", true},
	{"cursor", "", ".cursor/skills/slipway-run/SKILL.md", false},
	{"kilo", "", ".kilo/commands/slipway-run.md", true},
	{"kiro", "ide", ".kiro/steering/slipway-run.md", false},
	{"kiro", "cli", ".kiro/agents/slipway-run.json", true},
	{"opencode", "", ".opencode/commands/slipway-run.md", false},
	{"pi", "", ".pi/skills/slipway-run/SKILL.md", false},
	{"qwen", "", ".qwen/skills/slipway-run/SKILL.md", false},
	{"windsurf", "", ".windsurf/workflows/slipway-run.md", false},
}

var fileReference = regexp.MustCompile(`(?m)^(?:@(\S+)|#\[\[file:(\S+)\]\])$`)

// instructions are the text that the user's invocation leads to.
func (c codingHost) instructions(root string) (string, error) {
	path := filepath.Join(root, c.callable)
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if filepath.Ext(path) == ".json" {
		var agent struct{ Prompt string }
		if err := json.Unmarshal(content, &agent); err != nil {
			return "", err
		}
		content, err = os.ReadFile(filepath.Join(filepath.Dir(path), strings.TrimPrefix(agent.Prompt, "file://")))
		return string(content), err
	}
	_, text, ok := strings.Cut(strings.TrimPrefix(string(content), "---\n"), "\n---\n\n")
	if !ok {
		return "", fmt.Errorf("%s has no front matter", c.callable)
	}
	if reference := fileReference.FindStringSubmatch(strings.TrimSpace(text)); reference != nil {
		content, err = os.ReadFile(filepath.Join(root, reference[1]+reference[2]))
		return string(content), err
	}
	return text, nil
}
