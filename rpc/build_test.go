package rpc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestVersionPrecedence(t *testing.T) {
	rising := []string{
		"dev", "0.9.0", "v1.0.0-1", "1.0.0-2", "v1.0.0-alpha", "v1.0.0-alpha.1", "v1.0.0-alpha.beta", "v1.0.0-beta.2",
		"v1.0.0-beta.11", "v1.0.0-rc.1", "v1.0.0+build", "v1.0.1", "v1.10.0", "v2.0.0",
	}
	for i, a := range rising {
		for j, b := range rising {
			if got := compareVersions(a, b); got != compareInts(i, j) {
				t.Errorf("compareVersions(%s, %s) = %d", a, b, got)
			}
		}
	}
	if compareVersions("1.0.0", "v1.0.0+other") != 0 || compareVersions("dev", "nightly") != 0 {
		t.Error("equal versions are not equal")
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return +1
	}
	return 0
}

func TestWhichBuildIsNewer(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	release := Build{Version: "v1.0.0", Revision: "aa", RevisionTime: day(1), Digest: "d1", Modified: day(9)}
	for name, c := range map[string]struct {
		a, b Build
		want bool
	}{
		"later release":               {Build{Version: "v1.1.0", Revision: "bb", RevisionTime: day(1)}, release, true},
		"earlier release":             {Build{Version: "v0.9.0", Revision: "bb", RevisionTime: day(5)}, release, false},
		"later revision":              {Build{Version: "v1.0.0", Revision: "bb", RevisionTime: day(2)}, release, true},
		"revision of the same time":   {Build{Version: "v1.0.0", Revision: "bb", RevisionTime: day(1)}, release, false},
		"same release, other file":    {Build{Version: "v1.0.0", Revision: "aa", Digest: "d2", Modified: day(20)}, release, false},
		"dirty, later file":           {Build{Version: "v1.0.0", Revision: "aa+dirty", Digest: "d2", Modified: day(20)}, release, true},
		"unstamped, later file":       {Build{Version: "dev", Digest: "d2", Modified: day(20)}, release, true},
		"unstamped, earlier file":     {Build{Version: "dev", Digest: "d2", Modified: day(2)}, release, false},
		"same file, copied later":     {Build{Version: "dev", Digest: "d1", Modified: day(20)}, Build{Version: "dev", Digest: "d1", Modified: day(2)}, false},
		"nothing known of the other":  {release, Build{Version: "v9"}, false},
		"nothing known of either one": {Build{}, Build{}, false},
	} {
		if got := c.a.Newer(c.b); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func anyBuild(t *rapid.T, label string) Build {
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		n := rapid.IntRange(0, 3).Draw(t, "n")
		if n == 0 {
			return time.Time{}
		}
		return time.Date(2026, 1, n, 0, 0, 0, n*1000, time.UTC)
	})
	return Build{
		Version:      rapid.SampledFrom([]string{"dev", "v1.0.0", "v1.0.1", "v1.0.1-rc.1"}).Draw(t, label+" version"),
		Revision:     rapid.SampledFrom([]string{"", "aa", "bb", "aa+dirty"}).Draw(t, label+" revision"),
		RevisionTime: instant.Draw(t, label+" revision time"),
		Digest:       rapid.SampledFrom([]string{"", "d1", "d2"}).Draw(t, label+" digest"),
		Modified:     instant.Draw(t, label+" modified"),
	}
}

func TestTwoBuildsNeverReplaceEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyBuild(t, "a"), anyBuild(t, "b")
		if a.Newer(b) && b.Newer(a) {
			t.Fatal("each is newer than the other")
		}
		if a.Newer(a) || a.Same(b) != b.Same(a) || a.Same(b) && a.Newer(b) {
			t.Fatal("same and newer contradict each other")
		}
	})
}

func TestBuildsCrossTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyBuild(t, "build")
		got, err := ParseBuild(want.String())
		if err != nil || got != want {
			t.Fatalf("%q became %+v (%v)", want.String(), got, err)
		}
	})
	for _, bad := range []string{"", "v1 a b c", "v1 a yesterday d -"} {
		if b, err := ParseBuild(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, b)
		}
	}
}

func TestIdentityOfAFile(t *testing.T) {
	own := OwnBuild()
	if own.Digest == "" || strings.HasPrefix(own.Digest, "file-") || own.Modified.IsZero() {
		t.Fatalf("this program is %+v", own)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if digest, modified, err := fileIdentity(program); err != nil || digest != own.Digest || !modified.Equal(own.Modified) {
		t.Errorf("its file is %s of %v (%v)", digest, modified, err)
	}
	const note = "\x7fELF......\x04\x00\x00\x00\x0b\x00\x00\x00\x04\x00\x00\x00Go\x00\x00act/content"
	for name, c := range map[string]struct{ text, want string }{
		"text": {"MZ....\xff Go build ID: \"act/man/content\"\n \xff....", "content"},
		"note": {note, "content"},
		"cut":  {note[:len(note)-3], ""},
		"none": {"#!/bin/sh\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte(c.text), 0o700); err != nil {
			t.Fatal(err)
		}
		digest, _, err := fileIdentity(path)
		if err != nil || c.want != "" && digest != c.want || c.want == "" && !strings.HasPrefix(digest, "file-") {
			t.Errorf("%s: %s (%v)", name, digest, err)
		}
	}
}
