package source_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slipway/schema"
	"slipway/source"
)

// framed is F of source.md, section 7, written down a second time.
func framed(fields ...string) schema.Digest {
	var all []byte
	for _, field := range fields {
		all = binary.BigEndian.AppendUint64(all, uint64(len(field)))
		all = append(all, field...)
	}
	sum := sha256.Sum256(all)
	return schema.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// lf turns CR LF, then CR, into LF, the way that source.md, section 3 words it.
func lf(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

func bodyDigest(body string) schema.Digest { return framed("slipway-comment-body/v1", lf(body)) }

// change is what an envelope is made of.
type change struct {
	repositoryID, issueID, title string
	repository                   string
	number                       int64
	issueParent                  *schema.ParentIssue
	parent                       schema.Digest
	sections                     []section
	tail                         string
}

type section struct {
	key, role, title, payload string
	node                      string
	number                    int64
}

// page is the first head of source.md, 7.2.
func page() change {
	return change{
		repositoryID: "R_page",
		issueID:      "I_page_5",
		title:        "Print a page",
		repository:   "example-org/page",
		number:       5,
		sections: []section{
			{"outcome", "outcome", "Outcome", "One page.\n", "IC_11", 11},
			{"requirements", "requirements", "Requirements", "- Print it.\n", "IC_12", 12},
			{"acceptance-examples", "acceptance_examples", "Acceptance examples", "Given paper, a page.\n", "IC_13", 13},
			{"constraints", "constraints", "Constraints", "None.\n", "IC_14", 14},
			{"non-goals", "non_goals", "Non goals", "None.\n", "IC_15", 15},
		},
	}
}

// firstRevision is the requirements revision of page.
const firstRevision schema.Digest = "sha256:17743d202efcec56be206eeb10f5c6964e1acc1ed71e16a777825c20940818a8"

// amended is the amendment of source.md, 7.3.
func amended() change {
	c := page()
	c.sections[1].payload, c.sections[1].node, c.sections[1].number = "- Print it twice.\n", "IC_1001", 1001
	c.parent = firstRevision
	return c
}

func (s section) body() string {
	return "<!-- slipway-section:v1 key=" + s.key + " -->\n" + s.payload
}

func (c change) url() string {
	return "https://github.com/" + c.repository + "/issues/" + strconv.FormatInt(c.number, 10)
}

// manifest lists the sections with the digests of their comments.
func (c change) manifest() map[string]any {
	var entries []any
	for _, s := range c.sections {
		entries = append(entries, map[string]any{
			"key": s.key, "role": s.role, "title": s.title, "comment_node_id": s.node,
			"comment_database_id": s.number, "body_sha256": bodyDigest(s.body()),
		})
	}
	m := map[string]any{"manifest_version": 2, "profile": "change/v2", "sections": entries}
	if c.parent != "" {
		m["parent_requirements_revision"] = c.parent
	}
	return m
}

func (c change) envelope() *source.Envelope {
	e := &source.Envelope{
		SourceVersion: 2, Provider: "github", Host: "github.com",
		RepositoryID: c.repositoryID, IssueID: c.issueID, IssueNumber: c.number, CanonicalURL: c.url(),
		UpdatedAt: "2026-01-05T08:00:00Z", FetchedAt: "2026-01-05T08:05:00Z",
		Title: c.title, Body: frame(encode(c.manifest()), c.tail), Labels: []string{"level:change"},
		Parent: c.issueParent, Comments: []source.Comment{},
	}
	for _, s := range c.sections {
		e.Comments = append(e.Comments, source.Comment{
			NodeID: s.node, DatabaseID: s.number, URL: fmt.Sprintf("%s#issuecomment-%d", c.url(), s.number),
			UpdatedAt: "2026-01-05T08:00:00Z", AuthorID: "U_writer", Body: s.body(),
		})
	}
	return e
}

// frame is a Change body around the text of a manifest.
func frame(manifest, tail string) string {
	return "<!-- slipway-level: change/v2 -->\n```slipway-manifest\n" + manifest + "\n```\n" + tail
}

// encode writes JSON that no test needs to fail on.
func encode(v any) string {
	data, err := schema.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// decoded sends the envelope through its bytes, as a host does.
func decoded(t testing.TB, e *source.Envelope) *source.Envelope {
	t.Helper()
	back, err := source.DecodeEnvelope([]byte(encode(e)))
	if err != nil {
		t.Fatalf("DecodeEnvelope: %v", err)
	}
	return back
}

// head is that of a usable change.
func (c change) head(t testing.TB) *source.Head {
	t.Helper()
	h := source.Judge(decoded(t, c.envelope()))
	if !h.Usable() {
		t.Fatalf("head is %s: %s", h.Code, h.Reason)
	}
	return &h
}

// wantCode judges e after its bytes were decoded.
func wantCode(t testing.TB, e *source.Envelope, code string) *source.Head {
	t.Helper()
	h := source.Judge(decoded(t, e))
	checkHead(t, &h)
	if h.Code != code {
		t.Errorf("code %s (%s), want %s", h.Code, h.Reason, code)
	}
	return &h
}

// checkHead holds a head against what every head promises.
func checkHead(t testing.TB, h *source.Head) {
	t.Helper()
	if h.Usable() {
		if h.Code != source.ValidChange || h.Reason != "" || h.Observation != "" || len(h.Materials) == 0 {
			t.Errorf("a usable head has code %q, reason %q, observation %q, %d materials", h.Code, h.Reason, h.Observation, len(h.Materials))
		}
		return
	}
	if schema.IsBlank(h.Reason) || !schema.IsPlain(h.Reason) || len(h.Reason) > source.MaxReasonBytes {
		t.Errorf("malformed reason %q", h.Reason)
	}
	if !h.Observation.Valid() || h.Code == "" || h.Code == source.ValidChange || h.Materials != nil {
		t.Errorf("an unusable head has code %q, observation %q, %d materials", h.Code, h.Observation, len(h.Materials))
	}
}

// object is the envelope as a JSON object to be spoiled.
func object(t testing.TB, e *source.Envelope) map[string]any {
	t.Helper()
	var o map[string]any
	decoder := json.NewDecoder(strings.NewReader(encode(e)))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

func comment(o map[string]any, i int) map[string]any {
	return o["comments"].([]any)[i].(map[string]any)
}

func keys(sections []schema.PinnedSection) []string {
	var all []string
	for _, s := range sections {
		all = append(all, s.Key)
	}
	return slices.Clip(all)
}
