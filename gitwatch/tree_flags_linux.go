package gitwatch

import "golang.org/x/sys/unix"

// folderFlags open a folder for looking things up in it, which needs no
// permission to list it.
const folderFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW
