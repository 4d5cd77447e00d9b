package gitwatch

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"time"

	"slipway/schema"
)

// maxReaders bounds the files that one observation reads at a time.
const maxReaders = 4

// sight is one dirty path as it was looked at.
type sight struct {
	dirtyPath
	seen   node // only where something was seen
	kind   schema.PathKind
	limit  limitReached
	digest schema.Digest
	method string // how the digest was made
	target int64  // bytes of a symbolic link's target
	firm   bool   // any change after this look shows in what the system says of the path
	kept   bool   // the digest is from an earlier look
}

// limitReached says which limit left a file out.
type limitReached uint8

const (
	noLimit limitReached = iota
	byteLimit
	timeLimit
)

// onlooker looks at dirty paths in their order and lets readers work beside it.
// What it finds is what one that did everything in order would find.
type onlooker struct {
	tree    *tree
	limits  contentLimits
	earlier []sight // those that are not looked at yet
	began   time.Time
	left    int64 // of the content limit
	jobs    chan *sight
	readers sync.WaitGroup
	started int
}

// look looks at every path (git-observation.md, section 4). Digests of files that
// are as they were in earlier, sights of the same worktree, are taken from there.
func look(t *tree, limits contentLimits, paths []dirtyPath, earlier []sight) []sight {
	o := &onlooker{tree: t, limits: limits, earlier: earlier, began: limits.now(), left: limits.bytes}
	sights := make([]sight, len(paths))
	for i, path := range paths {
		sights[i].dirtyPath = path
		o.lookAt(&sights[i])
	}
	if o.jobs != nil {
		close(o.jobs)
	}
	o.readers.Wait()
	putInOrder(sights)
	return sights
}

func (o *onlooker) lookAt(s *sight) {
	n, err := o.examine(s.path)
	switch {
	case isAbsence(err):
		s.kind, s.firm = schema.PathMissing, true
		return
	case err != nil:
		s.kind = schema.PathUnreadable
		return
	}
	s.seen, s.firm = n, n.settled(time.Now())
	switch n.kind {
	case symbolicLink:
		o.lookAtLink(s)
	case regularFile:
		o.lookAtFile(s)
	default:
		s.kind = schema.PathNonRegular
	}
}

// before finds the earlier sight of a path. Paths are asked for in order.
func (o *onlooker) before(path string) (sight, bool) {
	for len(o.earlier) > 0 && o.earlier[0].path < path {
		o.earlier = o.earlier[1:]
	}
	if len(o.earlier) == 0 || o.earlier[0].path != path {
		return sight{}, false
	}
	return o.earlier[0], true
}

// examine looks at a path. Git marks a folder with a slash at the end, which must
// not make the system follow a link.
func (o *onlooker) examine(path string) (node, error) {
	name, isFolder := strings.CutSuffix(path, "/")
	n, err := o.tree.examine(name)
	if err == nil && isFolder && n.kind != directory {
		return node{}, fs.ErrNotExist
	}
	return n, err
}

func (o *onlooker) lookAtLink(s *sight) {
	target, err := o.tree.readLink(s.path)
	if err != nil {
		s.kind, s.firm = schema.PathUnreadable, false
		return
	}
	s.kind, s.method = schema.PathSymlink, schema.SymlinkTarget
	s.digest, s.target = schema.PayloadDigest([]byte(target)), int64(len(target))
}

func (o *onlooker) lookAtFile(s *sight) {
	cost := contentCost(s.seen.size)
	earlier, known := o.before(s.path)
	known = known && earlier.firm && earlier.digest != "" && earlier.seen == s.seen
	switch {
	case known && cost <= o.left:
		o.left -= cost
		s.kind, s.digest, s.method, s.kept = earlier.kind, earlier.digest, earlier.method, true
	case o.expired():
		s.kind, s.limit, s.firm = schema.PathContentUnobserved, timeLimit, false
	case cost > o.left:
		s.kind, s.limit = schema.PathContentUnobserved, byteLimit
	default:
		o.left -= cost
		o.hand(s)
	}
}

func (o *onlooker) expired() bool { return o.limits.now().Sub(o.began) >= o.limits.time }

// hand gives a file to a reader; for each there is one more until there are
// enough.
func (o *onlooker) hand(s *sight) {
	if o.jobs == nil {
		o.jobs = make(chan *sight, 4*maxReaders)
	}
	if o.started < min(maxReaders, runtime.GOMAXPROCS(0)) {
		o.started++
		o.readers.Go(o.work)
	}
	o.jobs <- s
}

func (o *onlooker) work() {
	r := newReader(o.tree, o.expired)
	defer r.close()
	for s := range o.jobs {
		digest, method, err := r.digest(s.path, s.seen)
		s.firm = s.firm && err == nil
		switch {
		case err == nil:
			s.digest, s.method, s.kind = digest, method, schema.PathRegular
			if method == schema.OversizeSample {
				s.kind = schema.PathOversizeSampled
			}
		case errors.Is(err, errDeadline):
			s.kind, s.limit = schema.PathUnreadable, timeLimit
		default:
			s.kind = schema.PathUnreadable
		}
	}
}

// putInOrder removes what readers did out of order: from the first file on that
// the time limit reached, no later one would have been read, and the byte limit
// would not have been looked at.
func putInOrder(sights []sight) {
	over := false
	for i := range sights {
		s := &sights[i]
		if over && s.seen.kind == regularFile && !s.kept {
			s.kind, s.limit, s.firm = schema.PathContentUnobserved, timeLimit, false
			s.digest, s.method = "", ""
		}
		over = over || s.limit == timeLimit
	}
}
