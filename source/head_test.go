package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/source"
)

// The rows of source.md, section 3, and their order.
func TestBodyFrame(t *testing.T) {
	const marker, open, end = "<!-- slipway-level: change/v2 -->", "\n```slipway-manifest\n", "\n```"
	m := encode(page().manifest())
	good := marker + open + m + end
	tests := []struct {
		name, body, code string
	}{
		{"as it is", good, source.ValidChange},
		{"blank lines before everything", "\n \t\n\u3000\n" + marker + "\n\n\u2028" + open + m + end, source.ValidChange},
		{"CR LF", strings.ReplaceAll(good, "\n", "\r\n"), source.ValidChange},
		{"CR", strings.ReplaceAll(good, "\n", "\r"), source.ValidChange},
		{"layout of the manifest", marker + open + strings.ReplaceAll(m, ",", " ,\r\n\t ") + end, source.ValidChange},

		{"empty", "", source.ChangeMarkerRequired},
		{"blank", " \n\r\n\u00a0", source.ChangeMarkerRequired},
		{"words first", "Hello.\n" + good, source.ChangeMarkerRequired},
		{"byte order mark on its own line", "\ufeff\n" + good, source.ChangeMarkerRequired},
		{"other case", strings.Replace(good, "slipway-level", "Slipway-Level", 1), source.ChangeMarkerRequired},
		{"space before the colon", strings.Replace(good, "slipway-level:", "slipway-level :", 1), source.ChangeMarkerRequired},
		{"byte order mark before the marker", "\ufeff" + good, source.UnsupportedMarker},
		{"leading space", " " + good, source.UnsupportedMarker},
		{"trailing space", marker + " " + open + m + end, source.UnsupportedMarker},
		{"other version", strings.Replace(good, "change/v2", "change/v3", 1), source.UnsupportedMarker},
		{"other spacing", strings.Replace(good, "level: ", "level:", 1), source.UnsupportedMarker},
		{"objective", "<!-- slipway-level: objective/v1 -->\n" + good, source.ObjectiveMarker},
		{"objective in words", "see slipway-level: objective/", source.ObjectiveMarker},
		{"objective without space", "<!-- slipway-level:objective/v1 -->", source.UnsupportedMarker},
		{"objective and change on one line", "<!-- slipway-level: change/v2 --><!-- slipway-level: objective/v1 -->", source.ObjectiveMarker},

		{"marker only", marker, source.ManifestInvalid},
		{"words before the fence", marker + "\nHello." + open + m + end, source.ManifestInvalid},
		{"indented fence", marker + "\n ```slipway-manifest\n" + m + end, source.ManifestInvalid},
		{"fence with trailing space", marker + "\n```slipway-manifest \n" + m + end, source.ManifestInvalid},
		{"other fence", marker + "\n```json\n" + m + end, source.ManifestInvalid},
		{"longer fence", marker + "\n````slipway-manifest\n" + m + "\n````", source.ManifestInvalid},
		{"open fence only", marker + "\n```slipway-manifest", source.ManifestInvalid},
		{"not closed", marker + open + m, source.ManifestInvalid},
		{"closed with a space", marker + open + m + end + " ", source.ManifestInvalid},
		{"closed indented", marker + open + m + "\n ```", source.ManifestInvalid},
		{"closed longer", marker + open + m + end + "`", source.ManifestInvalid},
		{"closed at last", marker + open + m + "\n\n \n```", source.ValidChange},
		{"no line between", marker + "\n```slipway-manifest\n```", source.ManifestInvalid},
		{"empty line between", marker + "\n```slipway-manifest\n\n```", source.ManifestInvalid},
		{"no JSON", marker + open + "sections: 5" + end, source.ManifestInvalid},
		{"byte order mark in the manifest", marker + open + "\ufeff" + m + end, source.ManifestInvalid},
		{"two values", marker + open + m + "\n" + m + end, source.ManifestInvalid},
		{"second manifest", good + "\n```slipway-manifest\n{}\n```", source.ManifestInvalid},
		{"second marker", good + "\n" + marker, source.ManifestInvalid},
		{"full manifest", marker + open + m + strings.Repeat(" ", source.MaxManifestBytes-len(m)) + end, source.ValidChange},
		{"manifest over its limit", marker + open + m + strings.Repeat(" ", source.MaxManifestBytes-len(m)+1) + end, source.ManifestInvalid},
		{"manifest over its limit by an empty line", marker + open + m + strings.Repeat("\n", source.MaxManifestBytes-len(m)+1) + end, source.ManifestInvalid},
		{"full manifest counted after normalising", marker + open + m + strings.Repeat("\r\n", source.MaxManifestBytes-len(m)) + end, source.ValidChange},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := page().envelope()
			e.Body = test.body
			wantCode(t, e, test.code)
		})
	}
}

