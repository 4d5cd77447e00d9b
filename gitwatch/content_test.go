//go:build unix

package gitwatch

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// kindsOf gives what was found at each path.
func kindsOf(o schema.Observation) []string {
	list := []string{}
	for _, p := range o.PathObservations {
		list = append(list, p.Path+" "+string(p.Observation))
	}
	return list
}

// sparse makes a file of zero bytes.
func (s *sandbox) sparse(name string, size int64) {
	s.tb.Helper()
	s.write(name, "")
	s.must(os.Truncate(s.path(name), size))
}

// TestSamplesCheckValue is the check value of git-observation.md 4.2.
func TestSamplesCheckValue(t *testing.T) {
	s := newSandbox(t)
	root := s.emptyRepo("r")
	s.sparse("r/big", 16_777_217)
	o := s.observe(New(), root)
	p := o.PathObservations[0]
	if p.ContentSHA256 != "sha256:6d29f17a62f9aa9b9ea0baf8d096049f087b96df73bf608f2afc87e5546848e7" ||
		o.ContentBytesHashed != 196_608 || !o.ContentObservationComplete {
		t.Errorf("%+v", o)
	}
}

func TestByteLimit(t *testing.T) {
	s := newSandbox(t)
	root := s.emptyRepo("r")
	for _, name := range []string{"f1", "f2", "f3", "f4"} {
		s.sparse("r/"+name, 16<<20)
	}
	full := s.observe(New(), root)
	if full.ContentBytesHashed != 64<<20 || !full.ContentObservationComplete || full.ContentByteLimitExceeded {
		t.Errorf("exactly the limit: %+v", full)
	}
	s.sparse("r/f0", 1)
	s.sparse("r/f5", 16<<20-1)
	s.sparse("r/f6", 1)
	s.sparse("r/f7", 0)
	o := s.observe(New(), root)
	want := []string{"f0 regular", "f1 regular", "f2 regular", "f3 regular", "f4 content_unobserved", "f5 regular", "f6 content_unobserved", "f7 regular"}
	if diff := cmp.Diff(want, kindsOf(o)); diff != "" {
		t.Error(diff)
	}
	if o.ContentBytesHashed != 64<<20 || o.ContentObservationComplete || !o.ContentByteLimitExceeded || o.ContentDeadlineExceeded {
		t.Errorf("%+v", o)
	}
}

// TestTimeLimit lets the time end at every possible moment. However the readers
// work, it must look as if one had read everything in order.
func TestTimeLimit(t *testing.T) {
	s := newSandbox(t)
	root := s.emptyRepo("r")
	const files = 12
	for i := range files {
		s.write(fmt.Sprintf("r/f%02d", i), strings.Repeat("x", 3*readBufferBytes))
	}
	s.symlink("x", "r/z")
	g := New()
	ws := s.discover(g, root)
	for ends := range int64(5 * files) {
		var calls atomic.Int64
		g.limits.content.now = func() time.Time {
			if calls.Add(1) > ends+1 {
				return time.Unix(5, 0)
			}
			return time.Unix(0, 0)
		}
		o, _, err := g.Observe(t.Context(), s.env, ws)
		s.must(err)
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		checkOrder(t, o, ends)
	}
}

// checkOrder: files read, then at most one that was being read, then none, and
// the link as always.
func checkOrder(t *testing.T, o schema.Observation, ends int64) {
	t.Helper()
	order := map[schema.PathKind]int{schema.PathRegular: 0, schema.PathUnreadable: 1, schema.PathContentUnobserved: 2}
	last, unreadable, hashed := 0, 0, int64(0)
	files := o.PathObservations[:len(o.PathObservations)-1]
	for _, p := range files {
		at, known := order[p.Observation]
		if !known || at < last {
			t.Fatalf("after %d looks at the clock: %q", ends, kindsOf(o))
		}
		last = at
		switch p.Observation {
		case schema.PathUnreadable:
			unreadable++
		case schema.PathRegular:
			hashed += *p.Size
		}
	}
	if unreadable > 1 || o.ContentBytesHashed != hashed || o.ContentDeadlineExceeded != (last > 0) || o.ContentByteLimitExceeded {
		t.Errorf("after %d looks at the clock: %+v", ends, o)
	}
	if o.PathObservations[len(files)].Observation != schema.PathSymlink {
		t.Error("the time limit reached a link")
	}
}

