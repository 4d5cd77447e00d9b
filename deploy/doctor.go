package deploy

import (
	"context"
	"fmt"
	"strings"

	"slipway/journal"
	"slipway/schema"
)

// Doctor reports on the repository, the adapters of every host, what is left over
// beside Run storage, how durable Run storage is, and GitHub's tool (adapters.md,
// section 11). It only reads.
//
// github are the facts that [ProbeGitHub] found in the environment of the caller;
// nil leaves those checks out. extra checks, such as those about reaching the
// daemon, come last. Errors: doctor_failed, where the root is gone.
func Doctor(ctx context.Context, ws schema.WorkspaceIdentity, github *GitHubFacts, extra []Check) (*DoctorReport, *schema.Error) {
	return doctor(ctx, ws, github, extra, openFolder)
}

func doctor(ctx context.Context, ws schema.WorkspaceIdentity, github *GitHubFacts, extra []Check, openRoot opener) (*DoctorReport, *schema.Error) {
	fail := func(err error) *schema.Error {
		return schema.Runtime(schema.CodeDoctorFailed, schema.NextRetryDoctor(ws.Place()), nil, "%v", err)
	}
	root, err := openRoot(ws.WorktreeRoot)
	if err != nil {
		return nil, fail(err)
	}
	defer root.Close()
	checks := []Check{{Code: "repository_ok", Status: StatusOK, HostID: NoHost, Name: "repository", Detail: ws.WorktreeRoot}}
	for _, h := range hosts() {
		if err := ctx.Err(); err != nil {
			return nil, fail(err)
		}
		checks = append(checks, adapterCheck(&site{root, ws.WorktreeRoot}, h))
	}
	checks = append(checks, residueChecks(ws.GitCommonDir)...)
	checks = append(checks, durabilityCheck())
	checks = append(checks, github.checks()...)
	checks = append(checks, recoveryChecks(root)...)
	return &DoctorReport{ContractVersion: schema.ContractVersion, Checks: append(checks, extra...)}, nil
}

// adapterCheck is the one check of a host: the first row of adapters.md, 11.2 that
// applies.
func adapterCheck(s *site, h *host) Check {
	seen := inspect(s, h)
	check := func(code string, status CheckStatus, format string, args ...any) Check {
		return Check{Code: code, Status: status, HostID: h.id, Name: "adapter", Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case seen.invalid != nil:
		c := check("adapter_manifest_unreadable", StatusError, "%v", seen.invalid)
		c.Name = "manifest"
		return c
	case seen.manifest == nil && !seen.detected:
		return check("adapter_not_detected", StatusOK, "not detected")
	case seen.manifest == nil:
		return check("adapter_not_installed", StatusWarning, "%s", notInstalledDetail(s.root, h))
	case seen.sentinelErr != nil:
		c := check("adapter_inspection_unavailable", StatusError, "the sentinel cannot be read: %v", seen.sentinelErr)
		c.Name = "adapter inspection"
		return c
	case seen.sentinel == classModified:
		return check("adapter_modified", StatusWarning,
			"%s was changed and is kept as user content; %d more files differ; it must be moved away before a refresh",
			h.sentinelPath(), len(seen.changed)+seen.stale)
	case seen.stale > 0:
		return check("adapter_refresh_required", StatusWarning, "%s", staleClaims(seen.stale))
	case !seen.whole || seen.sentinel == classMissing:
		return check("adapter_refresh_required", StatusWarning, "%s", incompleteDetail(seen.unclaimed))
	case len(seen.changed) > 0:
		return check("adapter_modified", StatusWarning,
			"managed files changed, missing or behind a link: %d (%s); `slipway install --refresh` writes missing ones and preserves the others",
			len(seen.changed), strings.Join(inOrder(seen.changed), ", "))
	}
	return check("adapter_healthy", StatusOK, "%d managed files", len(seen.manifest.claims))
}

// incompleteDetail says how to complete an installation. What is in the way of a
// generated file would make a refresh alone leave it incomplete.
func incompleteDetail(inTheWay []string) string {
	if len(inTheWay) == 0 {
		return "the installation is not complete; run `slipway install --refresh`"
	}
	return fmt.Sprintf("the installation is not complete, because something that is not Slipway's stands at %s; "+
		"move it away and run `slipway install --refresh`, or keep it", strings.Join(inOrder(inTheWay), ", "))
}

// notInstalledDetail says what stands in the way of an installation, or nothing.
func notInstalledDetail(root folder, h *host) string {
	if sentinel, err := lookAt(root, h.sentinelPath()); err == nil && sentinel != nil {
		return manifestMissingWarning(h)
	}
	var found []string
	for _, k := range h.kits {
		for _, path := range k.paths {
			if info, err := lookAt(root, path); err == nil && info != nil {
				found = append(found, path)
			}
		}
	}
	if found = inOrder(found); len(found) > 0 {
		return fmt.Sprintf("the ownership manifest is missing, but something stands at %d paths that would be generated: %s; "+
			"uninstall cannot remove and refresh does not adopt what is there: move it away and run %s",
			len(found), strings.Join(found, ", "), installCommand(h))
	}
	return "the ownership manifest is missing; run " + installCommand(h)
}

// durabilityCheck is about the platform (adapters.md, 11.4).
func durabilityCheck() Check {
	check := Check{HostID: NoHost, Name: "runstore durability"}
	if journal.SyncsDirectories {
		check.Code, check.Status = "runstore_durability_full", StatusOK
		check.Detail = "files and folders of Run storage are brought to the disk"
		check.Durability = &Durability{Level: "file_and_directory_fsync", FileSync: true, DirectorySync: true}
		return check
	}
	check.Code, check.Status = "runstore_durability_limited", StatusWarning
	check.Detail = "files of Run storage are brought to the disk, folders cannot be on this platform"
	check.Durability = &Durability{Level: "file_fsync_only", FileSync: true, Limitation: "directory_fsync_unsupported"}
	return check
}
