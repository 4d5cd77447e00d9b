//go:build linux

package gitwatch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/schema"
)

// The soak: random changes to a worktree, with an observation at random moments
// that must equal a scan by a Git that knows nothing. `make soak` sets the number
// of changes; the seed of a failure can be given, too.
const (
	soakStepsVariable = "SLIPWAY_SOAK_STEPS"
	soakSeedVariable  = "SLIPWAY_SOAK_SEED"
	soakSteps         = 500
)

func TestSoak(t *testing.T) {
	steps, seed := soakSteps, uint64(time.Now().UnixNano())
	if text := os.Getenv(soakStepsVariable); text != "" {
		steps, _ = strconv.Atoi(text)
	}
	if text := os.Getenv(soakSeedVariable); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("%s=%d %s=%d", soakStepsVariable, steps, soakSeedVariable, seed)
	s := newSoak(t, seed)
	for s.done < steps {
		s.step()
		if s.random.IntN(3) == 0 {
			s.compare()
		}
	}
	s.compare()
	t.Log(s.why)
	t.Logf("%d changes, %d observations, %d of them from a watch; %+v", s.done, s.observations, s.watched, s.git1.Worktrees())
	if s.watched == 0 {
		t.Error("nothing was answered from a watch")
	}
}

// soak is a worktree that changes at random.
type soak struct {
	*sandbox
	random       *rand.Rand
	git1         *Git // the one that watches
	ws           map[string]schema.WorkspaceIdentity
	done         int
	observations int
	watched      int
	log          []string // of the latest changes
	calm         int      // steps without a command of Git
	why          map[string]int
}

func newSoak(t testing.TB, seed uint64) *soak {
	s := &soak{
		sandbox: newSandbox(t), random: rand.New(rand.NewPCG(seed, 0)), git1: watchingGit(t),
		ws: map[string]schema.WorkspaceIdentity{}, why: map[string]int{},
	}
	s.env = s.realEnv
	s.write("home/.gitconfig", userConfig+"[core]\nexcludesFile = ~/excludes\n[gc]\nauto = 0\n[merge]\nconflictStyle = merge\n[rerere]\nenabled = false\n")
	s.repo("lib")
	s.write("outside/link", "outside\n")
	s.emptyRepo("r")
	for _, folder := range soakFolders {
		for i := range 3 {
			s.write("r/"+folder+fmt.Sprint("f", i), fmt.Sprintf("%s %d\n", folder, i))
		}
	}
	s.write("r/.gitignore", "*.log\nign/\n")
	s.git("r", "add", "-A")
	s.git("r", "commit", "-qm", "first")
	s.git("r", "branch", "other")
	s.ws["r"] = s.discover(s.git1, s.path("r"))
	return s
}

// compare holds what the watch says against a scan.
func (s *soak) compare() {
	for root, ws := range s.ws {
		if text := os.Getenv("SOAKDEBUG"); text != "" {
			debugWhy = func(why string) { s.why[why]++; trace("why %s", why) }
		}
		want, _, wantErr := New().Observe(s.tb.Context(), s.env, ws)
		if s.random.IntN(20) == 0 {
			_, _ = s.git1.ObserveFresh(s.tb.Context(), s.env, ws)
		}
		got, mode, err := s.git1.Observe(s.tb.Context(), s.env, ws)
		s.observations++
		if mode == Watched {
			s.watched++
		}
		if w := s.git1.Worktrees(); len(w) > 0 && strings.Contains(w[0].Reason, "no event") {
			s.tb.Fatalf("%+v, why %v\n%s\nafter %q", w, lastMissed, "", s.log)
		}
		if (err == nil) != (wantErr == nil) {
			s.tb.Fatalf("%s (%s): %v, a scan says %v; after %q", root, mode, err, wantErr, s.log)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			defer os.Rename(s.dir, "/tmp/gw/fail"+fmt.Sprint(time.Now().Unix()))
			traceMu.Lock()
			s.tb.Log(strings.Join(traced, "\n"))
			traceMu.Unlock()
			out, _ := s.tryGit("r", "status", "--porcelain=v2", "-uall")
			s.tb.Log(out, lastAsked)
			out, _ = s.tryGit("r", append([]string{"-c", "core.preloadIndex=false", "status", "--porcelain=v2", "-uall", "--no-renames"}, lastAsked...)...)
			s.tb.Log(out)
			s.tb.Fatalf("%s (%s, %d changes): %s\nafter %q", root, mode, s.done, diff, s.log)
		}
	}
}
