package engine_test

import (
	"context"
	"slices"
	"testing"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/schema"
)

// tellingGit notes how it is asked to look.
type tellingGit struct {
	*gitwatch.Git
	asked []string
}

func (g *tellingGit) Observe(ctx context.Context, env []string, w schema.WorkspaceIdentity) (schema.Observation, gitwatch.Mode, error) {
	g.asked = append(g.asked, "known")
	return g.Git.Observe(ctx, env, w)
}

func (g *tellingGit) ObserveFresh(ctx context.Context, env []string, w schema.WorkspaceIdentity) (schema.Observation, error) {
	g.asked = append(g.asked, "fresh")
	return g.Git.ObserveFresh(ctx, env, w)
}

// TestTheLastObservationIsFresh: whether the last Action is reported or skipped,
// nothing that is known already is relied on.
func TestTheLastObservationIsFresh(t *testing.T) {
	for name, finish := range map[string]func(h *house, a *schema.Action) (*schema.ProtocolState, error){
		"reported": func(h *house, a *schema.Action) (*schema.ProtocolState, error) {
			return h.submit(h.keeper, a, report(a, schema.Outcome{Status: schema.Completed, Summary: "all is told"}))
		},
		"skipped": func(h *house, a *schema.Action) (*schema.ProtocolState, error) {
			return h.keeper.Skip(t.Context(), h.caller, engine.SkipRequest{Run: a.RunID, Action: a.ActionID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			git := &tellingGit{Git: gitwatch.New()}
			h.keeper = engine.NewKeeper(engine.Options{Git: git, FS: h.faulty})
			t.Cleanup(func() { h.keeper.Close(context.Background()) })
			state := h.start()
			state, err := h.submit(h.keeper, state.Action, report(state.Action, schema.Outcome{
				Status: schema.Completed, Summary: "nothing to do",
				SuggestedActions: []schema.Suggestion{{Kind: schema.Summarize, Brief: "tell what was found"}},
			}))
			if err != nil || state.Action == nil || state.Action.Kind != schema.Summarize {
				t.Fatalf("%+v, %v", state, err)
			}
			if state, err = finish(h, state.Action); err != nil || state.State != schema.Ended {
				t.Fatalf("%+v, %v", state, err)
			}
			if want := []string{"known", "known", "fresh"}; !slices.Equal(git.asked, want) {
				t.Errorf("asked %q", git.asked)
			}
		})
	}
}
