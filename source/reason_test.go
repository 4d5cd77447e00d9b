package source

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// No reason of today reaches the limit, so this looks at the cut itself.
func TestCutKeepsCharactersWhole(t *testing.T) {
	for _, prefix := range []string{"", "a", "ab", "abc"} {
		long := prefix + strings.Repeat("\U0001f600", 300)
		got := cut(long, MaxReasonBytes)
		if len(got) > MaxReasonBytes || len(got) <= MaxReasonBytes-utf8.UTFMax || !utf8.ValidString(got) || !strings.HasPrefix(long, got) {
			t.Errorf("%q...: %d bytes", prefix, len(got))
		}
	}
	if short := strings.Repeat("a", MaxReasonBytes); cut(short, MaxReasonBytes) != short {
		t.Error("a reason at the limit is cut")
	}
}
