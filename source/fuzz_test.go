package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/source"
)

// judgedTwice judges e twice and again after a round through its bytes.
func judgedTwice(t *testing.T, e *source.Envelope) *source.Head {
	h := source.Judge(e)
	checkHead(t, &h)
	if diff := cmp.Diff(h, source.Judge(e)); diff != "" {
		t.Fatalf("judged again:\n%s", diff)
	}
	back, err := source.DecodeEnvelope([]byte(encode(e)))
	if err != nil {
		t.Fatalf("an accepted envelope is refused: %v", err)
	}
	if diff := cmp.Diff(h, source.Judge(back)); diff != "" {
		t.Fatalf("judged after a round trip:\n%s", diff)
	}
	return &h
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(encode(page().envelope())))
	f.Add([]byte(encode(amended().envelope())))
	withParent := page()
	withParent.issueParent = somewhere
	f.Add([]byte(encode(withParent.envelope())))
	f.Add([]byte(`{"labels":[],"comments":[{"node_id":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := source.DecodeEnvelope(data)
		if err != nil {
			_, again := source.DecodeEnvelope(data)
			if again == nil || again.Error() != err.Error() {
				t.Fatalf("first %v, then %v", err, again)
			}
			return
		}
		judgedTwice(t, e)
	})
}

func FuzzManifest(f *testing.F) {
	f.Add(encode(page().manifest()))
	f.Add(encode(amended().manifest()))
	f.Add(" {\"manifest_version\":2,\n\"profile\":\"change/v2\",\"sections\":[{}]}")
	f.Fuzz(func(t *testing.T, manifest string) {
		e := page().envelope()
		e.Body = frame(manifest, "")
		e, err := source.DecodeEnvelope([]byte(encode(e)))
		if err != nil {
			return // no text
		}
		if h := judgedTwice(t, e); h.Usable() && len(h.Source.Sections) != len(e.Comments) {
			t.Errorf("%d sections of %d comments", len(h.Source.Sections), len(e.Comments))
		}
	})
}

// FuzzBody holds the text after the manifest against the plain reading of the
// rules, and the whole body against itself.
func FuzzBody(f *testing.F) {
	for _, tail := range []string{
		"", "- > ```\n  > <!-- slipway-level:", "1. a\n\n   ~~~\n   ```slipway-manifest\n   ~~~\n", "> - x\n>\n> 2) ```\n\t",
	} {
		f.Add(tail)
	}
	f.Fuzz(func(t *testing.T, tail string) {
		e := page().envelope()
		e.Body += tail
		if decodedTail, err := source.DecodeEnvelope([]byte(encode(e))); err == nil {
			h := judgedTwice(t, decodedTail)
			if want := plainTailAccepted(lf(tail)); h.Usable() != want {
				t.Errorf("usable %t, the plain reading says %t", h.Usable(), want)
			}
		}
		e.Body = tail
		if e, err := source.DecodeEnvelope([]byte(encode(e))); err == nil {
			judgedTwice(t, e)
		}
	})
}
