package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// SyncsDirectories tells whether the entries of a directory can be made durable
// (storage.md, section 8).
const SyncsDirectories = false

type osFS struct{}

// OS is the file system of the operating system.
func OS() FS { return osFS{} }

func (osFS) Lstat(path string) (Info, error) {
	return describeEntry(0, path, objectName(path))
}

func (osFS) OpenRoot(path string) (Dir, error) {
	handle, err := openEntry(0, objectName(path), directoryRead, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE, nil)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &windowsDir{file: os.NewFile(uintptr(handle), path), path: path}, nil
}

// objectName is the name of an absolute path for the object manager.
func objectName(path string) string {
	path = filepath.Clean(path)
	if share, ok := strings.CutPrefix(path, `\\`); ok && !strings.HasPrefix(share, `?\`) {
		return `\??\UNC\` + share
	}
	return `\??\` + strings.TrimPrefix(path, `\\?\`)
}

// Rights that handles are opened with. Deleting and renaming by others stays
// possible, as on Unix: identities are compared instead.
const (
	shareAll       = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	directoryRead  = windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE | windows.FILE_READ_ATTRIBUTES | windows.READ_CONTROL | windows.SYNCHRONIZE
	fileRead       = windows.FILE_GENERIC_READ
	fileWrite      = windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE | windows.WRITE_DAC
	attributesOnly = windows.FILE_READ_ATTRIBUTES | windows.SYNCHRONIZE
)

// openEntry opens name relative to an open directory, or an absolute name of the
// object manager where dir is 0. A reparse point is opened itself, not its target.
func openEntry(dir windows.Handle, name string, access, disposition, options uint32, security *windows.SECURITY_DESCRIPTOR) (windows.Handle, error) {
	unicode, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	attributes := &windows.OBJECT_ATTRIBUTES{
		RootDirectory: dir, ObjectName: unicode,
		Attributes: windows.OBJ_CASE_INSENSITIVE, SecurityDescriptor: security,
	}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	var handle windows.Handle
	var status windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&handle, access, attributes, &status, nil, windows.FILE_ATTRIBUTE_NORMAL, shareAll, disposition,
		options|windows.FILE_OPEN_REPARSE_POINT|windows.FILE_SYNCHRONOUS_IO_NONALERT, 0, 0)
	return handle, plainError(err)
}

// plainError turns a status into the error number that package fs knows.
func plainError(err error) error {
	var status windows.NTStatus
	if errors.As(err, &status) {
		return status.Errno()
	}
	return err
}

// describeEntry describes an entry without following it.
func describeEntry(dir windows.Handle, path, name string) (Info, error) {
	handle, err := openEntry(dir, name, attributesOnly, windows.FILE_OPEN, 0, nil)
	if err != nil {
		return Info{}, pathError("lstat", path, err)
	}
	defer windows.CloseHandle(handle)
	info, err := describe(handle)
	return info, pathError("lstat", path, err)
}

// basicInfo is FILE_BASIC_INFO.
type basicInfo struct {
	creation, lastAccess, lastWrite, change int64 // 100 ns since 1601
	attributes                              uint32
	_                                       uint32
}

func describe(handle windows.Handle) (Info, error) {
	var file windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &file); err != nil {
		return Info{}, err
	}
	var basic basicInfo
	err := windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic)))
	if err != nil {
		return Info{}, err
	}
	kind := Regular
	switch {
	case file.FileAttributes&(windows.FILE_ATTRIBUTE_REPARSE_POINT|windows.FILE_ATTRIBUTE_DEVICE) != 0:
		kind = Other
	case file.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		kind = Directory
	}
	return Info{
		Device: uint64(file.VolumeSerialNumber),
		Inode:  uint64(file.FileIndexHigh)<<32 | uint64(file.FileIndexLow),
		Kind:   kind,
		Size:   int64(file.FileSizeHigh)<<32 | int64(file.FileSizeLow),

		Modified: nanoseconds(basic.lastWrite), Changed: nanoseconds(basic.change),
	}, nil
}

func nanoseconds(ticks int64) int64 {
	t := windows.Filetime{LowDateTime: uint32(ticks), HighDateTime: uint32(ticks >> 32)}
	return t.Nanoseconds()
}

// windowsDir is an open directory.
type windowsDir struct {
	file  *os.File
	path  string
	mutex *heldMutex // nil without lock
}

func (d *windowsDir) handle() windows.Handle { return windows.Handle(d.file.Fd()) }

func (d *windowsDir) Stat() (Info, error) {
	info, err := describe(d.handle())
	return info, pathError("stat", d.path, err)
}

func (d *windowsDir) Lstat(name string) (Info, error) {
	return describeEntry(d.handle(), filepath.Join(d.path, name), name)
}

func (d *windowsDir) LstatIn(directory, name string) (Info, error) {
	in, err := d.OpenDir(directory, ReadOnly)
	if err != nil {
		return Info{}, err
	}
	defer in.Close()
	return in.Lstat(name)
}

func (d *windowsDir) Names() ([]string, error) {
	handle, err := openEntry(d.handle(), "", directoryRead, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE, nil)
	if err != nil {
		return nil, pathError("list", d.path, err)
	}
	list := os.NewFile(uintptr(handle), d.path)
	defer list.Close()
	return list.Readdirnames(-1)
}

func (d *windowsDir) Mkdir(name string) error {
	security, err := ownerOnly()
	if err != nil {
		return d.fault("mkdir", name, err)
	}
	handle, err := openEntry(d.handle(), name, directoryRead, windows.FILE_CREATE, windows.FILE_DIRECTORY_FILE, security)
	if err != nil {
		return d.fault("mkdir", name, err)
	}
	return windows.CloseHandle(handle)
}

func (d *windowsDir) OpenDir(name string, access Access) (Dir, error) {
	rights := uint32(directoryRead)
	if access == ReadWrite {
		rights |= windows.WRITE_DAC
	}
	handle, err := openEntry(d.handle(), name, rights, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE, nil)
	if err == nil && access == ReadWrite {
		err = secure(handle)
	}
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	path := filepath.Join(d.path, name)
	return &windowsDir{file: os.NewFile(uintptr(handle), path), path: path}, nil
}

func (d *windowsDir) Open(name string, how Opening) (File, error) {
	rights, disposition := uint32(fileWrite), uint32(windows.FILE_OPEN)
	var security *windows.SECURITY_DESCRIPTOR
	var err error
	switch how {
	case Reading:
		rights = fileRead
	case Creating:
		disposition = windows.FILE_CREATE
		if security, err = ownerOnly(); err != nil {
			return nil, d.fault("open", name, err)
		}
	}
	handle, err := openEntry(d.handle(), name, rights, disposition, windows.FILE_NON_DIRECTORY_FILE, security)
	if err == nil && how == Writing {
		err = secure(handle)
	}
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	return windowsFile{os.NewFile(uintptr(handle), filepath.Join(d.path, name))}, nil
}

func (d *windowsDir) Rename(from, to string) error {
	return d.fault("rename", from, d.rename(from, to, true))
}

func (d *windowsDir) Publish(from, to string) error {
	return d.fault("publish", from, d.rename(from, to, false))
}

// renameInfo is FILE_RENAME_INFORMATION with room for the names of this package.
type renameInfo struct {
	replace    uint32
	directory  windows.Handle
	nameLength uint32 // bytes
	name       [windows.MAX_PATH]uint16
}

func (d *windowsDir) rename(from, to string, replace bool) error {
	handle, err := openEntry(d.handle(), from, windows.DELETE|windows.SYNCHRONIZE, windows.FILE_OPEN, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle)
	target, err := windows.UTF16FromString(to)
	if err != nil {
		return err
	}
	info := renameInfo{directory: d.handle(), nameLength: uint32(2 * (len(target) - 1))}
	if len(target) > len(info.name) {
		return windows.ERROR_FILENAME_EXCED_RANGE
	}
	copy(info.name[:], target)
	if replace {
		info.replace = windows.FILE_RENAME_REPLACE_IF_EXISTS
	}
	var status windows.IO_STATUS_BLOCK
	err = windows.NtSetInformationFile(handle, &status, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), windows.FileRenameInformation)
	return plainError(err)
}

func (d *windowsDir) Remove(name string) error {
	return d.fault("remove", name, d.remove(name, windows.FILE_NON_DIRECTORY_FILE))
}

func (d *windowsDir) RemoveDir(name string) error {
	return d.fault("remove", name, d.remove(name, windows.FILE_DIRECTORY_FILE))
}

func (d *windowsDir) remove(name string, kind uint32) error {
	handle, err := openEntry(d.handle(), name, windows.DELETE|windows.SYNCHRONIZE, windows.FILE_OPEN, kind, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle)
	disposition := byte(1)
	return windows.SetFileInformationByHandle(handle, windows.FileDispositionInfo, &disposition, 1)
}

// Sync does nothing: Windows has no such call for directories.
func (d *windowsDir) Sync() error { return nil }

func (d *windowsDir) TryLock(mutex string, _ bool) (bool, error) {
	held, err := tryMutex(mutex)
	if held != nil {
		d.mutex = held
	}
	return held != nil, pathError("lock", d.path, err)
}

func (d *windowsDir) Close() error {
	if d.mutex != nil {
		d.mutex.release()
	}
	return d.file.Close()
}

func (d *windowsDir) fault(op, name string, err error) error {
	return pathError(op, filepath.Join(d.path, name), err)
}

// windowsFile is an open regular file.
type windowsFile struct{ *os.File }

func (f windowsFile) Stat() (Info, error) {
	info, err := describe(windows.Handle(f.Fd()))
	return info, pathError("stat", f.Name(), err)
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
