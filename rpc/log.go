package rpc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// Limits of the log (daemon.md, section 2).
const (
	maxLogBytes = 8 << 20
	oldLogs     = 2 // kept beside the current one: d1.log.1 is the younger
)

// tailBytes is how much of the end of a log is looked at for its last lines.
const tailBytes = 64 << 10

// logFile is the file that the daemon's log goes to. Every write is one line.
type logFile struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int64
	last error // of the last write
}

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := openPrivate(l.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file, l.size = f, info.Size()
	// What the runtime says about its own end belongs there, too.
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// reopen follows a file that was moved away.
func (l *logFile) reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open()
}

// Write appends one line and rotates before it gets too long. A log that can not
// be rotated goes on where it is.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(line)) > maxLogBytes {
		l.rotate()
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	l.last = err
	return n, err
}

// fault is why the last line could not be written.
func (l *logFile) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *logFile) rotate() {
	for i := oldLogs; i > 0; i-- {
		if err := os.Rename(l.numbered(i-1), l.numbered(i)); err != nil && !os.IsNotExist(err) {
			l.size = 0 // the next attempt after as many bytes again
			return
		}
	}
	if err := l.open(); err != nil {
		l.size = 0
	}
}

func (l *logFile) numbered(i int) string {
	if i == 0 {
		return l.path
	}
	return fmt.Sprintf("%s.%d", l.path, i)
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.Close()
}

// LogTail gives the last lines of a log, at most n. A log that is not there has
// none.
func LogTail(path string, n int) ([]string, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return nil, err
	}
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n")) // the first line may be half
	}
	return lastLines(text, n), nil
}

func lastLines(text []byte, n int) []string {
	var lines []string
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			lines = append(lines, string(bytes.ToValidUTF8(line, []byte("?"))))
		}
	}
	return lines[max(0, len(lines)-n):]
}
