package engine_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"slipway/engine"
	"slipway/schema"
)

// TestMaterialIsVerifiedOnEachRead: that a text was right once says nothing about
// what is stored now (source.md, section 16).
func TestMaterialIsVerifiedOnEachRead(t *testing.T) {
	h := newHouse(t)
	state, err := h.keeper.Start(t.Context(), h.caller, engine.StartRequest{Goal: "print a page", Budget: 3, Source: newIssue().envelope(t)})
	if err != nil {
		t.Fatal(err)
	}
	read := func() (string, error) {
		m, err := h.keeper.Section(t.Context(), h.caller, engine.SectionRequest{Run: state.RunID, Section: "constraints"})
		if err != nil {
			return "", err
		}
		return m.Section.Markdown, nil
	}
	text, err := read()
	if err != nil {
		t.Fatal(err)
	}
	stored := storedAs(t, filepath.Join(h.root, ".git", "slipway", "runs", state.RunID, "materials"), text)
	for name, damage := range map[string]func() error{
		"another text":      func() error { return os.WriteFile(stored, bytes.ToUpper([]byte(text)), 0o600) },
		"one byte":          func() error { return os.WriteFile(stored, []byte("n"+text[1:]), 0o600) },
		"shorter":           func() error { return os.Truncate(stored, int64(len(text)-1)) },
		"longer":            func() error { return os.WriteFile(stored, []byte(text+"x"), 0o600) },
		"empty":             func() error { return os.Truncate(stored, 0) },
		"gone":              func() error { return os.Remove(stored) },
		"a link to a copy":  func() error { return linkToCopy(stored, filepath.Join(h.root, "copy"), text) },
		"a folder":          func() error { return errors.Join(os.Remove(stored), os.Mkdir(stored, 0o700)) },
		"a text of another": func() error { return os.WriteFile(stored, []byte("- Print it.\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := damage(); err != nil {
				t.Skip(err)
			}
			if got, err := read(); codeOf(err) != schema.CodeMaterialUnavailable {
				t.Errorf("%q, %v", got, err)
			}
			if err := errors.Join(os.RemoveAll(stored), os.WriteFile(stored, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
			if got, err := read(); err != nil || got != text {
				t.Errorf("mended: %q, %v", got, err)
			}
		})
	}
}

// storedAs finds the file that holds a text.
func storedAs(t *testing.T, folder, text string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil && string(content) == text {
			return file
		}
	}
	t.Fatalf("%q is in none of %q", text, files)
	return ""
}

func linkToCopy(stored, to, text string) error {
	return errors.Join(os.WriteFile(to, []byte(text), 0o600), os.Remove(stored), os.Symlink(to, stored))
}
