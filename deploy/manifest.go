package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"slipway/schema"
)

const (
	manifestVersion  = 2
	maxManifestBytes = 262_144
)

// manifest is a host's ownership record (adapters.md, section 3). It comes from
// the repository and thus from anybody: what it claims gives authority only over
// bytes that this build generates.
type manifest struct {
	surface string            // of a host with surfaces
	claims  map[string]string // generated path to digest
	digest  string            // of the file itself
}

// claimsExactly reports whether the claims are the whole kit as this build
// generates it.
func (m *manifest) claimsExactly(k *kit) bool {
	if len(m.claims) != len(k.paths) {
		return false
	}
	return !slices.ContainsFunc(k.paths, func(path string) bool { return m.claims[path] != k.byPath[path].digest })
}

// manifestError is an invalid manifest: the first check of adapters.md, 3.1 that
// failed.
type manifestError struct {
	check int
	err   error
}

// surfaceCheck is the check that asks for a surface.
const surfaceCheck = 6

func (e *manifestError) Error() string { return e.err.Error() }
func (e *manifestError) Unwrap() error { return e.err }

// isSurfaceFault reports whether all that is known to be wrong with a manifest is
// its surface.
func isSurfaceFault(err error) bool {
	var invalid *manifestError
	return errors.As(err, &invalid) && invalid.check == surfaceCheck
}

// loadManifest reads and checks a host's manifest; nil where there is none. Every
// error is a *manifestError.
func loadManifest(root folder, h *host) (*manifest, error) {
	info, err := lookAt(root, h.manifestPath())
	if err == nil {
		_, err = lookAt(root, h.sentinelPath())
	}
	switch {
	case err != nil:
		return nil, &manifestError{1, err}
	case info == nil:
		return nil, nil
	}
	content, err := readManifest(root, h, info)
	if err != nil {
		return nil, &manifestError{2, fmt.Errorf("%s: %w", h.manifestPath(), err)}
	}
	m, check, err := parseManifest(h, content)
	if err != nil {
		return nil, &manifestError{check, fmt.Errorf("%s: %w", h.manifestPath(), err)}
	}
	return m, nil
}

func readManifest(root folder, h *host, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	content, err := readAt(root, h.manifestPath(), maxManifestBytes+1)
	if err == nil && len(content) > maxManifestBytes {
		err = fmt.Errorf("has more than %d bytes", maxManifestBytes)
	}
	return content, err
}

// manifestDocument is the JSON object. Values are looked at one after the other,
// so that the check that fails first is the one that is reported.
type manifestDocument struct {
	Version *json.RawMessage `json:"version"`
	ToolID  *json.RawMessage `json:"tool_id"`
	Surface *json.RawMessage `json:"surface"`
	Files   *json.RawMessage `json:"files"`
}

type claimDocument struct {
	Path   *json.RawMessage `json:"path"`
	SHA256 *json.RawMessage `json:"sha256"`
}

// parseManifest is checks 3 to 9.
func parseManifest(h *host, content []byte) (m *manifest, check int, err error) {
	var document manifestDocument
	if err := schema.DecodeStrict(content, maxManifestBytes, &document); err != nil {
		return nil, 3, err
	}
	var files []claimDocument
	if document.Files != nil {
		if err := schema.DecodeStrict(*document.Files, maxManifestBytes, &files); err != nil {
			return nil, 3, fmt.Errorf("files: %w", err)
		}
	}
	m = &manifest{digest: digestOf(content), claims: make(map[string]string, len(files))}
	if document.Version == nil || string(*document.Version) != fmt.Sprint(manifestVersion) {
		return nil, 4, fmt.Errorf("version is not %d: manifests of other versions authorise nothing", manifestVersion)
	}
	if text(document.ToolID) != h.id {
		return nil, 5, fmt.Errorf("tool_id is not %q", h.id)
	}
	if m.surface, err = surfaceOf(h, document.Surface); err != nil {
		return nil, surfaceCheck, err
	}
	if document.Files == nil {
		return nil, 7, errors.New("files is missing or null")
	}
	for i, file := range files {
		if err := m.claim(text(file.Path), text(file.SHA256)); err != nil {
			return nil, 8, fmt.Errorf("files[%d]: %w", i, err)
		}
	}
	for _, path := range sortedKeys(m.claims) {
		if h.kit(m.surface).byPath[path] == nil {
			return nil, 9, fmt.Errorf("%q is no path that this build generates for %s", path, h.id)
		}
	}
	return m, 0, nil
}

// surfaceOf is check 6. A surface on a host that has none is passed over, as are
// other keys of the object.
func surfaceOf(h *host, raw *json.RawMessage) (string, error) {
	if !h.hasSurfaces() {
		return "", nil
	}
	var surfaces map[string]json.RawMessage
	if raw != nil && json.Unmarshal(*raw, &surfaces) == nil {
		value := surfaces[h.id]
		if surface := text(&value); h.kit(surface) != nil {
			return surface, nil
		}
	}
	return "", fmt.Errorf("surface.%s is neither %s nor %s", h.id, surfaceIDE, surfaceCLI)
}

// text is a JSON string, or empty where the value is none.
func text(raw *json.RawMessage) string {
	var s string
	if raw == nil || json.Unmarshal(*raw, &s) != nil {
		return ""
	}
	return s
}

// claim is check 8: it adds one entry.
func (m *manifest) claim(name, digest string) error {
	name = schema.TrimWhiteSpace(name)
	digest = strings.ToLower(schema.TrimWhiteSpace(digest))
	cleaned := path.Clean(name)
	_, claimed := m.claims[cleaned]
	switch {
	case name == "":
		return errors.New("path is empty")
	case path.IsAbs(cleaned) || filepath.IsAbs(name) || filepath.VolumeName(name) != "":
		return fmt.Errorf("path %q is not relative", name)
	case cleaned == ".." || strings.HasPrefix(cleaned, "../"):
		return fmt.Errorf("path %q leads out of the worktree", name)
	case claimed:
		return fmt.Errorf("path %q stands there twice", name)
	case len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "":
		return errors.New("sha256 is not 64 hexadecimal digits")
	}
	m.claims[cleaned] = digest
	return nil
}

// render is the manifest as it is written.
func (m *manifest) render(h *host) []byte {
	type entry struct {
		Path   string `json:"path"`
		SHA256 string `json:"sha256"`
	}
	document := struct {
		Version int               `json:"version"`
		ToolID  string            `json:"tool_id"`
		Surface map[string]string `json:"surface,omitempty"`
		Files   []entry           `json:"files"`
	}{Version: manifestVersion, ToolID: h.id, Files: []entry{}}
	if h.hasSurfaces() {
		document.Surface = map[string]string{h.id: m.surface}
	}
	for _, path := range sortedKeys(m.claims) {
		document.Files = append(document.Files, entry{path, m.claims[path]})
	}
	return indented(document)
}
