package deploy

import (
	"io/fs"
	"os"
)

// openWithoutWaiting is nothing here: no pipe stands in a folder.
const openWithoutWaiting = 0

// setFolderMode has nothing to do: a folder takes the access list of the one that
// it is in.
func setFolderMode(*os.File, fs.FileMode) error { return nil }
