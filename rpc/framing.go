package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Limits of a connection (daemon.md, section 4).
const (
	// maxMessage is the longest message that the daemon takes, in bytes.
	maxMessage = 40 << 20
	// maxAnswer is the longest message that a client takes from the daemon that
	// it trusts, in bytes: the status of a Run has no limit of its own.
	maxAnswer = 1 << 30
	// maxHeader is the longest block of headers, in bytes, with its empty line.
	maxHeader = 8 << 10
	// messageTime is how long a message may take to arrive once it has begun, and
	// to leave: a peer that stops in the middle loses its connection.
	messageTime = 30 * time.Second
)

// framing says how the messages of a connection are told apart.
type framing int

const (
	framingUnknown framing = iota // nothing was received yet
	framingLines                  // one JSON value a line
	framingHeaders                // Content-Length headers, as in the Language Server Protocol
)

// framed reads and writes whole messages over a connection. The first byte that
// is received decides about the framing of both directions; a connection that
// writes first uses headers.
//
// One goroutine may read while any number write.
type framed struct {
	conn     net.Conn
	limit    int           // of a received message, in bytes
	memory   *allowance    // what received messages may take together; nil = no bound
	patience time.Duration // for one message, either way; 0 = the connection's own deadline
	reader   *bufio.Reader
	believed int // how much memory an announced length gets at once, in bytes
	held     int // bytes taken from memory for the message being read

	writing sync.Mutex // guards the writing half and what follows
	mode    framing
}

func newFramed(conn net.Conn, limit int) *framed {
	return &framed{conn: conn, limit: limit, believed: enoughToBelieve, reader: bufio.NewReader(conn)}
}

// protocolFault is a message that can not be taken: what the peer is told, and
// whether the stream can still be followed.
type protocolFault struct {
	code    int64
	message string
	fatal   bool
}

func (f *protocolFault) Error() string { return f.message }

// message is one received message and what it holds of the allowance.
type message struct {
	data    []byte
	release func()
}

// read gives the next message: text that is not blank, not yet looked into. Its
// error is a *protocolFault, io.EOF where the peer said nothing more, or that of
// the connection.
func (f *framed) read() (message, error) {
	mode, err := f.awaitMessage()
	if err != nil {
		return message{}, err
	}
	deadline := time.Now().Add(messageTime)
	if f.patience > 0 {
		deadline = time.Now().Add(f.patience)
		_ = f.conn.SetReadDeadline(deadline) // a closed connection shows in the read
		defer f.conn.SetReadDeadline(time.Time{})
	}
	f.held = 0
	var data []byte
	if mode == framingLines {
		data, err = f.readLine(deadline)
	} else {
		data, err = f.readBlock(deadline)
	}
	held := f.held
	release := func() { f.memory.give(held) }
	if err != nil {
		release()
		return message{}, err
	}
	return message{data, release}, nil
}

// awaitMessage waits, for as long as it takes, for a message to begin.
func (f *framed) awaitMessage() (framing, error) {
	for {
		first, err := f.reader.Peek(1)
		if err != nil {
			return framingUnknown, err
		}
		mode := f.framing(first[0])
		if mode != framingLines || !isSpace(first[0]) {
			return mode, nil
		}
		_, _ = f.reader.Discard(1) // it is there: Peek saw it
	}
}

func framingOf(first byte) framing {
	if first == '{' || isSpace(first) {
		return framingLines
	}
	return framingHeaders
}

// jsonSpace is all that JSON takes for white space.
const jsonSpace = " \t\r\n"

func isSpace(c byte) bool { return strings.IndexByte(jsonSpace, c) >= 0 }

// framing is that of the connection; the first byte ever received decides it.
func (f *framed) framing(first byte) framing {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.mode == framingUnknown {
		f.mode = framingOf(first)
	}
	return f.mode
}

// readLine reads up to the next line feed. A last line without one counts: a
// peer may end its stream there.
func (f *framed) readLine(deadline time.Time) ([]byte, error) {
	var line []byte
	for {
		part, err := f.reader.ReadSlice('\n')
		if len(line)+len(part) > f.limit+1 {
			return nil, f.tooLong()
		}
		if !f.take(len(part), deadline) {
			return nil, outOfMemory
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case len(bytes.TrimSuffix(line, []byte{'\n'})) > f.limit:
			return nil, f.tooLong()
		default:
			return bytes.Trim(line, jsonSpace), nil
		}
	}
}

