//go:build unix

package gitwatch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFindGit(t *testing.T) {
	s := newSandbox(t)
	s.write("notrunnable/git", "x")
	s.mkdir("folder/git")
	s.write("good/git", "x")
	s.chmod("good/git", 0o755)
	t.Chdir(s.path("good"))

	list := strings.Join([]string{".", "", "../good", s.path("none"), s.path("notrunnable"), s.path("folder"), s.path("good")}, ":")
	got, _, err := findGit([]string{"PATH=/nowhere", "PATH=" + list})
	if want := s.path("good/git"); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, env := range [][]string{nil, {"PATH="}, {"PATH=.:"}, {"PATH=" + s.path("folder")}} {
		if got, _, err := findGit(env); !errors.Is(err, errNoGit) {
			t.Errorf("%q: got %q, %v", env, got, err)
		}
	}
}

// askFake asks a shell script that stands in for git.
func askFake(t *testing.T, ctx context.Context, script string, change func(*limits)) (string, error) {
	t.Helper()
	s := newSandbox(t)
	g := New()
	change(&g.limits)
	p, err := g.program(Scrub(s.fakeGit(script)))
	s.must(err)
	var out bytes.Buffer
	err = p.ask(ctx, &out, s.dir, "status")
	return out.String(), err
}

func TestAskBoundsItsAnswers(t *testing.T) {
	small := func(l *limits) { l.answerBytes = 1000 }
	for _, c := range []struct{ name, script string }{
		{"stdout", "exec yes"},
		{"stderr", "exec yes >&2"},
		{"one byte more", "printf '%1001d' 1"},
	} {
		if _, err := askFake(t, t.Context(), c.script, small); !errors.Is(err, errAnswerTooLong) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	if out, err := askFake(t, t.Context(), "printf '%1000d' 1; printf '%1000d' 1 >&2", small); err != nil || len(out) != 1000 {
		t.Errorf("exactly the limit: %d bytes, %v", len(out), err)
	}
}

func TestAskSaysWhatGitSaid(t *testing.T) {
	_, err := askFake(t, t.Context(), "printf 'fatal: \\033[31mno\\377\\nmore' >&2; exit 128", func(*limits) {})
	if want := "git status: exit status 128: fatal:  [31mno"; err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestAskGivesNoInput(t *testing.T) {
	out, err := askFake(t, t.Context(), "cat; echo end", func(*limits) {})
	if err != nil || out != "end\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// heldFIFO makes a pipe that is at its end once all who hold it are gone.
func heldFIFO(t *testing.T) (path string, gone func() error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	return path, func() error {
		if err := reader.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			return err
		}
		held, err := io.ReadAll(reader)
		if err == nil && string(held) != "held\n" {
			return errors.New("nobody held it")
		}
		return err
	}
}

func TestAskLeavesNothingBehind(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	context.AfterFunc(t.Context(), func() { cancel(nil) })
	for _, c := range []struct {
		name   string
		ctx    context.Context
		script string // HELD is a pipe to hold
		want   error
	}{
		{"out of time", t.Context(), "exec 9>HELD; echo held >&9; sleep 1000 & wait", ErrTimeout},
		{"cancelled", cancelled, "exec 9>HELD; echo held >&9; sleep 1000 & wait", enough},
		{"a child holds the pipes", t.Context(), "exec 9>HELD; echo held >&9; sleep 1000 & exit 0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, gone := heldFIFO(t)
			if c.want == enough {
				timer := time.AfterFunc(100*time.Millisecond, func() { cancel(enough) })
				defer timer.Stop()
			}
			_, err := askFake(t, c.ctx, strings.ReplaceAll(c.script, "HELD", "'"+path+"'"), func(l *limits) {
				if c.want == ErrTimeout {
					l.question = 200 * time.Millisecond
				}
			})
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err := gone(); err != nil {
				t.Errorf("somebody still lives: %v", err)
			}
		})
	}
}
