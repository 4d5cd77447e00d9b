package engine

import (
	"container/list"
	"sync"

	"slipway/journal"
)

// cacheBytes bounds the Runs in memory by the bytes of their journals, which is
// about what they take.
const cacheBytes = 64 << 20

// remembered is a Run and the state of the journal that it was built from. It is
// only used after the journal was found to be in that state (daemon.md, section 1).
type remembered struct {
	key   key
	run   *Run
	stamp journal.Stamp
}

// cache remembers the Runs that were used last.
type cache struct {
	mu      sync.Mutex
	limit   int64
	bytes   int64
	entries map[key]*list.Element // of *remembered
	order   list.List             // most recently used first
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, entries: map[key]*list.Element{}}
}

// get gives what is remembered of a Run; the zero value where nothing is.
func (c *cache) get(k key) remembered {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[k]
	if e == nil {
		return remembered{}
	}
	c.order.MoveToFront(e)
	return *e.Value.(*remembered)
}

func (c *cache) put(m remembered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(m.key)
	c.entries[m.key] = c.order.PushFront(&m)
	c.bytes += m.stamp.Size()
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.drop(c.order.Back().Value.(*remembered).key)
	}
}

// forget drops a Run whose journal can not be trusted to be as remembered.
func (c *cache) forget(k key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k)
}

func (c *cache) drop(k key) {
	if e := c.entries[k]; e != nil {
		c.bytes -= e.Value.(*remembered).stamp.Size()
		c.order.Remove(e)
		delete(c.entries, k)
	}
}
