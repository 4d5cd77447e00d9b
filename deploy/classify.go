package deploy

import (
	"errors"
	"io/fs"
)

// maxGeneratedBytes bounds what is read to compare a file with what this build
// generates; a longer one is certainly another.
const maxGeneratedBytes = 1_048_576

// sentinelText is the content of every sentinel.
const sentinelText = "generated\n"

// class is what a generated path is, seen with the claims of the manifest
// (adapters.md, section 4). An unsafe path is an *unsafeError instead.
type class int

const (
	classNew          class = iota // no claim, and nothing on disk
	classUnknown                   // no claim, and something on disk
	classPristine                  // claimed, and the bytes of this build
	classMissing                   // claimed, and nothing on disk
	classModified                  // claimed, and something else on disk
	classStaleMissing              // claimed with a digest of another build, nothing on disk
	classStale                     // the same, something on disk
)

// mayWrite reports whether install writes a file of this class.
func (c class) mayWrite() bool {
	return c == classNew || c == classPristine || c == classMissing || c == classStaleMissing
}

// onDisk reports whether something stands at the path.
func (c class) onDisk() bool {
	return c == classPristine || c == classModified || c == classStale || c == classUnknown
}

// classify looks at a generated path. m is nil where nothing is claimed. Errors:
// *unsafeError, and those of looking and reading.
func classify(root folder, m *manifest, f *generatedFile) (class, error) {
	info, err := lookAt(root, f.path)
	if err != nil {
		return 0, err
	}
	claim, claimed := "", false
	if m != nil {
		claim, claimed = m.claims[f.path]
	}
	switch {
	case claimed && claim != f.digest && info == nil:
		return classStaleMissing, nil
	case claimed && claim != f.digest:
		return classStale, nil
	case claimed:
		return compare(root, f.path, f.digest, info)
	case info == nil:
		return classNew, nil
	}
	return classUnknown, nil
}

// classifySentinel gives pristine, missing or modified.
func classifySentinel(root folder, h *host) (class, error) {
	info, err := lookAt(root, h.sentinelPath())
	if err != nil {
		return 0, err
	}
	return compare(root, h.sentinelPath(), digestOf([]byte(sentinelText)), info)
}

// compare holds what stands at a path against a digest.
func compare(root folder, path, digest string, info fs.FileInfo) (class, error) {
	switch {
	case info == nil:
		return classMissing, nil
	case !info.Mode().IsRegular() || info.Size() > maxGeneratedBytes:
		return classModified, nil
	}
	content, err := readAt(root, path, maxGeneratedBytes+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return classMissing, nil
	case err != nil:
		return 0, err
	case digestOf(content) != digest:
		return classModified, nil
	}
	return classPristine, nil
}
