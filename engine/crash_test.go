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

// TestPromisesNameTheirTests: what docs/durability.md names exists in the room that it
// names, and each promise names a test.
func TestPromisesNameTheirTests(t *testing.T) {
	page, err := os.ReadFile("../docs/durability.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for room, folder := range map[string]string{"engine": ".", "journal": "../journal", "faults": "../cmd/slipwayd/faults"} {
		files, err := filepath.Glob(folder + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[room] += string(text)
		}
	}
	_, promises, _ := strings.Cut(string(page), "## What is promised\n")
	promises, after, _ := strings.Cut(promises, "\n\nTest")
	inRoom := regexp.MustCompile("`(engine|journal|faults)` (Test[^`|;]*)")
	test := regexp.MustCompile(`Test[A-Z]\w*`)
	rows := strings.Split(strings.TrimSpace(promises), "\n")[2:]
	for _, row := range rows {
		named := inRoom.FindAllStringSubmatch(row, -1)
		if len(named) == 0 || len(test.FindAllString(row, -1)) == 0 {
			t.Errorf("no test holds %s", row)
		}
		found := 0
		for _, in := range named {
			for _, name := range test.FindAllString(in[2], -1) {
				found++
				if !strings.Contains(sources[in[1]], "func "+name+"(") {
					t.Errorf("%s has no %s", in[1], name)
				}
			}
		}
		if all := len(test.FindAllString(row, -1)); found != all {
			t.Errorf("%d of %d tests stand behind their room: %s", found, all, row)
		}
	}
	for _, name := range test.FindAllString("Test"+after, -1) {
		if !strings.Contains(sources["engine"], "func "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
	if len(rows) < 12 {
		t.Errorf("the page makes %d promises", len(rows))
	}
}
