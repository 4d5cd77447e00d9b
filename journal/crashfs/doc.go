// Package crashfs is a disk in memory that knows what a crash may leave of it. It
// serves tests that ask whether something acknowledged can be lost.
//
//	disk := crashfs.New("/srv/demo/.git")
//	store, err := journal.OpenStore(disk.Process(), "/srv/demo/.git", journal.ReadWrite)
//	...
//	for state := range disk.Cut().States(64) {
//		store, err := journal.OpenStore(state.Disk.Process(), ...)
//	}
//
// # The model
//
// It assumes less of a disk than the journaling file systems of the day give:
//
//   - What was written to a file and not synchronised since is there after a power
//     cut, or not, or in part: cut short at any place, or with zeros where the first
//     or the last part should be. The same holds for a file that was made shorter.
//   - An entry that was made, removed or renamed, and whose directory was not
//     synchronised since, is as before or as after, each name for itself: also a
//     rename is not taken to be one step.
//   - An entry of a synchronised directory may still be lost when the file or
//     directory it names was itself never synchronised.
//   - What was synchronised stays, bytes of the same file that were not rewritten
//     included. A sync that fails may have thrown away what it should have written,
//     so that a later one succeeds without it.
//
// When a process dies alone, all that it wrote is still there: see [Disk.Copy].
package crashfs
