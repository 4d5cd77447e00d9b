package source

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"slipway/schema"
)

// isNodeID reports whether s can be a node id of a comment or an author: not
// empty and without White_Space (source.md, 2.1).
func isNodeID(s string) bool {
	return s != "" && strings.IndexFunc(s, unicode.IsSpace) < 0
}

// isIssueNodeID reports whether s can be the node id of an Issue or a
// repository, which has no control character either.
func isIssueNodeID(s string) bool { return isNodeID(s) && schema.IsPlain(s) }

// isName reports whether s is non-blank plain.
func isName(s string) bool { return schema.IsPlain(s) && !schema.IsBlank(s) }

const (
	ownerCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
	nameCharacters  = ownerCharacters + "_."
	digits          = "0123456789"
)

// issueURLNumber returns the Issue number of an Issue URL, which is in
// 1 ... 2^64-1, and 0 for anything else (source.md, 2.1).
func issueURLNumber(url string) uint64 {
	path, found := strings.CutPrefix(url, "https://github.com/")
	if !found {
		return 0
	}
	owner, path, _ := strings.Cut(path, "/")
	name, number, _ := strings.Cut(path, "/issues/")
	switch {
	case !consistsOf(owner, ownerCharacters), !consistsOf(name, nameCharacters), name == ".", name == "..":
		return 0
	case !consistsOf(number, digits), number[0] == '0':
		return 0
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func consistsOf(s, characters string) bool {
	return s != "" && strings.Trim(s, characters) == ""
}

const clockLayout = "2006-01-02T15:04:05"

var (
	clockForm  = schema.Pattern(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`)
	offsetForm = schema.Pattern(`^[+-]([01]\d|2[0-3]):[0-5]\d$`)
)

// isTime reports whether s is an RFC 3339 time with upper-case T and Z or an
// offset, any fraction, a real date and seconds up to 59 (source.md, 2.1).
// [time.Parse] alone is more lenient than that.
func isTime(s string) bool {
	if len(s) <= len(clockLayout) {
		return false
	}
	clock, zone := s[:len(clockLayout)], s[len(clockLayout):]
	if !clockForm(clock) {
		return false
	}
	if _, err := time.Parse(clockLayout, clock); err != nil {
		return false
	}
	if fraction, found := strings.CutPrefix(zone, "."); found {
		zone = strings.TrimLeft(fraction, digits)
		if len(zone) == len(fraction) {
			return false
		}
	}
	return zone == "Z" || offsetForm(zone)
}
