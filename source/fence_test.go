package source_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slipway/source"
)

const probe = "<!-- slipway-level: change/v2 -->"

// tailAccepted judges a Change with this text after its manifest.
func tailAccepted(t testing.TB, tail string) bool {
	t.Helper()
	e := page().envelope()
	e.Body += tail
	h := source.Judge(e)
	if !h.Usable() && h.Code != source.ManifestInvalid {
		t.Fatalf("code %s for the tail %q", h.Code, tail)
	}
	return h.Usable()
}

// In each row "!" stands for a level marker: inside a block it is welcome,
// outside it is refused. So a row tells where a block begins and ends.
func TestBlocksAfterTheManifest(t *testing.T) {
	const in, out = true, false
	tests := []struct {
		name, tail string
		want       bool
	}{
		{"nothing", "", in},
		{"text", "A note.\n\n- [ ] a receipt\n", in},
		{"marker", "!", out},
		{"marker in a line", "see `!` there", out},
		{"half a marker", "slipway-level: change/v2", in},
		{"manifest fence", "```slipway-manifest", out},
		{"manifest fence, trimmed", " \t```slipway-manifest \u3000", out},
		{"manifest fence, deep", "        ```slipway-manifest", out},
		{"longer manifest fence", "````slipway-manifest\n!\n````", in},
		{"manifest fence with a word", "```slipway-manifest x\n!\n```", in},
		{"manifest fence in a quote", "> ```slipway-manifest\n> !", in},
		{"manifest fence in a list", "- ```slipway-manifest\n  !", in},
		{"manifest fence in tildes", "~~~slipway-manifest\n!", in},
		{"manifest fence in a block", "````\n```slipway-manifest\n!\n````", in},
		{"manifest fence that ends a quoted block", "> ```\n```slipway-manifest", out},

		{"block", "```\n!\n```", in},
		{"block with a word", "```text\n!\n```", in},
		{"tildes", "~~~ a`b\n!\n~~~", in},
		{"two characters", "``\n!\n``", out},
		{"mixed characters", "``~\n!", out},
		{"tick in the info", "``` a`b\n!\n```", out},
		{"never closed", "```\n\n!\n> !\n- !", in},
		{"after the block", "```\n```\n!", out},
		{"after the tildes", "~~~\n~~~\n!", out},
		{"closed by a longer fence", "```\n`````\n!", out},
		{"closed with spaces", "```\n   ``` \t\u3000\n!", out},
		{"not closed by a shorter fence", "````\n```\n!", in},
		{"not closed by the other character", "```\n~~~\n!", in},
		{"not closed with a word", "```\n```text\n!", in},
		{"not closed with 4 spaces", "```\n    ```\n!", in},
		{"not closed by a TAB", "```\n\t```\n!", in},
		{"fence with 3 spaces", "   ```\n!", in},
		{"fence with 4 spaces", "    ```\n!", out},
		{"fence with a TAB", "\t```\n!", out},
		{"marker on the fence line", "~~~ !", in},
		{"tick fence refused for its info, then marker", "```a`\n```\n!", in},

		{"quote", "> ```\n> !\n> ```", in},
		{"quote without spaces", ">```\n>!\n", in},
		{"quote with spaces", "   > ```\n>!\n", in},
		{"quote with 4 spaces", "    > ```\n    > !", out},
		{"out of the quote", "> ```\n!", out},
		{"out of the quote for a fence", "> ```\n```\n!", in},
		{"blank line in a quoted block", "> ```\n\n> !", in},
		{"quote marks only in a block", "> > ```\n>\n> > !", in},
		{"quote marks only, too many", "> ```\n> > >\n> !", in},
		{"deeper quote is content", "> ```\n> > !", in},
		{"less deep quote ends it", "> > ```\n> !", out},
		{"quote in a block is content", "```\n> ```\n!", in},
		{"closing inside the quote", "> ```\n> ```\n> !", out},

		{"list", "- ```\n  !\n  ```", in},
		{"list, out", "- ```\n!", out},
		{"list, one space only", "- ```\n !", out},
		{"list, by a TAB", "- ```\n\t!", out},
		{"list with TAB after the mark", "-\t```\n  !", out},
		{"list without space", "-```\n !", out},
		{"list, more spaces are content", "- ```\n      !", in},
		{"list, next item", "- ```\n- !", out},
		{"list, next item with a block", "- ```\n- ```\n  !", in},
		{"list, blank line in the block", "- ```\n\n  !", in},
		{"list with plus", "+ ```\n  !", in},
		{"list with star", "* ```\n  !", in},
		{"numbered", "1. ```\n   !", in},
		{"numbered with parenthesis", "7) ```\n   !", in},
		{"numbered, too little", "1. ```\n  !", out},
		{"nine digits", "123456789. ```\n           !", in},
		{"ten digits", "1234567890. ```\n            !", out},
		{"number without mark", "1 ```\n  !", out},
		{"4 spaces after the mark", "-    ```\n     !", in},
		{"4 spaces after the mark, too little", "-    ```\n    !", out},
		{"5 spaces after the mark", "-     ```\n  !", out},
		{"5 spaces after the mark, then a block", "-     x\n  ```\n  !", in},
		{"5 spaces after the mark, then a block that ends with the item", "-     x\n  ```\n!", out},
		{"leading spaces count", "   - ```\n     !", in},
		{"leading spaces count, too little", "   - ```\n    !", out},
		{"4 leading spaces", "    - ```\n      !", out},
		{"mark at the end of the line", "-\n  ```\n  !", in},
		{"number at the end of the line", "1.\n   ```\n   !", in},
		{"number at the end, too little", "1.\n  ```\n!", in},
		{"block in a later line of the item", "- a\n  ```\n  !", in},
		{"block in a later line, out", "- a\n  ```\n!", out},
		{"block beside the item", "- a\n```\n!", in},
		{"after a blank line still in the item", "- a\n\n  ```\n  !\n  ```\n!", out},
		{"indented code in the item", "- a\n\n      ```\n!", out},
		{"lazy text ends the item", "- a\nb\n  ```\n!", in},

		{"nested lists", "- - ```\n    !", in},
		{"nested lists, outer only", "- - ```\n  !", out},
		{"nested lists, back to the outer", "- - a\n  b\n  ```\n  !", in},
		{"nested lists, the inner is closed", "- - a\n  b\n    ```\n  !", in},
		{"nested lists, block in the inner", "- a\n  - b\n    ```\n    !\n  x", in},
		{"nested lists, marker behind the inner block", "- a\n  - b\n    ```\n  !", out},
		{"list in quote", "> - ```\n>   !", in},
		{"list in quote, out of the item", "> - ```\n> !", out},
		{"quote in list", "- > ```\n  > !", in},
		{"quote in list, out of the quote", "- > ```\n  !", out},
		{"quote in list, later", "- a\n  > ```\n  > !", in},
		{"list in quote in list", "- > 1. ```\n  >    !", in},
		{"list in quote goes on", "> - a\n>   ```\n>   !", in},
		{"white space line ends quotes", "> - a\n\n>   ```\n> !", in},
		{"quote mark line keeps quotes", "> - a\n>\n>   ```\n> !", out},
		{"white space line keeps lists outside quotes", "- > - a\n \n  ```\n  !", in},
		{"white space line keeps only lists outside quotes", "- > - a\n\t\n  >   ```\n  > !", in},
		{"white space line ends quotes that go on", "> - a\n>   b\n\n>   ```\n> !", in},
		{"quotes that are over are not ended again", "> a\n- b\n\n  ```\n!", out},
		{"white space of any kind", "> - a\n\u2003\n>   ```\n> !", in},

		{"number in a paragraph", "a\n2. ```\n   !", out},
		{"number in a paragraph, then a fence", "a\n2. b\n   ```\n!", in},
		{"1 in a paragraph", "a\n1. ```\n   !", in},
		{"01 in a paragraph", "a\n01. ```\n    !", in},
		{"0 in a paragraph", "a\n0. ```\n   !", out},
		{"10 in a paragraph", "a\n10. ```\n    !", out},
		{"dash in a paragraph", "a\n- ```\n  !", in},
		{"number after a blank line", "a\n\n2. ```\n   !", in},
		{"number after a quoted blank line", "> a\n>\n> 2. ```\n>    !", in},
		{"number after a heading", "# a\n2. ```\n   !", in},
		{"number after an empty heading", "##\n2. ```\n   !", in},
		{"number after a heading with TAB", "###### \ta\n2. ```\n   !", in},
		{"number after seven #", "####### a\n2. ```\n   !", out},
		{"number after # without space", "#a\n2. ```\n   !", out},
		{"number after a thematic break", "***\n2. ```\n   !", in},
		{"number after a spaced break", " _ _\t_ \n2. ```\n   !", in},
		{"number after two stars", "**\n2. ```\n   !", out},
		{"number after a mixed break", "**_\n2. ```\n   !", out},
		{"number after indented text", "    a\n2. ```\n   !", in},
		{"number after a block", "```\n```\n2. ```\n   !", in},
		{"number after a block that ended a paragraph", "a\n```\n```\n2. ```\n   !", in},
		{"number after an item", "- a\n2. ```\n   !", in},
		{"number in the paragraph of an item", "- a\n  2. ```\n     !", out},
		{"number in the paragraph of a quote", "> a\n> 2. ```\n>    !", out},
		{"number beside the paragraph of a quote", "> a\n2. ```\n   !", in},
		{"number in an item beside the paragraph of a quote", "> a\n- 2. ```\n     !", in},
		{"number in a quote beside the paragraph of an item", "- a\n> 2. ```\n>    !", in},
		{"number in an item of another width", "- a\n-  2. ```\n      !", in},
		{"number in an item of the same width", "- a\n- 2. ```\n     !", out},
		{"number in a deeper quote", "> a\n> > 2. ```\n> >    !", in},
		{"number in a less deep quote", "> > a\n> 2. ```\n>    !", in},
		{"number beside the paragraph of an item of the same width", "- a\n\n  b\n- 2. ```\n     !", out},
		{"number in an empty item", "-\n  2. ```\n     !", in},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tail := strings.ReplaceAll(test.tail, "!", probe)
			if got := tailAccepted(t, tail); got != test.want {
				t.Errorf("tail %q: accepted %t, want %t", test.tail, got, test.want)
			}
			if got := plainTailAccepted(tail); got != test.want {
				t.Errorf("tail %q: the plain reading accepts %t, want %t", test.tail, got, test.want)
			}
		})
	}
}

