package gitwatch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"slipway/schema"
)

// Mode says what an observation rests on (daemon.md, section 5).
type Mode string

const (
	Watched Mode = "watch" // Git was asked about what changed only
	Scanned Mode = "scan"  // Git was asked about the whole worktree
)

// Observe looks at the worktree ws as it is now (git-observation.md) and says how
// it did. env is the environment of the caller as it is; it is scrubbed here. The
// slices of the answer may be shared with others; do not write to them.
//
// It succeeds or fails as a whole. It fails where Git fails or exceeds its limits
// of 30 s ([ErrTimeout]) and 16 MiB for one question, where its answer can not be
// understood, where the root can not be opened, where ws no longer stands at its
// root, and with the cause of ctx where that ends.
func (g *Git) Observe(ctx context.Context, env []string, ws schema.WorkspaceIdentity) (schema.Observation, Mode, error) {
	return g.observe(ctx, Scrub(env), ws, watchedDepth)
}

// ObserveFresh is Observe that relies on nothing that was seen before: Git is
// asked about the whole worktree. It answers what the system keeps from a watch
// (see the package comment), too.
func (g *Git) ObserveFresh(ctx context.Context, env []string, ws schema.WorkspaceIdentity) (schema.Observation, error) {
	o, _, err := g.observe(ctx, Scrub(env), ws, freshDepth)
	return o, err
}

// depth is how much of what is known an observation may rest on.
type depth uint8

const (
	watchedDepth depth = iota
	freshDepth
)

func (g *Git) observe(ctx context.Context, scrubbed []string, ws schema.WorkspaceIdentity, deep depth) (schema.Observation, Mode, error) {
	if g.lookouts != nil {
		return g.lookouts.observe(ctx, scrubbed, ws, deep)
	}
	git, err := g.program(scrubbed)
	if err != nil {
		return schema.Observation{}, Scanned, err
	}
	sum := sha256.New()
	seen, err := g.scan(ctx, git, ws, sum)
	if err != nil {
		return schema.Observation{}, Scanned, err
	}
	return assemble(seen.status, digestOf(sum), seen.sights), Scanned, nil
}

// scanned is what a scan found, beside the index listing.
type scanned struct {
	status status
	sights []sight
}

// scan asks Git about the whole worktree and looks at all that is dirty. The
// index listing is written to index.
func (g *Git) scan(ctx context.Context, git program, ws schema.WorkspaceIdentity, index io.Writer) (scanned, error) {
	t, err := openTree(ws.WorktreeRoot)
	if err != nil {
		return scanned{}, fmt.Errorf("the worktree's root can not be opened: %w", err)
	}
	defer t.close()
	if err := g.standsAt(ctx, git, t, ws); err != nil {
		return scanned{}, err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	listed := git.askIndex(asking, ws.WorktreeRoot, index)
	st, err := git.askStatus(asking, ws.WorktreeRoot)
	if err != nil {
		stop()
		<-listed
		return scanned{}, err
	}
	sights := look(t, g.limits.content, st.paths, nil)
	if err := <-listed; err != nil {
		return scanned{}, err
	}
	if err := g.standsAt(ctx, git, t, ws); err != nil {
		return scanned{}, err
	}
	return scanned{status: st, sights: sights}, nil
}

func (p program) askStatus(ctx context.Context, root string) (status, error) {
	var out bytes.Buffer
	err := p.ask(ctx, &out, root, "status", "--porcelain=v2", "-z",
		"--branch", "--no-ahead-behind", "--untracked-files=all")
	if err != nil {
		return status{}, err
	}
	return parseStatus(out.Bytes())
}

// askIndex puts its question beside the caller's own. The channel gives one
// value, when all is written.
func (p program) askIndex(ctx context.Context, root string, to io.Writer) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.ask(ctx, to, root, "ls-files", "--stage", "-z") }()
	return done
}

var errMoved = errors.New("the worktree is no longer the one that was found at its root")

