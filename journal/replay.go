package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// tail is the state of the last bytes of a journal (storage.md, section 4).
type tail int

const (
	whole        tail = iota
	unterminated      // a record that counts but has no LF
	torn              // bytes that are no record: they do not count
)

// content is what a journal holds.
type content struct {
	records []Record
	tail    tail
	end     int64 // offset behind the last line that counts
}

// replayFile reads the first size bytes of a journal under the rules of
// storage.md, 3.3 (as far as they concern lines) and 4. Its error is an
// *InvalidError, or the file's own.
func replayFile(file io.ReaderAt, size int64) (content, error) {
	var c content
	lines := lineReader{file: file, size: size}
	for {
		l, err := lines.next()
		if err == io.EOF {
			return c, c.complete(size)
		}
		if err != nil {
			return content{}, err
		}
		if err := c.add(l); err != nil {
			return content{}, err
		}
	}
}

// add takes the next line.
func (c *content) add(l line) error {
	if l.terminated && !l.tooLong && isBlank(l.text) {
		c.end = l.end
		return nil
	}
	want := int64(len(c.records)) + 1
	record, err := Record{}, fmt.Errorf("it has more than %d bytes", MaxRecord)
	if !l.tooLong {
		record, err = decodeRecord(l.text, want)
	}
	switch {
	case err == nil:
		c.records = append(c.records, record)
		c.end = l.end
		if !l.terminated {
			c.tail = unterminated
		}
	case !l.terminated:
		c.tail = torn
	default:
		return invalidRecord(want, err)
	}
	return nil
}

// complete checks that the journal begins with a record.
func (c *content) complete(size int64) error {
	switch {
	case len(c.records) > 0:
		return nil
	case size == 0:
		return &InvalidError{Err: errors.New("its journal is empty")}
	case c.tail == torn:
		return &InvalidError{Err: errors.New("its first record is interrupted")}
	}
	return &InvalidError{Err: errors.New("its journal holds no record")}
}

// last is the number of the last record.
func (c *content) last() int64 { return int64(len(c.records)) }

// firstRecord reads the first record alone.
func firstRecord(file io.ReaderAt, size int64) (Record, error) {
	var c content
	lines := lineReader{file: file, size: size}
	for len(c.records) == 0 {
		l, err := lines.next()
		if err == io.EOF {
			return Record{}, c.complete(size)
		}
		if err != nil {
			return Record{}, err
		}
		if err := c.add(l); err != nil {
			return Record{}, err
		}
	}
	return c.records[0], nil
}

func invalidRecord(sequence int64, err error) *InvalidError {
	if sequence == 1 {
		return &InvalidError{Err: fmt.Errorf("its first record: %w", err)}
	}
	return &InvalidError{Sequence: sequence, Err: err}
}

// isBlank reports whether a line holds nothing but white space, in the sense of
// wire.md, 1.2.
func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
