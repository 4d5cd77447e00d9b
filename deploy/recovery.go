package deploy

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Names of what a transaction makes beside the files that it changes (adapters.md,
// section 7). The hexadecimal digits are random.
const (
	recoveryPrefix     = ".slipway-recovery-"
	deletePrefix       = ".slipway-delete-"
	deleteFolderPrefix = ".slipway-delete-dir-"
	entryNew           = "new"      // a staged file
	entrySnapshot      = "snapshot" // a file that was moved out of the way
)

const recoveryMode fs.FileMode = 0o700

// isRecoveryName reports whether an entry of a folder is left over from a
// transaction.
func isRecoveryName(name string) bool {
	return strings.HasPrefix(name, recoveryPrefix) || strings.HasPrefix(name, deletePrefix)
}

// recovery is a private folder beside a file that is being changed.
type recovery struct {
	path string
	info fs.FileInfo
}

// makeRecovery makes a recovery folder in a folder whose path is given. It may
// return the folder and an error.
func makeRecovery(parent folder, parentPath string) (*recovery, error) {
	name := recoveryPrefix + randomName()
	err := parent.MakeFolder(name, recoveryMode)
	info, lookErr := parent.Lstat(name)
	if errors.Is(lookErr, fs.ErrNotExist) {
		return nil, cmp.Or(err, lookErr)
	}
	return &recovery{path: path.Join(parentPath, name), info: info}, errors.Join(err, lookErr)
}

func randomName() string {
	var random [16]byte
	rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// open opens the folder, if it still is the one that was made.
func (r *recovery) open(root folder) (folder, error) {
	at, err := walk(root, r.path+"/.")
	if err != nil {
		return nil, err
	}
	self, err := at.Self()
	if err == nil && !os.SameFile(self, r.info) {
		err = fmt.Errorf("%s was replaced by somebody else", r.path)
	}
	if err != nil {
		at.Close()
		return nil, err
	}
	return at, nil
}

// disposal says whether an object in a recovery folder is Slipway's to delete, and
// which bytes it must have then; an empty digest stands for any.
type disposal func(fs.FileInfo) (digest string, mine bool)

// discard deletes what disposable says, and then the folder. Where that fails it
// also returns the paths of what is left.
func (r *recovery) discard(root folder, disposable disposal) (left []string, err error) {
	inside, err := r.open(root)
	if err != nil {
		return []string{r.path}, err
	}
	names, err := inside.Names()
	for _, name := range names {
		survivors, fault := discardFile(inside, name, disposable)
		for _, survivor := range survivors {
			left = append(left, path.Join(r.path, survivor))
			err = errors.Join(err, fmt.Errorf("%s stays: %w", path.Join(r.path, name), fault))
		}
	}
	inside.Close() // an open folder cannot be renamed everywhere
	switch {
	case len(left) > 0:
		return left, err
	case err != nil:
		return []string{r.path}, err
	}
	return r.remove(root)
}

// discardFile gives a file a name that nobody else can know, makes sure that it is
// the one that may go, and deletes it. Where that fails it returns the names that
// the file may have now.
func discardFile(at folder, name string, disposable disposal) (survivors []string, err error) {
	if err := mayDelete(at, name, disposable); err != nil {
		return []string{name}, err
	}
	doomed := deletePrefix + randomName()
	switch err = at.Move(name, at, doomed); {
	case errors.Is(err, errors.ErrUnsupported):
		doomed = name // then the private folder has to be protection enough
	case err != nil:
		return present(at, name, doomed), err
	}
	if err = mayDelete(at, doomed, disposable); err == nil {
		err = at.RemoveFile(doomed)
	}
	return putBackName(at, name, doomed, err)
}

// putBackName gives what could not be deleted its name back.
func putBackName(at folder, name, doomed string, err error) ([]string, error) {
	if err == nil {
		return nil, nil
	}
	if doomed != name {
		err = errors.Join(err, at.Move(doomed, at, name))
	}
	return present(at, name, doomed), err
}

// present gives the names that stand for something, or may.
func present(at folder, names ...string) (found []string) {
	for _, name := range inOrder(names) {
		if _, err := at.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			found = append(found, name)
		}
	}
	return found
}

func mayDelete(at folder, name string, disposable disposal) error {
	info, err := at.Lstat(name)
	if err != nil {
		return err
	}
	digest, mine := disposable(info)
	switch {
	case !mine || !info.Mode().IsRegular():
		return errors.New("it is kept for you")
	case digest == "":
		return nil
	}
	content, _, err := at.Read(name, maxGeneratedBytes+1)
	if err == nil && digestOf(content) != digest {
		err = errors.New("somebody else changed it")
	}
	return err
}

// remove deletes the empty folder, under a name that nobody else can know. Where
// that fails it returns the paths that the folder may have now.
func (r *recovery) remove(root folder) (left []string, err error) {
	parent, err := walk(root, r.path)
	if err != nil {
		return []string{r.path}, err
	}
	defer parent.Close()
	name, doomed := path.Base(r.path), deleteFolderPrefix+randomName()
	var survivors []string
	switch err = parent.Move(name, parent, doomed); {
	case errors.Is(err, errors.ErrUnsupported):
		doomed, err = name, nil
	case err != nil:
		survivors = present(parent, name, doomed)
	}
	if err == nil {
		survivors, err = putBackName(parent, name, doomed, r.removeNamed(parent, doomed))
	}
	for _, survivor := range survivors {
		left = append(left, path.Join(path.Dir(r.path), survivor))
	}
	return left, err
}

func (r *recovery) removeNamed(parent folder, name string) error {
	info, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(info, r.info) {
		return fmt.Errorf("%s was replaced by somebody else", r.path)
	}
	return parent.RemoveFolder(name)
}
