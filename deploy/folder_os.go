package deploy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"slipway/journal"
)

// osFolder is a folder of the operating system. os.Root keeps every operation
// inside of it; comparing what was opened with what Lstat saw keeps links out.
type osFolder struct {
	root *os.Root
	file *os.File // the same folder once more, for what os.Root has no method for; opened when needed
}

// openFolder opens the folder at an absolute path.
func openFolder(path string) (folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &osFolder{root: root}, nil
}

func (f *osFolder) handle() (*os.File, error) {
	var err error
	if f.file == nil {
		f.file, err = f.root.Open(".")
	}
	return f.file, err
}

func (f *osFolder) Self() (fs.FileInfo, error) { return f.root.Stat(".") }

func (f *osFolder) Lstat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

func (f *osFolder) Open(name string) (folder, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() || isLink(seen) {
		return nil, errNoFolder
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened := &osFolder{root: root}
	if self, err := opened.Self(); err != nil || !os.SameFile(self, seen) {
		opened.Close()
		return nil, errors.Join(fmt.Errorf("%s was replaced meanwhile", f.at(name)), err)
	}
	return opened, nil
}

func (f *osFolder) Read(name string, limit int) ([]byte, fs.FileInfo, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", f.at(name))
	}
	// A pipe that took the file's place must not block its opening.
	file, err := f.root.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(info, seen) {
		return nil, nil, fmt.Errorf("%s was replaced meanwhile", f.at(name))
	}
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)))
	return content, info, err
}

func (f *osFolder) Names() ([]string, error) {
	list, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	return list.Readdirnames(-1)
}

func (f *osFolder) MakeFolder(name string, mode fs.FileMode) error {
	if err := f.root.Mkdir(name, mode); err != nil {
		return err
	}
	made, err := f.Open(name)
	if err != nil {
		return err
	}
	defer made.Close()
	handle, err := made.(*osFolder).handle()
	if err != nil {
		return err
	}
	return setFolderMode(handle, mode)
}

func (f *osFolder) WriteFile(name string, content []byte, mode fs.FileMode) error {
	return f.write(name, content, mode, (*os.File).Sync)
}

func (f *osFolder) write(name string, content []byte, mode fs.FileMode, sync func(*os.File) error) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = sync(file)
	}
	return errors.Join(err, file.Close())
}

func (f *osFolder) Move(name string, to folder, as string) error {
	return f.rename("move", moveExclusive, name, to.(*osFolder), as)
}

func (f *osFolder) Exchange(name string, with folder, other string) error {
	return f.rename("exchange", exchange, name, with.(*osFolder), other)
}

func (f *osFolder) rename(operation string, how func(*os.File, string, *os.File, string) error, name string, to *osFolder, as string) error {
	source, err := f.handle()
	if err != nil {
		return err
	}
	target, err := to.handle()
	if err != nil {
		return err
	}
	return f.fault(operation, name, how(source, name, target, as))
}

func (f *osFolder) RemoveFile(name string) error {
	info, err := f.root.Lstat(name)
	if err == nil && info.IsDir() {
		err = f.fault("remove", name, syscall.EISDIR)
	}
	if err != nil {
		return err
	}
	return f.root.Remove(name)
}

func (f *osFolder) RemoveFolder(name string) error {
	info, err := f.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = f.fault("remove", name, syscall.ENOTDIR)
	}
	if err != nil {
		return err
	}
	return f.root.Remove(name)
}

func (f *osFolder) Sync() error {
	if !journal.SyncsDirectories {
		return nil
	}
	handle, err := f.handle()
	if err == nil {
		err = handle.Sync()
	}
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil // this file system has no such thing
	}
	return err
}

func (f *osFolder) Close() error {
	if f.file != nil {
		f.file.Close()
	}
	return f.root.Close()
}

func (f *osFolder) at(name string) string { return filepath.Join(f.root.Name(), name) }

func (f *osFolder) fault(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: operation, Path: f.at(name), Err: err}
}