// One row for every rule of source.md, section 4, and one for what just keeps it.
func TestManifestRules(t *testing.T) {
	const bad, good = source.ManifestInvalid, source.ValidChange
	entry := func(i int, key string, value any) func(m map[string]any) {
		return func(m map[string]any) { m["sections"].([]any)[i].(map[string]any)[key] = value }
	}
	top := func(key string, value any) func(m map[string]any) {
		return func(m map[string]any) { m[key] = value }
	}
	zero := "sha256:" + strings.Repeat("0", 64)
	tests := []struct {
		name string
		edit func(m map[string]any)
		code string
	}{
		{"version 1", top("manifest_version", 1), bad},
		{"version as text", top("manifest_version", "2"), bad},
		{"profile", top("profile", "change/v1"), bad},
		{"unknown key", top("level", "change"), bad},
		{"parent revision", top("parent_requirements_revision", zero), good},
		{"parent revision empty", top("parent_requirements_revision", ""), good},
		{"parent revision null", top("parent_requirements_revision", nil), bad},
		{"parent revision short", top("parent_requirements_revision", zero[:70]), bad},
		{"parent revision upper-case", top("parent_requirements_revision", "sha256:"+strings.Repeat("A", 64)), bad},
		{"sections null", top("sections", nil), bad},
		{"sections empty", top("sections", []any{}), bad},
		{"no version", func(m map[string]any) { delete(m, "manifest_version") }, bad},
		{"no profile", func(m map[string]any) { delete(m, "profile") }, bad},
		{"no sections", func(m map[string]any) { delete(m, "sections") }, bad},
		{"key empty", entry(1, "key", ""), bad},
		{"key upper-case", entry(1, "key", "Requirements"), bad},
		{"key begins with a dash", entry(1, "key", "-requirements"), bad},
		{"key begins with a dot", entry(1, "key", ".requirements"), bad},
		{"key with final LF", entry(1, "key", "requirements\n"), bad},
		{"key too long", entry(1, "key", strings.Repeat("k", 65)), bad},
		{"key twice", entry(1, "key", "outcome"), bad},
		{"role unknown", entry(1, "role", "requirement"), bad},
		{"role with dash", entry(2, "role", "acceptance-examples"), bad},
		{"role missing in all", entry(1, "role", "outcome"), bad},
		{"title blank", entry(1, "title", "\u2003"), bad},
		{"title with LF", entry(1, "title", "a\n"), bad},
		{"title full", entry(1, "title", strings.Repeat("é", 256)), good},
		{"title too long", entry(1, "title", strings.Repeat("é", 256)+"e"), bad},
		{"node id blank", entry(1, "comment_node_id", ""), bad},
		{"node id with space", entry(1, "comment_node_id", "IC 12"), bad},
		{"node id twice", entry(1, "comment_node_id", "IC_11"), bad},
		{"number 0", entry(1, "comment_database_id", 0), bad},
		{"number twice", entry(1, "comment_database_id", 11), bad},
		{"number as text", entry(1, "comment_database_id", "12"), bad},
		{"digest bare", entry(1, "body_sha256", strings.Repeat("0", 64)), bad},
		{"digest empty", entry(1, "body_sha256", ""), bad},
		{"unknown key in a section", entry(1, "bytes", 12), bad},
		{"null section", func(m map[string]any) { m["sections"].([]any)[1] = nil }, bad},
		{"four sections", func(m map[string]any) { m["sections"] = m["sections"].([]any)[:4] }, bad},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := page().envelope()
			m := page().manifest()
			test.edit(m)
			e.Body = frame(encode(m), "")
			wantCode(t, e, test.code)
		})
	}
}

func TestEveryKeyOfASectionIsNeeded(t *testing.T) {
	for key := range page().manifest()["sections"].([]any)[0].(map[string]any) {
		m := page().manifest()
		delete(m["sections"].([]any)[3].(map[string]any), key)
		e := page().envelope()
		e.Body = frame(encode(m), "")
		wantCode(t, e, source.ManifestInvalid)
	}
}

