package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"strconv"
	"strings"
)

const (
	digestPrefix = "sha256:"
	digestLength = len(digestPrefix) + 2*sha256.Size
)

// Digest is "sha256:" and 64 lower-case hex digits.
type Digest string

// Valid reports whether d has the only form that a digest may have.
func (d Digest) Valid() bool {
	if len(d) != digestLength || !strings.HasPrefix(string(d), digestPrefix) {
		return false
	}
	return isLowerHex(string(d[len(digestPrefix):]))
}

func isLowerHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

func digestOf(sum []byte) Digest { return Digest(digestPrefix + hex.EncodeToString(sum)) }

// PayloadDigest is the digest of content as it is (wire.md, 3.9).
func PayloadDigest(content []byte) Digest {
	sum := sha256.Sum256(content)
	return digestOf(sum[:])
}

// FramedDigest is the digest of fields that are each preceded by their length in
// bytes as an unsigned 64-bit big-endian integer (run.md, 6.4; source.md,
// section 7).
func FramedDigest(fields ...string) Digest {
	h := sha256.New()
	hashFields(h, fields)
	return digestOf(h.Sum(nil))
}

// FramedContentDigest is [FramedDigest] where content is the last field.
func FramedContentDigest(content []byte, before ...string) Digest {
	h := NewContentHash(len(content), before...)
	h.Write(content)
	return h.Digest()
}

// ContentHash is a [FramedContentDigest] whose content is written piece by piece.
type ContentHash struct{ hash.Hash }

// NewContentHash begins the digest of a content of length bytes.
func NewContentHash(length int, before ...string) ContentHash {
	h := sha256.New()
	hashFields(h, before)
	hashLength(h, length)
	return ContentHash{h}
}

// Digest is that of what was written, which must have the length announced.
func (h ContentHash) Digest() Digest { return digestOf(h.Sum(nil)) }

func hashFields(h hash.Hash, fields []string) {
	for _, field := range fields {
		hashLength(h, len(field))
		hashString(h, field)
	}
}

func hashLength(h hash.Hash, n int) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(n))
	h.Write(length[:])
}

// hashString hashes a text. A long one goes piece by piece through one buffer,
// because written whole it would be copied, and it can have 16 MiB.
func hashString(h hash.Hash, s string) {
	const piece = 32 << 10
	if len(s) > piece {
		buffer := make([]byte, piece)
		for len(s) > piece {
			h.Write(buffer[:copy(buffer, s)])
			s = s[piece:]
		}
	}
	io.WriteString(h, s)
}

// SectionHash digests named sections one after the other, each framed as NUL,
// name, NUL, decimal length, NUL, content (storage.md, 11.1; git-observation.md,
// 5.1). The zero value is ready for use.
type SectionHash struct {
	hash    hash.Hash
	pending []byte // framed, not yet hashed
}

// hashedAtOnce is how much is gathered for one write to the hash: sections are
// short, and each write costs more than most of them.
const hashedAtOnce = 4_096

// Add appends one section.
func (s *SectionHash) Add(name, content string) {
	frame := append(s.pending, 0)
	frame = append(frame, name...)
	frame = append(frame, 0)
	frame = strconv.AppendInt(frame, int64(len(content)), 10)
	frame = append(frame, 0)
	s.pending = append(frame, content...)
	if len(s.pending) >= hashedAtOnce {
		s.flush()
	}
}

func (s *SectionHash) flush() {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	s.hash.Write(s.pending)
	s.pending = s.pending[:0]
}

// AddInt appends a section that holds a decimal number.
func (s *SectionHash) AddInt(name string, n int64) { s.Add(name, strconv.FormatInt(n, 10)) }

// AddBool appends a section that holds "true" or "false".
func (s *SectionHash) AddBool(name string, b bool) { s.Add(name, strconv.FormatBool(b)) }

// Sum is the digest of the sections added so far.
func (s *SectionHash) Sum() Digest {
	s.flush()
	return digestOf(s.hash.Sum(nil))
}

// AnswerDigest is the payload digest of an answer (run.md, 6.4). scope is empty
// where the answer names none.
func AnswerDigest(actionID string, confirm bool, scope, text string) Digest {
	return FramedDigest("slipway-answer/v1", actionID, strconv.FormatBool(confirm), scope, text)
}

// ScopeVersion is the version of the canonical destructive scope.
const ScopeVersion = 1

// ScopeDigest is the digest of the canonical form of a destructive scope
// (run.md, 10.2). Targets are taken in the order given.
func ScopeDigest(requestID, impact string, targets []Target) Digest {
	scope := append([]byte(nil), `{"impact":`...)
	scope = appendCanonicalString(scope, impact)
	scope = append(scope, `,"request_id":`...)
	scope = appendCanonicalString(scope, requestID)
	scope = append(scope, `,"scope_version":`...)
	scope = strconv.AppendInt(scope, ScopeVersion, 10)
	scope = append(scope, `,"targets":[`...)
	for i, target := range targets {
		if i > 0 {
			scope = append(scope, ',')
		}
		scope = append(scope, `{"kind":`...)
		scope = appendCanonicalString(scope, string(target.Kind))
		scope = append(scope, `,"value":`...)
		scope = appendCanonicalString(scope, target.Value)
		scope = append(scope, '}')
	}
	return PayloadDigest(append(scope, `]}`...))
}
