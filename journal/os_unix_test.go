//go:build unix

package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"slipway/journal"
)

func init() {
	roles["umask"] = umaskRole
	roles["unwritable"] = unwritableRole
}

// umaskRole makes a Run under a umask, and then works on it although its owner has
// locked himself out.
func umaskRole(args []string) error {
	mask, err := strconv.ParseInt(args[1], 8, 32)
	if err != nil {
		return err
	}
	syscall.Umask(int(mask))
	if err := makeRun(args[0]); err != nil {
		return fmt.Errorf("a new Run: %w", err)
	}
	slipway := filepath.Join(args[0], "slipway")
	run := filepath.Join(slipway, "runs", "run-1")
	for _, path := range []string{filepath.Join(run, "journal.jsonl"), filepath.Join(run, "run.lock"), run, filepath.Join(slipway, "runs"), slipway} {
		if err := os.Chmod(path, 0); err != nil {
			return err
		}
	}
	return appendRole([]string{args[0], "1"})
}

func makeRun(commonDir string) error {
	store, err := journal.OpenStore(journal.OS(), commonDir, journal.ReadWrite)
	if err != nil {
		return err
	}
	defer store.Close()
	w, err := store.Create(context.Background(), "run-1")
	if err != nil {
		return err
	}
	defer w.Close()
	content := []byte("x")
	if err := w.PutMaterial(journal.MaterialDigest(content), content); err != nil {
		return err
	}
	if _, err := w.Append(journal.Record{Sequence: 1, Type: "run_started", At: time.Now(), Data: json.RawMessage(`{}`)}); err != nil {
		return err
	}
	return w.Project([]byte("{}"))
}

// TestModes: whatever the umask is, everything is the owner's alone, and a writer
// gives itself back what somebody took away. Root is never locked out, so root
// tries it as nobody.
func TestModes(t *testing.T) {
	for _, mask := range []string{"000", "022", "077", "777"} {
		t.Run(mask, func(t *testing.T) {
			r := newRepository(t)
			runAsUser(t, r, child(t, "umask", r.path, mask))
			checkModes(t, r, 8)
		})
	}
}

// nobody is a user id that is not root's.
const nobody = 65534

// runAsUser runs a child as the owner of the repository, who is not root.
func runAsUser(t *testing.T, r repository, cmd *exec.Cmd) {
	t.Helper()
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		giveToNobody(t, r)
		cmd.Path = copyBinary(t, cmd.Path, filepath.Dir(r.path))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}

// giveToNobody lets another user reach and own the repository.
func giveToNobody(t *testing.T, r repository) {
	t.Helper()
	for path := filepath.Dir(r.path); path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(r.path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}

// copyBinary puts the test binary where every user can run it.
func copyBinary(t *testing.T, from, folder string) string {
	t.Helper()
	binary, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(folder, "test-binary")
	if err := os.WriteFile(to, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// checkModes looks at everything below `slipway`.
func checkModes(t *testing.T, r repository, want int) {
	t.Helper()
	seen := 0
	for name, e := range r.tree() {
		if name == "" {
			continue
		}
		seen++
		mode := fs.FileMode(0o600)
		if e.Mode.IsDir() {
			mode = fs.ModeDir | 0o700
		}
		if e.Mode != mode {
			t.Errorf("%s has mode %v, want %v", name, e.Mode, mode)
		}
	}
	if seen != want {
		t.Errorf("%d objects, want %d", seen, want)
	}
}

func TestWriterSetsModesBack(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	for path, mode := range map[string]fs.FileMode{
		filepath.Join(r.path, "slipway"): 0o755,
		r.runs():                         0o777,
		filepath.Join(r.runs(), "run-1"): fs.ModeSetgid | fs.ModeSticky | 0o755,
		r.file("run-1", "journal.jsonl"): 0o644,
		r.file("run-1", "run.lock"):      0o666,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	w := r.lock("run-1")
	defer w.Close()
	if _, _, _, err := w.Load(stamp); err != nil {
		t.Fatal(err)
	}
	checkModes(t, r, 5)
}

// TestModesThatAreRightAreLeft: setting a mode that is right already would change
// the file and make every stamp worthless.
func TestModesThatAreRightAreLeft(t *testing.T) {
	r := newRepository(t)
	stamp := r.start("run-1", `{}`)
	for range 2 {
		w := r.lock("run-1")
		if _, _, unchanged, err := w.Load(stamp); err != nil || !unchanged {
			t.Errorf("unchanged %v, %v", unchanged, err)
		}
		w.Close()
	}
}

// TestPipesAreNotOpened: a pipe in place of a file must not hold anybody up.
func TestPipesAreNotOpened(t *testing.T) {
	for name, phase := range map[string]string{"journal.jsonl": "invalid", "run.lock": "lock_open", "run.json": "projection_prepare"} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.start("run-1", `{}`)
			os.Remove(r.file("run-1", name))
			if err := syscall.Mkfifo(r.file("run-1", name), 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := r.open(journal.ReadWrite).Lock(t.Context(), "run-1")
			if err == nil {
				defer w.Close()
				if _, _, _, err = w.Load(journal.Stamp{}); err == nil {
					_, err = w.Append(record(2, `{}`))
				}
			}
			if classOf(err) != phase {
				t.Errorf("%v, want %s", err, phase)
			}
		})
	}
}

// TestUnwritableStorage: storage that can be read but not written to is refused
// when it is opened for writing, and goes on serving readers.
func TestUnwritableStorage(t *testing.T) {
	r := newRepository(t)
	if err := os.Chmod(r.path, 0o500); err != nil {
		t.Fatal(err)
	}
	runAsUser(t, r, child(t, "unwritable", r.path))
}

func unwritableRole(args []string) error {
	var refused *journal.StoreError
	if _, err := journal.OpenStore(journal.OS(), args[0], journal.ReadWrite); !errors.As(err, &refused) || !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("OpenStore for writing: %v", err)
	}
	store, err := journal.OpenStore(journal.OS(), args[0], journal.ReadOnly)
	if err != nil {
		return err
	}
	defer store.Close()
	_, err = store.RunIDs()
	return err
}
