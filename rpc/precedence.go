package rpc

import (
	"cmp"
	"strconv"
	"strings"
)

// compareVersions orders two versions by the precedence of Semantic Versioning,
// with or without a leading v. Build metadata has no say. What is no such
// version comes before everything that is one, so that a build of unknown
// version never replaces a release.
func compareVersions(a, b string) int {
	x, okA := parseVersion(a)
	y, okB := parseVersion(b)
	switch {
	case !okA && !okB:
		return 0
	case !okA:
		return -1
	case !okB:
		return +1
	}
	for i := range x.core {
		if c := cmp.Compare(x.core[i], y.core[i]); c != 0 {
			return c
		}
	}
	return comparePrereleases(x.prerelease, y.prerelease)
}

type semanticVersion struct {
	core       [3]uint64
	prerelease []string
}

func parseVersion(s string) (semanticVersion, bool) {
	var v semanticVersion
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	core, prerelease, hasPrerelease := strings.Cut(s, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) != len(v.core) {
		return v, false
	}
	for i, number := range numbers {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return v, false
		}
		v.core[i] = n
	}
	if hasPrerelease {
		v.prerelease = strings.Split(prerelease, ".")
	}
	return v, true
}

func comparePrereleases(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(b), len(a)) // a release comes after its prereleases
	}
	for i := range min(len(a), len(b)) {
		if c := compareIdentifiers(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareIdentifiers(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 64)
	y, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(x, y)
	case errA == nil:
		return -1
	case errB == nil:
		return +1
	}
	return strings.Compare(a, b)
}
