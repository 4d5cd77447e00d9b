package deploy

import "io/fs"

// Modes of what is written, whatever the umask says (adapters.md, 2.3).
const (
	generatedMode fs.FileMode = 0o644
	recordMode    fs.FileMode = 0o600
	folderMode    fs.FileMode = 0o755
)

// change is one planned operation: what must still be true of a path, and what is
// to become of it.
type change struct {
	path   string
	before string // digest of the regular file that must stand there; empty: nothing may
	after  []byte // the new content; nil: the file goes
	mode   fs.FileMode
	// record marks the change of a manifest: it is made only when all changes
	// before it are on the disk.
	record bool
}

// assertion is a file that must have its bytes still when all changes are made.
type assertion struct {
	path, digest string
}

// hostPlan is what a command is going to do to one host.
type hostPlan struct {
	host       *host
	changes    []change // in the order in which they are made
	assertions []assertion
	reportLists
}

func newHostPlan(h *host) *hostPlan {
	return &hostPlan{host: h, reportLists: reportLists{hosts: []string{h.id}}}
}

// write plans a file; before is the digest of what it takes the place of.
func (p *hostPlan) write(path, before string, content []byte, mode fs.FileMode) {
	p.changes = append(p.changes, change{path: path, before: before, after: content, mode: mode})
	p.written = append(p.written, path)
}

func (p *hostPlan) remove(path, before string) {
	p.changes = append(p.changes, change{path: path, before: before})
	p.removed = append(p.removed, path)
}

// preserve leaves a file alone and says so.
func (p *hostPlan) preserve(path string, c class) {
	p.preserved = append(p.preserved, path)
	if c == classStale {
		p.warn(staleWarning(p.host, path))
	}
}

func (p *hostPlan) warn(sentence string) { p.warnings = append(p.warnings, sentence) }

// lastIsRecord marks the change that was planned last.
func (p *hostPlan) lastIsRecord() { p.changes[len(p.changes)-1].record = true }

// removeRecord plans the end of an installation: the manifest goes, and the
// sentinel where it is as generated.
func (p *hostPlan) removeRecord(root folder, m *manifest) error {
	if m != nil {
		p.remove(p.host.manifestPath(), m.digest)
		p.lastIsRecord()
	}
	c, err := classifySentinel(root, p.host)
	switch {
	case err != nil:
		return err
	case c == classPristine:
		p.remove(p.host.sentinelPath(), digestOf([]byte(sentinelText)))
	case c == classModified:
		p.preserve(p.host.sentinelPath(), c)
	}
	return nil
}
