package gitwatch

import (
	"path/filepath"
	"strings"
)

// includes is what a Git configuration file says about other files.
type includes struct {
	paths   []string // values of include.path and includeIf.*.path, as written
	unclear bool     // something is written in a way that is not followed here
}

// any reports whether the file refers, or may refer, to others.
func (i includes) any() bool { return i.unclear || len(i.paths) > 0 }

// includesOf collects the files that a configuration may include. Conditions are
// not evaluated and sections not told apart: a file too many costs a look, one
// too few would be an error. So every key named path counts.
func includesOf(text string) includes {
	var found includes
	if !strings.Contains(strings.ToLower(text), "include") {
		return found
	}
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := afterHeader(strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")))
		if !ok {
			found.unclear = true
			continue
		}
		key, value, assigned := strings.Cut(rest, "=")
		if !assigned || !strings.EqualFold(strings.TrimSpace(key), "path") {
			continue
		}
		value = strings.TrimSpace(value)
		if value == "" || strings.ContainsAny(value, "\"\\;#") {
			found.unclear = true
			continue
		}
		found.paths = append(found.paths, value)
	}
	return found
}

// afterHeader removes the section headers that a line begins with. A header
// that does not end is not ok.
func afterHeader(line string) (rest string, ok bool) {
	for strings.HasPrefix(line, "[") {
		end := headerEnd(line)
		if end < 0 {
			return "", false
		}
		line = strings.TrimSpace(line[end+1:])
	}
	return line, true
}

// headerEnd finds the bracket that closes the header which line begins with: the
// first one outside of quotes, in which a backslash takes the next byte literally.
func headerEnd(line string) int {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ']' && !quoted:
			return i
		}
	}
	return -1
}

// expandInclude makes the value of a path key absolute as Git does. Not ok where
// it is written in a way that needs more knowledge (~user, %(prefix)).
func expandInclude(value, includingFile, home string) (path string, ok bool) {
	if rest, inHome := strings.CutPrefix(value, "~/"); inHome {
		return filepath.Join(home, rest), filepath.IsAbs(home)
	}
	if strings.HasPrefix(value, "~") || strings.HasPrefix(value, "%") {
		return "", false
	}
	if filepath.IsAbs(value) {
		return value, true
	}
	return filepath.Join(filepath.Dir(includingFile), value), true
}
