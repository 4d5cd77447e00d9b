package schema

import _ "embed"

var (
	//go:embed messages.schema.json
	messagesSchema []byte
	//go:embed source.schema.json
	sourceSchema []byte
)

// MessagesSchema returns the JSON Schema (draft 2020-12) of every message of the
// contract. Each shape of wire.md stands under $defs by its name, so that
// "#/$defs/outcome" describes an Outcome.
//
// A document that the schema refuses is no message of the contract. One that it
// accepts may still be refused by this package: JSON Schema knows no limits in
// bytes, no order, no digests of content, no duplicate keys and no spelling of
// integers. Its $comment has the whole list. The caller owns the copy.
func MessagesSchema() []byte { return append([]byte(nil), messagesSchema...) }

// SourceSchema returns the JSON Schema of the source envelope (source.md, section
// 2); "#/$defs/manifest" describes the manifest inside an Issue body (section 4).
// It asks for every key that a sender writes. The caller owns the copy.
func SourceSchema() []byte { return append([]byte(nil), sourceSchema...) }
