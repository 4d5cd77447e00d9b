package crashfs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slipway/journal"
	"slipway/journal/crashfs"
)

const root = "/srv/demo/.git"

// bench is a disk with one process on it.
type bench struct {
	t    *testing.T
	disk *crashfs.Disk
	dir  journal.Dir
}

func newBench(t *testing.T) *bench {
	t.Helper()
	disk := crashfs.New(root)
	dir, err := disk.Process().OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, disk, dir}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(name, content string) journal.File {
	b.t.Helper()
	f, err := b.dir.Open(name, journal.Creating)
	b.must(err)
	_, err = f.WriteAt([]byte(content), 0)
	b.must(err)
	return f
}

// left lists the different things that the files may hold after a cut.
func (b *bench) left(names ...string) string {
	b.t.Helper()
	var all []string
	for state := range b.disk.Cut(0).States(1000) {
		var line []string
		for _, name := range names {
			text := "-"
			if content := state.Disk.File(name); content != nil {
				text = fmt.Sprintf("%q", content)
			}
			line = append(line, text)
		}
		all = append(all, strings.Join(line, " "))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

func (b *bench) wantLeft(want string, names ...string) {
	b.t.Helper()
	lines := strings.Split(want, "\n")
	slices.Sort(lines)
	want = strings.Join(lines, "\n")
	if got := b.left(names...); got != want {
		b.t.Errorf("a power cut may leave\n%s\nwant\n%s", got, want)
	}
}

func TestWhatACutLeaves(t *testing.T) {
	b := newBench(t)
	f := b.create("a", "one\n")
	b.wantLeft(`-
"\x00\x00\x00\x00"
"\x00\x00e\n"
""
"o"
"on"
"on\x00\x00"
"one"
"one\n"`, "a")
	b.must(f.Sync())
	b.wantLeft("-\n\"one\\n\"", "a")
	b.must(b.dir.Sync())
	b.wantLeft(`"one\n"`, "a")
	_, err := f.WriteAt([]byte("äb"), 4)
	b.must(err)
	b.wantLeft(`"one\n"
"one\n\x00\x00\x00"
"one\n\x00\xa4b"
"one\nä"
"one\näb"
"one\n\xc3"
"one\n\xc3\x00\x00"`, "a")
	b.must(f.Truncate(4))
	b.wantLeft(`"one\n"`, "a")
	b.must(f.Truncate(1))
	b.wantLeft("\"o\"\n\"one\\n\"", "a")
	b.must(f.Sync())
	b.wantLeft(`"o"`, "a")
}

func TestNamesAreLostOneByOne(t *testing.T) {
	b := newBench(t)
	b.must(b.create("a", "1").Sync())
	b.must(b.dir.Sync())
	b.must(b.create("b", "2").Sync())
	b.must(b.dir.Rename("b", "a"))
	b.wantLeft("\"1\" -\n\"2\" -", "a", "b")
	b.must(b.dir.Sync())
	b.must(b.dir.Publish("a", "c"))
	b.wantLeft("- \"2\"\n- -\n\"2\" \"2\"\n\"2\" -", "a", "c")
	b.must(b.dir.Sync())
	b.must(b.dir.Remove("c"))
	b.wantLeft("\"2\"\n-", "c")
}

// TestANewFileNeedsItsOwnSync: the name alone is not enough.
func TestANewFileNeedsItsOwnSync(t *testing.T) {
	b := newBench(t)
	f, err := b.dir.Open("empty", journal.Creating)
	b.must(err)
	b.must(b.dir.Sync())
	b.wantLeft("\"\"\n-", "empty")
	b.must(f.Sync())
	b.wantLeft(`""`, "empty")
}

// TestSyncsThatDoNotWork: what a second one makes of it, which works.
func TestSyncsThatDoNotWork(t *testing.T) {
	for fate, want := range map[crashfs.SyncFate]struct{ first, second string }{
		crashfs.Works:   {`"11"`, `"11"`},
		crashfs.Ignored: {"\"00\"\n\"11\"", `"11"`},
		crashfs.Fails:   {"\"00\"\n\"11\"", `"11"`},
		crashfs.Forgets: {`"00"`, `"00"`},
	} {
		b := newBench(t)
		f := b.create("a", "00")
		b.must(f.Sync())
		b.must(b.dir.Sync())
		_, err := f.WriteAt([]byte("11"), 0)
		b.must(err)
		b.disk.Fate = func(string) crashfs.SyncFate { return fate }
		if err := f.Sync(); (err != nil) != (fate == crashfs.Fails || fate == crashfs.Forgets) {
			t.Errorf("fate %d: %v", fate, err)
		}
		b.disk.Fate = nil
		b.wantLeft(want.first, "a")
		b.must(f.Sync())
		b.wantLeft(want.second, "a")
		if got := string(b.disk.File("a")); got != "11" {
			t.Errorf("fate %d: a process sees %q", fate, got)
		}
	}
}

// TestADeadProcess holds no lock and does nothing; what it wrote is there.
func TestADeadProcess(t *testing.T) {
	disk := crashfs.New(root)
	dying, other := disk.Process(), disk.Process()
	a, err := dying.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := a.TryLock("", true); !taken || err != nil {
		t.Fatal(taken, err)
	}
	if taken, _ := b.TryLock("", false); taken {
		t.Error("a lock is taken twice")
	}
	if _, err := a.Open("left", journal.Creating); err != nil {
		t.Fatal(err)
	}
	dying.Kill()
	if _, err := a.Open("more", journal.Creating); !errors.Is(err, crashfs.ErrDead) {
		t.Errorf("a dead process made a file: %v", err)
	}
	if taken, _ := b.TryLock("", true); !taken {
		t.Error("the lock of a dead process is held")
	}
	if copied := disk.Copy(); copied.File("left") == nil || copied.File("more") != nil {
		t.Error("the copy is another disk")
	}
}

// TestSelections: with a limit the corners are there, and nothing comes twice.
func TestSelections(t *testing.T) {
	b := newBench(t)
	for i := range 12 {
		b.create(fmt.Sprint(i), "content\n")
	}
	cut := b.disk.Cut(0)
	const limit = 500
	names := map[string]int{}
	empty, full := false, false
	for state := range cut.States(limit) {
		names[state.Name]++
		files := 0
		for i := range 12 {
			if string(state.Disk.File(fmt.Sprint(i))) == "content\n" {
				files++
			}
		}
		empty, full = empty || files == 0, full || files == 12
	}
	if cut.Count() <= limit || len(names) < limit*9/10 || len(names) > limit || !empty || !full {
		t.Errorf("%d of %d states, empty %v, full %v", len(names), cut.Count(), empty, full)
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%d times: %s", n, name)
		}
	}
}
