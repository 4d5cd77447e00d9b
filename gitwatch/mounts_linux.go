package gitwatch

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// mounts is the table of mounts of this process. Mounting something over a folder
// is an event for no watch.
//
// Its file is opened without os.Open: Go's own poller would take the notice that
// the table changed.
type mounts struct {
	mu     sync.Mutex
	opened bool
	fd     int
	table  []mount
	err    error
	state  uint64 // counts how often the table changed
}

type mount struct {
	point string
	line  string
	id    string // empty: not looked up
}

// around gives the mounts that what is at one of the paths, or below it, may be
// on, as one text, and the count.
func (m *mounts) around(paths ...string) (text string, count uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refresh(); err != nil {
		return "", 0, err
	}
	var lines strings.Builder
	for i := range m.table {
		mount := &m.table[i]
		for _, path := range paths {
			if within(path, mount.point) || within(mount.point, path) {
				lines.WriteString(mount.line)
				lines.WriteString(m.idOf(mount))
				break
			}
		}
	}
	return lines.String(), m.state, nil
}

// idOf tells a mount from an earlier one at its place: the kernel gives the numbers
// in the table again. Before Linux 6.8 it has no others; then any change of the
// table counts.
func (m *mounts) idOf(one *mount) string {
	if one.id == "" {
		const uniqueID = unix.STATX_MNT_ID_UNIQUE
		var st unix.Statx_t
		err := unix.Statx(unix.AT_FDCWD, one.point, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_STATX_DONT_SYNC, uniqueID, &st)
		if err == nil && st.Mask&uniqueID != 0 {
			one.id = fmt.Sprintf("id %d\n", st.Mnt_id)
		} else {
			one.id = fmt.Sprintf("state %d\n", m.state)
		}
	}
	return one.id
}

// count gives a number that is another one after any mount was added, removed or
// changed.
func (m *mounts) count() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.refresh()
	return m.state, err
}

// stoodStill reports whether no mount changed since there were so many changes.
func (m *mounts) stoodStill(since uint64) bool {
	now, err := m.count()
	return err == nil && now == since
}

// below gives where something is mounted below root, relative to it.
func (m *mounts) below(root string) (paths []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refresh(); err != nil {
		return nil, err
	}
	for _, mount := range m.table {
		if path, err := filepath.Rel(root, mount.point); err == nil && path != "." && within(mount.point, root) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// refresh reads the table again if the kernel says that it changed.
func (m *mounts) refresh() error {
	if !m.opened {
		fd, err := openat(unix.AT_FDCWD, "/proc/self/mountinfo", unix.O_RDONLY)
		if err != nil {
			return &unwatchable{"the table of mounts can not be read: " + err.Error()}
		}
		m.fd, m.opened = fd, true
	} else if !m.changed() {
		return m.err
	}
	m.state++
	data, err := io.ReadAll(io.NewSectionReader(&treeFile{m.fd}, 0, maxMountTableBytes))
	m.table, m.err = mountsOf(string(data)), nil
	if err != nil || len(data) == maxMountTableBytes {
		m.err = &unwatchable{"the table of mounts can not be read"}
	}
	return m.err
}

func mountsOf(table string) (mounts []mount) {
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > mountPointField {
			mounts = append(mounts, mount{point: mountPoint.Replace(fields[mountPointField]), line: line})
		}
	}
	return mounts
}

const (
	maxMountTableBytes = 16 << 20
	mountPointField    = 4
)

// mountPoint undoes the escapes of the table.
var mountPoint = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// changed asks the kernel whether the table changed since it was asked last.
func (m *mounts) changed() bool {
	fds := []unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLPRI}}
	ready, err := unix.Poll(fds, 0)
	return err != nil || ready > 0
}

func (m *mounts) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opened {
		_ = unix.Close(m.fd)
	}
	m.opened = false
}
