package deploy

import (
	"net/url"
	"regexp"
	"strings"

	"slipway/schema"
)

const scpPrefix = "git@github.com:"

var repositoryPart = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// gitHubRepository gives OWNER/NAME of the address of a repository on github.com,
// or nothing for any other (adapters.md, 11.5).
func gitHubRepository(address string) string {
	address = schema.TrimWhiteSpace(address)
	if strings.ContainsAny(address, "\r\n\x00%") {
		return ""
	}
	name, ok := strings.CutPrefix(address, scpPrefix)
	if !ok {
		if name, ok = urlPath(address); !ok {
			return ""
		}
	}
	parts := strings.Split(strings.TrimSuffix(name, ".git"), "/")
	if len(parts) != 2 {
		return ""
	}
	for _, part := range parts {
		if part == "." || part == ".." || !repositoryPart.MatchString(part) {
			return ""
		}
	}
	return parts[0] + "/" + parts[1]
}

// urlPath gives the path of an https or ssh address, without its leading slash.
func urlPath(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Hostname(), gitHubName) || strings.ContainsAny(address, "?#") {
		return "", false
	}
	switch {
	case strings.HasPrefix(address, "https://") && u.User == nil:
	case strings.HasPrefix(address, "ssh://") && (u.User == nil || u.User.String() == "git"):
	default:
		return "", false
	}
	return strings.CutPrefix(u.Path, "/")
}
