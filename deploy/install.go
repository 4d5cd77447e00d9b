package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"slipway/schema"
)

// Options are the flags of [Install].
type Options struct {
	Tools   []string // the value of every --tool as it was given; nil: --tool was not given
	Surface string   // empty: as if not given
	Refresh bool
}

// Install writes the files of the chosen hosts, or of those that are detected,
// and refreshes installed ones where Refresh is set (adapters.md, section 5).
//
// Errors: invalid_usage, host_adapter_required, unknown_host_adapter and
// invalid_adapter_surface for a wrong invocation, which changes nothing; else
// install_failed with [schema.AdapterDetails]. ctx can stop the command until the
// first change begins.
func Install(ctx context.Context, ws schema.WorkspaceIdentity, o Options) (*ChangeReport, *schema.Error) {
	return install(ctx, ws, o, openFolder)
}

func install(ctx context.Context, ws schema.WorkspaceIdentity, o Options, openRoot opener) (*ChangeReport, *schema.Error) {
	c := &command{code: schema.CodeInstallFailed, workspace: ws}
	var chosen []*host
	if o.Tools != nil {
		var fault *schema.Error
		if chosen, fault = namedHosts(o.Tools, ws.Place()); fault != nil {
			return nil, fault
		}
	}
	defer c.close()
	err := c.open(ctx, openRoot)
	if err == nil && o.Tools == nil {
		chosen, err = detectedHosts(c.site.root)
	}
	if err != nil {
		return nil, c.fail(OutcomeNotCommitted, nil, err)
	}
	if err := checkSurface(o.Surface, chosen); err != nil {
		return nil, c.surfaceFault(err)
	}
	for _, h := range chosen {
		// With several detected hosts, one that needs a surface is no reason to fail.
		skippable := o.Tools == nil && o.Surface == "" && len(chosen) > 1
		p, err := planHost(c.site.root, h, o, skippable)
		if fault := c.add(h, p, err); fault != nil {
			return nil, fault
		}
	}
	return c.commit(ctx)
}

// detectedHosts is the choice where none is named.
func detectedHosts(root folder) ([]*host, error) {
	var found []*host
	for _, h := range hosts() {
		is, err := detected(root, h)
		if err != nil {
			return nil, fmt.Errorf("whether %s is in use cannot be told: %w; name the hosts with --tool", h.id, err)
		}
		if is {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no host was detected; name one or more with --tool: %s", strings.Join(HostIDs(), ", "))
	}
	return found, nil
}

// checkSurface holds --surface against the choice of hosts.
func checkSurface(surface string, chosen []*host) *surfaceError {
	if surface == "" {
		return nil
	}
	for _, h := range chosen {
		if !h.hasSurfaces() {
			continue
		}
		if h.kit(surface) == nil {
			return &surfaceError{fmt.Sprintf("--surface %q is neither %s nor %s", surface, surfaceIDE, surfaceCLI)}
		}
		return nil
	}
	return &surfaceError{"--surface belongs to " + kiroID + ", which is not among the hosts"}
}

// planHost plans what install does to one host.
func planHost(root folder, h *host, o Options, skippable bool) (*hostPlan, error) {
	m, err := loadManifest(root, h)
	switch {
	case err != nil && isSurfaceFault(err):
		return withoutSurface(h, err, skippable)
	case err != nil:
		return nil, err
	case m == nil:
		return planFirst(root, h, o.Surface, skippable)
	case h.hasSurfaces() && o.Surface != "" && o.Surface != m.surface:
		return nil, &surfaceError{fmt.Sprintf("%s is installed with the surface %s; to switch, uninstall it and install it with --surface %s",
			h.id, m.surface, o.Surface)}
	case !o.Refresh:
		p := newHostPlan(h)
		p.warn(alreadyInstalledWarning(h))
		return p, nil
	}
	return planInstall(root, h, h.kit(m.surface), m)
}

// planFirst plans a host without a manifest.
func planFirst(root folder, h *host, surface string, skippable bool) (*hostPlan, error) {
	sentinel, err := lookAt(root, h.sentinelPath())
	switch {
	case err != nil:
		return nil, err
	case sentinel != nil:
		p := newHostPlan(h)
		p.warn(manifestMissingWarning(h))
		return p, nil
	case h.kit(surface) == nil:
		return withoutSurface(h, errors.New("the first install needs a surface"), skippable)
	}
	return planInstall(root, h, h.kit(surface), nil)
}

// withoutSurface leaves a host out of the command, or fails it.
func withoutSurface(h *host, cause error, skippable bool) (*hostPlan, error) {
	if !skippable {
		return nil, &surfaceError{fmt.Sprintf("%s: %v; give --surface %s or --surface %s", h.id, cause, surfaceIDE, surfaceCLI)}
	}
	p := &hostPlan{host: h}
	p.warn(surfaceSkippedWarning(h))
	return p, nil
}
