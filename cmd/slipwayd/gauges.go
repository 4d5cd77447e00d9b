package main

import (
	"slipway/engine"
	"slipway/gitwatch"
	"slipway/rpc"
)

// gauges are the figures of the Keeper and of the worktrees for the health report.
func gauges(k *engine.Keeper, git *gitwatch.Git) rpc.Gauges {
	f := k.Figures()
	g := rpc.Gauges{
		RunsCached: f.Cached, RunsActive: f.Active,
		JournalSyncP50US: f.SyncP50.Microseconds(), JournalSyncP99US: f.SyncP99.Microseconds(),
	}
	for _, stale := range f.Stale {
		g.Problems = append(g.Problems, rpc.StaleProjection(stale))
	}
	for _, w := range git.Worktrees() {
		g.Worktrees = append(g.Worktrees, rpc.Worktree{
			Root: w.Root, Mode: string(w.Mode), Reason: w.Reason, Directories: w.Directories, Events: w.Events,
			Overflows: w.Overflows, Rescans: w.Rescans, LastObservationUS: w.LastObservation.Microseconds(),
		})
	}
	return g
}
