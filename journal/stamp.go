package journal

// Stamp identifies a state of a journal: which file, how long, when changed last
// (daemon.md, section 1). The zero Stamp stands for no state. Stamps come from
// Read, Load, Repair, Sync and Append, and are given back to Read and Load; they
// mean nothing to another process.
type Stamp struct {
	device, inode     uint64
	size              int64 // bytes
	modified, changed int64 // nanoseconds
	last              int64 // number of the last record
	chain             chain // of the last record
	begin             int64 // where the last record begins
	ragged            bool  // the tail needs a repair
	synced            bool  // this process knows that all of it is durable
}

// Sequence is the number of the last record of that state; 0 where there is none.
func (s Stamp) Sequence() int64 { return s.last }

// Size is the length of the journal in that state, in bytes.
func (s Stamp) Size() int64 { return s.size }

// state is what a Stamp knows of a journal beyond the looks of its file.
type state struct {
	last           int64
	chain          chain
	begin          int64
	ragged, synced bool
}

// stampOf is the stamp of a journal in the given state.
func stampOf(info Info, s state) Stamp {
	return Stamp{
		device: info.Device, inode: info.Inode,
		size: info.Size, modified: info.Modified, changed: info.Changed,
		last: s.last, chain: s.chain, begin: s.begin, ragged: s.ragged, synced: s.synced,
	}
}

// describes reports whether a journal that looks like info is in the state s.
func (s Stamp) describes(info Info) bool {
	return s.last > 0 && s == stampOf(info, s.state())
}

func (s Stamp) state() state { return state{s.last, s.chain, s.begin, s.ragged, s.synced} }

// durable is the state once its journal was mended and synchronised.
func (s Stamp) durable() state {
	made := s.state()
	made.ragged, made.synced = false, true
	return made
}