// linePieces make lines that meet the rules about blocks all the time.
var linePieces = []string{
	" ", "  ", "   ", "     ", "\t", "\u00a0", ">", "> ", "-", "- ", "-  ", "+ ", "* ", "1. ", "2. ", "01) ", "3)", "1234567890. ",
	"```", "````", "~~~", "~~~~~", "`", "```slipway-manifest", "x", "# ", "#", "***", "_", probe, "slipway",
}

// Containers and ends of lines that often stand in one another.
var (
	containerPieces = []string{"> ", "- ", "-  ", "  ", "   ", "1. ", "2. "}
	endPieces       = []string{"", "a", "```", "~~~", "#", "     x"}
)

func tails() *rapid.Generator[string] {
	mixed := joined(rapid.SliceOfN(rapid.SampledFrom(linePieces), 0, 6), "")
	nested := rapid.Custom(func(r *rapid.T) string {
		return joined(rapid.SliceOfN(rapid.SampledFrom(containerPieces), 0, 4), "").Draw(r, "containers") +
			rapid.SampledFrom(endPieces).Draw(r, "end")
	})
	return rapid.OneOf(
		joined(rapid.SliceOfN(mixed, 0, 12), "\n"),
		joined(rapid.SliceOfN(nested, 1, 8), "\n"),
	)
}

func joined(pieces *rapid.Generator[[]string], between string) *rapid.Generator[string] {
	return rapid.Map(pieces, func(all []string) string { return strings.Join(all, between) })
}

// After every tail a marker tells whether a block is open, so that a tail that is
// accepted says more than that it has no marker.
func TestBlocksAgainstThePlainReading(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tail := tails().Draw(r, "tail")
		for _, last := range []string{"", probe, "  " + probe, "> " + probe, "   > " + probe, "     " + probe} {
			probed := tail + "\n" + last
			if got, want := tailAccepted(t, probed), plainTailAccepted(probed); got != want {
				r.Fatalf("tail %q: accepted %t, the plain reading says %t", probed, got, want)
			}
		}
	})
}
