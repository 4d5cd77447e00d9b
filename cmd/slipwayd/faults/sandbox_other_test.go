//go:build unix && !linux

package faults

const denyVariable = "SLIPWAY_TEST_DENY"

// enterSandbox is never asked for: the tests that do are Linux's.
func enterSandbox([]string) {}
