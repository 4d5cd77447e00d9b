package gitwatch

import (
	"context"
	"fmt"
	"io"
	"testing"
)

// BenchmarkGitVersion is the price of one process: the measure of the others.
func BenchmarkGitVersion(b *testing.B) {
	_, p, root := benchmarked(b)
	for b.Loop() {
		if err := p.ask(context.Background(), io.Discard, root, "version"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiscoverCached(b *testing.B) {
	s, _, root := benchmarked(b)
	g := settledGit()
	for b.Loop() {
		if _, err := g.Discover(context.Background(), s.realEnv, root); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStatus is the slower of the two questions of an observation.
func BenchmarkStatus(b *testing.B) {
	_, p, root := benchmarked(b)
	for b.Loop() {
		if _, err := p.askStatus(context.Background(), root); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkObserveSmall(b *testing.B) {
	s, _, root := benchmarked(b)
	g := settledGit()
	ws := s.discover(g, root)
	for b.Loop() {
		if _, _, err := g.Observe(context.Background(), s.realEnv, ws); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarked is a repository of a hundred files, ten of them dirty.
func benchmarked(b *testing.B) (*sandbox, program, string) {
	s := newSandbox(b)
	root := s.repo("r")
	for i := range 100 {
		s.write(fmt.Sprintf("r/d%d/f%d", i%10, i), "x\n")
	}
	s.git("r", "add", "-A")
	s.git("r", "commit", "-qm", "x")
	for i := range 10 {
		s.write(fmt.Sprintf("r/d%d/f%d", i, i), "changed\n")
	}
	p, err := New().program(Scrub(s.realEnv))
	s.must(err)
	return s, p, root
}
