package deploy

import (
	"errors"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// renameInformation is FILE_RENAME_INFORMATION; the name follows it in memory.
type renameInformation struct {
	flags         uint32
	rootDirectory windows.Handle
	nameLength    uint32 // bytes
	name          [1]uint16
}

// moveExclusive renames by handles, so that nothing on the way can be a link.
func moveExclusive(from *os.File, name string, to *os.File, as string) error {
	entry, err := openForRename(windows.Handle(from.Fd()), name)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(entry)

	wide, err := windows.UTF16FromString(as)
	if err != nil {
		return err
	}
	wide = wide[:len(wide)-1] // the name is counted, not terminated
	var header renameInformation
	buffer := make([]byte, unsafe.Sizeof(header)+uintptr(2*len(wide)))
	info := (*renameInformation)(unsafe.Pointer(&buffer[0]))
	info.rootDirectory = windows.Handle(to.Fd())
	info.nameLength = uint32(2 * len(wide))
	copy(unsafe.Slice(&info.name[0], len(wide)), wide)

	var status windows.IO_STATUS_BLOCK
	err = windows.NtSetInformationFile(entry, &status, &buffer[0], uint32(len(buffer)), windows.FileRenameInformation)
	if errors.Is(err, windows.STATUS_OBJECT_NAME_COLLISION) {
		return fs.ErrExist
	}
	return err
}

func openForRename(folder windows.Handle, name string) (windows.Handle, error) {
	object, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	attributes := &windows.OBJECT_ATTRIBUTES{
		RootDirectory: folder,
		ObjectName:    object,
		Attributes:    windows.OBJ_CASE_INSENSITIVE,
	}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	var handle windows.Handle
	var status windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&handle, windows.DELETE|windows.SYNCHRONIZE, attributes, &status, nil, 0,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, windows.FILE_OPEN,
		windows.FILE_OPEN_REPARSE_POINT|windows.FILE_OPEN_FOR_BACKUP_INTENT|windows.FILE_SYNCHRONOUS_IO_NONALERT, 0, 0)
	if errors.Is(err, windows.STATUS_OBJECT_NAME_NOT_FOUND) {
		return 0, fs.ErrNotExist
	}
	return handle, err
}

// exchange has no counterpart on Windows.
func exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
