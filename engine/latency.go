package engine

import (
	"math/bits"
	"time"
)

// Durations are counted in classes that grow with them, so that a figure of a
// microsecond and one of a minute are both right within 1/16.
const (
	classesPerOctave = 16
	octaves          = 36 // 2^39 microseconds are six days
)

// Latencies remembers how long many equal things took, in bounded memory. It is
// not safe for concurrent use.
type Latencies struct {
	// Count of what was added.
	Count int64

	classes [octaves * classesPerOctave]int64
}

// Add one duration; a negative one counts as none.
func (l *Latencies) Add(d time.Duration) {
	l.Count++
	l.classes[classOf(uint64(max(d.Microseconds(), 0)))]++
}

// Quantile is the duration, in microseconds, that the given share of them
// did not exceed; it is right within 1/16, and 0 where there are none.
func (l *Latencies) Quantile(share float64) int64 {
	left := int64(share*float64(l.Count) + 0.5)
	for class, n := range l.classes {
		if left -= n; left <= 0 && n > 0 {
			return classEnd(class)
		}
	}
	return 0
}

// classOf numbers the classes: the first octave holds each small number by
// itself, every later one is cut into equal parts.
func classOf(us uint64) int {
	octave := bits.Len64(us / classesPerOctave)
	if octave == 0 {
		return int(us)
	}
	class := octave*classesPerOctave + int(us>>(octave-1)) - classesPerOctave
	return min(class, octaves*classesPerOctave-1)
}

// classEnd is the largest number of a class.
func classEnd(class int) int64 {
	octave, part := class/classesPerOctave, class%classesPerOctave
	if octave == 0 {
		return int64(part)
	}
	return int64(classesPerOctave+part+1)<<(octave-1) - 1
}
