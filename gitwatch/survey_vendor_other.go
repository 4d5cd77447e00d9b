//go:build !darwin

package gitwatch

// vendorConfiguration: no other vendor is known to add a file.
var vendorConfiguration []string
