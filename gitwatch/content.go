package gitwatch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"sync"
	"time"

	"slipway/schema"
)

// Limits of the content of one observation (git-observation.md, 4.2, 4.3).
const (
	wholeFileBytes  = schema.MaxFullContentBytes // a larger file is sampled
	sampleBytes     = 64 << 10
	samples         = 3
	contentBytes    = schema.MaxObservedContentBytes // of all files together
	contentTime     = 5 * time.Second
	readBufferBytes = 128 << 10
)

// contentLimits holds what a test must be able to shrink.
type contentLimits struct {
	bytes int64
	time  time.Duration
	now   func() time.Time
}

func standardContentLimits() contentLimits {
	return contentLimits{bytes: contentBytes, time: contentTime, now: time.Now}
}

// sampleOffsets of a file that is larger than wholeFileBytes.
func sampleOffsets(size int64) [samples]int64 {
	return [samples]int64{0, size/2 - sampleBytes/2, size - sampleBytes}
}

// contentCost is what a regular file takes of the content limit.
func contentCost(size int64) int64 {
	if size > wholeFileBytes {
		return samples * sampleBytes
	}
	return size
}

var errDeadline = errors.New("the time for reading content is over")

// reader turns files of one tree into digests.
type reader struct {
	tree    *tree
	expired func() bool
	buffer  *readBuffer
}

type readBuffer [readBufferBytes]byte

// buffers are shared by all readers.
var buffers = sync.Pool{New: func() any { return new(readBuffer) }}

func newReader(t *tree, expired func() bool) *reader {
	return &reader{tree: t.branch(), expired: expired, buffer: buffers.Get().(*readBuffer)}
}

func (r *reader) close() {
	r.tree.close()
	buffers.Put(r.buffer)
}

var errUnstable = errors.New("the file changed while it was looked at")

// digest reads the file at path, which looked like seen before. It fails where
// it is, or becomes while it is read, another file, size or time.
func (r *reader) digest(path string, seen node) (digest schema.Digest, kind string, err error) {
	file, err := r.tree.open(path)
	if err != nil {
		return "", "", err
	}
	defer file.close()
	// Another file may have been here for a moment.
	if n, err := file.examine(); err != nil || !n.sameContentAs(seen) {
		return "", "", errors.Join(errUnstable, err)
	}
	if seen.size > wholeFileBytes {
		kind = schema.OversizeSample
		digest, err = r.sampled(file, seen.size)
	} else {
		kind = schema.FullContent
		digest, err = r.whole(file, seen.size)
	}
	if err != nil {
		return "", "", err
	}
	if n, err := r.tree.examine(path); err != nil || !n.sameContentAs(seen) {
		return "", "", errors.Join(errUnstable, err)
	}
	return digest, kind, nil
}

func (r *reader) whole(file io.ReaderAt, size int64) (schema.Digest, error) {
	sum := sha256.New()
	err := r.read(file, 0, size, func(part []byte) { sum.Write(part) })
	return digestOf(sum), err
}

func (r *reader) sampled(file io.ReaderAt, size int64) (schema.Digest, error) {
	var sum schema.SectionHash
	sum.Add("mode", schema.OversizeSample)
	sum.AddInt("size", size)
	for _, offset := range sampleOffsets(size) {
		sample := make([]byte, 0, sampleBytes)
		err := r.read(file, offset, sampleBytes, func(part []byte) { sample = append(sample, part...) })
		if err != nil {
			return "", err
		}
		sum.AddInt("offset", offset)
		sum.Add("sample", string(sample))
	}
	return sum.Sum(), nil
}

// read passes on exactly size bytes from offset on. A file that ends before is
// an error.
func (r *reader) read(file io.ReaderAt, offset, size int64, take func([]byte)) error {
	for size > 0 {
		if r.expired() {
			return errDeadline
		}
		n, err := file.ReadAt(r.buffer[:min(size, int64(len(r.buffer)))], offset)
		if err != nil {
			return err
		}
		take(r.buffer[:n])
		offset, size = offset+int64(n), size-int64(n)
	}
	return nil
}

func digestOf(sum hash.Hash) schema.Digest {
	return schema.Digest("sha256:" + hex.EncodeToString(sum.Sum(nil)))
}
