package rpc

import (
	"bytes"
	"encoding/json"
	"net"
	"sync"

	"slipway/engine"
	"slipway/schema"
)

// jsonAppender is a result that knows a faster way into JSON.
type jsonAppender interface {
	AppendJSON([]byte) ([]byte, error)
}

// rooms holds buffers for long results: fresh memory of that size would cost more
// than what is written to it.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// encode gives the JSON of a message, to be used before done is called. A long
// result goes out in the pieces that it is made of: putting them together would
// cost more than anything else about it.
func encode(v any) (message net.Buffers, done func(), err error) {
	done = func() {}
	a, ok := v.(answer)
	if !ok {
		message, err = whole(v)
		return message, done, err
	}
	switch r := a.Result.(type) {
	case engine.Listing:
		message, err = a.around(r)
	case jsonAppender:
		room := rooms.Get().(*[]byte)
		done = func() { rooms.Put(room) }
		if *room, err = r.AppendJSON((*room)[:0]); err == nil {
			message, err = a.around([][]byte{*room})
		}
	default:
		message, err = whole(v)
	}
	return message, done, err
}

func whole(v any) (net.Buffers, error) {
	data, err := schema.Marshal(v)
	return net.Buffers{data}, err
}

// around gives the answer with a result in pieces.
func (a answer) around(result [][]byte) (net.Buffers, error) {
	a.Result = json.RawMessage("null")
	frame, err := schema.Marshal(a)
	if err != nil {
		return nil, err
	}
	head := bytes.TrimSuffix(frame, []byte("null}"))
	parts := append(make(net.Buffers, 0, len(result)+3), head)
	return append(append(parts, result...), []byte{'}'}), nil
}

// encodeResult gives the JSON of a result alone.
func encodeResult(result any) ([]byte, error) {
	if r, ok := result.(jsonAppender); ok {
		return r.AppendJSON(nil)
	}
	return schema.Marshal(result)
}
