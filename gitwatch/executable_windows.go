package gitwatch

import "strings"

// defaultExtensions is what Windows takes where PATHEXT is not set.
const defaultExtensions = ".com;.exe;.bat;.cmd"

// executable returns file with the first extension of PATHEXT that leads to a
// file.
func executable(env []string, file string) (string, node, bool) {
	extensions, set := lookup(env, "PATHEXT")
	if !set || extensions == "" {
		extensions = defaultExtensions
	}
	for extension := range strings.SplitSeq(extensions, ";") {
		if extension == "" {
			continue
		}
		if n, err := examine(file+extension, followLinks); err == nil && n.kind == regularFile {
			return file + extension, n, true
		}
	}
	return "", node{}, false
}
