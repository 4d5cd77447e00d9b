package gitwatch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestScrub(t *testing.T) {
	given := []string{
		"PATH=/bin", "GIT_DIR=/x", "git_dir=/x", "Git_Work_Tree=/x", "GIT_IMPLICIT_WORK_TREE=0", "GIT_COMMON_DIR=x",
		"GIT_INDEX_FILE=x", "GIT_INDEX_VERSION=4", "GIT_OBJECT_DIRECTORY=x", "GIT_ALTERNATE_OBJECT_DIRECTORIES=x",
		"GIT_QUARANTINE_PATH=x", "GIT_NAMESPACE=x", "GIT_REPLACE_REF_BASE=x", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_SHALLOW_FILE=x", "GIT_GRAFT_FILE=x", "GIT_PREFIX=x", "GIT_CEILING_DIRECTORIES=/", "GIT_DISCOVERY_ACROSS_FILESYSTEM=1",
		"GIT_CONFIG=x", "GIT_CONFIG_PARAMETERS='a=b'", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "git_config_value_0=true",
		"GIT_CONFIG_KEY_=x", "malformed", "GIT_OPTIONAL_LOCKS=1", "git_optional_locks=1",
		"GIT_CONFIG_GLOBAL=/g", "GIT_CONFIG_SYSTEM=/s", "GIT_CONFIG_NOSYSTEM=1", "HOME=/h", "XDG_CONFIG_HOME=/x", "LC_ALL=C",
		"GIT_DIRECTORY=stays", "EMPTY=", "A=b=c", "GIT_=x", "GIT=x",
	}
	before := slices.Clone(given)
	want := []string{
		"PATH=/bin",
		"GIT_CONFIG_GLOBAL=/g", "GIT_CONFIG_SYSTEM=/s", "GIT_CONFIG_NOSYSTEM=1", "HOME=/h", "XDG_CONFIG_HOME=/x", "LC_ALL=C",
		"GIT_DIRECTORY=stays", "EMPTY=", "A=b=c", "GIT_=x", "GIT=x",
		"GIT_OPTIONAL_LOCKS=0",
	}
	if diff := cmp.Diff(want, Scrub(given)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, given); diff != "" {
		t.Error("the given environment was changed:", diff)
	}
}

func TestScrubTwiceIsScrubOnce(t *testing.T) {
	entry := rapid.StringMatching(`(GIT_|git_|)(DIR|CONFIG_KEY_0|OPTIONAL_LOCKS|HOME|CONFIG)?=?[a-z]?`)
	rapid.Check(t, func(t *rapid.T) {
		once := Scrub(rapid.SliceOf(entry).Draw(t, "env"))
		if diff := cmp.Diff(once, Scrub(once)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRelevantEnvironment(t *testing.T) {
	kept := []string{"PATH=/bin", "HOME=/h", "LC_MESSAGES=C", "GIT_CONFIG_GLOBAL=/g", "SUDO_UID=7", "TZ=UTC"}
	left := []string{
		"GIT_ASKPASS=x", "SSH_ASKPASS=x", "GIT_SSH_COMMAND=x", "GIT_SSH=x", "SSH_AUTH_SOCK=x", "GITHUB_TOKEN=x", "GIT_TRACE=1",
		"AWS_SECRET_ACCESS_KEY=x", "GIT_DIR=x", "GIT_CONFIG_PARAMETERS=x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x", "LC_ALL", "LD_PRELOAD=x",
	}
	if diff := cmp.Diff(kept, RelevantEnvironment(slices.Concat(left, kept, left))); diff != "" {
		t.Error(diff)
	}
	for name := range relevantNames {
		if isRemoved(name) || strings.Contains(name, "ASKPASS") {
			t.Errorf("%s is sent along", name)
		}
	}
}

func TestLookup(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3", "=x", "A"}
	for _, c := range []struct {
		name, value string
		set         bool
	}{{"A", "3", true}, {"AB", "2", true}, {"B", "", false}, {"ABC", "", false}} {
		if value, set := lookup(env, c.name); value != c.value || set != c.set {
			t.Errorf("%s: got %q, %v", c.name, value, set)
		}
	}
}
