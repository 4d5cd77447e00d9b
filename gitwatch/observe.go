package gitwatch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"

	"slipway/schema"
)

// Observe looks at the worktree ws as it is now (git-observation.md). env is the
// environment of the caller as it is; it is scrubbed here.
//
// It succeeds or fails as a whole. It fails where Git fails or exceeds its limits
// of 30 s ([ErrTimeout]) and 16 MiB for one question, where its answer can not be understood,
// where the root can not be opened, where ws no longer stands at its root, and
// with the cause of ctx where that ends.
func (g *Git) Observe(ctx context.Context, env []string, ws schema.WorkspaceIdentity) (schema.Observation, error) {
	return g.scan(ctx, Scrub(env), ws)
}

// scan observes by asking Git about the whole worktree.
func (g *Git) scan(ctx context.Context, scrubbed []string, ws schema.WorkspaceIdentity) (schema.Observation, error) {
	git, err := g.program(scrubbed)
	if err != nil {
		return schema.Observation{}, err
	}
	t, err := openTree(ws.WorktreeRoot)
	if err != nil {
		return schema.Observation{}, fmt.Errorf("the worktree's root can not be opened: %w", err)
	}
	defer t.close()
	if err := g.standsAt(ctx, git, t, ws); err != nil {
		return schema.Observation{}, err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	index := git.askIndex(asking, ws.WorktreeRoot)
	st, err := git.askStatus(asking, ws.WorktreeRoot)
	if err != nil {
		stop()
		<-index.done
		return schema.Observation{}, err
	}
	sights := look(t, g.limits.content, st.paths)
	<-index.done
	if index.err != nil {
		return schema.Observation{}, index.err
	}
	if err := g.standsAt(ctx, git, t, ws); err != nil {
		return schema.Observation{}, err
	}
	return assemble(st, digestOf(index.sum), sights), nil
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

// indexAnswer is the digest of the index listing; it is there once done is
// closed.
type indexAnswer struct {
	done chan struct{}
	sum  hash.Hash
	err  error
}

// askIndex puts its question beside the caller's own.
func (p program) askIndex(ctx context.Context, root string) *indexAnswer {
	answer := &indexAnswer{done: make(chan struct{}), sum: sha256.New()}
	go func() {
		defer close(answer.done)
		answer.err = p.ask(ctx, answer.sum, root, "ls-files", "--stage", "-z")
	}()
	return answer
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
