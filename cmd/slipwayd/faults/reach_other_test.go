//go:build unix && !linux

package faults

import "time"

// processorTime is not known here.
func processorTime(int) time.Duration { return 0 }

// syncsOfOneSubmit is what the contract has (storage.md, section 8).
func (h *house) syncsOfOneSubmit() float64 { return 1 }
