package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"slipway/schema"
)

// MaxMaterial is the largest material, in bytes; the smallest has one byte
// (storage.md, section 7).
const MaxMaterial = 262_144

const materialDomain = "slipway-material/v1"

// MaterialDigest is the digest by which a material is named.
func MaterialDigest(content []byte) schema.Digest {
	return schema.FramedContentDigest(content, materialDomain)
}

// materialName is the file name of a material: the hex digits of its digest.
func materialName(digest schema.Digest) string {
	return strings.TrimPrefix(string(digest), "sha256:")
}

// Material returns a stored material after checking its kind, size and digest. It
// takes no lock, because materials never change. Errors: ErrNoRun; an *InvalidError
// where the Run's directory is unusable; a *StoreError; any other error says why the
// material is not available (source.md, section 16).
func (s *Store) Material(id string, digest schema.Digest) (string, error) {
	var text strings.Builder
	if err := s.readMaterial(id, digest, &text); err != nil {
		return "", err
	}
	return text.String(), nil
}

// VerifyMaterial is [Store.Material] for who has the text already.
func (s *Store) VerifyMaterial(id string, digest schema.Digest) error {
	return s.readMaterial(id, digest, nil)
}

func (s *Store) readMaterial(id string, digest schema.Digest, text *strings.Builder) error {
	run, err := s.openRun(id, ReadOnly)
	if err != nil {
		return err
	}
	defer run.close()
	materials, err := run.openDir(materialsName, ReadOnly)
	if err != nil {
		return fmt.Errorf("the materials of the Run: %w", err)
	}
	defer materials.close()
	return readMaterial(materials, digest, Reading, text)
}

// readMaterial reads and checks one material; with Writing it also makes it
// owner-only. Its text, where it is wanted, is put together while it is digested,
// piece by piece: hosts read one before every Action, and another copy would take as
// long as the disk.
func readMaterial(materials *place, digest schema.Digest, how Opening, text *strings.Builder) error {
	if !digest.Valid() {
		return fmt.Errorf("%q is no digest", digest)
	}
	stored, err := materials.openFile(materialName(digest), how)
	if err != nil {
		return err
	}
	defer stored.close()
	size := stored.info.Size
	if size < 1 || size > MaxMaterial {
		return fmt.Errorf("the material %s has %d bytes", digest, size)
	}
	found := schema.NewContentHash(int(size), materialDomain)
	var sink io.Writer = found
	if text != nil {
		text.Grow(int(size))
		sink = io.MultiWriter(text, found)
	}
	if _, err := io.CopyN(sink, io.NewSectionReader(stored.file, 0, size), size); err != nil {
		return err
	}
	if found.Digest() != digest {
		return fmt.Errorf("the material %s has other content than its digest says", digest)
	}
	return materials.verify()
}

// PutMaterial stores a material of 1 to MaxMaterial bytes before the record that
// refers to it (storage.md, section 7). A stored one with the same content is
// reused; nothing that stands at its name is ever changed. Its only error is a
// *MutationError with phase validation, namespace_verify, directory_create or
// directory_sync.
func (w *Writer) PutMaterial(digest schema.Digest, content []byte) error {
	if len(content) < 1 || len(content) > MaxMaterial {
		return notCommitted(PhaseValidation, fmt.Errorf("a material of %d bytes", len(content)))
	}
	if MaterialDigest(content) != digest {
		return notCommitted(PhaseValidation, fmt.Errorf("the material is not the one that %q names", digest))
	}
	if err := w.openMaterials(); err != nil {
		return err
	}
	if err := w.materials.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	err := readMaterial(w.materials, digest, Writing, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = w.storeMaterial(digest, content)
	}
	var mutation *MutationError
	if errors.As(err, &mutation) {
		return err
	}
	if err != nil {
		return notCommitted(PhaseDirectoryCreate, err)
	}
	// Also a reused one may lie in a directory that was never synchronised.
	w.materialsUnsynced = true
	if !slices.Contains(w.put, digest) {
		w.put = append(w.put, digest)
	}
	return nil
}

// openMaterials opens or creates the directory of the materials.
func (w *Writer) openMaterials() error {
	if w.materials != nil {
		return nil
	}
	if err := w.run.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	materials, err := w.run.openDir(materialsName, ReadWrite)
	if errors.Is(err, fs.ErrNotExist) {
		if err := w.run.dir.Mkdir(materialsName); err != nil {
			return notCommitted(PhaseDirectoryCreate, err)
		}
		if err := w.run.dir.Sync(); err != nil {
			return notCommitted(PhaseDirectorySync, err)
		}
		materials, err = w.run.openDir(materialsName, ReadWrite)
	}
	if err != nil {
		return notCommitted(PhaseDirectoryCreate, err)
	}
	w.materials = materials
	return nil
}

// storeMaterial writes a new material under a temporary name and publishes it.
func (w *Writer) storeMaterial(digest schema.Digest, content []byte) error {
	name := materialName(digest)
	temporary := "." + name
	file, err := replaceLeftover(w.materials, temporary)
	if err != nil {
		return err
	}
	defer file.close()
	if _, err = file.file.WriteAt(content, 0); err == nil {
		if err = file.file.Sync(); err != nil {
			err = notCommitted(PhaseDirectorySync, err)
		}
	}
	if err == nil {
		err = w.materials.verify()
	}
	if err == nil {
		if err = w.materials.dir.Publish(temporary, name); err != nil && w.fresh && !errors.Is(err, fs.ErrExist) {
			w.materials.dir.Remove(name) // it may be there in spite of the error
		}
	}
	if err != nil {
		w.materials.dir.Remove(temporary)
	}
	return err
}

// replaceLeftover creates a temporary file. Its name is fixed, so that crashes do
// not pile up leaves; under the lock what stands there is a leftover.
func replaceLeftover(in *place, name string) (*leaf, error) {
	if err := in.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := in.openFile(name, Creating)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		in.dir.Remove(name)
	}
	return file, err
}

// syncMaterials makes the names of the materials durable before the record.
func (w *Writer) syncMaterials() error {
	if !w.materialsUnsynced {
		return nil
	}
	if err := w.materials.verify(); err != nil {
		return notCommitted(PhaseNamespaceVerify, err)
	}
	if err := w.materials.dir.Sync(); err != nil {
		return notCommitted(PhaseDirectorySync, err)
	}
	w.materialsUnsynced = false
	return nil
}

// verifyMaterials reads the materials of this mutation again.
func (w *Writer) verifyMaterials() error {
	for _, digest := range w.put {
		if err := readMaterial(w.materials, digest, Reading, nil); err != nil {
			return err
		}
	}
	return nil
}
