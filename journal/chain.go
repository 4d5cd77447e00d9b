package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// chain ties a record to all that came before it: SHA-256, cut to 16 bytes, over
// the chain of the record before and the bytes of the record itself, from its
// opening brace to the end of its data. Before the first record it is zero.
//
// Whoever takes a record away, moves it, doubles it, or puts another valid one in
// its place breaks the chain of the next record; only a journal that ends early is
// still whole.
type chain [16]byte

// chainDigits is the length of a chain in a line.
const chainDigits = 2 * len(chain{})

// next is the chain of the record with the given bytes, when c is that of the
// record before.
func (c chain) next(body []byte) (next chain) {
	h := sha256.New()
	h.Write(c[:])
	h.Write(body)
	var sum [sha256.Size]byte
	copy(next[:], h.Sum(sum[:0]))
	return next
}

// The end of a line around its chain.
const (
	beforeChain = `,"chain":"`
	afterChain  = `"}`
	chainPart   = len(beforeChain) + chainDigits + len(afterChain)
)

// seal completes a line whose last member is its data: with its chain, which
// follows on previous, and its LF.
func seal(body []byte, previous chain) ([]byte, chain) {
	next := previous.next(body)
	line := append(body, beforeChain...)
	line = hex.AppendEncode(line, next[:])
	return append(line, afterChain+"\n"...), next
}

// unseal gives back the body of a line without its LF, and its chain, if that is
// the one that follows on previous.
func unseal(line []byte, previous chain) (body []byte, next chain, ok bool) {
	at := len(line) - chainPart
	if at < 0 {
		return nil, chain{}, false
	}
	var digits [chainDigits]byte
	next = previous.next(line[:at])
	hex.Encode(digits[:], next[:])
	end, ok := bytes.CutPrefix(line[at:], []byte(beforeChain))
	if !ok || !bytes.Equal(end[:chainDigits], digits[:]) || string(end[chainDigits:]) != afterChain {
		return nil, chain{}, false
	}
	return line[:at], next, true
}
