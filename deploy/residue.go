package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// legacyChildren are names that earlier products of this name used beside the
// folder of Runs (adapters.md, 11.3).
var legacyChildren = map[string]string{
	"runtime":        "legacy_runtime_residue",
	"cache":          "legacy_cache_residue",
	"scope-root":     "legacy_scope_root_residue",
	"scopes":         "legacy_scopes_residue",
	"locks":          "legacy_locks_residue",
	"processes":      "legacy_processes_residue",
	"repair-backups": "legacy_repair_backups_residue",
}

const (
	unknownResidue = "legacy_unknown_residue"
	runsFolder     = "runs"
)

// residueChecks names everything beside the folder of Runs. Nothing of it is
// opened or followed.
func residueChecks(commonDir string) []Check {
	names, err := namespaceChildren(filepath.Join(commonDir, "slipway"))
	if err != nil {
		return []Check{residueCheck(unknownResidue, err.Error())}
	}
	var checks []Check
	for _, name := range names {
		if name == runsFolder {
			continue
		}
		code, known := legacyChildren[name]
		if !known {
			code = unknownResidue
		}
		checks = append(checks, residueCheck(code, fmt.Sprintf("%q beside the Run folder is not of this version; it is left alone", name)))
	}
	return checks
}

func residueCheck(code, detail string) Check {
	return Check{Code: code, Status: StatusWarning, HostID: NoHost, Name: "legacy_runstore", Detail: detail}
}

// namespaceChildren lists a folder in byte order; nothing where it does not exist.
func namespaceChildren(folder string) ([]string, error) {
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be looked at: %w", folder, err)
	case !info.IsDir() || isLink(info):
		return nil, fmt.Errorf("%s is a link or no folder", folder)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be listed: %w", folder, err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names, nil
}

// maxListedLeftovers bounds how many leftovers one detail names.
const maxListedLeftovers = 1000

// recoveryChecks names what transactions left behind that were interrupted or
// could not clean up: nobody else knows of it. It is one check, or none.
func recoveryChecks(root folder) []Check {
	found := leftovers(root)
	if len(found) == 0 {
		return nil
	}
	more := ""
	if len(found) > maxListedLeftovers {
		more = fmt.Sprintf(" and %d more", len(found)-maxListedLeftovers)
		found = found[:maxListedLeftovers]
	}
	return []Check{{
		Code: "adapter_recovery_residue", Status: StatusWarning, HostID: NoHost, Name: "adapter recovery",
		Detail: fmt.Sprintf("an install or uninstall that did not end left %s%s behind; an entry %s is a file that was moved away, "+
			"an entry %s one that was to be written: inspect them, move back what you miss, and delete the rest",
			strings.Join(found, ", "), more, entrySnapshot, entryNew),
	}}
}

// leftovers lists the entries of recovery folders beside everything that can be
// generated, and such folders where they are empty.
func leftovers(root folder) []string {
	var found []string
	for _, parent := range generatedFolders() {
		at, err := walk(root, parent+"/.")
		if err != nil {
			continue // what cannot be reached now could not be changed either
		}
		names, _ := at.Names()
		for _, name := range names {
			if isRecoveryName(name) {
				found = append(found, recoveryEntries(at, name, parent)...)
			}
		}
		at.Close()
	}
	return inOrder(found)
}

func recoveryEntries(parent folder, name, parentPath string) []string {
	where := path.Join(parentPath, name)
	var entries []string
	if at, err := parent.Open(name); err == nil {
		entries, _ = at.Names()
		at.Close()
	}
	if len(entries) == 0 {
		return []string{plain(where)}
	}
	for i, entry := range entries {
		entries[i] = plain(path.Join(where, entry))
	}
	return entries
}

// plain quotes a name that would not stay one word on one line.
func plain(name string) string {
	if quoted := fmt.Sprintf("%q", name); quoted != `"`+name+`"` || strings.ContainsAny(name, " ,") {
		return quoted
	}
	return name
}

// generatedFolders are all folders that files may be generated in.
func generatedFolders() []string {
	var folders []string
	for _, h := range hosts() {
		folders = append(folders, path.Dir(h.manifestPath()))
		for _, k := range h.kits {
			for _, file := range k.paths {
				folders = append(folders, path.Dir(file))
			}
		}
	}
	return inOrder(folders)
}
