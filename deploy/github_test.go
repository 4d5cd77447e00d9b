package deploy

import (
	"errors"
	"strings"
	"testing"
)

func TestGitHubRepository(t *testing.T) {
	for address, want := range map[string]string{
		"git@github.com:owner/name":                "owner/name",
		"git@github.com:owner/name.git\n":          "owner/name",
		"  git@github.com:O-w_n.er/n.a-m_e.git  ":  "O-w_n.er/n.a-m_e",
		"git@github.com:owner/name.git.git":        "owner/name.git",
		"https://github.com/owner/name":            "owner/name",
		"https://GitHub.COM:443/owner/name.git":    "owner/name",
		"ssh://github.com/owner/name":              "owner/name",
		"ssh://git@github.com/owner/name.git":      "owner/name",
		"ssh://git@github.com:22/owner/name.git":   "owner/name",
		"":                                         "",
		"git@GitHub.com:owner/name":                "",
		"me@github.com:owner/name":                 "",
		"git@github.com:/owner/name":               "",
		"git@github.com:owner/name/":               "",
		"git@github.com:owner":                     "",
		"git@github.com:owner/.git":                "",
		"git@github.com:../name":                   "",
		"git@github.com:owner/..":                  "",
		"git@github.com:owner/na me":               "",
		"git@github.com:owner/n%61me":              "",
		"https://github.com/owner/name/":           "",
		"https://github.com/owner/name.git/":       "",
		"https://github.com/owner/name?x=1":        "",
		"https://github.com/owner/name?":           "",
		"https://github.com/owner/name#readme":     "",
		"https://github.com/owner/n%61me":          "",
		"https://me@github.com/owner/name":         "",
		"https://me:secret@github.com/owner/name":  "",
		"https://@github.com/owner/name":           "",
		"https://www.github.com/owner/name":        "",
		"https://github.com.evil.org/owner/name":   "",
		"https://example.org/owner/name":           "",
		"HTTPS://github.com/owner/name":            "",
		"http://github.com/owner/name":             "",
		"git://github.com/owner/name":              "",
		"ssh://me@github.com/owner/name":           "",
		"ssh://git:x@github.com/owner/name":        "",
		"ssh://git:@github.com/owner/name":         "",
		"https://github.com//owner/name":           "",
		"https://github.com/owner/a/name":          "",
		"file:///github.com/owner/name":            "",
		"/srv/github.com/owner/name":               "",
		"https://github.com/owner/name\nx":         "",
		"https://github.com/owner/name\x00":        "",
		"https://github.com/owner/\u00fcber":       "",
		"https://github.com\\@evil.org/owner/name": "",
	} {
		if got := gitHubRepository(address); got != want {
			t.Errorf("%q gives %q, want %q", address, got, want)
		}
	}
}

func FuzzGitHubRepository(f *testing.F) {
	f.Add("git@github.com:owner/name.git")
	f.Add("ssh://git@github.com:22/owner/name")
	f.Fuzz(func(t *testing.T, address string) {
		got := gitHubRepository(address)
		if got != "" && (strings.Count(got, "/") != 1 || strings.ContainsAny(got, "%?#: \n") || strings.HasPrefix(got, "-") && !strings.Contains(address, got)) {
			t.Fatalf("%q gives %q", address, got)
		}
	})
}

func TestToolVersion(t *testing.T) {
	for answer, want := range map[string]ToolFact{
		"gh version 2.94.0 (2026-01-01)\nhttps://x/v2.94.0\n": ToolCompatible,
		"gh version 2.94.1":           ToolCompatible,
		"gh version 3.0.0":            ToolCompatible,
		"v2.100.0,":                   ToolCompatible,
		"gh 2.95.0);":                 ToolCompatible,
		"gh version 2.93.9":           ToolTooOld,
		"gh version 1.999.999":        ToolTooOld,
		"gh version 2.94 2.94.0":      ToolCompatible,
		"2.93.0 2.94.0":               ToolTooOld,
		"2.94.0-rc1":                  ToolVersionUnknown,
		"vv2.94.0":                    ToolVersionUnknown,
		"+2.94.0":                     ToolVersionUnknown,
		"2.94.":                       ToolVersionUnknown,
		"2.94.0.0":                    ToolVersionUnknown,
		"":                            ToolVersionUnknown,
		"99999999999999999999999.0.0": ToolCompatible,
	} {
		if got := toolFact([]byte(answer), nil); got != want {
			t.Errorf("%q gives %s, want %s", answer, got, want)
		}
	}
	if got := toolFact([]byte("2.94.0"), errors.New("exit 1")); got != ToolVersionUnknown {
		t.Errorf("a failed probe gives %s", got)
	}
}

func TestPermissions(t *testing.T) {
	for answer, want := range map[string]string{
		`{"pull":true,"triage":true,"push":true,"maintain":false,"admin":false}`: "github_issue_permissions_ok read=true triage=true write=true",
		`{"pull":true,"push":true}`:    "github_issue_permissions_ok read=true triage=true write=true",
		`{"pull":true,"admin":true}`:   "github_issue_permissions_ok read=true triage=true write=true",
		`{"pull":true,"triage":true}`:  "github_issue_permissions_limited read=true triage=true write=false",
		`{"pull":true}`:                "github_issue_permissions_limited read=true triage=false write=false",
		`{}`:                           "github_issue_permissions_limited read=false triage=false write=false",
		`null`:                         "github_issue_permissions_unknown read=unknown",
		``:                             "github_issue_permissions_unknown read=unknown",
		`[]`:                           "github_issue_permissions_unknown read=unknown",
		`{"pull":1}`:                   "github_issue_permissions_unknown read=unknown",
		`{"pull":true,"role":"admin"}`: "github_issue_permissions_unknown read=unknown",
		`{"pull":true,"push":null}`:    "github_issue_permissions_unknown read=unknown",
	} {
		c := permissionFacts("owner/name", []byte(answer), nil).check()
		code, detail, _ := strings.Cut(want, " ")
		if c.Code != code || c.Detail == "" || !strings.HasPrefix(c.Detail, "owner/name: ") || !strings.Contains(c.Detail, detail) {
			t.Errorf("%s gives %+v, want %s", answer, c, want)
		}
		if (c.Status == StatusOK) != (code == "github_issue_permissions_ok") {
			t.Errorf("%s: status %s", answer, c.Status)
		}
	}
}

func TestGitHubChecks(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		facts *GitHubFacts
		want  string
	}{
		{nil, ""},
		{&GitHubFacts{Tool: ToolUnavailable, Auth: &yes}, "warning github_cli_unavailable"},
		{&GitHubFacts{Tool: ToolVersionUnknown, Auth: &no}, "warning github_cli_version_unknown, warning github_auth_unavailable"},
		{&GitHubFacts{Tool: ToolTooOld, Auth: &yes}, "warning github_cli_rest_fallback_required, ok github_auth_available"},
		{&GitHubFacts{Tool: ToolCompatible, Auth: &no, Permissions: &RepositoryPermissions{}}, "ok github_cli_compatible, warning github_auth_unavailable"},
		{&GitHubFacts{Tool: ToolCompatible, Auth: &yes, Permissions: &RepositoryPermissions{Repository: "o/n"}},
			"ok github_cli_compatible, ok github_auth_available, warning github_issue_permissions_unknown"},
	} {
		var got []string
		for _, c := range test.facts.checks() {
			got = append(got, string(c.Status)+" "+c.Code)
			if c.HostID != NoHost || c.Detail == "" {
				t.Errorf("check %+v", c)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%+v gives %q, want %q", test.facts, got, test.want)
		}
	}
}
