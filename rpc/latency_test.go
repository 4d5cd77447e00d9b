package rpc

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestQuantilesAreRightWithinASixteenth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour/time.Microsecond)), 1, 200).Draw(t, "times")
		var l latencies
		for _, us := range times {
			l.add(time.Duration(us) * time.Microsecond)
		}
		slices.Sort(times)
		for _, share := range []float64{0.5, 0.99, 1} {
			rank := max(1, int(share*float64(len(times))+0.5))
			want, got := times[rank-1], l.quantile(share)
			if got < want || got > want+want/classesPerOctave {
				t.Fatalf("quantile %v is %d, want about %d", share, got, want)
			}
		}
	})
}

func TestExtremeLatencies(t *testing.T) {
	var l latencies
	if l.quantile(0.5) != 0 {
		t.Error("no call took some time")
	}
	l.add(-time.Second)
	l.add(1 << 62)
	if l.count != 2 || l.quantile(0.5) != 0 || l.quantile(1) == 0 {
		t.Errorf("count %d, median %d", l.count, l.quantile(0.5))
	}
}
