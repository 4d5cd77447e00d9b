package rpc

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
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

// TestTextsForManyAtOnce: whoever asks gets the text of its message, and what is kept
// counts once.
func TestTextsForManyAtOnce(t *testing.T) {
	const clients = 50
	var kept texts
	begin := make(chan struct{})
	var done sync.WaitGroup
	for i := range clients {
		text := strings.Repeat(fmt.Sprint(i*2/clients, "\u2028"), 32<<10)
		m := &schema.ActionMaterial{Section: schema.MaterialSection{SectionRevision: schema.PayloadDigest([]byte(text)), Markdown: text}}
		want, err := schema.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		done.Go(func() {
			<-begin
			pieces, err := kept.pieces(m)
			if err != nil || !bytes.Equal(bytes.Join(pieces, nil), want) {
				t.Errorf("a text is not given out as it is (%v)", err)
			}
		})
	}
	close(begin)
	done.Wait()
	total := 0
	for _, text := range kept.spelled {
		total += len(text)
	}
	if total != kept.bytes || len(kept.spelled) != 2 {
		t.Errorf("%d texts with %d bytes are kept and %d counted", len(kept.spelled), total, kept.bytes)
	}
}
