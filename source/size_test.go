package source_test

import (
	"runtime"
	"strings"
	"testing"

	"slipway/source"
)

// largest are envelopes of close to 16 MiB that make the most work. Those with a
// long text after the manifest end in what must not be there, so that all of it
// is read.
func largest() map[string][]byte {
	fill := func(head, piece string) []byte {
		const last = "\\n```slipway-manifest"
		e := page().envelope()
		e.Body = "@"
		shell := strings.Replace(encode(e), "@", strings.Trim(encode(frame(encode(page().manifest()), head)), `"`)+"@", 1)
		n := (source.MaxEnvelopeBytes - len(shell) - len(last)) / len(piece)
		return []byte(strings.Replace(shell, "@", strings.Repeat(piece, n)+last, 1))
	}
	comment := func(piece string) []byte {
		shell := encode(page().envelope())
		n := (source.MaxEnvelopeBytes - len(shell)) / len(piece)
		return []byte(strings.Replace(shell, "One page.", strings.Repeat(piece, n), 1))
	}
	return map[string][]byte{
		"words":            fill("", "word "),
		"empty lines":      fill("", `\n`),
		"short lines":      fill("", `a\n`),
		"escapes":          fill("", `\u00e9`),
		"one deep list":    fill("", "- "),
		"one deep quote":   fill("", ">"),
		"deep, then lines": fill(strings.Repeat("- ", 1_000_000), `\n`),
		"deep, then texts": fill(strings.Repeat("> ", 1_000_000), `>\na\n`),
		"block in a list":  fill("- ```\n", `  x\n`),
		"one comment, CR":  comment(`\r`),
		"labels":           []byte(`{"labels":[` + strings.Repeat(`"a",`, 4_000_000)),
		"comments":         []byte(`{"comments":[` + strings.Repeat(`{},`, 5_500_000)),
		"brackets":         []byte(strings.Repeat("[", source.MaxEnvelopeBytes)),
		"objects":          []byte(strings.Repeat(`{"parent":`, source.MaxEnvelopeBytes/10)),
	}
}

func work(data []byte) {
	if e, err := source.DecodeEnvelope(data); err == nil {
		h := source.Judge(e)
		runtime.KeepAlive(&h)
	}
}

// Whatever a file of 16 MiB holds, all memory that is ever asked for on its
// behalf is a small multiple of it.
func TestMemoryStaysInProportion(t *testing.T) {
	const most = 6 * source.MaxEnvelopeBytes
	for name, data := range largest() {
		if len(data) > source.MaxEnvelopeBytes || len(data) < source.MaxEnvelopeBytes*9/10 {
			t.Fatalf("%s: %d bytes", name, len(data))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		work(data)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > most {
			t.Errorf("%s: %d MiB allocated", name, used>>20)
		}
	}
}

func BenchmarkLargest(b *testing.B) {
	for name, data := range largest() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				work(data)
			}
		})
	}
}

func BenchmarkUsual(b *testing.B) {
	data := []byte(encode(page().envelope()))
	b.ReportAllocs()
	for b.Loop() {
		work(data)
	}
}