// standsAt makes sure that the opened tree is what Git finds at the root of ws.
// Without this, Git would answer about a repository further up, or about one that
// took the place of ws.
func (g *Git) standsAt(ctx context.Context, git program, t *tree, ws schema.WorkspaceIdentity) error {
	opened, err := t.self()
	if err != nil {
		return fmt.Errorf("the worktree's root can not be examined: %w", err)
	}
	there, err := examine(ws.WorktreeRoot, keepLinks)
	if err != nil || there.kind != directory || there.device != opened.device || there.inode != opened.inode {
		return errors.Join(errMoved, err)
	}
	s := g.survey(git, ws.WorktreeRoot)
	if !s.sure && g.isPlainly(ws) {
		return nil
	}
	now, err := g.locate(ctx, git, ws.WorktreeRoot, s)
	if err != nil {
		return err
	}
	if now != ws {
		return errMoved
	}
	return nil
}

// isPlainly reports whether the files at the root of ws alone tell that Git will
// not look further: a file that names its Git directory, or that directory
// itself with all that Git takes one for.
func (g *Git) isPlainly(ws schema.WorkspaceIdentity) bool {
	dot := join(ws.WorktreeRoot, dotGit)
	n, err := examine(dot, keepLinks)
	if err != nil {
		return false
	}
	if n.kind == regularFile {
		file, err := g.files.readNode(dot, n)
		gitDir, linkErr := linkedGitDir(ws.WorktreeRoot, file.text)
		return err == nil && linkErr == nil && gitDir == ws.GitDir
	}
	head, err := g.files.read(join(dot, "HEAD"))
	return n.kind == directory && ws.GitDir == dot && err == nil && isPlainHead(head.text) &&
		isFolder(join(dot, "objects")) && isFolder(join(dot, "refs"))
}

func isFolder(path string) bool {
	n, err := examine(path, followLinks)
	return err == nil && n.kind == directory
}

// assemble makes the observation of what was seen.
func assemble(st status, index schema.Digest, sights []sight) schema.Observation {
	o := schema.Observation{
		Version:                    schema.ObservationVersion,
		Head:                       st.head,
		IndexFingerprint:           index,
		StatusFingerprint:          st.fingerprint,
		PathCount:                  len(sights),
		ContentObservationComplete: true,
		ContentByteLimit:           schema.MaxObservedContentBytes,
	}
	entries := make([]schema.PathObservation, len(sights))
	for i := range sights {
		s := &sights[i]
		entries[i] = s.entry()
		o.ContentBytesHashed += s.bytesHashed()
		o.ContentByteLimitExceeded = o.ContentByteLimitExceeded || s.limit == byteLimit
		o.ContentDeadlineExceeded = o.ContentDeadlineExceeded || s.limit == timeLimit
		o.ContentObservationComplete = o.ContentObservationComplete && s.complete()
	}
	o.PathFingerprint = schema.PathFingerprint(entries)
	o.PathObservations = schema.RetainDetails(entries)
	if o.DetailsTruncated = len(o.PathObservations) < o.PathCount; o.DetailsTruncated {
		// What is kept must not hold on to all the rest.
		o.PathObservations = slices.Clone(o.PathObservations)
	}
	o.DirtyFiles = make([]string, len(o.PathObservations))
	for i, entry := range o.PathObservations {
		o.DirtyFiles[i] = entry.Path
	}
	o.SnapshotHash = o.ComputeSnapshotHash()
	return o
}

func (s *sight) complete() bool {
	switch s.kind {
	case schema.PathMissing, schema.PathUnreadable, schema.PathContentUnobserved:
		return false
	}
	return true
}

// bytesHashed counts what was read of regular files.
func (s *sight) bytesHashed() int64 {
	switch s.kind {
	case schema.PathRegular, schema.PathOversizeSampled:
		return contentCost(s.seen.size)
	}
	return 0
}

// entry is the path as the contract shows it (git-observation.md, section 1).
func (s *sight) entry() schema.PathObservation {
	e := schema.PathObservation{
		Path:                   s.path,
		Category:               s.category,
		State:                  s.state,
		Observation:            s.kind,
		ContentSHA256:          s.digest,
		ContentFingerprintKind: s.method,
	}
	switch s.kind {
	case schema.PathMissing:
	case schema.PathSymlink:
		e.Size = new(s.target)
	case schema.PathRegular, schema.PathOversizeSampled, schema.PathContentUnobserved:
		e.Size, e.ModifiedUnixNano = new(s.seen.size), new(s.seen.modified)
	case schema.PathNonRegular:
		e.Size = new(s.seen.size)
	case schema.PathUnreadable:
		if s.seen != (node{}) {
			e.Size = new(s.seen.size)
		}
	}
	return e
}
