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
// that must equal a scan by a Git that knows nothing. `make soak` has more of them;
// the seed of a failure can be given, too.
const (
	soakVariable      = "SLIPWAY_SOAK"
	soakStepsVariable = "SLIPWAY_SOAK_STEPS"
	soakSeedVariable  = "SLIPWAY_SOAK_SEED"
	shortSoak         = 500
	longSoak          = 20_000
)

func TestSoak(t *testing.T) {
	steps, seed := shortSoak, uint64(time.Now().UnixNano())
	if os.Getenv(soakVariable) != "" {
		steps = longSoak
	}
	if text := os.Getenv(soakStepsVariable); text != "" {
		steps, _ = strconv.Atoi(text)
	}
	if text := os.Getenv(soakSeedVariable); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("%s=%d %s=%d", soakStepsVariable, steps, soakSeedVariable, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var done, worktrees, observations, watched int
	for done < steps {
		s := newSoak(t, random.Uint64())
		s.live(min(soakLife, steps-done))
		done, worktrees = done+s.done, worktrees+1
		observations, watched = observations+s.observations, watched+s.watched
		s.end()
	}
	t.Logf("%d changes to %d worktrees, %d observations, %d of them from a watch, 0 differ from a scan", done, worktrees, observations, watched)
	if watched == 0 {
		t.Error("nothing was answered from a watch")
	}
}

// soakLife is the most changes to one worktree.
const soakLife = 1000

// live makes changes until there are enough, or one destroyed the repository.
func (s *soak) live(steps int) {
	for s.done < steps && s.intact {
		s.step()
		if s.random.IntN(3) == 0 {
			s.compare()
		}
	}
	s.compare()
}

// end leaves no watch and no files behind.
func (s *soak) end() {
	s.g.Close()
	s.must(os.RemoveAll(s.dir))
}

// soak is a worktree that changes at random.
type soak struct {
	*sandbox
	random       *rand.Rand
	g            *Git // the one that watches
	ws           map[string]schema.WorkspaceIdentity
	done         int
	observations int
	watched      int
	log          []string // of the latest changes
	calm         int      // steps without a command of Git
	intact       bool     // Git still takes the worktree for one
}

func newSoak(t testing.TB, seed uint64) *soak {
	s := &soak{
		sandbox: newSandbox(t), random: rand.New(rand.NewPCG(seed, 0)), g: watchingGit(t),
		ws: map[string]schema.WorkspaceIdentity{}, intact: true,
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
	s.git("r", "worktree", "add", "-q", "--detach", s.path("linked"))
	for _, root := range []string{"r", "linked"} {
		s.ws[root] = s.discover(s.g, s.path(root))
	}
	return s
}

func (s *soak) isWatched() bool {
	for _, w := range s.g.Worktrees() {
		if w.Root == s.path("r") {
			return w.Mode == Watched
		}
	}
	return false
}

// compare holds what the watch says against a scan.
func (s *soak) compare() {
	for root, ws := range s.ws {
		if root == "linked" && s.random.IntN(4) > 0 {
			continue
		}
		want, _, wantErr := New().Observe(s.tb.Context(), s.env, ws)
		if s.random.IntN(20) == 0 {
			_, _ = s.g.ObserveFresh(s.tb.Context(), s.env, ws)
		}
		got, mode, err := s.g.Observe(s.tb.Context(), s.env, ws)
		s.observations++
		if mode == Watched {
			s.watched++
		}
		for _, w := range s.g.Worktrees() {
			if strings.Contains(w.Reason, "no event") {
				s.tb.Fatalf("%+v after %q", w, s.log)
			}
		}
		s.intact = s.intact && (wantErr == nil || root != "r")
		if (err == nil) != (wantErr == nil) {
			s.tb.Fatalf("%s (%s): %v, a scan says %v; after %q", root, mode, err, wantErr, s.log)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			s.tb.Fatalf("%s (%s, %d changes): %s\nafter %q", root, mode, s.done, diff, s.log)
		}
	}
}
