//go:build unix

package rpc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// install copies this program as the slipwayd beside slipway, with a build id of
// its own, made at the given hour.
func (p *place) install(build byte, hour int) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		p.t.Fatal(err)
	}
	id := []byte(OwnBuild().Digest)
	other := append([]byte{build}, id[1:]...)
	program = append(bytes.ReplaceAll(program[:identityBytes], id, other), program[identityBytes:]...)
	path := filepath.Join(p.bin, "slipwayd")
	when := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
	// Put in place at once, as an upgrade does.
	if err := errors.Join(os.WriteFile(path+".new", program, 0o700), os.Chtimes(path+".new", when, when), os.Rename(path+".new", path)); err != nil {
		p.t.Fatal(err)
	}
}

func TestUpgrade(t *testing.T) {
	p := newPlace(t)
	p.install('A', 1)
	held := p.connect()
	first := answerer(t, held)
	p.install('B', 2)
	second := answerer(t, p.connect())
	if second == first {
		t.Fatal("the old build answered a newer client")
	}
	for range 3 {
		if again := answerer(t, p.connect()); again != second {
			t.Fatalf("%s answered, then %s of the same build", second, again)
		}
	}
	if who := answerer(t, held); who != second {
		t.Errorf("on the old connection %s answered", who)
	}
	p.install('A', 1)
	if who := answerer(t, p.connect()); who != second {
		t.Errorf("an older client replaced the newer daemon by %s", who)
	}
}

func TestManyClientsUpgradeOnce(t *testing.T) {
	p := newPlace(t)
	p.install('A', 1)
	answerer(t, p.connect())
	p.install('B', 2)
	answers := p.answerers(16)
	if len(answers) != 1 {
		t.Errorf("answers by %v", answers)
	}
}

func TestDrainingDaemonIsWaitedFor(t *testing.T) {
	p := newPlace(t)
	e := at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), "")
	if err := e.prepare(); err != nil {
		t.Fatal(err)
	}
	lock, err := tryLock(e.lockPath())
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan error)
	go func() {
		c, _, err := Connect(context.Background(), *p.options())
		if err == nil {
			c.Close()
		}
		connected <- err
	}()
	// The client holds the start lock while it waits.
	for deadline := time.Now().Add(testPatience); ; runtime.Gosched() {
		start, err := tryLock(e.startLockPath())
		if errors.Is(err, errLocked) {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the client does not wait: %v", err)
		}
		start.release()
	}
	lock.release()
	if err := <-connected; err != nil {
		t.Error(err)
	}
}
