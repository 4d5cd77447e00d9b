package engine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The promise of docs/durability.md: whatever a crash at any file operation of a Run
// leaves of the disk, every acknowledged operation is there, none is there twice,
// what the records refer to is there, and the Run goes on as if nothing had been.
// Three searches share it, each in its own test; SLIPWAY_SOAK makes them exhaustive.

func TestPowerCutAnywhere(t *testing.T) {
	s := tell(t, nil, (*script).longScript)
	s.searchPowerCuts(crashDepth(t, depth{disks: 12, stride: 5}, depth{disks: 100, tears: 8, stride: 1})).report(t, "power cuts")
}

func TestDeathAnywhereThenPowerCut(t *testing.T) {
	s := tell(t, nil, (*script).longScript)
	s.searchDeaths(crashDepth(t, depth{disks: 4, stride: 7}, depth{disks: 30, tears: 2, stride: 1})).report(t, "deaths")
}

func TestPowerCutDuringRecovery(t *testing.T) {
	s := tell(t, nil, (*script).longScript)
	s.searchRecoveries(crashDepth(t, depth{disks: 4, stride: 29}, depth{disks: 12, stride: 1})).report(t, "power cuts during recovery")
}

// crashDepth chooses how far to go.
func crashDepth(t *testing.T, short, whole depth) depth {
	t.Helper()
	d := short
	if soaking(t) > 0 {
		d = whole
	} else {
		d.stride *= crashStride
	}
	d.violations = 5
	return d
}

// TestPromisesNameTheirTests: what docs/durability.md names exists.
func TestPromisesNameTheirTests(t *testing.T) {
	page, err := os.ReadFile("../docs/durability.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, room := range []string{"engine", "journal", "cmd/slipwayd/faults"} {
		files, err := filepath.Glob("../" + room + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
	}
	names := regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(string(page), -1)
	for _, name := range names {
		if !strings.Contains(sources.String(), "func "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
	if len(names) < 20 {
		t.Errorf("the page names %d tests", len(names))
	}
}
