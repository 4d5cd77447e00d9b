package gitwatch

import (
	"crypto/sha256"
	"sync"

	"slipway/schema"
)

// maxKnownAnswers bounds the answers that are kept, in entries of about a
// kilobyte.
const maxKnownAnswers = 256

// answerCache keeps what Git answered, together with the facts that the answer
// follows from.
type answerCache struct {
	mu      sync.Mutex
	answers map[answerKey]knownAnswer
}

// answerKey is a digest of the folder and the environment of a question.
type answerKey [sha256.Size]byte

type knownAnswer struct {
	facts string
	ws    schema.WorkspaceIdentity
}

func newAnswerCache() *answerCache {
	return &answerCache{answers: make(map[answerKey]knownAnswer)}
}

func keyOf(folder string, env []string) answerKey {
	buffer := make([]byte, 0, 4096)
	buffer = append(append(buffer, folder...), 0)
	for _, entry := range env {
		buffer = append(append(buffer, entry...), 0)
	}
	return sha256.Sum256(buffer)
}

// answer gives what is known where the facts are the same as then.
func (c *answerCache) answer(key answerKey, now survey) (schema.WorkspaceIdentity, bool) {
	if !now.sure {
		return schema.WorkspaceIdentity{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.answers[key]
	return known.ws, ok && known.facts == string(now.facts)
}

func (c *answerCache) keep(key answerKey, s survey, ws schema.WorkspaceIdentity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.answers[key]; !there {
		dropOne(c.answers, maxKnownAnswers)
	}
	c.answers[key] = knownAnswer{facts: string(s.facts), ws: ws}
}

// dropOne makes room in a cache that holds limit entries. Which one goes does
// not matter: what is missed is asked again.
func dropOne[K comparable, V any](cache map[K]V, limit int) {
	if len(cache) < limit {
		return
	}
	for key := range cache {
		delete(cache, key)
		return
	}
}
