//go:build unix

package gitwatch

import (
	"errors"
	"math"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// examine looks at path itself or, with followLinks, at what it leads to.
func examine(path string, follow bool) (node, error) {
	var st unix.Stat_t
	look := unix.Lstat
	if follow {
		look = unix.Stat
	}
	if err := uninterrupted(func() error { return look(path, &st) }); err != nil {
		return node{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return nodeOf(&st), nil
}

func nodeOf(st *unix.Stat_t) node {
	n := node{
		device:          uint64(st.Dev),
		inode:           uint64(st.Ino),
		mode:            uint32(st.Mode),
		owner:           st.Uid,
		links:           uint64(st.Nlink),
		size:            st.Size,
		modified:        st.Mtim.Nano(),
		changed:         st.Ctim.Nano(),
		identityIsKnown: true,
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		n.kind = regularFile
	case unix.S_IFDIR:
		n.kind = directory
	case unix.S_IFLNK:
		n.kind = symbolicLink
	case unix.S_IFCHR:
		if uint64(st.Rdev) == nullDeviceNumber() {
			n.kind = nullDevice
		}
	}
	return n
}

// nullDeviceNumber is that of os.DevNull, or one that no device has.
var nullDeviceNumber = sync.OnceValue(func() uint64 {
	var st unix.Stat_t
	if err := unix.Stat(os.DevNull, &st); err != nil || uint32(st.Mode)&unix.S_IFMT != unix.S_IFCHR {
		return math.MaxUint64
	}
	return uint64(st.Rdev)
})

// ownedByCaller reports whether Git, run by this process, takes the node for the
// caller's own. It may say no where Git says yes.
func (n node) ownedByCaller() bool {
	return n.identityIsKnown && n.owner == self
}

// self is the user that this process and the Git that it starts run as.
var self = uint32(os.Geteuid())

// uninterrupted repeats a system call for as long as signals interrupt it.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
