package crashfs

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"slipway/journal"
)

// Cut is a disk at the moment of a power cut.
type Cut struct {
	disk    *Disk
	choices []choice
}

// State is one thing that a Cut may leave.
type State struct {
	Disk *Disk  // after the restart: everything on it is durable
	Name string // what became of the things that were not
}

// choice is one thing that a power cut decides. The first option is that all which
// is not durable is lost, the last that it is kept.
type choice struct {
	path    string
	entry   bool
	node    uint64   // entry: of the directory; else of the file
	nodes   []uint64 // entry: what stands at the name; 0 = nothing
	content [][]byte // file
	names   []string
}

func (c *choice) options() int { return len(c.names) }

// Cut takes the power away, for a copy of the disk: the disk itself goes on. A file
// that was being written is torn at that many places, beside the ones that matter.
func (d *Disk) Cut(tears int) *Cut {
	c := &Cut{disk: d.Copy()}
	c.collect(c.disk.top, ".", tears, map[uint64]bool{})
	return c
}

// collect finds all choices in what a directory may hold.
func (c *Cut) collect(in *node, at string, tears int, seen map[uint64]bool) {
	if seen[in.number] {
		return
	}
	seen[in.number] = true
	names := maps.Clone(in.entries)
	maps.Copy(names, in.diskEntries)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		below := path.Join(at, name)
		c.collectEntry(in, name, below)
		for _, n := range []*node{in.entries[name], in.diskEntries[name]} {
			switch {
			case n == nil:
			case n.kind == journal.Directory:
				c.collect(n, below, tears, seen)
			case !seen[n.number]:
				seen[n.number] = true
				c.collectContent(n, below, tears)
			}
		}
	}
}

func (c *Cut) collectEntry(in *node, name, at string) {
	before, after := in.diskEntries[name], in.entries[name]
	switch {
	case before != after:
		c.choices = append(c.choices, choice{
			path: at, entry: true, node: in.number,
			nodes: []uint64{numberOf(before), numberOf(after)}, names: []string{"entry as before", "entry as after"},
		})
	case !after.synced:
		c.choices = append(c.choices, choice{
			path: at, entry: true, node: in.number,
			nodes: []uint64{0, after.number}, names: []string{"entry of nothing", "entry"},
		})
	}
}

func numberOf(n *node) uint64 {
	if n == nil {
		return 0
	}
	return n.number
}

func (c *Cut) collectContent(n *node, at string, tears int) {
	before, after := n.disk, n.written()
	if bytes.Equal(before, after) {
		return
	}
	made := choice{path: at, node: n.number}
	add := func(name string, content []byte) {
		for _, have := range made.content {
			if bytes.Equal(have, content) {
				return
			}
		}
		made.content, made.names = append(made.content, content), append(made.names, name)
	}
	add("content as before", before)
	if len(after) > len(before) {
		tear(before, after, tears, add)
	} else {
		add("new content, old length", append(bytes.Clone(after), before[len(after):]...))
	}
	for i, have := range made.content {
		if bytes.Equal(have, after) { // as after comes last
			made.content, made.names = slices.Delete(made.content, i, i+1), slices.Delete(made.names, i, i+1)
			break
		}
	}
	add("content as after", after)
	c.choices = append(c.choices, made)
}

// tear adds what may be left of a file that grew.
func tear(before, after []byte, tears int, add func(name string, content []byte)) {
	start := 0
	for start < len(before) && before[start] == after[start] {
		start++
	}
	size := len(after) - start
	places := []int{start + 1, start + size/2, len(after) - 1}
	for i := start; i < len(after); i++ {
		if after[i] >= utf8.RuneSelf {
			places = append(places, i+1) // inside a character
			break
		}
	}
	for i := range tears {
		places = append(places, start+size*(i+1)/(tears+1))
	}
	for _, at := range places {
		rest := before[min(at, len(before)):]
		add(fmt.Sprintf("torn at %d", at), append(bytes.Clone(after[:at]), rest...))
	}
	zeros := bytes.Clone(after)
	clear(zeros[start:])
	add("zeros", zeros)
	half := bytes.Clone(after)
	clear(half[start+size/2:])
	add("zeros at the end", half)
	half = bytes.Clone(after)
	clear(half[start : start+size/2])
	add("zeros at the front", half)
}

// Count is the number of states that the cut may leave, up to a billion.
func (c *Cut) Count() int {
	const enough = 1_000_000_000
	n := 1
	for _, made := range c.choices {
		if n *= made.options(); n > enough {
			return enough
		}
	}
	return n
}

