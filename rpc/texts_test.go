package rpc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"slipway/schema"
)

func TestTextsAreGivenOutAgainAndBounded(t *testing.T) {
	var kept texts
	const largest = 256 << 10
	message := func(i int) *schema.ActionMaterial {
		text := fmt.Sprint(i) + strings.Repeat("\x00", largest-8) // each takes six bytes in JSON
		return &schema.ActionMaterial{RunID: "r", Section: schema.MaterialSection{SectionRevision: schema.PayloadDigest([]byte(text)), Markdown: text}}
	}
	for _, i := range []int{1, 2, 1, 3, 4, 5, 1, 2, 5} {
		m := message(i)
		want, err := schema.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := kept.pieces(m)
		if err != nil || !bytes.Equal(bytes.Join(pieces, nil), want) {
			t.Errorf("%d is not given out as it is (%v)", i, err)
		}
		total := 0
		for _, text := range kept.spelled {
			total += len(text)
		}
		if total != kept.bytes || total > textsKept {
			t.Errorf("%d bytes are kept and %d counted", total, kept.bytes)
		}
	}
}
