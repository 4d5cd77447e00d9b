package gitwatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode"
)

// program is Git as one caller would start it.
type program struct {
	path        string   // absolute
	node        node     // what stands there, links followed
	environment []string // scrubbed
	options     []string // before the question
	input       string
	limits      limits
}

func (g *Git) program(scrubbed []string) (program, error) {
	path, n, err := findGit(scrubbed)
	return program{path: path, node: n, environment: scrubbed, limits: g.limits}, err
}

// pipeGrace is how long the ends of pipes that a killed or finished Git left to
// its children are read. It also bounds how late a busy machine may read what Git
// said before it ended, so it is not short.
const pipeGrace = 5 * time.Second

var errAnswerTooLong = errors.New("the answer exceeds its limit")

// ask runs git at root and writes what it answers to stdout. When it returns,
// the process is gone. Where ctx or the time of one question ends first, the
// error wraps the cause of ctx or ErrTimeout.
func (p program) ask(ctx context.Context, stdout io.Writer, root string, question ...string) error {
	ctx, end := context.WithTimeoutCause(ctx, p.limits.question, ErrTimeout)
	defer end()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	overflow := func() { stop(fmt.Errorf("%w of %d bytes", errAnswerTooLong, p.limits.answerBytes)) }
	var complaint strings.Builder

	args := append([]string{"-c", "core.fsmonitor=false", "-C", root}, p.options...)
	cmd := exec.CommandContext(ctx, p.path, append(args, question...)...)
	cmd.Env = p.environment
	if p.input != "" {
		cmd.Stdin = strings.NewReader(p.input)
	}
	cmd.Stdout = &boundedWriter{to: stdout, left: p.limits.answerBytes, overflow: overflow}
	cmd.Stderr = &boundedWriter{to: &complaint, left: p.limits.answerBytes, overflow: overflow}
	cmd.WaitDelay = pipeGrace

	err := runContained(cmd)
	if err == nil {
		return nil
	}
	failure := &gitError{question: question[0], err: err, complaint: complaint.String()}
	if cause := context.Cause(ctx); cause != nil {
		failure.err = cause
	}
	return failure
}

// boundedWriter passes on at most left bytes and then calls overflow.
type boundedWriter struct {
	to       io.Writer
	left     int64
	overflow func()
}

func (w *boundedWriter) Write(data []byte) (int, error) {
	if int64(len(data)) > w.left {
		w.left = 0
		w.overflow()
		return 0, errAnswerTooLong
	}
	w.left -= int64(len(data))
	return w.to.Write(data)
}

// gitError is a question that Git did not answer.
type gitError struct {
	question  string
	err       error
	complaint string // stderr
}

func (e *gitError) Unwrap() error { return e.err }

func (e *gitError) Error() string {
	text := "git " + e.question + ": " + e.err.Error()
	if said := firstLine(e.complaint); said != "" {
		text += ": " + said
	}
	return text
}

// maxComplaintBytes bounds what of Git's own words is passed on to people.
const maxComplaintBytes = 512

// firstLine gives the first line of text that says something, bounded, and
// without what would move a terminal's cursor.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxComplaintBytes {
		line = line[:maxComplaintBytes]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(line, "")))
}
