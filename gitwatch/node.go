package gitwatch

// node is what the file system says about one name.
type node struct {
	kind            nodeKind
	device, inode   uint64
	mode, owner     uint32
	links           uint64 // names of a file
	size            int64
	modified        int64 // nanoseconds since 1970
	changed         int64 // of the inode; nanoseconds since 1970
	identityIsKnown bool  // device, inode, owner, links and changed mean something
}

type nodeKind uint8

const (
	otherNode nodeKind = iota // device, pipe, socket
	regularFile
	directory
	symbolicLink
	nullDevice // reads as an empty file
)

// Whether examine looks at a link or at what it leads to.
const (
	followLinks = true
	keepLinks   = false
)

// sameContentAs reports whether two looks at one name saw the same regular file
// with the same size and time.
func (n node) sameContentAs(other node) bool {
	return n.kind == regularFile && other.kind == regularFile &&
		n.device == other.device && n.inode == other.inode &&
		n.size == other.size && n.modified == other.modified
}
