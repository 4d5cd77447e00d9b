package gitwatch

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slipway/schema"
)

const (
	zeroID = "0000000000000000000000000000000000000000"
	oneRec = "1 .M N... 100644 100644 100644 " + zeroID + " " + zeroID + " "
	twoRec = "2 R. N... 100644 100644 100644 " + zeroID + " " + zeroID + " R100 "
	cpyRec = "2 C. N... 100644 100644 100644 " + zeroID + " " + zeroID + " C75 "
	badRec = "u UU N... 100644 100644 100644 100644 " + zeroID + " " + zeroID + " " + zeroID + " "
	onHead = "# branch.oid " + zeroID + "\x00"
)

func TestParseStatus(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		paths        []dirtyPath
	}{
		{"clean", "", nil},
		{"sorted by bytes", "? b\x00? B\x00? \u00e9\x00", []dirtyPath{{"B", "untracked", "??"}, {"b", "untracked", "??"}, {"\u00e9", "untracked", "??"}}},
		{"kinds", oneRec + "a b\x00" + badRec + "u\x00? c/\x00! ignored\x00# stash 1\x00",
			[]dirtyPath{{"a b", "ordinary", ".M"}, {"c/", "untracked", "??"}, {"u", "unmerged", "UU"}}},
		{"rename", twoRec + "new\x00old\x00", []dirtyPath{{"new", "rename", "R. R100"}, {"old", "rename_origin", "R. R100"}}},
		{"copy of a changed file", cpyRec + "new\x00old\x00" + oneRec + "old\x00",
			[]dirtyPath{{"new", "copy", "C. C75"}, {"old", "copy_origin,ordinary", ".M,C. C75"}}},
		{"twice the same", cpyRec + "n1\x00old\x00" + cpyRec + "n2\x00old\x00",
			[]dirtyPath{{"n1", "copy", "C. C75"}, {"n2", "copy", "C. C75"}, {"old", "copy_origin", "C. C75"}}},
		{"origin that looks like a header", twoRec + "new\x00# branch.oid x\x00",
			[]dirtyPath{{"# branch.oid x", "rename_origin", "R. R100"}, {"new", "rename", "R. R100"}}},
	} {
		got, err := parseStatus([]byte(onHead + "# branch.head (detached)\x00" + c.answer))
		if err != nil || got.head != zeroID {
			t.Errorf("%s: %q, %v", c.name, got.head, err)
		}
		if diff := cmp.Diff(c.paths, got.paths, cmp.AllowUnexported(dirtyPath{})); diff != "" && len(c.paths)+len(got.paths) > 0 {
			t.Errorf("%s: %s", c.name, diff)
		}
		if want := sha256.Sum256([]byte(c.answer)); got.fingerprint != schema.Digest(fmt.Sprintf("sha256:%x", want)) {
			t.Errorf("%s: the header is part of the fingerprint", c.name)
		}
	}
	if got, err := parseStatus([]byte("# branch.oid (initial)\x00")); err != nil || got.head != "unborn" {
		t.Errorf("unborn: %q, %v", got.head, err)
	}
}

func TestParseStatusRefuses(t *testing.T) {
	for _, answer := range []string{
		"", "x", "\x00", "3 x\x00", "?\x00", "? \x00", "?? a\x00", "? a", oneRec + "\x00", oneRec + "a", "1 .M a\x00", "1  M" + oneRec[4:] + "a\x00",
		strings.Replace(oneRec, ".M", ".X", 1) + "a\x00", strings.Replace(oneRec, ".M", "M", 1) + "a\x00",
		twoRec + "new\x00", twoRec + "new\x00\x00", strings.Replace(twoRec, "R100", "X100", 1) + "a\x00b\x00",
		strings.Replace(twoRec, "R100", "R", 1) + "a\x00b\x00", badRec + "\x00", "u UU a\x00",
		"? /a\x00", "? ../a\x00", "? ..\x00", "? ..a\x00", "? \xff\x00", "#\x00", "warning: x\x00",
	} {
		head := onHead
		if answer == "" {
			head = "# branch.head main\x00"
		}
		if got, err := parseStatus([]byte(head + answer)); err == nil {
			t.Errorf("%q: %+v", answer, got)
		}
	}
	for _, oid := range []string{"", "main", strings.Repeat("A", 40), strings.Repeat("a", 41), "(INITIAL)"} {
		if got, err := parseStatus([]byte("# branch.oid " + oid + "\x00")); err == nil {
			t.Errorf("%q: %+v", oid, got)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte(onHead + twoRec + "new\x00old\x00? x\x00"))
	f.Add([]byte(onHead + cpyRec + "new\x00old\x00" + badRec + "old\x00"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		st, err := parseStatus(answer)
		if err != nil {
			return
		}
		for i, p := range st.paths {
			if p.path == "" || i > 0 && st.paths[i-1].path >= p.path {
				t.Fatalf("%q is out of order", p.path)
			}
		}
	})
}

// TestMergeDoesNotCareAboutOrder: the entries are those of the set of records.
func TestMergeDoesNotCareAboutOrder(t *testing.T) {
	one := rapid.Custom(func(t *rapid.T) dirtyPath {
		return dirtyPath{
			rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "path"),
			rapid.SampledFrom([]string{ordinary, renameOrigin, copyOrigin}).Draw(t, "category"),
			rapid.SampledFrom([]string{".M", "R. R100", "??"}).Draw(t, "state"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(one, 1, 8).Draw(t, "paths")
		other := rapid.Permutation(paths).Draw(t, "order")
		if diff := cmp.Diff(merge(slices.Clone(paths)), merge(other), cmp.AllowUnexported(dirtyPath{})); diff != "" {
			t.Error(diff)
		}
	})
}

func TestIsPlainHead(t *testing.T) {
	for text, want := range map[string]bool{
		"ref: refs/heads/main\n": true, "ref: refs/heads/main": true, zeroID + "\n": true, strings.Repeat("0", 64): true,
		"": false, "ref: refs/": false, "ref:refs/heads/x": false, "ref: other": false, "ref: refs/a b": false, zeroID + "0": false,
	} {
		if isPlainHead(text) != want {
			t.Errorf("%q", text)
		}
	}
}
