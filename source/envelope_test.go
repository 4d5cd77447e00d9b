package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"slipway/schema"
	"slipway/source"
)

// refused decodes data and wants the fault that every bad envelope gives.
func refused(t *testing.T, name string, data []byte) {
	t.Helper()
	e, err := source.DecodeEnvelope(data)
	var fault *source.EnvelopeFault
	if e != nil || !errors.As(err, &fault) {
		t.Errorf("%s: accepted, or error %v", name, err)
		return
	}
	if schema.IsBlank(fault.Reason) || !schema.IsPlain(fault.Reason) || len(fault.Reason) > source.MaxReasonBytes {
		t.Errorf("%s: malformed reason %q", name, fault.Reason)
	}
}

func accepted(t *testing.T, name string, data []byte) {
	t.Helper()
	if _, err := source.DecodeEnvelope(data); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// One row for every rule of source.md, 2.1, and one for what just keeps it.
func TestEnvelopeFields(t *testing.T) {
	const refuse, accept = false, true
	tests := []struct {
		key   string
		value any
		want  bool
	}{
		{"source_version", 1, refuse},
		{"source_version", 3, refuse},
		{"source_version", "2", refuse},
		{"source_version", json.Number("2.0"), refuse},
		{"source_version", nil, refuse},
		{"provider", "GitHub", refuse},
		{"provider", "", refuse},
		{"host", "www.github.com", refuse},
		{"host", "github.com.", refuse},
		{"repository_id", "", refuse},
		{"repository_id", "R page", refuse},
		{"repository_id", "R\u00a0page", refuse},
		{"repository_id", "R\u0001", refuse},
		{"repository_id", "R\u0085", refuse},
		{"repository_id", "\ufeffR\u200b=/+", accept},
		{"issue_id", "", refuse},
		{"issue_id", "I\t", refuse},
		{"issue_id", "I\u007f", refuse},
		{"issue_number", 0, refuse},
		{"issue_number", -5, refuse},
		{"issue_number", 6, refuse},
		{"issue_number", json.Number("5e0"), refuse},
		{"issue_number", json.Number("9223372036854775808"), refuse},
		{"issue_number", true, refuse},
		{"canonical_url", "https://github.com/example-org/page/issues/6", refuse},
		{"canonical_url", "", refuse},
		{"updated_at", "", refuse},
		{"updated_at", "2026-01-05", refuse},
		{"fetched_at", "", refuse},
		{"fetched_at", "yesterday", refuse},
		{"title", "", refuse},
		{"title", " \u3000", refuse},
		{"title", "a\tb", refuse},
		{"title", "a\u009fb", refuse},
		{"title", "\u200b", accept},
		{"title", nil, refuse},
		{"body", "", accept},
		{"body", "\t\r\n", accept},
		{"body", "a\u000bb", refuse},
		{"body", "a\u0000", refuse},
		{"body", "a\u0085b", refuse},
		{"body", nil, refuse},
		{"labels", []any{}, accept},
		{"labels", []any{"a", "a"}, accept},
		{"labels", []any{""}, refuse},
		{"labels", []any{" "}, refuse},
		{"labels", []any{"a\nb"}, refuse},
		{"labels", []any{nil}, refuse},
		{"labels", []any{1}, refuse},
		{"labels", nil, refuse},
		{"labels", repeat("level:change", 100), accept},
		{"labels", repeat("level:change", 101), refuse},
		{"parent", nil, accept},
		{"parent", map[string]any{}, refuse},
		{"parent", []any{}, refuse},
		{"parent", parentOf("R", "I", "https://github.com/a/b/issues/18446744073709551615"), accept},
		{"parent", parentOf("R", "I", "https://github.com/a/b/issues/18446744073709551616"), refuse},
		{"parent", parentOf("", "I", "https://github.com/a/b/issues/1"), refuse},
		{"parent", parentOf("R\u0001", "I", "https://github.com/a/b/issues/1"), refuse},
		{"parent", parentOf("R", "I I", "https://github.com/a/b/issues/1"), refuse},
		{"parent", parentOf("R", "I", ""), refuse},
		{"comments", []any{}, accept},
		{"comments", nil, refuse},
		{"comments", []any{nil}, refuse},
		{"comments", map[string]any{}, refuse},
		{"commentz", []any{}, refuse},
		{"Title", "twice", refuse},
	}
	for _, test := range tests {
		o := object(t, page().envelope())
		o[test.key] = test.value
		name := fmt.Sprintf("%s = %.60v", test.key, test.value)
		if test.want {
			accepted(t, name, []byte(encode(o)))
		} else {
			refused(t, name, []byte(encode(o)))
		}
	}
}

func repeat(label string, n int) []any {
	var all []any
	for range n {
		all = append(all, label)
	}
	return all
}

func parentOf(repository, issue, url string) map[string]any {
	return map[string]any{"repository_id": repository, "issue_id": issue, "canonical_url": url}
}

func TestMissingKeysCountAsEmpty(t *testing.T) {
	optional := map[string]bool{"parent": true, "body": true} // no array is not an empty one
	for key := range object(t, page().envelope()) {
		o := object(t, page().envelope())
		delete(o, key)
		if optional[key] {
			accepted(t, "without "+key, []byte(encode(o)))
		} else {
			refused(t, "without "+key, []byte(encode(o)))
		}
	}
	optional = map[string]bool{"is_minimized": true, "body": true}
	for key := range comment(object(t, page().envelope()), 0) {
		o := object(t, page().envelope())
		delete(comment(o, 0), key)
		if optional[key] {
			accepted(t, "comment without "+key, []byte(encode(o)))
		} else {
			refused(t, "comment without "+key, []byte(encode(o)))
		}
	}
}

func TestCommentFields(t *testing.T) {
	url := page().url()
	tests := []struct {
		name string
		edit func(o map[string]any)
		want bool
	}{
		{"blank node id", func(o map[string]any) { comment(o, 0)["node_id"] = "" }, false},
		{"space in node id", func(o map[string]any) { comment(o, 0)["node_id"] = "IC 11" }, false},
		{"control character in node id", func(o map[string]any) { comment(o, 0)["node_id"] = "IC\u0001" }, true},
		{"NEL in node id", func(o map[string]any) { comment(o, 0)["node_id"] = "IC\u0085" }, false},
		{"control character in author", func(o map[string]any) { comment(o, 0)["author_id"] = "U\u007f" }, true},
		{"blank author", func(o map[string]any) { comment(o, 0)["author_id"] = "" }, false},
		{"node id twice", func(o map[string]any) { comment(o, 1)["node_id"] = "IC_11" }, false},
		{"number twice", func(o map[string]any) {
			comment(o, 1)["database_id"], comment(o, 1)["url"] = 11, url+"#issuecomment-11"
		}, false},
		{"number 0", func(o map[string]any) {
			comment(o, 1)["database_id"], comment(o, 1)["url"] = 0, url+"#issuecomment-0"
		}, false},
		{"largest number", func(o map[string]any) {
			comment(o, 1)["database_id"], comment(o, 1)["url"] = json.Number("9223372036854775807"), url+"#issuecomment-9223372036854775807"
		}, true},
		{"url of another comment", func(o map[string]any) { comment(o, 0)["url"] = url + "#issuecomment-12" }, false},
		{"url of another issue", func(o map[string]any) {
			comment(o, 0)["url"] = "https://github.com/example-org/page/issues/6#issuecomment-11"
		}, false},
		{"url in other case", func(o map[string]any) {
			comment(o, 0)["url"] = "https://github.com/Example-org/page/issues/5#issuecomment-11"
		}, false},
		{"url with leading zero", func(o map[string]any) { comment(o, 0)["url"] = url + "#issuecomment-011" }, false},
		{"lower-case time", func(o map[string]any) { comment(o, 0)["updated_at"] = "2026-01-05t08:00:00Z" }, false},
		{"minimized as text", func(o map[string]any) { comment(o, 0)["is_minimized"] = "false" }, false},
		{"minimized null", func(o map[string]any) { comment(o, 0)["is_minimized"] = nil }, false},
		{"empty body", func(o map[string]any) { comment(o, 0)["body"] = "" }, true},
		{"control character in body", func(o map[string]any) { comment(o, 0)["body"] = "a\fb" }, false},
		{"unknown key", func(o map[string]any) { comment(o, 0)["id"] = 1 }, false},
	}
	for _, test := range tests {
		o := object(t, page().envelope())
		test.edit(o)
		if test.want {
			accepted(t, test.name, []byte(encode(o)))
		} else {
			refused(t, test.name, []byte(encode(o)))
		}
	}
}

func TestNumberOfComments(t *testing.T) {
	e := page().envelope()
	for n := int64(16); len(e.Comments) < 64; n++ {
		e.Comments = append(e.Comments, extraComment(page(), n))
	}
	accepted(t, "64 comments", []byte(encode(e)))
	e.Comments = append(e.Comments, extraComment(page(), 1000))
	refused(t, "65 comments", []byte(encode(e)))
}

func extraComment(c change, n int64) source.Comment {
	return source.Comment{
		NodeID: fmt.Sprintf("IC_%d", n), DatabaseID: n, URL: fmt.Sprintf("%s#issuecomment-%d", c.url(), n),
		UpdatedAt: "2026-01-05T08:00:00Z", AuthorID: "U_reader", Body: "I agree.",
	}
}

func TestIssueURLs(t *testing.T) {
	tests := map[string]bool{
		"https://github.com/a/b/issues/1":                          true,
		"https://github.com/-/_.x-Y9/issues/90":                    true,
		"https://github.com/a/.../issues/1":                        true,
		"https://github.com/a/issues/issues/1":                     true,
		"https://github.com/issues/issues/issues/1":                true,
		"https://github.com/a/./issues/1":                          false,
		"https://github.com/a/../issues/1":                         false,
		"https://github.com/a_b/c/issues/1":                        false,
		"https://github.com/a.b/c/issues/1":                        false,
		"https://github.com//b/issues/1":                           false,
		"https://github.com/a//issues/1":                           false,
		"https://github.com/a/b/c/issues/1":                        false,
		"https://github.com/a/b/issues/0":                          false,
		"https://github.com/a/b/issues/01":                         false,
		"https://github.com/a/b/issues/+1":                         false,
		"https://github.com/a/b/issues/1_0":                        false,
		"https://github.com/a/b/issues/":                           false,
		"https://github.com/a/b/issues":                            false,
		"https://github.com/a/b/issues/1/":                         false,
		"https://github.com/a/b/issues/1?":                         false,
		"https://github.com/a/b/issues/1#":                         false,
		"https://github.com/a/b/pull/1":                            false,
		"https://github.com/a/b/Issues/1":                          false,
		"https://github.com:443/a/b/issues/1":                      false,
		"https://u@github.com/a/b/issues/1":                        false,
		"https://GitHub.com/a/b/issues/1":                          false,
		"HTTPS://github.com/a/b/issues/1":                          false,
		"http://github.com/a/b/issues/1":                           false,
		"https://github.com/a/%62/issues/1":                        false,
		"https://github.com/a/é/issues/1":                          false,
		" https://github.com/a/b/issues/1":                         false,
		"https://github.com/a/b/issues/1\n":                        false,
		"https://github.com/a/b/issues/١":                          false,
		"https://github.com/a/b/issues/" + strings.Repeat("9", 30): false,
	}
	for url, want := range tests {
		o := object(t, page().envelope())
		o["parent"] = parentOf("R", "I", url)
		if want {
			accepted(t, url, []byte(encode(o)))
		} else {
			refused(t, url, []byte(encode(o)))
		}
	}
}

func TestTimes(t *testing.T) {
	tests := map[string]bool{
		"2026-01-05T08:00:00Z":                                 true,
		"2024-02-29T23:59:59+23:59":                            true,
		"2024-02-29T00:00:00-00:00":                            true,
		"2000-02-29T00:00:00.000Z":                             true,
		"2026-01-05T08:00:00." + strings.Repeat("7", 60) + "Z": true,
		"0001-01-01T00:00:00.1+01:00":                          true,
		"2023-02-29T00:00:00Z":                                 false,
		"1900-02-29T00:00:00Z":                                 false,
		"2026-04-31T00:00:00Z":                                 false,
		"2026-00-10T00:00:00Z":                                 false,
		"2026-13-10T00:00:00Z":                                 false,
		"2026-01-00T00:00:00Z":                                 false,
		"2026-01-05T24:00:00Z":                                 false,
		"2026-01-05T08:60:00Z":                                 false,
		"2026-12-31T23:59:60Z":                                 false,
		"2026-01-05t08:00:00Z":                                 false,
		"2026-01-05T08:00:00z":                                 false,
		"2026-01-05 08:00:00Z":                                 false,
		"2026-01-05T08:00:00":                                  false,
		"2026-01-05T08:00Z":                                    false,
		"2026-01-05T8:00:00Z":                                  false,
		"2026-1-05T08:00:00Z":                                  false,
		"2026-01-05T08:00:00.Z":                                false,
		"2026-01-05T08:00:00,5Z":                               false,
		"2026-01-05T08:00:00.5":                                false,
		"2026-01-05T08:00:00+0100":                             false,
		"2026-01-05T08:00:00+01":                               false,
		"2026-01-05T08:00:00+24:00":                            false,
		"2026-01-05T08:00:00+01:60":                            false,
		"2026-01-05T08:00:00Z\n":                               false,
		" 2026-01-05T08:00:00Z":                                false,
		"+2026-01-05T08:00:00Z":                                false,
		"12026-01-05T08:00:00Z":                                false,
		"2026-01-05T08:00:00.٣Z":                               false,
	}
	for instant, want := range tests {
		o := object(t, page().envelope())
		o["fetched_at"] = instant
		if want {
			accepted(t, instant, []byte(encode(o)))
		} else {
			refused(t, instant, []byte(encode(o)))
		}
	}
}

// The rules of wire.md, section 2, where the bytes themselves matter.
func TestEnvelopeBytes(t *testing.T) {
	good := encode(page().envelope())
	accepted(t, "as it is", []byte(good))
	accepted(t, "white space around", []byte(" \t\r\n"+good+"\n\n"))
	accepted(t, "at the limit", []byte(good+strings.Repeat(" ", source.MaxEnvelopeBytes-len(good))))
	bad := map[string]string{
		"over the limit":      good + strings.Repeat(" ", source.MaxEnvelopeBytes-len(good)+1),
		"nothing":             "",
		"white space":         " \n",
		"byte order mark":     "\ufeff" + good,
		"lone byte":           strings.Replace(good, "Print", "\xff", 1),
		"two values":          good + good,
		"trailing":            good + ";",
		"array":               "[" + good + "]",
		"null":                "null",
		"key twice":           strings.Replace(good, `"provider":`, `"host":"github.com","provider":`, 1),
		"key twice, escaped":  strings.Replace(good, `"provider":`, `"h\u006fst":"github.com","provider":`, 1),
		"key twice, deep":     strings.Replace(good, `"is_minimized":`, `"is_minimized":true,"is_minimized":`, 1),
		"raw line break":      strings.Replace(good, "Print", "Print\n", 1),
		"deep arrays":         strings.Repeat("[", 10_000),
		"deep objects":        strings.Repeat(`{"parent":`, 10_000),
		"deep in labels":      strings.Replace(good, `"level:change"`, strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000), 1),
		"deep in unknown key": strings.Replace(good, `"provider":`, `"x":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`,"provider":`, 1),
	}
	for name, data := range bad {
		refused(t, name, []byte(data))
	}
}

func TestUnpairedSurrogateIsReplacedBeforeHashing(t *testing.T) {
	c := page()
	c.sections[0].payload = "One \ufffd page.\n"
	data := strings.Replace(encode(c.envelope()), "One \ufffd page", `One \ud800 page`, 1)
	if !strings.Contains(data, `\ud800`) {
		t.Fatal("the payload is not in the envelope")
	}
	e, err := source.DecodeEnvelope([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if h := source.Judge(e); !h.Usable() || string(h.Materials[0].Content) != "One \ufffd page.\n" {
		t.Errorf("%s: %s", h.Code, h.Reason)
	}
}
