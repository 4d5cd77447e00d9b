package crashfs

import (
	"maps"
	"path"
	"slices"
	"sync"

	"slipway/journal"
)

// Disk is a disk, the memory in front of it, and the locks of the processes that
// use it. It is safe for concurrent use.
type Disk struct {
	// After is called after every operation of every process, one call at a time.
	// It may call Cut and Copy. Set it while nothing runs.
	After func(Op)
	// Fate decides what becomes of the sync of a file or directory; nil lets all of
	// them work. Set it while nothing runs.
	Fate func(at string) SyncFate

	root string // absolute path

	mu    sync.Mutex
	top   *node
	nodes uint64 // number of the newest one
	clock int64
	count int
}

// Op is one operation that was carried out, or failed by itself.
type Op struct {
	Number  int    // counts from 1
	Kind    string // the method's name in lower case
	Path    string // below the root, with slashes; "." for the root itself
	Changes bool   // it changed what a crash may leave
}

// SyncFate is what becomes of a sync.
type SyncFate int

const (
	// Works makes it durable.
	Works SyncFate = iota
	// Ignored reports success and does nothing.
	Ignored
	// Fails reports an error and does nothing.
	Fails
	// Forgets reports an error, and what should have been written never will be
	// unless it is written anew.
	Forgets
)

// node is a file or directory: what processes see, and what is durable.
type node struct {
	number uint64
	kind   journal.Kind
	synced bool // ever
	// Of a file. The slices are never changed in place.
	live, disk []byte
	dirty      []span // of live, not durable and not forgotten
	// Of a directory.
	entries, diskEntries map[string]*node
	locks                locks

	modified int64
}

// span is a part of a file.
type span struct{ from, to int }

// New makes an empty disk whose root is the directory at an absolute path.
func New(root string) *Disk {
	d := &Disk{root: root}
	d.top = d.newNode(journal.Directory)
	d.top.synced = true
	return d
}

func (d *Disk) newNode(kind journal.Kind) *node {
	d.nodes++
	d.clock++
	n := &node{number: d.nodes, kind: kind, modified: d.clock}
	if kind == journal.Directory {
		n.entries, n.diskEntries = map[string]*node{}, map[string]*node{}
	} else {
		n.live, n.disk = []byte{}, []byte{}
	}
	return n
}

// Count is the number of operations so far.
func (d *Disk) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// Copy is the disk and the memory in front of it as the death of all processes
// leaves them: everything is there, nothing more is durable, no lock is held. The
// fate of syncs stays what it was.
func (d *Disk) Copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.copy()
}

func (d *Disk) copy() *Disk {
	c := &Disk{Fate: d.Fate, root: d.root, nodes: d.nodes, clock: d.clock}
	c.top = d.top.copy(map[*node]*node{})
	return c
}

func (n *node) copy(done map[*node]*node) *node {
	if c := done[n]; c != nil {
		return c
	}
	c := &node{
		number: n.number, kind: n.kind, synced: n.synced, modified: n.modified,
		live: n.live, disk: n.disk, dirty: append([]span(nil), n.dirty...),
	}
	done[n] = c
	if n.kind == journal.Directory {
		c.entries, c.diskEntries = map[string]*node{}, map[string]*node{}
		for name, below := range n.entries {
			c.entries[name] = below.copy(done)
		}
		for name, below := range n.diskEntries {
			c.diskEntries[name] = below.copy(done)
		}
	}
	return c
}

// write changes a file and notes what is not durable.
func (n *node) write(b []byte, offset int) {
	live := make([]byte, max(len(n.live), offset+len(b)))
	copy(live, n.live)
	copy(live[offset:], b)
	if offset > len(n.live) {
		n.dirty = append(n.dirty, span{len(n.live), offset})
	}
	n.live = live
	n.dirty = append(n.dirty, span{offset, offset + len(b)})
}

func (n *node) truncate(size int) {
	live := make([]byte, size)
	copy(live, n.live)
	if size > len(n.live) {
		n.dirty = append(n.dirty, span{len(n.live), size})
	}
	n.live = live
	kept := n.dirty[:0]
	for _, s := range n.dirty {
		if s.from < size {
			kept = append(kept, span{s.from, min(s.to, size)})
		}
	}
	n.dirty = kept
}

// written is what the disk holds once all that is not forgotten was written.
func (n *node) written() []byte {
	disk := make([]byte, len(n.live))
	copy(disk, n.disk)
	for _, s := range n.dirty {
		copy(disk[s.from:s.to], n.live[s.from:s.to])
	}
	return disk
}

// sync makes durable what is not forgotten.
func (n *node) sync() {
	n.synced = true
	if n.kind == journal.Directory {
		n.diskEntries = maps.Clone(n.entries)
		return
	}
	n.disk, n.dirty = n.written(), nil
}

// forget is a sync that lost what it should have written.
func (n *node) forget() {
	if n.kind == journal.Regular {
		n.dirty = nil
	}
}

// File is the content of a file as processes see it, by its path below the root;
// nil where there is none.
func (d *Disk) File(at string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.find(at); n != nil {
		return n.live
	}
	return nil
}

// SetFile replaces the content of a file, durably, as something other than a
// process of this disk would: bits that rot, a restored backup.
func (d *Disk) SetFile(at string, content []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	in := d.find(path.Dir(at))
	n := in.entries[path.Base(at)]
	if n == nil {
		n = d.newNode(journal.Regular)
	}
	d.clock++
	n.live, n.disk, n.dirty, n.synced, n.modified = content, content, nil, true, d.clock
	in.entries[path.Base(at)], in.diskEntries[path.Base(at)] = n, n
}

// Tear cuts a file to a size, as a process leaves it that died during a write: what
// is there is not durable.
func (d *Disk) Tear(at string, size int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.find(at).truncate(size)
}

// find gives what stands at a path below the root; nil where nothing does.
func (d *Disk) find(at string) *node {
	n := d.top
	for _, name := range split(at) {
		if n = n.entries[name]; n == nil {
			return nil
		}
	}
	return n
}

// split cuts a path below the root into its names.
func split(at string) []string {
	if at == "." {
		return nil
	}
	dir, name := path.Split(at)
	if dir == "" {
		return []string{name}
	}
	return append(split(path.Clean(dir)), name)
}

// Walk visits every file and directory in the order of their paths; the content of
// a directory is nil.
func (d *Disk) Walk(visit func(at string, content []byte)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.top.walk(".", visit)
}

func (n *node) walk(at string, visit func(string, []byte)) {
	visit(at, n.live)
	for _, name := range slices.Sorted(maps.Keys(n.entries)) {
		n.entries[name].walk(path.Join(at, name), visit)
	}
}
