//go:build !race

package engine_test

// How long TestWalk walks: so many walks of so many operations on average.
const (
	walks      = 2300
	walkLength = 50
)

// contextChecks is how many histories TestContextIsTheReference compares.
const contextChecks = 60

// damages is how many damaged histories TestReplayOfDamage replays.
const damages = 15_000
