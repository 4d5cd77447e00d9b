package engine_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"slipway/journal/crashfs"
)

// depth says how far a search for violations goes.
type depth struct {
	tears, disks int // of each cut
	stride       int // every so many moments
	violations   int // to be found before the search ends
}

// search is the outcome of a search.
type search struct {
	story *story
	depth depth

	mu         sync.Mutex
	cuts       int // moments at which the power was cut
	disks      int // that the cuts left
	different  int // of these, those that were checked
	refused    int // of these, those on which the Run is refused by its name
	done       map[[sha256.Size]byte]bool
	violations []string
}

// over visits the moments of a story, on all processors.
func (s *story) over(d depth, visit func(*search, promise)) *search {
	r := &search{story: s, depth: d, done: map[[sha256.Size]byte]bool{}}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)-1) * d.stride
				if i >= len(s.promises) || r.enough() {
					return
				}
				visit(r, s.promises[i])
			}
		})
	}
	workers.Wait()
	return r
}

// searchPowerCuts cuts the power at every moment of a story.
func (s *story) searchPowerCuts(d depth) *search {
	return s.over(d, func(r *search, at promise) { r.cut(at, "") })
}

// searchDeaths lets the process die at every moment of a story, and another one
// carry on with what the first had not even synchronised; then the power is cut.
func (s *story) searchDeaths(d depth) *search {
	return s.over(d, func(r *search, at promise) {
		for _, disk := range s.deaths(at) {
			for _, then := range s.carryOn(disk, at, false) {
				r.cut(then, ", where the process died, and another one went on")
			}
		}
	})
}

// searchRecoveries cuts the power, and once more at every change that the recovery
// and the next step make.
func (s *story) searchRecoveries(d depth) *search {
	return s.over(d, func(r *search, at promise) {
		for state := range at.disk.Cut(d.tears).States(d.disks) {
			if s.zeroed(state.Disk, at) || !r.fresh(state.Disk, at) {
				continue
			}
			for _, then := range s.carryOn(state.Disk, at, true) {
				r.cut(then, ", after it disk ["+state.Name+"], after another change")
			}
		}
	})
}

func (r *search) enough() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.violations) >= r.depth.violations
}

// cut takes the power away and checks every disk that may be left.
func (r *search) cut(at promise, after string) {
	r.mu.Lock()
	r.cuts++
	if at.failed != "" { // whatever the disk is like: one like it may have been checked
		r.violations = append(r.violations, r.story.where(at)+after+": "+at.failed)
	}
	r.mu.Unlock()
	if at.failed != "" {
		return
	}
	for state := range at.disk.Cut(r.depth.tears).States(r.depth.disks) {
		if !r.fresh(state.Disk, at) {
			continue
		}
		refused := r.story.zeroed(state.Disk, at)
		fault := r.story.survivors(state.Disk, at)
		r.mu.Lock()
		if refused {
			r.refused++
		}
		if fault != "" {
			r.violations = append(r.violations, r.story.where(at)+after+", disk ["+state.Name+"]: "+fault)
		}
		r.mu.Unlock()
		if r.enough() {
			return
		}
	}
}

// fresh counts a disk and reports whether there was no other like it.
func (r *search) fresh(disk *crashfs.Disk, at promise) bool {
	key := r.story.fingerprint(disk, at)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.disks++
	if r.done[key] {
		return false
	}
	r.done[key] = true
	r.different++
	return true
}

// fingerprint tells apart disks on which the Run has another chance. Of run.json it
// only counts whether there is one and whether it is empty: nothing reads it.
func (s *story) fingerprint(disk *crashfs.Disk, at promise) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintln(h, at.step, at.idle, at.least, at.most)
	disk.Walk(func(path string, content []byte) {
		fmt.Fprintln(h, path, content != nil, len(content) > 0)
		if !strings.HasSuffix(path, "run.json") {
			h.Write(content)
		}
	})
	return [sha256.Size]byte(h.Sum(nil))
}

func (s *story) where(at promise) string {
	name := "after the last step"
	if at.step < len(s.steps) {
		name = s.steps[at.step].name
	}
	return fmt.Sprintf("operation %d (%s %s) of step %d (%s)", at.op.Number, at.op.Kind, at.op.Path, at.step, name)
}

// deaths are the disks that the death of the process leaves: also one in the middle
// of a write.
func (s *story) deaths(at promise) []*crashfs.Disk {
	disks := []*crashfs.Disk{at.disk.Copy()}
	if at.op.Kind != "writeat" || at.op.Path != s.path("journal.jsonl") {
		return disks
	}
	begin, end := s.lines[at.least], len(at.disk.File(at.op.Path))
	for _, size := range []int{begin + 1, (begin + end) / 2, end - 1} {
		torn := at.disk.Copy()
		torn.Tear(at.op.Path, size)
		disks = append(disks, torn)
	}
	return disks
}

// carryOn lets another process take the next two steps. It gives the moments at
// which each was acknowledged or, for one step, also all changes on the way.
func (s *story) carryOn(disk *crashfs.Disk, at promise, closely bool) (then []promise) {
	o := newOperator(disk.Process(), true)
	list, err := o.keeper.List(context.Background(), paperCaller)
	if err == nil && len(list.Runs) == 0 && at.least == 0 {
		return nil // a start that was never acknowledged
	}
	if err != nil || len(list.Runs) != 1 || len(list.UnavailableRuns) > 0 {
		at.disk, at.failed = disk, fmt.Sprintf("the next process finds %+v, %v", list, err)
		return []promise{at}
	}
	found := s.updated[list.Runs[0].Status.UpdatedAt]
	if found < at.least || found > at.most {
		at.disk, at.failed = disk, fmt.Sprintf("the next process finds %d records instead of %d to %d", found, at.least, at.most)
		return []promise{at}
	}
	next := at.step
	for s.before(next) > found {
		next--
	}
	if !at.idle && next < len(s.steps) && found > s.steps[next].records && !s.steps[next].repeats {
		next++
	}
	steps := 2
	if closely {
		steps = 1
	}
	for ; steps > 0 && next < len(s.steps); steps-- {
		if closely {
			disk.After = func(op crashfs.Op) {
				if op.Changes {
					then = append(then, promise{disk: disk.Copy(), op: op, step: next, least: at.least, most: max(found, s.steps[next].after())})
				}
			}
		}
		now := promise{op: at.op, step: next + 1, idle: true, least: s.before(next + 1), most: s.before(next + 1)}
		if _, err := o.take(next, s.steps[next]); err != nil {
			now.failed = fmt.Sprintf("%s: %v", s.steps[next].name, err)
		}
		now.disk = disk.Copy()
		then = append(then, now)
		next++
	}
	return then
}

func (r *search) report(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d mutations, %d file operations, %d cuts with another disk or another promise, %d disks left, %d of them different, on %d the Run is refused by its name; %d violations",
		what, len(r.story.lines)-1, r.story.operations, r.cuts, r.disks, r.different, r.refused, len(r.violations))
	for _, v := range r.violations {
		t.Error(v)
	}
}
