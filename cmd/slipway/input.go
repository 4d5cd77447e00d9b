package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of the input channels, in bytes (cli.md, 4.1 and 4.2). What is read
// is at most one byte more, which is enough to know that there is too much.
const (
	maxTextInput    = 262_144 // goal and answer
	maxOutcomeInput = 1_048_576
	maxSourceInput  = 16_777_216
)

// errTooLong is an input with more bytes than its limit.
var errTooLong = errors.New("too long")

// readInputFile reads a file that the caller named, at most limit bytes of it.
// The last component of the path has to be a regular file, not a link to one;
// it is looked at before it is opened, so that a FIFO never blocks, and the
// file that was read has to be the one that was looked at and still to be
// there afterwards (cli.md, 4.1). Errors are errTooLong or say why the file is
// refused; they do not contain the path.
func readInputFile(path string, limit int) ([]byte, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, reason(err)
	}
	if err := regular(before); err != nil {
		return nil, err
	}
	file, err := openInput(path)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		return nil, reason(err)
	}
	if err := regular(opened); err != nil {
		return nil, err
	}
	if !os.SameFile(before, opened) {
		return nil, errReplaced
	}
	if opened.Size() > int64(limit) {
		return nil, errTooLong
	}
	// Room for all of it and for what ReadFrom wants to see the end.
	content, err := readInto(make([]byte, 0, opened.Size()+bytes.MinRead), file, limit)
	if err != nil {
		return nil, err
	}
	after, err := os.Lstat(path)
	if err != nil || !os.SameFile(opened, after) {
		return nil, errReplaced
	}
	return content, nil
}

var errReplaced = errors.New("another file took its place while it was read")

// readBounded reads to the end of an input, at most limit bytes.
func readBounded(r io.Reader, limit int) ([]byte, error) { return readInto(nil, r, limit) }

// readInto is readBounded with the memory to begin with.
func readInto(room []byte, r io.Reader, limit int) ([]byte, error) {
	content := bytes.NewBuffer(room)
	if _, err := content.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		return nil, reason(err)
	}
	if content.Len() > limit {
		return nil, errTooLong
	}
	return content.Bytes(), nil
}

// regular refuses everything that is not a plain file.
func regular(info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&os.ModeSymlink != 0:
		return errors.New("it is a symbolic link; name the file itself")
	case mode.IsDir():
		return errors.New("it is a folder; name a file")
	default:
		return fmt.Errorf("it is no regular file (%s); name one", mode.Type())
	}
}

// reason is the cause of a failed file operation without the path.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