func TestNumberOfSections(t *testing.T) {
	c := page()
	for n := int64(100); len(c.sections) < source.MaxSections; n++ {
		key := fmt.Sprintf("%064d", n)
		c.sections = append(c.sections, section{key, "constraints", "More", "Text.", "IC_" + key, n})
	}
	if h := wantCode(t, c.envelope(), source.ValidChange); len(h.Source.Sections) != source.MaxSections || len(h.Materials) != 5 {
		t.Errorf("%d sections, %d materials", len(h.Source.Sections), len(h.Materials))
	}
	c.sections = append(c.sections, section{"last", "constraints", "Last", "Text.", "IC_last", 99})
	e := c.envelope()
	e.Comments = e.Comments[:64]
	wantCode(t, e, source.ManifestInvalid)
}

// One row per check of source.md, 8.2 row 3, and for the order among them.
func TestSectionChecks(t *testing.T) {
	// rebind gives the comment of a section another body and the manifest its digest.
	rebind := func(e *source.Envelope, i int, body string) {
		e.Body = strings.Replace(e.Body, string(bodyDigest(e.Comments[i].Body)), string(bodyDigest(body)), 1)
		e.Comments[i].Body = body
	}
	drop := func(e *source.Envelope, i int) { e.Comments = slices.Delete(e.Comments, i, i+1) }
	renumber := func(e *source.Envelope, i int) {
		e.Comments[i].DatabaseID += 500
		e.Comments[i].URL = fmt.Sprintf("%s#issuecomment-%d", e.CanonicalURL, e.Comments[i].DatabaseID)
	}
	extra := func(e *source.Envelope) { e.Comments = append(e.Comments, extraComment(page(), 99)) }
	const marker = "<!-- slipway-section:v1 key=outcome -->"
	full := strings.Repeat("x", 262_144)
	tests := []struct {
		name string
		edit func(e *source.Envelope)
		code string
	}{
		{"missing", func(e *source.Envelope) { drop(e, 0) }, source.SectionMissing},
		{"all missing", func(e *source.Envelope) { e.Comments = []source.Comment{} }, source.SectionMissing},
		{"other number", func(e *source.Envelope) { renumber(e, 0) }, source.SectionInvalid},
		{"minimized", func(e *source.Envelope) { e.Comments[0].IsMinimized = true }, source.SectionMinimized},
		{"edited", func(e *source.Envelope) { e.Comments[0].Body += "\n" }, source.SectionHashMismatch},
		{"other line ends", func(e *source.Envelope) { e.Comments[0].Body = strings.ReplaceAll(e.Comments[0].Body, "\n", "\r") }, source.ValidChange},
		{"no marker", func(e *source.Envelope) { rebind(e, 0, "One page.\n") }, source.SectionInvalid},
		{"marker of another", func(e *source.Envelope) { rebind(e, 0, "<!-- slipway-section:v1 key=outcomes -->\nText.") }, source.SectionInvalid},
		{"marker with a space", func(e *source.Envelope) { rebind(e, 0, marker+" \nText.") }, source.SectionInvalid},
		{"marker indented", func(e *source.Envelope) { rebind(e, 0, " "+marker+"\nText.") }, source.SectionInvalid},
		{"marker after words", func(e *source.Envelope) { rebind(e, 0, "Text.\n"+marker+"\nText.") }, source.SectionInvalid},
		{"marker after byte order mark", func(e *source.Envelope) { rebind(e, 0, "\ufeff"+marker+"\nText.") }, source.SectionInvalid},
		{"empty comment", func(e *source.Envelope) { rebind(e, 0, "") }, source.SectionInvalid},
		{"marker only", func(e *source.Envelope) { rebind(e, 0, marker) }, source.SectionInvalid},
		{"marker and LF only", func(e *source.Envelope) { rebind(e, 0, marker+"\n") }, source.SectionInvalid},
		{"blank payload", func(e *source.Envelope) { rebind(e, 0, marker+"\n \t\n\u3000\n") }, source.SectionInvalid},
		{"blank and too large", func(e *source.Envelope) { rebind(e, 0, marker+"\n"+strings.Repeat(" ", 262_145)) }, source.SectionInvalid},
		{"full payload", func(e *source.Envelope) { rebind(e, 0, marker+"\n"+full) }, source.ValidChange},
		{"full payload after normalising", func(e *source.Envelope) { rebind(e, 0, marker+"\r\n"+full[1:]+"\r\n") }, source.ValidChange},
		{"payload too large", func(e *source.Envelope) { rebind(e, 0, marker+"\n"+full+"\n") }, source.SectionTooLarge},
		{"unexpected", extra, source.SectionUnexpected},

		{"missing before number of a later section", func(e *source.Envelope) { renumber(e, 1); drop(e, 0) }, source.SectionMissing},
		{"number of an earlier section before missing", func(e *source.Envelope) { renumber(e, 0); drop(e, 1) }, source.SectionInvalid},
		{"number before minimized", func(e *source.Envelope) { renumber(e, 0); e.Comments[0].IsMinimized = true }, source.SectionInvalid},
		{"minimized before edited", func(e *source.Envelope) { e.Comments[0].Body += "."; e.Comments[0].IsMinimized = true }, source.SectionMinimized},
		{"edited before no marker", func(e *source.Envelope) { e.Comments[0].Body = "." }, source.SectionHashMismatch},
		{"edited before too large", func(e *source.Envelope) { e.Comments[0].Body += full }, source.SectionHashMismatch},
		{"no marker before too large", func(e *source.Envelope) { rebind(e, 0, "x"+marker+"\n"+full+"\n") }, source.SectionInvalid},
		{"last section before unexpected", func(e *source.Envelope) { extra(e); e.Comments[4].IsMinimized = true }, source.SectionMinimized},
		{"manifest before missing", func(e *source.Envelope) {
			e.Comments = []source.Comment{}
			e.Body = strings.Replace(e.Body, "change/v2\"", "change/v3\"", 1)
		}, source.ManifestInvalid},
		{"marker before manifest", func(e *source.Envelope) { e.Body = "x" + e.Body[:60] }, source.UnsupportedMarker},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := page().envelope()
			test.edit(e)
			wantCode(t, e, test.code)
		})
	}
}

