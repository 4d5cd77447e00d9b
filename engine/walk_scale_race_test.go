//go:build race

package engine_test

// The race detector makes everything about ten times slower.
const (
	walks         = 200
	walkLength    = 50
	contextChecks = 10
)
