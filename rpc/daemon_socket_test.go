//go:build unix

package rpc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"slipway/schema"
)

func TestDaemonWhoseSocketWasRemovedMakesRoom(t *testing.T) {
	p := newPlace(t)
	c := p.connect()
	before := answerer(t, c)
	health, err := Status(context.Background(), *p.options())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(health.Socket); err != nil {
		t.Fatal(err)
	}
	if after := answerer(t, p.connect()); after == before || after == "" {
		t.Errorf("%s answered, then %s", before, after)
	}
}

// TestEndingDaemonLeavesTheNextOneAlone: a daemon whose folder was removed ends
// while another one has its place. The system gives numbers of removed files to new
// ones, which happens sooner or later in these rounds.
func TestEndingDaemonLeavesTheNextOneAlone(t *testing.T) {
	p := newPlace(t)
	folder := filepath.Join(p.dir, "run", "slipway")
	p.connect()
	for range 5 {
		before := p.pid()
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		c := p.connect()
		answered := answerer(t, c)
		waitFor(t, func() bool { return syscall.Kill(before, 0) != nil })
		if now := answerer(t, c); now != answered {
			t.Fatalf("%s answered, then %s", answered, now)
		}
		for _, name := range []string{"d1.sock", "d1.json"} {
			if _, err := os.Lstat(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPlaceThatCanNotHoldASocket: the next place takes over, and the status names
// the one that is used (daemon.md, section 2).
func TestPlaceThatCanNotHoldASocket(t *testing.T) {
	p := newPlace(t)
	p.connect()
	file := filepath.Join(p.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := at(filepath.Join(p.dir, "run", "slipway", socketName), "")
	for name, folder := range map[string]string{"missing": filepath.Join(p.dir, "missing"), "a file": file} {
		unusable := at(filepath.Join(folder, productFolder, socketName), folder)
		h, err := p.options().status(t.Context(), modeAuto, []Endpoint{unusable, used})
		if err != nil || !h.Running || h.Socket != used.Socket || h.ModeReason != "a daemon listens at "+used.Socket {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		if got := placeOf(t.Context(), []Endpoint{unusable, used}); got != used {
			t.Errorf("%s: the place is %+v", name, got)
		}
	}
	if _, err := Stop(t.Context(), *p.options()); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"missing": filepath.Join(p.dir, "missing"), "a file": file} {
		unusable := at(filepath.Join(folder, productFolder, socketName), folder)
		h, err := p.options().status(t.Context(), modeAuto, []Endpoint{unusable, used})
		if err != nil || h.Running || h.Socket != used.Socket {
			t.Errorf("%s, without a daemon: %+v, %v", name, h, err)
		}
		if got := placeOf(t.Context(), []Endpoint{unusable, used}); got != used {
			t.Errorf("%s, without a daemon: the place is %+v", name, got)
		}
		if got := placeOf(t.Context(), []Endpoint{unusable}); got != unusable {
			t.Errorf("%s, nothing else: the place is %+v", name, got)
		}
	}
}

func TestFoldersOfOthersAreRefused(t *testing.T) {
	for name, make := range map[string]func(folder, dir string) error{
		"link":      func(folder, dir string) error { return os.Symlink(dir, folder) },
		"open":      func(folder, _ string) error { return errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777)) },
		"no folder": func(folder, _ string) error { return os.WriteFile(folder, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if err := make(filepath.Join(p.dir, "run", "slipway"), p.dir); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Connect(context.Background(), *p.options()); codeOfError(t, err) != schema.CodeDaemonUnavailable {
				t.Errorf("connecting says %v", err)
			}
			if name == "link" {
				os.Remove(filepath.Join(p.dir, "run", "slipway")) // for the search for a daemon to end
			}
		})
	}
}

func TestAnotherPlaceWhereTheFirstCanHoldNoSocket(t *testing.T) {
	p := newPlace(t)
	gone := filepath.Join(p.dir, "gone")
	k := &connector{options: p.options()}
	c, err := k.start(context.Background(), []Endpoint{
		at(filepath.Join(gone, "slipway", "d1.sock"), gone),
		at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	if p.pid() == 0 {
		t.Error("there is no daemon at the second place")
	}
}