// States gives the states that the cut may leave: all of them where they are no
// more than limit. Otherwise: everything lost, everything kept, each single thing
// lost, kept or torn in a disk that is else one of these, and as many others, always
// the same, as the limit allows.
func (c *Cut) States(limit int) iter.Seq[State] {
	return func(yield func(State) bool) {
		if c.Count() <= limit {
			for n := range c.Count() {
				if !yield(c.state(c.combination(n))) {
					return
				}
			}
			return
		}
		done := map[string]bool{}
		for _, options := range c.selection(limit) {
			key := fmt.Sprint(options)
			if !done[key] && !yield(c.state(options)) {
				return
			}
			done[key] = true
		}
	}
}

// combination is the n-th of all.
func (c *Cut) combination(n int) []int {
	options := make([]int, len(c.choices))
	for i, made := range c.choices {
		options[i] = n % made.options()
		n /= made.options()
	}
	return options
}

// Random is one of the states: everything lost and everything kept are as likely as
// all others together.
func (c *Cut) Random(random *rand.Rand) State {
	options := make([]int, len(c.choices))
	corner := random.IntN(4)
	for i, made := range c.choices {
		switch corner {
		case 0:
		case 1:
			options[i] = made.options() - 1
		default:
			options[i] = random.IntN(made.options())
		}
	}
	return c.state(options)
}

func (c *Cut) selection(limit int) [][]int {
	lost, kept := make([]int, len(c.choices)), make([]int, len(c.choices))
	for i, made := range c.choices {
		kept[i] = made.options() - 1
	}
	selected := [][]int{lost, kept}
	for i, made := range c.choices {
		for option := range made.options() {
			for _, corner := range [][]int{kept, lost} {
				changed := slices.Clone(corner)
				changed[i] = option
				selected = append(selected, changed)
			}
		}
	}
	random := rand.New(rand.NewPCG(uint64(len(c.choices)), 1))
	for len(selected) < limit {
		options := make([]int, len(c.choices))
		for i, made := range c.choices {
			options[i] = random.IntN(made.options())
		}
		selected = append(selected, options)
	}
	return selected
}

// state makes the disk of one combination.
func (c *Cut) state(options []int) State {
	m := maker{
		disk:    &Disk{Fate: c.disk.Fate, root: c.disk.root, nodes: c.disk.nodes, clock: c.disk.clock},
		entries: map[entryKey]uint64{}, contents: map[uint64][]byte{}, nodes: map[uint64]*node{}, made: map[uint64]*node{},
	}
	var names []string
	for i, made := range c.choices {
		option := options[i]
		if made.entry {
			m.entries[entryKey{made.node, path.Base(made.path)}] = made.nodes[option]
		} else {
			m.contents[made.node] = made.content[option]
		}
		names = append(names, made.path+": "+made.names[option])
	}
	m.index(c.disk.top)
	m.disk.top = m.make(c.disk.top)
	return State{Disk: m.disk, Name: strings.Join(names, "; ")}
}

type entryKey struct {
	dir  uint64
	name string
}

// maker builds the disk of a state.
type maker struct {
	disk     *Disk
	entries  map[entryKey]uint64
	contents map[uint64][]byte
	nodes    map[uint64]*node // of the cut
	made     map[uint64]*node
}

func (m *maker) index(n *node) {
	if m.nodes[n.number] != nil {
		return
	}
	m.nodes[n.number] = n
	for _, entries := range []map[string]*node{n.entries, n.diskEntries} {
		for _, below := range entries {
			m.index(below)
		}
	}
}

// make gives the node as it is after the restart.
func (m *maker) make(n *node) *node {
	if made := m.made[n.number]; made != nil {
		return made
	}
	made := &node{number: n.number, kind: n.kind, synced: true, modified: n.modified}
	m.made[n.number] = made
	if n.kind == journal.Regular {
		content, chosen := m.contents[n.number]
		if !chosen {
			content = n.written()
		}
		made.live, made.disk = content, content
		return made
	}
	made.entries = map[string]*node{}
	names := maps.Clone(n.entries)
	maps.Copy(names, n.diskEntries)
	for name, below := range names {
		number, chosen := m.entries[entryKey{n.number, name}]
		if !chosen {
			number = below.number
		}
		if number != 0 {
			made.entries[name] = m.make(m.nodes[number])
		}
	}
	made.diskEntries = maps.Clone(made.entries)
	return made
}
