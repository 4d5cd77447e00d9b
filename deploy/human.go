package deploy

import (
	"fmt"
	"strings"
	"unicode"
)

// What people read instead of JSON. The layouts are those of adapters.md.

// InstallText is the human form of an [Install] (section 9).
func (r *ChangeReport) InstallText() string { return r.text("Install") }

// UninstallText is the human form of an [Uninstall].
func (r *ChangeReport) UninstallText() string { return r.text("Uninstall") }

func (r *ChangeReport) text(command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s result for: %s\n", command, strings.Join(r.Hosts, ", "))
	for _, group := range []struct {
		label   string
		entries []string
	}{
		{"wrote ", r.Written}, {"removed ", r.Removed}, {"preserved ", r.Preserved},
		{"recovery artifact: ", r.RecoveryArtifacts}, {"warning: ", r.Warnings},
	} {
		for _, entry := range group.entries {
			fmt.Fprintf(&b, "  %s%s\n", group.label, oneLine(entry))
		}
	}
	return b.String()
}

// Text is the human form of a list (section 10).
func (r *ListReport) Text() string {
	var b strings.Builder
	for _, h := range r.Hosts {
		fmt.Fprintf(&b, "%-10s detected=%-5t installed=%-5t needs_refresh=%-5t capabilities=%d\n",
			h.ID, h.Detected, h.Installed, h.NeedsRefresh, len(h.Capabilities))
		if h.Warning != "" {
			fmt.Fprintf(&b, "  warning: %s\n", oneLine(h.Warning))
		}
	}
	return b.String()
}

// Text is the human form of doctor (section 11).
func (r *DoctorReport) Text() string {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-7s %-10s %-28s %s\n", c.Status, c.HostID, c.Code, oneLine(c.Detail))
	}
	return b.String()
}

// oneLine keeps what a repository may have put into a name from breaking the
// layout or from steering a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}
