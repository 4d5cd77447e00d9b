//go:build race

package engine_test

// crashStride thins out the searches for what a crash may lose.
const crashStride = 10
