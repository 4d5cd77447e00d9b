package source

import (
	"fmt"
	"maps"

	"slipway/schema"
)

// Accepted remembers the comments of every source that a Run ever pinned: its
// first one and each adopted one (source.md, 13.2). It is an immutable value; the
// zero value remembers nothing.
type Accepted struct {
	byNode     map[string]acceptedComment
	byDatabase map[int64]string // to the node id
}

// acceptedComment is what must not change about an accepted comment.
type acceptedComment struct {
	databaseID       int64
	key, role, title string
	body, material   schema.Digest
}

// With returns the memory that has the comments of p as well.
func (a Accepted) With(p *schema.PinnedSource) Accepted {
	grown := Accepted{maps.Clone(a.byNode), maps.Clone(a.byDatabase)}
	if grown.byNode == nil {
		grown = Accepted{map[string]acceptedComment{}, map[int64]string{}}
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		grown.byNode[s.Provenance.CommentNodeID] = rememberedAs(s)
		grown.byDatabase[s.Provenance.CommentDatabaseID] = s.Provenance.CommentNodeID
	}
	return grown
}

func rememberedAs(s *schema.PinnedSection) acceptedComment {
	return acceptedComment{
		databaseID: s.Provenance.CommentDatabaseID,
		key:        s.Key,
		role:       s.Role,
		title:      s.Title,
		body:       s.BodySHA256,
		material:   s.MaterialSHA256,
	}
}

// editFault says how the sections of p contradict the accepted comments; it is
// empty where they do not.
func (a Accepted) editFault(p *schema.PinnedSource) string {
	for i := range p.Sections {
		s := &p.Sections[i]
		before, known := a.byNode[s.Provenance.CommentNodeID]
		node, bound := a.byDatabase[s.Provenance.CommentDatabaseID]
		if known && before != rememberedAs(s) || bound && node != s.Provenance.CommentNodeID {
			return fmt.Sprintf("the section %q: an accepted comment must keep its ids, text, key, role and title; publish the change as a new comment", s.Key)
		}
	}
	return ""
}
