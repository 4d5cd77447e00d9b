package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"slipway/gitwatch"
)

const (
	probeTime   = 5 * time.Second
	maxProbe    = 65_536 // bytes of one answer
	killGrace   = 500 * time.Millisecond
	gitHubName  = "github.com"
	permissions = ".permissions"
)

// GitHubFacts is what [ProbeGitHub] found out about the gh that the caller would
// run. Nothing in it was said by gh: versions, accounts and tokens stay where they
// are.
type GitHubFacts struct {
	Tool        ToolFact               `json:"tool"`
	Auth        *bool                  `json:"auth,omitempty"`        // nil: not asked
	Permissions *RepositoryPermissions `json:"permissions,omitempty"` // nil: not asked
}

// ToolFact says which gh there is.
type ToolFact string

// The kinds of gh.
const (
	ToolUnavailable    ToolFact = "unavailable"
	ToolVersionUnknown ToolFact = "version_unknown"
	ToolTooOld         ToolFact = "rest_fallback_required"
	ToolCompatible     ToolFact = "compatible"
)

// RepositoryPermissions is what the caller may do to the Issues of the repository
// that origin names.
type RepositoryPermissions struct {
	Repository string `json:"repository"` // OWNER/NAME
	Known      bool   `json:"known"`      // the rest was answered
	Read       bool   `json:"read"`
	Triage     bool   `json:"triage"`
	Write      bool   `json:"write"`
}

// ProbeGitHub looks at the gh on the PATH of env (adapters.md, 11.5). It belongs
// into the process and environment that gh would be started from, never into a
// daemon. root is a folder in the worktree. It starts up to five programs, each
// for 5 s at the most.
func ProbeGitHub(ctx context.Context, env []string, root string) *GitHubFacts {
	gh, ok := findProgram(env, "gh")
	if !ok {
		return &GitHubFacts{Tool: ToolUnavailable}
	}
	facts := &GitHubFacts{Tool: toolFact(probe(ctx, env, gh, "--version"))}
	_, err := probe(ctx, env, gh, "auth", "status", "--hostname", gitHubName)
	signedIn := err == nil
	facts.Auth = &signedIn
	if !signedIn {
		return facts
	}
	repository := originRepository(ctx, env, root)
	if repository == "" {
		return facts
	}
	answer, err := probe(ctx, env, gh, "api", "--hostname", gitHubName, "repos/"+repository, "--jq", permissions)
	facts.Permissions = permissionFacts(repository, answer, err)
	return facts
}

// findProgram looks for a program as a shell would. A hit through a relative
// element of PATH counts as none: what runs must not depend on where one stands.
func findProgram(env []string, name string) (string, bool) {
	path := ""
	for _, entry := range env {
		if key, value, _ := strings.Cut(entry, "="); key == "PATH" || isPathKey(key) {
			path = value
		}
	}
	for _, folder := range filepath.SplitList(path) {
		candidate := filepath.Join(folder, name)
		if !filepath.IsAbs(candidate) {
			// A bare name would make LookPath search by itself.
			candidate = "." + string(filepath.Separator) + candidate
		}
		found, err := exec.LookPath(candidate)
		if err == nil || errors.Is(err, exec.ErrDot) {
			return found, filepath.IsAbs(candidate)
		}
	}
	return "", false
}

var errTooLong = errors.New("the answer is too long")

// probe runs a program without input and returns what it writes to stdout.
func probe(ctx context.Context, env []string, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	answer := bounded{overflow: cancel}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	cmd.Stdout = &answer
	cmd.WaitDelay = killGrace
	if err := runContained(cmd); err != nil {
		return nil, err
	}
	return answer.taken, nil
}

// bounded takes an answer that is not too long.
type bounded struct {
	taken    []byte
	overflow func() // ends the program that says more
}

func (b *bounded) Write(data []byte) (int, error) {
	if len(b.taken)+len(data) > maxProbe {
		b.overflow()
		return 0, errTooLong
	}
	b.taken = append(b.taken, data...)
	return len(data), nil
}

// leastVersion is the first gh with native parents, sub-issues and dependencies.
var leastVersion = [3]uint64{2, 94, 0}

