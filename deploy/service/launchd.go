package service

import (
	_ "embed"
	"path/filepath"
	"strings"
)

// agentLabel names the agent.
const agentLabel = "slipway.daemon"

//go:embed slipway.plist.in
var agentTemplate string

// launchd is an agent of the user's session. It keeps the daemon running; launchd
// hands sockets only to programs that are linked with its library, so the daemon
// makes its own.
func (o Options) launchd(uid string) (service, error) {
	agents, err := o.folder("", "Library", "LaunchAgents")
	if err != nil {
		return service{}, err
	}
	path := filepath.Join(agents, agentLabel+".plist")
	domain := "gui/" + uid
	return service{
		manager: "launchd",
		files: []file{{path, render(agentTemplate, map[string]string{
			"Mark": mark, "Label": agentLabel, "Program": escapeXML(o.Program),
		})}},
		activate:   []command{{"launchctl", "bootstrap", domain, path}},
		deactivate: []command{{"launchctl", "bootout", domain + "/" + agentLabel}},
		byHand:     "launchctl bootstrap " + domain + " " + path,
	}, nil
}

func escapeXML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
