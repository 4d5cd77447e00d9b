package deploy

import "fmt"

// planUninstall plans the end of an installation (adapters.md, section 6).
// Callables go before the files that they depend on: a crash in between leaves no
// entry point without its text, and on Codex none without its policy.
func planUninstall(root folder, h *host, m *manifest) (*hostPlan, error) {
	p := newHostPlan(h)
	k := h.kit(m.surface)
	kept := map[string]bool{} // policies that stay in force
	for _, part := range k.parts {
		c, err := classify(root, m, part.callable)
		if err != nil {
			return nil, err
		}
		p.planRemoval(part.callable, c)
		survives := c == classModified || c == classStale || c == classUnknown
		if !survives || part.policy == nil {
			continue
		}
		if err := p.keepPolicy(root, part); err != nil {
			return nil, err
		}
		kept[part.policy.path] = true
	}
	for _, part := range k.parts {
		for _, f := range part.supporting {
			if err := p.planSupportingRemoval(root, m, f, kept[f.path]); err != nil {
				return nil, err
			}
		}
	}
	return p, p.removeRecord(root, m)
}

// planRemoval plans what a class asks for; unknown files are left out entirely.
func (p *hostPlan) planRemoval(f *generatedFile, c class) {
	switch c {
	case classPristine:
		p.remove(f.path, f.digest)
	case classModified, classStale:
		p.preserve(f.path, c)
	}
}

// planSupportingRemoval looks at a supporting file only where it is claimed.
func (p *hostPlan) planSupportingRemoval(root folder, m *manifest, f *generatedFile, kept bool) error {
	if _, claimed := m.claims[f.path]; !claimed {
		return nil
	}
	c, err := classify(root, m, f)
	if err != nil {
		return err
	}
	if kept && c == classPristine {
		return nil // already reported
	}
	p.planRemoval(f, c)
	return nil
}

// keepPolicy keeps the policy of a callable that survives. It must be exactly as
// generated, claimed or not.
func (p *hostPlan) keepPolicy(root folder, part part) error {
	policy := part.policy
	info, err := lookAt(root, policy.path)
	if err != nil {
		return err
	}
	c, err := compare(root, policy.path, policy.digest, info)
	if err != nil {
		return err
	}
	if c != classPristine {
		return fmt.Errorf("%s stays, but its policy %s is missing or changed: restore the policy, or move %s away first",
			part.callable.path, policy.path, part.callable.path)
	}
	p.preserve(policy.path, c)
	p.warn(policyKeptWarning(p.host, part, policy.path))
	p.assertions = append(p.assertions, assertion{policy.path, policy.digest})
	return nil
}
