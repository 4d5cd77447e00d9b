package gitwatch

import (
	"io/fs"
	"os"
)

// examine looks at path itself or, with followLinks, at what it leads to.
func examine(path string, follow bool) (node, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	info, err := look(path)
	if err != nil {
		return node{}, err
	}
	return nodeOf(info), nil
}

func nodeOf(info fs.FileInfo) node {
	n := node{mode: uint32(info.Mode()), size: info.Size(), modified: info.ModTime().UnixNano()}
	switch {
	case info.Mode().IsRegular():
		n.kind = regularFile
	case info.IsDir():
		n.kind = directory
	case info.Mode()&fs.ModeSymlink != 0:
		n.kind = symbolicLink
	}
	return n
}

// ownedByCaller is not answered on Windows, so nothing is taken for owned.
func (n node) ownedByCaller() bool { return false }