func toolFact(answer []byte, err error) ToolFact {
	if err != nil {
		return ToolVersionUnknown
	}
	for _, word := range strings.Fields(string(answer)) {
		version, ok := parseVersion(word)
		if !ok {
			continue
		}
		for i, part := range version {
			if part != leastVersion[i] {
				if part < leastVersion[i] {
					return ToolTooOld
				}
				break
			}
		}
		return ToolCompatible
	}
	return ToolVersionUnknown
}

// parseVersion reads three numbers joined by dots.
func parseVersion(word string) (version [3]uint64, ok bool) {
	parts := strings.Split(strings.TrimRight(strings.TrimPrefix(word, "v"), ",;)"), ".")
	if len(parts) != len(version) {
		return version, false
	}
	for i, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return version, false
		}
		number, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			number = 1<<64 - 1 // too large for any comparison to matter
		}
		version[i] = number
	}
	return version, true
}

// originRepository is OWNER/NAME of origin, or empty.
func originRepository(ctx context.Context, env []string, root string) string {
	git, ok := findProgram(env, "git")
	if !ok {
		return ""
	}
	answer, err := probe(ctx, gitwatch.Scrub(env), git, "-C", root, "remote", "get-url", "origin")
	if err != nil {
		return ""
	}
	return gitHubRepository(string(answer))
}

func permissionFacts(repository string, answer []byte, err error) *RepositoryPermissions {
	facts := &RepositoryPermissions{Repository: repository}
	var given map[string]*bool
	if err != nil || json.Unmarshal(answer, &given) != nil || given == nil {
		return facts
	}
	may := map[string]bool{}
	for name, value := range given {
		if value == nil {
			return facts
		}
		may[name] = *value
	}
	facts.Known = true
	facts.Read = may["pull"]
	facts.Write = may["push"] || may["maintain"] || may["admin"]
	facts.Triage = may["triage"] || facts.Write
	return facts
}

// checks are those of adapters.md, 11.5.
func (f *GitHubFacts) checks() []Check {
	if f == nil {
		return nil
	}
	checks := []Check{f.toolCheck()}
	if f.Tool == ToolUnavailable || f.Auth == nil {
		return checks
	}
	if !*f.Auth {
		return append(checks, gitHubCheck("github_auth_unavailable", "github_auth",
			"gh is not signed in to "+gitHubName+" here; run `gh auth login`"))
	}
	checks = append(checks, gitHubCheck("github_auth_available", "github_auth", "gh is signed in to "+gitHubName))
	if f.Permissions != nil {
		checks = append(checks, f.Permissions.check())
	}
	return checks
}

func (f *GitHubFacts) toolCheck() Check {
	const name = "github_cli"
	least := fmt.Sprintf("%d.%d.%d", leastVersion[0], leastVersion[1], leastVersion[2])
	switch f.Tool {
	case ToolCompatible:
		return gitHubCheck("github_cli_compatible", name, "gh is "+least+" or newer")
	case ToolTooOld:
		return gitHubCheck("github_cli_rest_fallback_required", name, "gh is older than "+least+"; the REST routes are used in its place")
	case ToolVersionUnknown:
		return gitHubCheck("github_cli_version_unknown", name, "gh did not tell its version")
	}
	return gitHubCheck("github_cli_unavailable", name, "gh was not found on PATH")
}

func (p *RepositoryPermissions) check() Check {
	const name = "github_permissions"
	if !p.Known {
		return gitHubCheck("github_issue_permissions_unknown", name,
			fmt.Sprintf("%s: read=unknown triage=unknown write=unknown", p.Repository))
	}
	detail := fmt.Sprintf("%s: read=%t triage=%t write=%t", p.Repository, p.Read, p.Triage, p.Write)
	if p.Read && p.Triage && p.Write {
		return gitHubCheck("github_issue_permissions_ok", name, detail)
	}
	return gitHubCheck("github_issue_permissions_limited", name, detail)
}

func gitHubCheck(code, name, detail string) Check {
	status := StatusWarning
	switch code {
	case "github_cli_compatible", "github_auth_available", "github_issue_permissions_ok":
		status = StatusOK
	}
	return Check{Code: code, Status: status, HostID: NoHost, Name: name, Detail: detail}
}
