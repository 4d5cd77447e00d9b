package source

import (
	"fmt"
	"strconv"

	"slipway/schema"
)

// MaxEnvelopeBytes is the most bytes of an envelope file, white space included.
const MaxEnvelopeBytes = 16_777_216

// What every envelope says about itself (source.md, 2.1).
const (
	Version  = 2
	Provider = "github"
	Host     = "github.com"
)

// Envelope is the file that a host makes of one observation of an Issue
// (source.md, section 2). One that comes from [DecodeEnvelope] keeps all rules of
// that section: a missing key counts as the empty string, 0 or false, or as no
// array, which is refused. The arrays are bounded by their tags while they are
// decoded: 100 labels, 64 comments.
type Envelope struct {
	SourceVersion int64               `json:"source_version"`
	Provider      string              `json:"provider"`
	Host          string              `json:"host"`
	RepositoryID  string              `json:"repository_id"`
	IssueID       string              `json:"issue_id"`
	IssueNumber   int64               `json:"issue_number"`
	CanonicalURL  string              `json:"canonical_url"`
	UpdatedAt     string              `json:"updated_at"`
	FetchedAt     string              `json:"fetched_at"`
	Title         string              `json:"title"`
	Body          string              `json:"body"`
	Labels        []string            `json:"labels" max:"100"`
	Parent        *schema.ParentIssue `json:"parent"`
	Comments      []Comment           `json:"comments" max:"64"`
}

// Comment is one comment of the Issue.
type Comment struct {
	NodeID      string `json:"node_id"`
	DatabaseID  int64  `json:"database_id"`
	URL         string `json:"url"`
	UpdatedAt   string `json:"updated_at"`
	AuthorID    string `json:"author_id"`
	IsMinimized bool   `json:"is_minimized"`
	Body        string `json:"body"`
}

// EnvelopeFault says why an envelope is refused as it is (source.md, 8.1). It
// becomes invalid_source or invalid_source_candidate.
type EnvelopeFault struct {
	// Reason is for people. It repeats nothing of the envelope but a shortened,
	// quoted key.
	Reason string
}

// Error gives the reason.
func (f *EnvelopeFault) Error() string { return f.Reason }

// DecodeEnvelope decodes and checks an envelope (source.md, section 2; wire.md,
// section 2). The error is an *[EnvelopeFault]; nothing about the head is judged
// here.
func DecodeEnvelope(data []byte) (*Envelope, error) {
	e := new(Envelope)
	if err := schema.DecodeStrict(data, MaxEnvelopeBytes, e); err != nil {
		return nil, &EnvelopeFault{"the envelope is not the JSON object it should be: " + err.Error()}
	}
	if reason := e.fault(); reason != "" {
		return nil, &EnvelopeFault{reason}
	}
	return e, nil
}

// fault says which rule of source.md, 2.1 the envelope breaks.
func (e *Envelope) fault() string {
	if reason := e.issueFault(); reason != "" {
		return reason
	}
	if e.Labels == nil || e.Comments == nil {
		return "labels and comments are arrays, also where they are empty"
	}
	for i, label := range e.Labels {
		if !isName(label) {
			return fmt.Sprintf("label %d is blank or has a control character", i+1)
		}
	}
	if e.Parent != nil && !soundParent(e.Parent) {
		return "the parent needs repository_id and issue_id as node ids and the canonical_url of an Issue on github.com"
	}
	return e.commentsFault()
}

func (e *Envelope) issueFault() string {
	switch {
	case e.SourceVersion != Version:
		return fmt.Sprintf("source_version is not %d", Version)
	case e.Provider != Provider:
		return fmt.Sprintf("provider is not %q", Provider)
	case e.Host != Host:
		return fmt.Sprintf("host is not %q", Host)
	case !isIssueNodeID(e.RepositoryID):
		return "repository_id is no node id"
	case !isIssueNodeID(e.IssueID):
		return "issue_id is no node id"
	case e.IssueNumber < 1:
		return "issue_number is not positive"
	case issueURLNumber(e.CanonicalURL) != uint64(e.IssueNumber):
		return "canonical_url is not the URL of Issue issue_number on github.com"
	case !isTime(e.UpdatedAt):
		return "updated_at is no RFC 3339 time"
	case !isTime(e.FetchedAt):
		return "fetched_at is no RFC 3339 time"
	case !isName(e.Title):
		return "title is blank or has a control character"
	case !schema.IsText(e.Body):
		return "body has a control character other than TAB, LF and CR"
	}
	return ""
}

func soundParent(p *schema.ParentIssue) bool {
	return isIssueNodeID(p.RepositoryID) && isIssueNodeID(p.IssueID) && issueURLNumber(p.CanonicalURL) != 0
}

func (e *Envelope) commentsFault() string {
	nodes := make(map[string]bool, len(e.Comments))
	numbers := make(map[int64]bool, len(e.Comments))
	for i := range e.Comments {
		c := &e.Comments[i]
		reason := c.fault(e.CanonicalURL)
		switch {
		case reason != "":
		case nodes[c.NodeID]:
			reason = "its node_id is that of an earlier comment"
		case numbers[c.DatabaseID]:
			reason = "its database_id is that of an earlier comment"
		}
		if reason != "" {
			return fmt.Sprintf("comment %d: %s", i+1, reason)
		}
		nodes[c.NodeID], numbers[c.DatabaseID] = true, true
	}
	return ""
}

func commentURL(issueURL string, databaseID int64) string {
	return issueURL + "#issuecomment-" + strconv.FormatInt(databaseID, 10)
}

func (c *Comment) fault(issueURL string) string {
	switch {
	case !isNodeID(c.NodeID):
		return "node_id is no node id"
	case c.DatabaseID < 1:
		return "database_id is not positive"
	case c.URL != commentURL(issueURL, c.DatabaseID):
		return "url is not canonical_url, #issuecomment- and database_id"
	case !isTime(c.UpdatedAt):
		return "updated_at is no RFC 3339 time"
	case !isNodeID(c.AuthorID):
		return "author_id is no node id"
	case !schema.IsText(c.Body):
		return "body has a control character other than TAB, LF and CR"
	}
	return ""
}
