//go:build unix && !linux

package gitwatch

import "golang.org/x/sys/unix"

// folderFlags open a folder for looking things up in it.
const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW
