package deploy

import (
	"context"
	"fmt"

	"slipway/schema"
)

// List says for every host whether it is detected and installed, and what of it
// is healthy (adapters.md, section 10). It only reads, and the trouble of one host
// hides no other. Errors: list_failed, where the root is gone.
func List(ctx context.Context, ws schema.WorkspaceIdentity) (*ListReport, *schema.Error) {
	return list(ctx, ws, openFolder)
}

func list(ctx context.Context, ws schema.WorkspaceIdentity, openRoot opener) (*ListReport, *schema.Error) {
	fail := func(err error) *schema.Error {
		return schema.Runtime(schema.CodeListFailed, schema.NextRetryList(ws.Place()), nil, "%v", err)
	}
	root, err := openRoot(ws.WorktreeRoot)
	if err != nil {
		return nil, fail(err)
	}
	defer root.Close()
	report := &ListReport{ContractVersion: schema.ContractVersion}
	for _, h := range hosts() {
		if err := ctx.Err(); err != nil {
			return nil, fail(err)
		}
		report.Hosts = append(report.Hosts, inspect(&site{root, ws.WorktreeRoot}, h).status())
	}
	return report, nil
}

func (seen *inspection) status() HostStatus {
	status := HostStatus{ID: seen.host.id, Detected: seen.detected, Capabilities: []string{}}
	switch {
	case seen.invalid != nil:
		status.Warning = "the ownership manifest is not valid: " + seen.invalid.Error()
		return status
	case seen.manifest == nil:
		return status
	}
	status.Installed = true
	if seen.sentinelErr != nil {
		status.Warning = "the sentinel cannot be read: " + seen.sentinelErr.Error()
		return status
	}
	status.NeedsRefresh = !seen.whole || len(seen.changed) > 0 || seen.sentinel != classPristine
	status.Capabilities = append(status.Capabilities, seen.healthy...)
	if seen.stale > 0 {
		status.Warning = staleClaims(seen.stale)
	}
	return status
}

// staleClaims says what list and doctor say about claims of another build.
func staleClaims(n int) string {
	return fmt.Sprintf("%d claims have a digest that is not of this version; refresh and uninstall preserve those files", n)
}
