//go:build race

package engine_test

// The race detector makes everything about ten times slower.
const (
	walks         = 150
	walkLength    = 50
	contextChecks = 6
	damages       = 1_500
)
