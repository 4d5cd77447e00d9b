package journal

import (
	"bytes"
	"io"
)

// chunkSize is how much of a journal is read at once, in bytes.
const chunkSize = 256 << 10

// line is one line of a journal without its LF.
type line struct {
	text       []byte // nil where the line is too long
	end        int64  // offset behind the line and its LF
	terminated bool   // false for the last bytes of a file that has no LF there
	tooLong    bool   // with its LF it has more than MaxRecord bytes
}

// lineReader cuts the first size bytes of a file into lines. Whatever the file
// holds, it needs no more memory than the lines that it returns and one record.
type lineReader struct {
	file io.ReaderAt
	size int64
	read int64  // bytes taken from the file
	rest []byte // bytes taken and not yet returned
}

// next returns the next line; io.EOF after the last one. Its text stays valid.
func (r *lineReader) next() (line, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(r.rest[searched:], '\n'); i >= 0 {
			text := r.rest[:searched+i]
			r.rest = r.rest[len(text)+1:]
			return r.line(text, true), nil
		}
		searched = len(r.rest)
		switch {
		case searched >= MaxRecord:
			return r.skipLine()
		case r.read < r.size:
			if err := r.fill(); err != nil {
				return line{}, err
			}
		case searched == 0:
			return line{}, io.EOF
		default:
			text := r.rest
			r.rest = nil
			return r.line(text, false), nil
		}
	}
}

func (r *lineReader) line(text []byte, terminated bool) line {
	return line{text: text, end: r.read - int64(len(r.rest)), terminated: terminated, tooLong: len(text) >= MaxRecord}
}

// fill adds the next bytes of the file to rest, in new memory because lines that
// were returned lie in the old.
func (r *lineReader) fill() error {
	held := len(r.rest)
	size := min(int64(max(2*held, chunkSize)), int64(held)+r.size-r.read)
	buffer := make([]byte, size)
	copy(buffer, r.rest)
	if err := readFull(r.file, buffer[held:], r.read); err != nil {
		return err
	}
	r.rest = buffer
	r.read += size - int64(held)
	return nil
}

// skipLine passes over a line that is too long without keeping it.
func (r *lineReader) skipLine() (line, error) {
	buffer := make([]byte, chunkSize)
	r.rest = nil
	for r.read < r.size {
		part := buffer[:min(chunkSize, r.size-r.read)]
		if err := readFull(r.file, part, r.read); err != nil {
			return line{}, err
		}
		r.read += int64(len(part))
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			r.rest = bytes.Clone(part[i+1:])
			return line{end: r.read - int64(len(r.rest)), terminated: true, tooLong: true}, nil
		}
	}
	return line{end: r.read, tooLong: true}, nil
}

// readFull fills b from the file; a file that ends before is an error.
func readFull(file io.ReaderAt, b []byte, offset int64) error {
	n, err := file.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}
