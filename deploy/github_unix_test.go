//go:build !windows

package deploy

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// programs makes a folder of shell scripts and an environment in which only these
// are found.
func programs(t *testing.T, scripts map[string]string) (env []string, folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, script := range scripts {
		text := "#!/bin/sh\necho \"$0 $*\" >> " + folder + "/log\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"PATH=" + folder, "GH_TOKEN=secret"}, folder
}

func TestProbeGitHub(t *testing.T) {
	const (
		version = `case "$1" in --version) echo "gh version 2.94.0 (x)"; exit;; esac`
		signed  = `case "$1" in auth) echo secret; exit 0;; esac`
		may     = `case "$1" in api) echo '{"pull":true,"push":true}'; exit 0;; esac`
		origin  = `echo git@github.com:owner/name.git`
	)
	yes, no := true, false
	all := &RepositoryPermissions{Repository: "owner/name", Known: true, Read: true, Triage: true, Write: true}
	for name, test := range map[string]struct {
		scripts map[string]string
		want    *GitHubFacts
		calls   string // what was asked
	}{
		"no gh":            {map[string]string{"git": origin}, &GitHubFacts{Tool: ToolUnavailable}, ""},
		"all":              {map[string]string{"gh": version + "\n" + signed + "\n" + may, "git": origin}, &GitHubFacts{ToolCompatible, &yes, all}, "--version, auth status --hostname github.com, -C /srv/x remote get-url origin, api --hostname github.com repos/owner/name --jq .permissions"},
		"version fails":    {map[string]string{"gh": "case \"$1\" in --version) echo 2.94.0; exit 1;; esac\n" + signed + "\n" + may, "git": origin}, &GitHubFacts{ToolVersionUnknown, &yes, all}, ""},
		"not signed in":    {map[string]string{"gh": version + "\nexit 1", "git": origin}, &GitHubFacts{ToolCompatible, &no, nil}, "--version, auth status --hostname github.com"},
		"no git":           {map[string]string{"gh": version + "\n" + signed}, &GitHubFacts{ToolCompatible, &yes, nil}, ""},
		"no origin":        {map[string]string{"gh": version + "\n" + signed, "git": "exit 2"}, &GitHubFacts{ToolCompatible, &yes, nil}, ""},
		"another forge":    {map[string]string{"gh": version + "\n" + signed, "git": "echo https://example.org/o/n"}, &GitHubFacts{ToolCompatible, &yes, nil}, ""},
		"no permissions":   {map[string]string{"gh": version + "\n" + signed + "\nexit 1", "git": origin}, &GitHubFacts{ToolCompatible, &yes, &RepositoryPermissions{Repository: "owner/name"}}, ""},
		"killed":           {map[string]string{"gh": version + "\n" + signed + "\nkill -9 $$", "git": origin}, &GitHubFacts{ToolCompatible, &yes, &RepositoryPermissions{Repository: "owner/name"}}, ""},
		"endless answer":   {map[string]string{"gh": version + "\n" + signed + "\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "git": origin}, &GitHubFacts{ToolCompatible, &yes, &RepositoryPermissions{Repository: "owner/name"}}, ""},
		"long answer":      {map[string]string{"gh": "echo 2.94.0; i=0; while [ $i -lt 1500 ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done; exit 0"}, &GitHubFacts{ToolVersionUnknown, &no, nil}, ""},
		"stdin is empty":   {map[string]string{"gh": version + "\nread x && exit 1\nexit 0"}, &GitHubFacts{ToolCompatible, &yes, nil}, ""},
		"stderr is passed": {map[string]string{"gh": "echo 2.94.0 >&2\nexit 0"}, &GitHubFacts{ToolVersionUnknown, &yes, nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, folder := programs(t, test.scripts)
			got := ProbeGitHub(context.Background(), env, "/srv/x")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if text := string(mustMarshal(t, got)); strings.Contains(text, "secret") || strings.Contains(text, "2.94") {
				t.Errorf("an answer of gh in the facts: %s", text)
			}
			if test.calls == "" {
				return
			}
			log, err := os.ReadFile(filepath.Join(folder, "log"))
			if err != nil {
				t.Fatal(err)
			}
			calls := strings.NewReplacer(folder+"/gh ", "", folder+"/git ", "", "\n", ", ").Replace(strings.TrimSpace(string(log)))
			if diff := cmp.Diff(test.calls, calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProbeEnds: a program that does not end is killed with what it started, which
// is known by the pipe that both hold open.
func TestProbeEnds(t *testing.T) {
	env, folder := programs(t, map[string]string{"gh": "exec 3> \"$(dirname \"$0\")/pipe\"\n/bin/sleep 1000 &\necho started >&3\nwait"})
	env[0] += ":/bin:/usr/bin"
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan *GitHubFacts)
	go func() { done <- ProbeGitHub(ctx, env, "/srv/x") }()
	alive, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if _, err := io.ReadFull(alive, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if rest, err := io.ReadAll(alive); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	if got := <-done; got.Tool != ToolVersionUnknown || got.Auth == nil || *got.Auth {
		t.Errorf("facts %+v", got)
	}
}

func TestRelativePathEntryCountsAsNone(t *testing.T) {
	_, folder := programs(t, map[string]string{"gh": "echo 2.94.0"})
	t.Chdir(filepath.Dir(folder))
	relative := "./" + filepath.Base(folder)
	for path, want := range map[string]bool{
		folder: true, relative: false, relative + ":" + folder: false, "/nowhere::" + folder: true, folder + ":" + relative: true, "": false,
	} {
		if _, found := findProgram([]string{"PATH=" + path}, "gh"); found != want {
			t.Errorf("PATH=%q: found %t", path, found)
		}
	}
	if _, found := findProgram(nil, "gh"); found {
		t.Error("found without a PATH")
	}
}

// TestGitIsAskedInAScrubbedEnvironment: variables that point Git elsewhere have no
// say.
func TestGitIsAskedInAScrubbedEnvironment(t *testing.T) {
	env, _ := programs(t, map[string]string{
		"gh":  `case "$1" in --version) echo 2.94.0;; api) echo null;; esac`,
		"git": `[ -z "$GIT_DIR" ] && echo git@github.com:owner/name`,
	})
	got := ProbeGitHub(context.Background(), append(env, "GIT_DIR=/elsewhere"), "/srv/x")
	if got.Permissions == nil || got.Permissions.Repository != "owner/name" {
		t.Errorf("facts %+v", got)
	}
}
