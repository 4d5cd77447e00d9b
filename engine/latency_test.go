package engine_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"slipway/engine"
)

func TestQuantilesAreRightWithinASixteenth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour/time.Microsecond)), 1, 200).Draw(t, "times")
		var l engine.Latencies
		for _, us := range times {
			l.Add(time.Duration(us) * time.Microsecond)
		}
		slices.Sort(times)
		for _, share := range []float64{0.5, 0.99, 1} {
			rank := max(1, int(share*float64(len(times))+0.5))
			want, got := times[rank-1], l.Quantile(share)
			if got < want || got > want+want/16 {
				t.Fatalf("quantile %v is %d, want about %d", share, got, want)
			}
		}
	})
}

func TestExtremeLatencies(t *testing.T) {
	var l engine.Latencies
	if l.Quantile(0.5) != 0 {
		t.Error("no call took some time")
	}
	l.Add(-time.Second)
	l.Add(1 << 62)
	if l.Count != 2 || l.Quantile(0.5) != 0 || l.Quantile(1) == 0 {
		t.Errorf("count %d, median %d", l.Count, l.Quantile(0.5))
	}
}
