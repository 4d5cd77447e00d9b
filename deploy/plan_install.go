package deploy

// planInstall plans a first install (m is nil) or a refresh of a host
// (adapters.md, 5.3). The changes are in the order supporting files, callables,
// manifest, sentinel.
func planInstall(root folder, h *host, k *kit, m *manifest) (*hostPlan, error) {
	p := newHostPlan(h)
	blocked := make([][]string, len(k.parts)) // per part: supporting files that are not Slipway's
	claims := map[string]string{}
	for i, part := range k.parts {
		for _, f := range part.supporting {
			c, err := classify(root, m, f)
			if err != nil {
				return nil, err
			}
			if c.mayWrite() {
				p.generate(f, c, claims)
				continue
			}
			p.preserve(f.path, c)
			blocked[i] = append(blocked[i], f.path)
		}
	}
	for i, part := range k.parts {
		c, err := classify(root, m, part.callable)
		if err != nil {
			return nil, err
		}
		p.planCallable(part, c, blocked[i], claims)
	}
	return p, p.planRecord(root, m, &manifest{surface: k.surface, claims: claims})
}

// planCallable makes sure that no entry point leads to text that is not
// Slipway's.
func (p *hostPlan) planCallable(part part, c class, blocked []string, claims map[string]string) {
	f := part.callable
	if len(blocked) > 0 {
		p.warn(callableNotManagedWarning(p.host, part, blocked))
	}
	switch {
	case len(blocked) == 0 && c.mayWrite():
		p.generate(f, c, claims)
	case c == classPristine:
		p.remove(f.path, f.digest)
	case c.onDisk():
		p.preserve(f.path, c)
	}
}

// generate plans a generated file and claims it.
func (p *hostPlan) generate(f *generatedFile, c class, claims map[string]string) {
	before := ""
	if c == classPristine {
		before = f.digest
	}
	p.write(f.path, before, f.content, generatedMode)
	claims[f.path] = f.digest
}

// planRecord plans manifest and sentinel. old is the manifest that is there, or
// nil.
func (p *hostPlan) planRecord(root folder, old, next *manifest) error {
	if len(next.claims) == 0 {
		p.warn(notInstalledWarning(p.host))
		return p.removeRecord(root, old)
	}
	before := ""
	if old != nil {
		before = old.digest
	}
	p.write(p.host.manifestPath(), before, next.render(p.host), recordMode)
	p.lastIsRecord()

	c, err := classifySentinel(root, p.host)
	switch {
	case err != nil:
		return err
	case c == classModified:
		p.preserve(p.host.sentinelPath(), c)
	case c == classPristine:
		p.write(p.host.sentinelPath(), digestOf([]byte(sentinelText)), []byte(sentinelText), recordMode)
	default:
		p.write(p.host.sentinelPath(), "", []byte(sentinelText), recordMode)
	}
	return nil
}
