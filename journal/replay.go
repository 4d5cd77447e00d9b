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
	unterminated      // a record that counts but has no LF, or something else in its place
	torn              // bytes that are no record: they do not count
)

// content is what a journal holds.
type content struct {
	records []Record
	chain   chain // of the last record
	begin   int64 // offset of the last record
	end     int64 // offset behind the last line that counts
	tail    tail
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
	before := c.end
	err := c.take(l.text, l.tooLong)
	switch {
	case err == nil:
		c.begin, c.end = before, l.end
		if !l.terminated {
			c.tail = unterminated
		}
	case l.terminated:
		return invalidRecord(c.last()+1, err)
	case len(l.text) > 0 && c.take(l.text[:len(l.text)-1], l.tooLong) == nil:
		// No write that was cut short leaves one more byte: it was the LF.
		c.begin, c.end, c.tail = before, l.end-1, unterminated
	default:
		c.tail = torn
	}
	return nil
}

// take adds the record of a line.
func (c *content) take(text []byte, tooLong bool) error {
	if tooLong {
		return fmt.Errorf("it has more than %d bytes", MaxRecord)
	}
	record, next, err := decodeRecord(text, c.last()+1, c.chain)
	if err == nil {
		c.records, c.chain = append(c.records, record), next
	}
	return err
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
