package engine_test

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// The searches for what a crash may lose are thinned out in an ordinary run.
// `make soak` sets SLIPWAY_SOAK; then they are exhaustive, and what can go on for
// ever goes on for SLIPWAY_SOAK_MINUTES, 30 where it is not set.
const (
	soakVariable        = "SLIPWAY_SOAK"
	soakMinutesVariable = "SLIPWAY_SOAK_MINUTES"
	soakMinutes         = 30
)

// soaking is how long the simulation shall run; 0 in an ordinary run.
func soaking(t testing.TB) time.Duration {
	t.Helper()
	if os.Getenv(soakVariable) == "" {
		return 0
	}
	minutes := soakMinutes
	if text := os.Getenv(soakMinutesVariable); text != "" {
		var err error
		if minutes, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", soakMinutesVariable, err)
		}
	}
	return time.Duration(minutes) * time.Minute
}
