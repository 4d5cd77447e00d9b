package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the rooms of docs/architecture.md from the ground up: a room imports
// only rooms of lower floors.
var floors = map[string]int{
	"schema":  1,
	"journal": 2, "gitwatch": 2, "source": 2,
	"engine": 3, "deploy": 3,
	"rpc":         4,
	"cmd/slipway": 5, "cmd/slipwayd": 5,
}

// libraries are the modules that shipped code of a room may import beside the
// standard library. Tests are free.
var libraries = map[string][]string{
	"schema":       nil,
	"journal":      {"golang.org/x/sys"},
	"gitwatch":     {"golang.org/x/sys"},
	"source":       nil,
	"engine":       {"github.com/google/uuid"},
	"deploy":       {"golang.org/x/sys"},
	"rpc":          {"golang.org/x/sys", "github.com/sourcegraph/jsonrpc2", "github.com/Microsoft/go-winio", "github.com/coreos/go-systemd/v22"},
	"cmd/slipway":  {"golang.org/x/sys", "golang.org/x/term", "golang.org/x/text", "github.com/alecthomas/kong", "github.com/spf13/cobra"},
	"cmd/slipwayd": {"golang.org/x/sys", "github.com/alecthomas/kong"},
}

func TestARoomImportsOnlyRoomsBelow(t *testing.T) {
	for file, imports := range shippedImports(t) {
		room := roomOf(filepath.ToSlash(filepath.Dir(file)))
		floor, known := floors[room]
		if !known {
			t.Errorf("%s is in no room of the architecture", file)
			continue
		}
		for _, path := range imports {
			inside, ours := strings.CutPrefix(path, "slipway/")
			switch {
			case ours && roomOf(inside) == room: // a folder of the room itself
			case ours && floors[roomOf(inside)] >= floor:
				t.Errorf("%s (floor %d) imports %s (floor %d)", file, floor, path, floors[roomOf(inside)])
			case !ours && isLibrary(path) && !slices.ContainsFunc(libraries[room], func(module string) bool {
				return path == module || strings.HasPrefix(path, module+"/")
			}):
				t.Errorf("%s imports %s, which %s has no reason for", file, path, room)
			}
		}
	}
}

// roomOf gives the room that a folder belongs to.
func roomOf(folder string) string {
	for room := range floors {
		if folder == room || strings.HasPrefix(folder, room+"/") {
			return room
		}
	}
	return folder
}

func isLibrary(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return strings.Contains(host, ".")
}

// shippedImports reads the imports of every Go file of the module that is no
// test, demonstration or test tool.
func shippedImports(t *testing.T) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "testdata", "docs", "faultfs", "bin"}, d.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		imports[relative] = []string{}
		for _, i := range parsed.Imports {
			value, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports[relative] = append(imports[relative], value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < len(floors) {
		t.Fatalf("only %d files were found", len(imports))
	}
	return imports
}

// TestAClientLinksNothingThatOnlyADaemonNeeds: a client starts once a step, and
// pays for what its packages do before main.
func TestAClientLinksNothingThatOnlyADaemonNeeds(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "slipway/cmd/slipway").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(output))
	for _, unwanted := range []string{"crypto/tls", "net/http", "github.com/coreos/go-systemd/v22/activation"} {
		if slices.Contains(packages, unwanted) {
			t.Errorf("slipway links %s", unwanted)
		}
	}
	if !slices.Contains(packages, "slipway/rpc") {
		t.Errorf("the list of packages is %v", packages)
	}
}
