package main

import (
	"strings"

	"slipway/deploy"
)

// The reports about hosts have layouts that the contract fixes (adapters.md), so a
// terminal gets the same lines: wrapped, and in colours that show where to look.

// widthOfStatus is where the second column of a check begins, in cells, and
// widthOfCheck where its detail begins.
const (
	widthOfStatus = 8
	widthOfCheck  = 48
)

var coloursOfChecks = map[deploy.CheckStatus]string{deploy.StatusWarning: yellow, deploy.StatusError: red}

// checks is the answer of doctor.
func (p paper) checks(r *deploy.DoctorReport) string {
	lead := widthOfCheck
	if p.width-lead < minWrapped {
		lead = widthOfStatus
	}
	var b strings.Builder
	for _, check := range r.Checks {
		one := deploy.DoctorReport{Checks: []deploy.Check{check}}
		b.WriteString(p.fixed(one.Text(), coloursOfChecks[check.Status], lead))
	}
	return b.String()
}

// hosts is the answer of list.
func (p paper) hosts(r *deploy.ListReport) string {
	var b strings.Builder
	for _, host := range r.Hosts {
		style := ""
		switch {
		case host.Warning != "" || host.NeedsRefresh:
			style = yellow
		case !host.Detected && !host.Installed:
			style = faint
		}
		one := deploy.ListReport{Hosts: []deploy.HostStatus{host}}
		b.WriteString(p.fixed(one.Text(), style, len("  ")))
	}
	return b.String()
}

// changes gives the answer of install or uninstall its form, which is that of text.
func (p paper) changes(text func(*deploy.ChangeReport) string) func(*deploy.ChangeReport) string {
	return func(r *deploy.ChangeReport) string {
		var b strings.Builder
		for line := range strings.SplitAfterSeq(text(r), "\n") {
			switch {
			case strings.HasPrefix(line, "  warning: "):
				b.WriteString(p.fixed(line, yellow, len("    ")))
			case strings.HasPrefix(line, "  recovery artifact: "):
				b.WriteString(p.fixed(line, yellow, whole))
			default:
				b.WriteString(p.fixed(line, "", whole))
			}
		}
		return b.String()
	}
}

// whole lines are not wrapped: there is a path in them, to be copied.
const whole = -1

// fixed is a text of a fixed layout; the further lines of a long one leave the lead
// free. What is no terminal gets it as it is.
func (p paper) fixed(text, style string, lead int) string {
	if !p.terminal {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		parts := []string{strings.TrimSuffix(line, "\n")}
		if lead != whole {
			parts = hanging(parts[0], p.width, lead)
		}
		for _, part := range parts {
			b.WriteString(p.style(style, part) + "\n")
		}
	}
	return b.String()
}
