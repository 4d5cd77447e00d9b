package deploy

import (
	"context"
	"errors"
	"fmt"

	"slipway/schema"
)

// Uninstall deletes what the manifests of the chosen hosts, or of all installed
// ones, claim, where it still is as this build generates it (adapters.md, section
// 6). tools are the values of --tool as they were given; nil where there was none.
//
// Errors: invalid_usage, host_adapter_required and unknown_host_adapter for a
// wrong invocation, which changes nothing; else uninstall_failed with
// [schema.AdapterDetails]. ctx can stop the command until the first change begins.
func Uninstall(ctx context.Context, ws schema.WorkspaceIdentity, tools []string) (*ChangeReport, *schema.Error) {
	return uninstall(ctx, ws, tools, openFolder)
}

func uninstall(ctx context.Context, ws schema.WorkspaceIdentity, tools []string, openRoot opener) (*ChangeReport, *schema.Error) {
	c := &command{code: schema.CodeUninstallFailed, workspace: ws}
	var chosen []*host
	if tools != nil {
		var fault *schema.Error
		if chosen, fault = namedHosts(tools, ws.Place()); fault != nil {
			return nil, fault
		}
	}
	defer c.close()
	err := c.open(ctx, openRoot)
	if err == nil && tools == nil {
		chosen, err = installedHosts(c.site.root)
	}
	if err != nil {
		return nil, c.fail(OutcomeNotCommitted, nil, err)
	}
	for _, h := range chosen {
		p, err := planEnd(c.site.root, h)
		if fault := c.add(h, p, err); fault != nil {
			return nil, fault
		}
	}
	return c.commit(ctx)
}

// installedHosts is the choice where none is named. One unreadable manifest makes
// it unknown.
func installedHosts(root folder) ([]*host, error) {
	var found []*host
	for _, h := range hosts() {
		m, err := loadManifest(root, h)
		if err != nil {
			return nil, fmt.Errorf("what is installed for %s cannot be told: %w; name the other hosts with --tool", h.id, err)
		}
		if m != nil {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no host has an ownership manifest: nothing is installed")
	}
	return found, nil
}

// planEnd plans what uninstall does to one host.
func planEnd(root folder, h *host) (*hostPlan, error) {
	m, err := loadManifest(root, h)
	if err != nil {
		return nil, err
	}
	if m != nil {
		return planUninstall(root, h, m)
	}
	p := newHostPlan(h)
	sentinel, err := lookAt(root, h.sentinelPath())
	if sentinel != nil {
		p.warn(manifestMissingWarning(h))
	}
	return p, err
}