// TestByteLimitBehindTimeLimit: where no time is left, nobody looks at the bytes.
func TestByteLimitBehindTimeLimit(t *testing.T) {
	sights := []sight{
		{kind: schema.PathContentUnobserved, limit: byteLimit, seen: node{kind: regularFile}},
		{kind: schema.PathUnreadable, limit: timeLimit, seen: node{kind: regularFile}},
		{kind: schema.PathRegular, digest: "x", method: "y", seen: node{kind: regularFile}},
		{kind: schema.PathContentUnobserved, limit: byteLimit, seen: node{kind: regularFile}},
		{kind: schema.PathMissing},
	}
	putInOrder(sights)
	want := "[content_unobserved/1 unreadable/2 content_unobserved/2 content_unobserved/2 missing/0]"
	var got []string
	for _, s := range sights {
		got = append(got, fmt.Sprintf("%s/%d", s.kind, s.limit))
	}
	if fmt.Sprint(got) != want || sights[2].digest != "" {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestUnstableFiles changes a file while it is looked at: at the first look at
// the clock it was seen but not opened, at later ones it is being read.
func TestUnstableFiles(t *testing.T) {
	const size = 10 * readBufferBytes
	changes := map[string]func(s *sandbox){
		"grown": func(s *sandbox) {
			f, err := os.OpenFile(s.path("r/f"), os.O_APPEND|os.O_WRONLY, 0)
			s.must(err)
			_, err = f.WriteString("x")
			s.must(err)
			s.must(f.Close())
		},
		"shrunk":  func(s *sandbox) { s.must(os.Truncate(s.path("r/f"), 1)) },
		"touched": func(s *sandbox) { s.must(os.Chtimes(s.path("r/f"), time.Unix(1, 0), time.Unix(1, 1))) },
		"removed": func(s *sandbox) { s.remove("r/f") },
		"replaced by its copy": func(s *sandbox) {
			info, err := os.Stat(s.path("r/f"))
			s.must(err)
			s.sparse("copy", size)
			s.must(os.Chtimes(s.path("copy"), info.ModTime(), info.ModTime()))
			s.rename("copy", "r/f")
		},
		"replaced by a pipe": func(s *sandbox) { s.remove("r/f"); s.must(syscall.Mkfifo(s.path("r/f"), 0o600)) },
		"replaced by a link": func(s *sandbox) { s.rename("r/f", "f"); s.symlink(s.path("f"), "r/f") },
		"its folder replaced by a link": func(s *sandbox) {
			s.rename("r", "moved")
			s.symlink("moved", "r")
			s.remove("moved/f")
		},
	}
	for name, change := range changes {
		for _, moment := range []int64{2, 3, 7} {
			t.Run(fmt.Sprintf("%s at %d", name, moment), func(t *testing.T) {
				s := newSandbox(t)
				s.emptyRepo("r")
				s.sparse("r/f", size)
				tree, err := openTree(s.path("r"))
				s.must(err)
				defer tree.close()
				limits := standardContentLimits()
				var calls atomic.Int64
				limits.now = func() time.Time {
					if calls.Add(1) == moment {
						change(s)
					}
					return time.Unix(0, 0)
				}
				got := look(tree, limits, []dirtyPath{{"f", untracked, "??"}}, nil)[0]
				p := got.entry()
				if p.Observation != schema.PathUnreadable || *p.Size != size || p.ContentSHA256 != "" || got.complete() || got.bytesHashed() != 0 {
					t.Errorf("%+v", p)
				}
			})
		}
	}
}

// TestFileReplacedForAMoment: another file stood there only while it was opened.
func TestFileReplacedForAMoment(t *testing.T) {
	s := newSandbox(t)
	s.sparse("r/f", 10)
	s.write("other", "0123456789")
	info, err := os.Stat(s.path("r/f"))
	s.must(err)
	s.must(os.Chtimes(s.path("other"), info.ModTime(), info.ModTime()))
	tree, err := openTree(s.path("r"))
	s.must(err)
	defer tree.close()
	limits := standardContentLimits()
	var calls atomic.Int64
	limits.now = func() time.Time {
		switch calls.Add(1) {
		case 2: // seen, not opened
			s.rename("r/f", "f")
			s.rename("other", "r/f")
		case 3: // opened
			s.rename("f", "r/f")
		}
		return time.Unix(0, 0)
	}
	if p := look(tree, limits, []dirtyPath{{"f", untracked, "??"}}, nil)[0]; p.kind != schema.PathUnreadable {
		t.Errorf("%+v", p)
	}
}

// TestReadersLeaveNoDescriptors: whatever happens, all that was opened is closed.
func TestReadersLeaveNoDescriptors(t *testing.T) {
	s := newSandbox(t)
	root := s.emptyRepo("r")
	for i := range 50 {
		s.write(fmt.Sprintf("r/a/b%d/c/f%d", i%7, i), "x")
	}
	s.must(syscall.Mkfifo(s.path("r/a/pipe"), 0o600))
	g := New()
	ws := s.discover(g, root)
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		s.must(err)
		return len(entries)
	}
	_, _, err := g.Observe(t.Context(), s.env, ws)
	s.must(err)
	before := count()
	for range 5 {
		_, _, err := g.Observe(t.Context(), s.env, ws)
		s.must(err)
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