// readBlock reads headers and the body that they announce.
func (f *framed) readBlock(deadline time.Time) ([]byte, error) {
	length, err := f.readHeaders()
	if err != nil {
		return nil, err
	}
	if length > f.limit {
		return nil, f.tooLong()
	}
	if !f.take(length, deadline) {
		return nil, outOfMemory
	}
	// An announced length alone costs nothing; once enough of it arrived, the rest
	// is worth having room for at once.
	body := make([]byte, min(length, f.believed))
	if _, err := io.ReadFull(f.reader, body); err != nil {
		return nil, noEOF(err)
	}
	if len(body) < length {
		first := body
		body = make([]byte, length)
		copy(body, first)
		if _, err := io.ReadFull(f.reader, body[len(first):]); err != nil {
			return nil, noEOF(err)
		}
	}
	return bytes.Trim(body, jsonSpace), nil
}

// enoughToBelieve is how much of a long body has to arrive, in bytes, before
// memory for all of it is asked for.
const enoughToBelieve = 64 << 10

// believedOfDaemon is the same for a client, which trusts its daemon: every answer
// but the longest lists is read to where it stays.
const believedOfDaemon = 4 << 20

// readHeaders reads one block of headers and gives the length of the body.
func (f *framed) readHeaders() (int, error) {
	length := -1
	for size := 0; ; {
		line, err := f.readHeader(&size)
		if err != nil {
			return 0, err
		}
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return 0, headerFault(line)
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
		if err != nil || length >= 0 {
			return 0, &protocolFault{jsonrpc2.CodeInvalidRequest, "Content-Length must be there once, a decimal number", true}
		}
		length = int(n)
	}
	if length < 0 {
		return 0, &protocolFault{jsonrpc2.CodeInvalidRequest, "a block of headers without Content-Length", true}
	}
	return length, nil
}

// readHeader reads one line of headers, without its end; size counts the bytes
// of the block so far.
func (f *framed) readHeader(size *int) (string, error) {
	part, err := f.reader.ReadSlice('\n')
	*size += len(part)
	switch {
	case *size > maxHeader, errors.Is(err, bufio.ErrBufferFull):
		return "", &protocolFault{jsonrpc2.CodeInvalidRequest, fmt.Sprintf("the headers have more than %d bytes", maxHeader), true}
	case err != nil:
		return "", noEOF(err)
	}
	return strings.TrimRight(string(part), "\r\n"), nil
}

// headerFault is about a line that is no header: mostly something else than
// this protocol, or a batch, which a stream of lines can not begin with.
func headerFault(line string) error {
	if strings.HasPrefix(line, "[") {
		return &protocolFault{jsonrpc2.CodeInvalidRequest, "batch requests are not taken: send one request at a time", true}
	}
	return &protocolFault{jsonrpc2.CodeParseError, "neither a JSON object nor Content-Length headers", true}
}

func (f *framed) tooLong() error {
	return &protocolFault{jsonrpc2.CodeInvalidRequest, fmt.Sprintf("a message can have %d bytes", f.limit), true}
}

var outOfMemory = &protocolFault{codeBusy, "too many large messages at once: try again", true}

func (f *framed) take(n int, deadline time.Time) bool {
	if !f.memory.take(n, deadline) {
		return false
	}
	f.held += n
	return true
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// write sends v as one message in the framing of the connection.
func (f *framed) write(v any) error { return f.send(v, func() {}) }

// send is write with something to be done right before, when no other message
// can come in between.
func (f *framed) send(v any, before func()) error {
	parts, err := encode(v)
	f.writing.Lock()
	defer f.writing.Unlock()
	before()
	if err != nil {
		return err
	}
	if f.patience > 0 {
		_ = f.conn.SetWriteDeadline(time.Now().Add(f.patience)) // a closed connection shows in the write
	}
	if f.mode == framingLines {
		parts = append(parts, []byte{'\n'})
	} else {
		length := 0
		for _, part := range parts {
			length += len(part)
		}
		parts[0] = slices.Concat(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", length), parts[0])
	}
	_, err = parts.WriteTo(f.conn)
	return err
}

// allowance bounds what many takers hold together, in bytes.
type allowance struct {
	mu    sync.Mutex
	free  int
	freed chan struct{} // closed when something was given back
}

func newAllowance(total int) *allowance {
	return &allowance{free: total, freed: make(chan struct{})}
}

// take waits until n bytes are free. It gives up at the deadline.
func (a *allowance) take(n int, deadline time.Time) bool {
	if a == nil {
		return true
	}
	for {
		a.mu.Lock()
		if a.free >= n {
			a.free -= n
			a.mu.Unlock()
			return true
		}
		freed := a.freed
		a.mu.Unlock()
		timer := time.NewTimer(time.Until(deadline))
		select {
		case <-freed:
			timer.Stop()
		case <-timer.C:
			return false
		}
	}
}

// give returns n bytes.
func (a *allowance) give(n int) {
	if a == nil || n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free += n
	close(a.freed)
	a.freed = make(chan struct{})
}
