package rpc

import (
	"fmt"
	"runtime"
	"strings"
)

// host is an AI coding tool that runs commands in a sandbox with a list of what
// is allowed.
type host struct {
	name      string
	variables []string // that it sets for its commands
	settings  func(socket string) string
}

var hosts = []host{
	{"Claude Code", []string{"CLAUDECODE", "SANDBOX_RUNTIME"}, claudeSettings},
	{"Codex", []string{"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"}, codexSettings},
}

func claudeSettings(socket string) string {
	allow := fmt.Sprintf(`"allowUnixSockets": [%q]`, socket)
	if runtime.GOOS != "darwin" {
		allow = `"allowAllUnixSockets": true` // its filter on other systems does not see paths
	}
	return `in .claude/settings.json: {"sandbox": {"network": {` + allow + `}}}`
}

func codexSettings(string) string {
	return "in ~/.codex/config.toml: sandbox_workspace_write.network_access = true"
}

// sandboxRemedy says how the socket can be allowed: with the setting of the tool
// whose variables are there, else of every tool that has one.
func sandboxRemedy(env environment, socket string) string {
	var lines []string
	for _, all := range []bool{false, true} {
		for _, h := range hosts {
			if all || h.runs(env) {
				lines = append(lines, h.name+", "+h.settings(socket))
			}
		}
		if len(lines) > 0 {
			break
		}
	}
	return "allow the socket in the settings of the sandbox, or go on without it: commands work, each with its own engine. " + strings.Join(lines, "; ")
}

func (h host) runs(env environment) bool {
	for _, name := range h.variables {
		if env.get(name) != "" {
			return true
		}
	}
	return false
}
