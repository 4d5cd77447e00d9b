package gitwatch

import (
	"runtime"
	"strings"
)

// removedNames are the variables that point Git at something else than what
// stands at the root, or that inject configuration (git-observation.md, 2.1).
// They are compared without regard to case.
var removedNames = map[string]bool{
	"GIT_DIR":                          true,
	"GIT_WORK_TREE":                    true,
	"GIT_IMPLICIT_WORK_TREE":           true,
	"GIT_COMMON_DIR":                   true,
	"GIT_INDEX_FILE":                   true,
	"GIT_INDEX_VERSION":                true,
	"GIT_OBJECT_DIRECTORY":             true,
	"GIT_ALTERNATE_OBJECT_DIRECTORIES": true,
	"GIT_QUARANTINE_PATH":              true,
	"GIT_NAMESPACE":                    true,
	"GIT_REPLACE_REF_BASE":             true,
	"GIT_NO_REPLACE_OBJECTS":           true,
	"GIT_SHALLOW_FILE":                 true,
	"GIT_GRAFT_FILE":                   true,
	"GIT_PREFIX":                       true,
	"GIT_CEILING_DIRECTORIES":          true,
	"GIT_DISCOVERY_ACROSS_FILESYSTEM":  true,
	"GIT_CONFIG":                       true,
	"GIT_CONFIG_PARAMETERS":            true,
	"GIT_CONFIG_COUNT":                 true,
	optionalLocks:                      true,
}

var removedPrefixes = []string{"GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"}

// optionalLocks is set to 0, so that looking never writes the index.
const optionalLocks = "GIT_OPTIONAL_LOCKS"

// Scrub returns the environment in which Git is asked: env without the
// variables of git-observation.md 2.1 and without malformed entries, in the same
// order, with GIT_OPTIONAL_LOCKS=0. env stays as it is. Scrubbing twice gives
// the same as scrubbing once.
func Scrub(env []string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, entry := range env {
		name, _, formed := strings.Cut(entry, "=")
		if formed && !isRemoved(name) {
			kept = append(kept, entry)
		}
	}
	return append(kept, optionalLocks+"=0")
}

func isRemoved(name string) bool {
	// Nearly all names are none of Git's; they need no upper-case copy.
	if len(name) < len("GIT_") || !strings.EqualFold(name[:len("GIT_")], "GIT_") {
		return false
	}
	name = strings.ToUpper(name)
	for _, prefix := range removedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return removedNames[name]
}

// relevantNames are the variables that Git's answers depend on and that hold no
// secret.
var relevantNames = map[string]bool{
	// Where programs and configuration are found.
	"PATH": true, "HOME": true, "XDG_CONFIG_HOME": true,
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true,
	"GIT_ATTR_NOSYSTEM": true, "GIT_ATTR_SOURCE": true, "GIT_EXEC_PATH": true,
	"GIT_NO_LAZY_FETCH": true, "LD_LIBRARY_PATH": true, "DYLD_LIBRARY_PATH": true, "TMPDIR": true,
	// How text is compared and messages are written.
	"LANG": true, "LANGUAGE": true, "TZ": true,
	// Whose repositories are trusted.
	"SUDO_UID": true,
	// What programs on Windows can not do without.
	"USERPROFILE": true, "HOMEDRIVE": true, "HOMEPATH": true, "PATHEXT": true,
	"SYSTEMROOT": true, "SYSTEMDRIVE": true, "WINDIR": true, "COMSPEC": true,
	"PROGRAMDATA": true, "PROGRAMFILES": true, "APPDATA": true, "LOCALAPPDATA": true,
	"TEMP": true, "TMP": true, "MSYSTEM": true,
}

// RelevantEnvironment returns the entries of env that a daemon needs in order to
// ask Git as the caller would have. Credentials, helper programs that ask for
// them, and everything that [Scrub] removes stay behind.
func RelevantEnvironment(env []string) []string {
	kept := make([]string, 0, len(relevantNames))
	for _, entry := range env {
		name, _, formed := strings.Cut(entry, "=")
		if !formed {
			continue
		}
		if foldNames {
			name = strings.ToUpper(name)
		}
		if relevantNames[name] || strings.HasPrefix(name, "LC_") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// foldNames: Windows knows PATH as Path, too.
const foldNames = runtime.GOOS == "windows"

// lookup gives the value that a program started with env would see. The last
// entry of a name wins, as it does in os/exec.
func lookup(env []string, name string) (value string, set bool) {
	for i := len(env) - 1; i >= 0; i-- {
		entry := env[i]
		if len(entry) <= len(name) || entry[len(name)] != '=' {
			continue
		}
		if found := entry[:len(name)]; found == name || foldNames && strings.EqualFold(found, name) {
			return entry[len(name)+1:], true
		}
	}
	return "", false
}
