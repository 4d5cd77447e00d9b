package deploy

import (
	"fmt"
	"strings"
)

// The sentences of adapters.md, section 9: each names what its table says.

func alreadyInstalledWarning(h *host) string {
	return fmt.Sprintf("%s: already installed; nothing was changed. Run `slipway install --refresh` to repair or renew its files", h.id)
}

func surfaceSkippedWarning(h *host) string {
	return fmt.Sprintf("%s: skipped, because its surface is not known; run `slipway install --tool %s --surface %s` or `--surface %s`",
		h.id, h.id, surfaceIDE, surfaceCLI)
}

func manifestMissingWarning(h *host) string {
	return fmt.Sprintf("%s: the ownership manifest is missing, but %s is there; it alone establishes no ownership, so nothing was changed. "+
		"Move %s and any generated file out of the way and run %s; files that are left in place are never adopted",
		h.id, h.sentinelPath(), h.sentinelPath(), installCommand(h))
}

// installCommand is what a user would type to install a host.
func installCommand(h *host) string {
	command := "slipway install --tool " + h.id
	if !h.hasSurfaces() {
		return "`" + command + "`"
	}
	return fmt.Sprintf("`%s --surface %s` or `%s --surface %s`", command, surfaceIDE, command, surfaceCLI)
}

func staleWarning(h *host, path string) string {
	return fmt.Sprintf("%s: the digest that the manifest claims for %s is not of this version; the file is kept and the claim withdrawn. "+
		"To have it generated again, move the file away and run `slipway install --tool %s --refresh`", h.id, path, h.id)
}

func callableNotManagedWarning(h *host, p part, preserved []string) string {
	return fmt.Sprintf("%s: %s is not managed, because files that %s depends on are not Slipway's: %s. "+
		"Move them away and run `slipway install --tool %s --refresh` to have the capability",
		h.id, p.callable.path, p.name, strings.Join(preserved, ", "), h.id)
}

func notInstalledWarning(h *host) string {
	return fmt.Sprintf("%s: not installed, because no file is left that Slipway owns; the preserved paths are yours", h.id)
}

func policyKeptWarning(h *host, p part, policy string) string {
	return fmt.Sprintf("%s: %s stays in place, because %s of %s stays too and the policy keeps it from being started implicitly; delete both together",
		h.id, policy, p.callable.path, p.name)
}

func recoveryWarning(a artifact) string {
	if a.kept == a.original {
		return fmt.Sprintf("%s was left as it is at %s: %s; inspect it", a.original, a.kept, inOneSentence(a.cause))
	}
	return fmt.Sprintf("%s: what stood there, or was to, is kept at %s: %s; inspect it, then move it back or delete it",
		a.original, a.kept, inOneSentence(a.cause))
}

// inOneSentence joins what several failures say; each would have its own line.
func inOneSentence(err error) string {
	return strings.Join(strings.Split(err.Error(), "\n"), "; ")
}
