package rpc

import (
	"sync"

	"slipway/schema"
)

// textsKept is how much JSON of texts is kept, in bytes: all texts of the largest
// Change, and what their escapes take.
const textsKept = 5 << 20

// lately holds what this process gave out.
var lately texts

// texts are the texts that were given out last, as JSON. A host reads the same ones
// before every Action, and putting one into JSON takes as long as verifying it.
type texts struct {
	mu    sync.Mutex
	bytes int
	// By section revision: the engine found each text to be the one of its revision,
	// which is a digest of it.
	spelled map[schema.Digest][]byte
}

// pieces is the message m in JSON.
func (t *texts) pieces(m textMessage) ([][]byte, error) {
	text, err := t.of(m.Text())
	if err != nil {
		return nil, err
	}
	return m.Around(text)
}

func (t *texts) of(s schema.MaterialSection) ([]byte, error) {
	t.mu.Lock()
	text, known := t.spelled[s.SectionRevision]
	t.mu.Unlock()
	if known {
		return text, nil
	}
	text, err := s.TextJSON()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other, known := t.spelled[s.SectionRevision]; known {
		return other, nil // somebody else was faster
	}
	if t.spelled == nil || t.bytes+len(text) > textsKept {
		t.spelled, t.bytes = make(map[schema.Digest][]byte), 0
	}
	t.spelled[s.SectionRevision] = text
	t.bytes += len(text)
	return text, nil
}
