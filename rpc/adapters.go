package rpc

import (
	"context"

	"slipway/deploy"
	"slipway/schema"
)

// The methods about host adapters (adapters.md). They act on the worktree at root
// and know nothing of Runs; only finding the worktree is the engine's.

type adapterParams struct {
	Root    string    `json:"root"`
	Tool    *[]string `json:"tool,omitempty"` // every --tool as it was given
	Surface string    `json:"surface,omitempty"`
	Refresh bool      `json:"refresh,omitempty"`
}

func (p adapterParams) check() error { return checkRoot(p.Root) }

// tools tells a list that names nothing from one that was not given.
func (p adapterParams) tools() []string {
	if p.Tool == nil {
		return nil
	}
	return append([]string{}, *p.Tool...)
}

func installAdapters(ctx context.Context, t target, p adapterParams) (any, error) {
	return inWorkspace(ctx, t, p.Root, func(w schema.WorkspaceIdentity) (*deploy.ChangeReport, *schema.Error) {
		return deploy.Install(ctx, w, deploy.Options{Tools: p.tools(), Surface: p.Surface, Refresh: p.Refresh})
	})
}

type uninstallParams struct {
	Root string    `json:"root"`
	Tool *[]string `json:"tool,omitempty"`
}

func (p uninstallParams) check() error { return checkRoot(p.Root) }

func uninstallAdapters(ctx context.Context, t target, p uninstallParams) (any, error) {
	return inWorkspace(ctx, t, p.Root, func(w schema.WorkspaceIdentity) (*deploy.ChangeReport, *schema.Error) {
		return deploy.Uninstall(ctx, w, adapterParams{Tool: p.Tool}.tools())
	})
}

func listAdapters(ctx context.Context, t target, p rootParams) (any, error) {
	return inWorkspace(ctx, t, p.Root, func(w schema.WorkspaceIdentity) (*deploy.ListReport, *schema.Error) {
		return deploy.List(ctx, w)
	})
}

type doctorParams struct {
	Root string `json:"root"`
	// GitHub is what the caller found in its own environment; without it the report
	// says nothing about GitHub's tool.
	GitHub *deploy.GitHubFacts `json:"github,omitempty"`
}

func (p doctorParams) check() error { return checkRoot(p.Root) }

func runDoctor(ctx context.Context, t target, p doctorParams) (any, error) {
	return inWorkspace(ctx, t, p.Root, func(w schema.WorkspaceIdentity) (*deploy.DoctorReport, *schema.Error) {
		return deploy.Doctor(ctx, w, p.GitHub, nil)
	})
}

// inWorkspace finds the worktree at a root and does something there.
func inWorkspace[T any](ctx context.Context, t target, root string, do func(schema.WorkspaceIdentity) (*T, *schema.Error)) (any, error) {
	w, err := t.runs.Workspace(ctx, t.caller(root))
	if err != nil {
		return nil, err
	}
	report, fault := do(w)
	if fault != nil {
		return nil, fault
	}
	return report, nil
}
