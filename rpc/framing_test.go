package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// textConn is a connection that has received a text and keeps what is written.
type textConn struct {
	net.Conn
	received io.Reader
	sent     bytes.Buffer
}

func (c *textConn) Read(b []byte) (int, error)       { return c.received.Read(b) }
func (c *textConn) Write(b []byte) (int, error)      { return c.sent.Write(b) }
func (c *textConn) SetReadDeadline(time.Time) error  { return nil }
func (c *textConn) SetWriteDeadline(time.Time) error { return nil }

// messagesOf reads all messages of a text, and how the stream ended.
func messagesOf(text []byte, limit int) (*framed, [][]byte, error) {
	f := newFramed(&textConn{received: bytes.NewReader(text)}, limit)
	f.memory, f.patience = newAllowance(2*limit+maxHeader), time.Minute
	var all [][]byte
	for {
		m, err := f.read()
		if err != nil {
			return f, all, err
		}
		all = append(all, m.data)
		m.release()
	}
}

func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		"{\"a\":1}\n\n \r\n{}\n[1]", " {}\r\n", "Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\n",
		"content-length:3\nX: y\n\n{ }", "[", "\n", "Content-Length: 99\r\n\r\n{", "Content-Length: 2\r\n",
	} {
		f.Add([]byte(seed))
	}
	const limit = 1 << 10
	f.Fuzz(func(t *testing.T, text []byte) {
		stream, messages, err := messagesOf(text, limit)
		var fault *protocolFault
		if !errors.As(err, &fault) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("the stream ended with %v", err)
		}
		if free := stream.memory.free; free != 2*limit+maxHeader {
			t.Fatalf("%d bytes of the allowance are left", free)
		}
		total := 0
		for _, m := range messages {
			total += len(m)
			if len(m) > limit || stream.mode == framingLines && (len(m) == 0 || bytes.IndexByte(m, '\n') >= 0) {
				t.Fatalf("message %q", m)
			}
			if r, refusal := parseRequest(m); refusal == nil && r != nil && r.params != nil && !json.Valid(r.params) {
				t.Fatalf("params %q of %q", r.params, m)
			}
		}
		if total > len(text) {
			t.Fatalf("%d bytes of messages in %d bytes of text", total, len(text))
		}
	})
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "values")
		mode := rapid.SampledFrom([]framing{framingLines, framingHeaders}).Draw(t, "framing")
		conn := &textConn{}
		out := newFramed(conn, maxMessage)
		out.mode = mode
		for _, v := range values {
			if err := out.write(map[string]string{"v": v}); err != nil {
				t.Fatal(err)
			}
		}
		in, messages, err := messagesOf(conn.sent.Bytes(), maxMessage)
		if !errors.Is(err, io.EOF) || in.mode != mode || len(messages) != len(values) {
			t.Fatalf("%d messages, framing %v, %v", len(messages), in.mode, err)
		}
		for i, m := range messages {
			var got map[string]string
			if err := json.Unmarshal(m, &got); err != nil || got["v"] != string([]rune(values[i])) {
				t.Fatalf("%q became %q (%v)", values[i], m, err)
			}
		}
	})
}

// FuzzMembers holds the splitting of objects against the decoder of the standard
// library.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[{"b":"}\\\""}],"c" : -1.5e3 , "d":null}`, `{"a":{"a":{}},"b":"\u0022"}`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] != '{' || !json.Valid(text) {
			t.Skip()
		}
		got, err := members(text)
		if err != nil {
			return // twice the same key, or too many
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		for _, m := range got {
			if !bytes.Equal(m.value, want[m.name]) {
				t.Fatalf("%q is %q, want %q", m.name, m.value, want[m.name])
			}
		}
	})
}
