//go:build linux

package gitwatch

import "testing"

// noConfiguration are the usual ways to keep Git from the configuration of the
// user: the null device stands for an empty file.
var noConfiguration = map[string]func(s *sandbox){
	"named by the variables": func(s *sandbox) {
		s.env = append(s.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	},
	"linked from the home folder": func(s *sandbox) {
		s.remove("home/.gitconfig")
		s.symlink("/dev/null", "home/.gitconfig")
	},
}

func TestDiscoverKnowsTheNullDevice(t *testing.T) {
	for name, prepare := range noConfiguration {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.repo("r")
			prepare(s)
			g := settledGit()
			want := s.discover(g, s.path("r"))
			if got := s.discover(g, s.path("r")); got != want {
				t.Errorf("got %+v", got)
			}
			if asked := s.asked(); len(asked) != 1 {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func TestWatchWithoutConfiguration(t *testing.T) {
	noConfiguration["no rules of the user"] = func(s *sandbox) {
		s.git("r", "config", "core.excludesFile", "/dev/null")
		s.git("r", "config", "core.attributesFile", "/dev/null")
	}
	for name, prepare := range noConfiguration {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, prepare)
			w.write("r/new", "x")
			w.look()
			w.expect(Watched, 0)
		})
	}
}