// Equal payloads count each time towards the sum, which is looked at per section
// and after the limit of one.
func TestBundleLimit(t *testing.T) {
	c := page()
	c.sections = c.sections[:0]
	full := strings.Repeat("x", 262_144)
	for i := range 16 {
		role := page().sections[i%5].role
		c.sections = append(c.sections, section{fmt.Sprint("k", i), role, "Title", full, fmt.Sprint("IC_", i), int64(i + 1)})
	}
	if h := wantCode(t, c.envelope(), source.ValidChange); len(h.Materials) != 1 {
		t.Errorf("%d materials", len(h.Materials))
	}
	c.sections = append(c.sections, section{"one-more", "outcome", "Title", "y", "IC_17", 17})
	wantCode(t, c.envelope(), source.BundleTooLarge)

	c.sections[16].payload = full + "y"
	wantCode(t, c.envelope(), source.SectionTooLarge)

	c.sections[16].payload = "y"
	c.sections[15].payload = full[1:]
	wantCode(t, c.envelope(), source.ValidChange)
}

func TestPayloadIsKeptAsItIs(t *testing.T) {
	for _, payload := range []string{
		"\n\n  indented\n", "no final LF", "\ttab\u2028sep \u00a0 \ufeff e\u0301 \n\n\n",
		"<!-- slipway-section:v1 key=outcome -->\nthe marker again", "```slipway-manifest\n```\n<!-- slipway-level: change/v2 -->",
	} {
		c := page()
		c.sections[0].payload = payload
		e := c.envelope()
		e.Comments[0].Body = "\n \n" + e.Comments[0].Body
		e.Body = strings.Replace(e.Body, string(bodyDigest(c.sections[0].body())), string(bodyDigest(e.Comments[0].Body)), 1)
		h := wantCode(t, e, source.ValidChange)
		if got := string(h.Materials[0].Content); got != payload {
			t.Errorf("payload %q, want %q", got, payload)
		}
		if h.Source.RequirementsRevision != c.head(t).Source.RequirementsRevision {
			t.Errorf("blank lines before a marker change the requirements revision")
		}
	}
}

func TestHeadTellsItsIssue(t *testing.T) {
	c := page()
	c.issueParent = nil
	usable := c.head(t)
	e := c.envelope()
	e.Body = ""
	unusable := wantCode(t, e, source.ChangeMarkerRequired)
	want := source.Issue{RepositoryID: "R_page", IssueID: "I_page_5", IssueNumber: 5, CanonicalURL: c.url()}
	if diff := cmp.Diff([]source.Issue{want, want}, []source.Issue{usable.Issue, unusable.Issue}); diff != "" {
		t.Error(diff)
	}
}

// A reason repeats no more than a shortened key of the manifest.
func TestReasonsStayShort(t *testing.T) {
	for _, key := range []string{strings.Repeat("k", 5_000), strings.Repeat("\u2028\U000e0001", 2_000), strings.Repeat("\"", 5_000)} {
		m := page().manifest()
		m[key] = 1
		e := page().envelope()
		e.Body = frame(encode(m), "")
		wantCode(t, e, source.ManifestInvalid)
		o := object(t, page().envelope())
		o[key] = 1
		refused(t, "long key", []byte(encode(o)))
	}
}
