package gitwatch

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// Limits of the small files that a discovery depends on.
const (
	maxSurveyedBytes = 256 << 10 // of one file; a larger one leaves the survey unsure
	maxMemoFiles     = 512
	maxMemoBytes     = 4 << 10 // of the text that is kept; of larger ones only the digest
)

// settleTime is how old the last change of a file must be before its time stamps
// are trusted to change with the next one: longer than the clock tick of any
// system. File systems that keep whole seconds (FAT: every second one) need more.
const (
	settleTime       = 100 * time.Millisecond
	coarseSettleTime = 2100 * time.Millisecond
)

// content is what a survey needs of a small file.
type content struct {
	exists   bool
	text     string // empty beyond maxMemoBytes
	digest   [sha256.Size]byte
	includes includes
}

var errNotSurveyable = errors.New("not a small regular file")

// fileMemo reads small files, and reads them again only when they changed.
type fileMemo struct {
	mu    sync.Mutex
	files map[string]memorized
	now   func() time.Time
}

type memorized struct {
	node    node
	content content
}

func newFileMemo() *fileMemo {
	return &fileMemo{files: make(map[string]memorized), now: time.Now}
}

// read gives the content of path, links followed. A file that is not there is no
// error.
func (m *fileMemo) read(path string) (content, error) {
	n, err := examine(path, followLinks)
	if isAbsence(err) {
		return content{}, nil
	}
	if err != nil {
		return content{}, err
	}
	return m.readNode(path, n)
}

// readNode gives the content of path, where n stands.
func (m *fileMemo) readNode(path string, n node) (content, error) {
	if n.kind == nullDevice {
		return content{exists: true, digest: sha256.Sum256(nil)}, nil
	}
	if n.kind != regularFile || n.size > maxSurveyedBytes {
		return content{}, errNotSurveyable
	}
	m.mu.Lock()
	known, ok := m.files[path]
	m.mu.Unlock()
	if ok && known.node == n {
		return known.content, nil
	}
	return m.readAnew(path, n)
}

func (m *fileMemo) readAnew(path string, n node) (content, error) {
	file, err := openRegular(path)
	if err != nil {
		return content{}, err
	}
	defer file.Close()
	began := m.now()
	data, err := io.ReadAll(io.LimitReader(file, maxSurveyedBytes+1))
	if err != nil {
		return content{}, err
	}
	if len(data) > maxSurveyedBytes {
		return content{}, errNotSurveyable
	}
	c := content{exists: true, digest: sha256.Sum256(data), includes: includesOf(string(data))}
	if len(data) <= maxMemoBytes {
		c.text = string(data)
	}
	again, err := examine(path, followLinks)
	if err != nil || again != n {
		return content{}, errors.Join(errNotSurveyable, err)
	}
	if n.settled(began) {
		m.keep(path, memorized{node: n, content: c})
	}
	return c, nil
}

func (m *fileMemo) keep(path string, file memorized) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.files[path]; !there {
		dropOne(m.files, maxMemoFiles)
	}
	m.files[path] = file
}

// settled reports whether any later change of a file will show in its node.
func (m *fileMemo) settled(n node) bool { return n.settled(m.now()) }

func (n node) settled(now time.Time) bool {
	if !n.identityIsKnown {
		return false
	}
	needed := settleTime
	if n.changed%int64(time.Second) == 0 {
		needed = coarseSettleTime
	}
	return time.Duration(now.UnixNano()-n.changed) >= needed
}

// isAbsence reports whether err says that nothing is there.
func isAbsence(err error) bool {
	return err != nil && (errors.Is(err, fs.ErrNotExist) || isNoFolder(err))
}

// isForbidden reports whether err says that this user may not look.
func isForbidden(err error) bool { return errors.Is(err, fs.ErrPermission) }

// trimLine removes the line ends after the only line of a file.
func trimLine(text string) string { return strings.TrimRight(text, "\r\n") }
