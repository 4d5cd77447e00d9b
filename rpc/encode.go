package rpc

import (
	"bytes"
	"encoding/json"
	"net"

	"slipway/engine"
	"slipway/schema"
)

// textMessage is a result around a long text, which is given out over and over.
type textMessage interface {
	Text() schema.MaterialSection
	Around(textJSON []byte) ([][]byte, error)
}

// encode gives the JSON of a message. A long result goes out in the pieces that it is
// made of: putting them together would cost more than anything else about it.
func encode(v any) (net.Buffers, error) {
	a, ok := v.(answer)
	if !ok {
		return whole(v)
	}
	switch r := a.Result.(type) {
	case engine.Listing:
		return a.around(r)
	case textMessage:
		pieces, err := lately.pieces(r)
		if err != nil {
			return nil, err
		}
		return a.around(pieces)
	}
	return whole(v)
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
	m, ok := result.(textMessage)
	if !ok {
		return schema.Marshal(result)
	}
	text, err := m.Text().TextJSON()
	if err != nil {
		return nil, err
	}
	pieces, err := m.Around(text)
	return bytes.Join(pieces, nil), err
}
