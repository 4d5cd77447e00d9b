// Package journal holds the durable log of each Run: where it lies, how it is
// written, read, locked and refused (storage.md). It knows nothing of what an
// event means; a [Record] is a number, a type, an instant and some JSON.
//
// # Opening
//
// A [Store] is the storage of one repository, found below its Git common
// directory:
//
//	store, err := journal.OpenStore(journal.OS(), commonDir, journal.ReadWrite)
//	defer store.Close()
//
// With [ReadOnly] nothing is created or changed, and a repository without Runs
// gives an empty Store. Opening is cheap; do it anew for every command, because a
// Store refuses to go on where its directories were replaced.
//
// # Reading
//
//	ids, err := store.RunIDs()                            // what is there
//	first, err := store.First(id)                         // whose Run it is; no lock
//	records, stamp, same, err := store.Read(ctx, id, have) // the whole, under a shared lock
//
// A [Stamp] proves that a journal is still the one that was read: who keeps the
// records keeps the Stamp, and gets same = true as long as it holds.
//
// # Writing
//
// A [Writer] is one Run under its exclusive lock:
//
//	w, err := store.Lock(ctx, id) // or Create for a new Run
//	defer w.Close()
//	records, stamp, same, err := w.Load(have)
//	// replay the records; if they make no Run, stop here: nothing was changed
//	stamp, err = w.Repair()       // mends an interrupted tail
//	err = w.PutMaterial(digest, content)
//	stamp, err = w.Append(record) // one write, one sync
//
// Whether an error of Append leaves the record behind is said by its
// [MutationError]. After one the Writer refuses to append until Load succeeded
// again. An answer that rests on the journal without appending to it
// needs [Writer.Sync] first.
//
// # Operating
//
// [Store.Inspect] tells everything that is stored of a Run, good or bad, and
// [Writer.Remove] removes one for good.
//
// # Form
//
// A record is one line, and its last member is a checksum over the record and all
// before it (SHA-256 over the 16 bytes of the checksum before, of zeros for the
// first record, and the bytes of the line up to the end of its data; cut to 16
// bytes):
//
//	{"sequence":1,"type":"run_started","at":"2025-03-04T05:06:07Z","data":{},"chain":"6021f388b542cf47ab5cc666979327c9"}
//
// There is no other spelling. A byte that was changed, and a record that was
// replaced, moved, doubled or removed, makes the Run one that can not be read, and
// the error names the record at which it shows. What a crash may leave at the very
// end is no damage: see [Writer.Repair].
//
// # Faults
//
// Everything goes through the interface [FS]. [OS] is the real one; the package
// journal/faultfs wraps one and lets any operation fail, and journal/crashfs is a disk
// in memory that knows what a crash may leave of it. What is promised under which
// fault is in docs/durability.md. No link is ever followed:
// each directory is opened relative to its parent, identified, and compared with
// what stands at its place around every step.
package journal
