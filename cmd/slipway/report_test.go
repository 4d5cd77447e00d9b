package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/deploy"
)

// TestReportsKeepTheirLayout: a terminal gets the lines of adapters.md, of which
// only those are wrapped that have no room.
func TestReportsKeepTheirLayout(t *testing.T) {
	doctor := &deploy.DoctorReport{Checks: []deploy.Check{
		{Code: "repository_ok", Status: deploy.StatusOK, HostID: deploy.NoHost, Detail: "/srv/demo"},
		{Code: "adapter_modified", Status: deploy.StatusWarning, HostID: "codex", Detail: "three of the managed files differ from what was generated"},
		{Code: "watch_limit", Status: deploy.StatusError, HostID: deploy.NoHost, Detail: "\u202eno\twatches"},
	}}
	list := &deploy.ListReport{Hosts: []deploy.HostStatus{
		{ID: "claude", Detected: true, Installed: true},
		{ID: "codex", Detected: true, Installed: true, NeedsRefresh: true, Warning: "two claims are of another version, and a refresh leaves their files alone"},
		{ID: "kiro"},
	}}
	change := &deploy.ChangeReport{Hosts: []string{"codex"}, Written: []string{"a file/with more blanks in its name than a line has room for"}, Warnings: []string{"the policy of the callable is kept, because somebody has edited it"}}
	for name, text := range map[string]struct {
		plain string
		on    func(paper) string
	}{
		"doctor":  {doctor.Text(), func(p paper) string { return p.checks(doctor) }},
		"list":    {list.Text(), func(p paper) string { return p.hosts(list) }},
		"install": {change.InstallText(), func(p paper) string { return p.changes((*deploy.ChangeReport).InstallText)(change) }},
	} {
		if got := text.on(paper{}); got != text.plain {
			t.Errorf("%s, piped: %s", name, cmp.Diff(text.plain, got))
		}
		if got := text.on(paper{terminal: true, width: 200}); got != text.plain {
			t.Errorf("%s, 200 cells: %s", name, cmp.Diff(text.plain, got))
		}
	}
	for name, test := range map[string]struct{ got, want string }{
		"doctor, 100": {paper{terminal: true, width: 100, colour: true}.checks(doctor), "" +
			"ok      -          repository_ok                /srv/demo\n" +
			"\x1b[33mwarning codex      adapter_modified             three of the managed files differ from what was\x1b[0m\n" +
			"\x1b[33m                                                generated\x1b[0m\n" +
			"\x1b[31merror   -          watch_limit                  \uFFFDno\uFFFDwatches\x1b[0m\n"},
		"doctor, 80": {paper{terminal: true, width: 80}.checks(doctor), "" +
			"ok      -          repository_ok                /srv/demo\n" +
			"warning codex      adapter_modified             three of the managed files\n" +
			"                                                differ from what was generated\n" +
			"error   -          watch_limit                  \uFFFDno\uFFFDwatches\n"},
		"doctor, 60": {paper{terminal: true, width: 60}.checks(doctor), "" +
			"ok      -          repository_ok                /srv/demo\n" +
			"warning codex      adapter_modified             three of the\n" +
			"        managed files differ from what was generated\n" +
			"error   -          watch_limit                  \uFFFDno\uFFFDwatches\n"},
		"list": {paper{terminal: true, width: 80, colour: true}.hosts(list), "" +
			"claude     detected=true  installed=true  needs_refresh=false capabilities=0\n" +
			"\x1b[33mcodex      detected=true  installed=true  needs_refresh=true  capabilities=0\x1b[0m\n" +
			"\x1b[33m  warning: two claims are of another version, and a refresh leaves their files\x1b[0m\n" +
			"\x1b[33m  alone\x1b[0m\n" +
			"\x1b[2mkiro       detected=false installed=false needs_refresh=false capabilities=0\x1b[0m\n"},
		"install": {paper{terminal: true, width: 60, colour: true}.changes((*deploy.ChangeReport).InstallText)(change), "" +
			"Install result for: codex\n" +
			"  wrote a file/with more blanks in its name than a line has room for\n" +
			"\x1b[33m  warning: the policy of the callable is kept, because\x1b[0m\n" +
			"\x1b[33m    somebody has edited it\x1b[0m\n"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s", name, cmp.Diff(test.want, test.got))
		}
	}
}
