package service

import (
	_ "embed"
	"path/filepath"
	"strings"
)

// Names of the units.
const (
	socketUnit  = "slipway.socket"
	serviceUnit = "slipway.service"
)

//go:embed slipway.socket.in
var socketTemplate string

//go:embed slipway.service.in
var serviceTemplate string

// systemd is the pair of user units. The socket is there from the start of the
// session; the first client makes systemd start the daemon, which may end when it
// is idle and is started again for the next one.
func (o Options) systemd() (service, error) {
	config, err := o.folder("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return service{}, err
	}
	units := filepath.Join(config, "systemd", "user")
	facts := map[string]string{"Mark": mark, "Program": quoteUnit(o.Program), "Socket": o.unitSocket()}
	return service{
		manager: "systemd",
		files: []file{
			{filepath.Join(units, socketUnit), render(socketTemplate, facts)},
			{filepath.Join(units, serviceUnit), render(serviceTemplate, facts)},
		},
		activate: []command{
			{"systemctl", "--user", "daemon-reload"},
			{"systemctl", "--user", "enable", "--now", socketUnit},
		},
		deactivate: []command{{"systemctl", "--user", "disable", "--now", socketUnit, serviceUnit}},
		clean:      []command{{"systemctl", "--user", "daemon-reload"}},
		byHand:     "systemctl --user enable --now " + socketUnit,
	}, nil
}

// unitSocket is the socket's path as a unit spells it: below the runtime folder of
// whichever session it is.
func (o Options) unitSocket() string {
	if runtime := o.get("XDG_RUNTIME_DIR"); runtime != "" {
		if below, ok := strings.CutPrefix(o.Socket, filepath.Clean(runtime)+"/"); ok {
			return "%t/" + escapeUnit(below)
		}
	}
	return escapeUnit(o.Socket)
}

// escapeUnit keeps systemd from finding specifiers in a value.
func escapeUnit(value string) string { return strings.ReplaceAll(value, "%", "%%") }

// quoteUnit is a word of a command line in a unit.
func quoteUnit(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", "$$", "%", "%%").Replace(word) + `"`
}

// render fills a template's places.
func render(text string, facts map[string]string) []byte {
	for name, value := range facts {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	return []byte(text)
}
