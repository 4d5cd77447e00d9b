//go:build linux

package gitwatch

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slipway/schema"
)

// tableVariable holds the numbers of files that the table is made for, e.g.
// "1000 10000 100000": `make bench` and, for a million, `make soak`.
const tableVariable = "SLIPWAY_TABLE_FILES"

const (
	tableRounds      = 7 // of which the least counts: what disturbs only makes longer
	tableFolderFiles = 10
	tableAnswerBytes = 1 << 30
)

// TestObserveTable prints what observations cost in generated repositories, beside
// what git status costs in the same rounds.
func TestObserveTable(t *testing.T) {
	sizes := strings.Fields(os.Getenv(tableVariable))
	if len(sizes) == 0 {
		t.Skip("no sizes in " + tableVariable)
	}
	for _, text := range sizes {
		files, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		newTable(t, files).print()
	}
}

type table struct {
	*sandbox
	files   int
	names   []string
	g       *Git
	program program
	ws      schema.WorkspaceIdentity
	least   map[string]time.Duration
	bytes   int64 // of memory, for what is watched
}

func newTable(t *testing.T, files int) *table {
	b := &table{sandbox: newSandbox(t), files: files, least: map[string]time.Duration{}}
	b.env = b.realEnv
	b.emptyRepo("r")
	for i := range files {
		folder := i / tableFolderFiles
		name := fmt.Sprintf("src%d/part%d/unit%02dx%d/file%d.go", folder/1000, folder/25%40, folder%25, folder, i)
		b.names = append(b.names, name)
		b.write("r/"+name, strings.Repeat(fmt.Sprintf("line of file %d\n", i), 1+i%20))
	}
	b.git("r", "add", "-A")
	b.git("r", "commit", "-qm", "x")
	unix.Sync() // what the disk still has to write would disturb the first rows
	// A million files are more than an index listing may have (git-observation.md,
	// 2.2), so the table lifts that limit.
	lifted := New()
	lifted.limits.answerBytes = tableAnswerBytes
	var err error
	b.program, err = lifted.program(Scrub(b.env))
	b.must(err)
	b.ws = b.discover(New(), b.path("r"))
	return b
}

func (b *table) measure(what string, do func()) {
	began := time.Now()
	do()
	took := time.Since(began)
	if least, known := b.least[what]; !known || took < least {
		b.least[what] = took
	}
}

func (b *table) observe(want Mode) {
	_, mode, err := b.g.Observe(context.Background(), b.env, b.ws)
	b.must(err)
	if want != "" && mode != want {
		b.tb.Errorf("answered by %s: %+v", mode, b.g.Worktrees())
	}
}

func (b *table) edit(count, round int) {
	for i := range count {
		b.write("r/"+b.names[(i*7919+round)%len(b.names)], fmt.Sprintf("edited in round %d\n", round))
	}
}

// settle observes until an answer comes from the watch.
func (b *table) settle() {
	for range 100 {
		planned(b.g)
		if _, mode, err := b.g.Observe(context.Background(), b.env, b.ws); err == nil && mode == Watched {
			return
		}
	}
	b.tb.Fatalf("%+v", b.g.Worktrees())
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func (b *table) newGit() {
	if b.g != nil {
		b.g.Close()
	}
	b.g = NewWatching()
	b.g.limits.answerBytes = tableAnswerBytes
	b.g.lookouts.most = func() int { return 1 << 30 }
}

func (b *table) fill() {
	for range tableRounds {
		b.measure("git version", func() { b.must(b.program.ask(context.Background(), io.Discard, b.ws.WorktreeRoot, "version")) })
		b.newGit()
		b.discover(b.g, b.ws.WorktreeRoot) // as every caller does before
		b.measure("git status", b.status)
		b.measure("first observation", func() { b.observe(Scanned) })
		b.measure("setting the watches", func() { planned(b.g) })
	}
	b.newGit()
	before := heap()
	b.settle()
	b.bytes = heap() - before
	for round := range tableRounds {
		b.measure("git status", b.status)
		b.measure("full scan", func() {
			_, err := b.g.ObserveFresh(context.Background(), b.env, b.ws)
			b.must(err)
		})
		b.observe("")
		b.measure("unchanged", func() { b.observe(Watched) })
		for _, count := range []int{1, 10, 1000} {
			b.edit(min(count, b.files), round)
			b.measure(fmt.Sprintf("%d changed", count), func() { b.observe("") })
			b.git("r", "checkout", "-q", "--", ".")
			b.settle()
		}
	}
}

func (b *table) status() {
	b.must(b.program.ask(context.Background(), io.Discard, b.ws.WorktreeRoot, "status", "--porcelain=v2"))
}

var tableRows = []string{
	"git version", "git status", "first observation", "setting the watches", "full scan", "unchanged", "1 changed", "10 changed", "1000 changed",
}

func (b *table) print() {
	b.fill()
	defer b.g.Close()
	var out strings.Builder
	fmt.Fprintf(&out, "\n%d files\n", b.files)
	for _, row := range tableRows {
		took := b.least[row]
		fmt.Fprintf(&out, "  %-20s %10.3f ms  %7.3f x git status\n", row, float64(took.Microseconds())/1000, float64(took)/float64(b.least["git status"]))
	}
	figures := b.g.Worktrees()[0]
	fmt.Fprintf(&out, "  %-20s %10d\n  %-20s %10d bytes each\n", "watches", figures.Directories, "memory", b.bytes/int64(max(figures.Directories, 1)))
	b.tb.Log(out.String())
}
