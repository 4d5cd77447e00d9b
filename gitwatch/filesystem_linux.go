package gitwatch

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// watchableTypes are the file systems on which every change goes through this
// kernel, which then tells of it and stamps it with its own clock.
var watchableTypes = map[uint32]string{
	unix.EXT4_SUPER_MAGIC:      "ext4", // ext2 and ext3, too
	unix.XFS_SUPER_MAGIC:       "xfs",
	unix.BTRFS_SUPER_MAGIC:     "btrfs",
	unix.F2FS_SUPER_MAGIC:      "f2fs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	0x2fc12fc1:                 "zfs",
	0xca451a4e:                 "bcachefs",
}

// knownTypes name the usual ones among the others.
var knownTypes = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
	unix.FUSE_SUPER_MAGIC: "FUSE", unix.V9FS_MAGIC: "9p", unix.AFS_SUPER_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda",
	unix.MSDOS_SUPER_MAGIC: "FAT", unix.ECRYPTFS_SUPER_MAGIC: "eCryptfs", 0x786f4256: "vboxsf", 0xc36400: "Ceph",
}

// watchableAt fails where the file system at path may change without a notice.
func watchableAt(path string) error {
	var st unix.Statfs_t
	if err := uninterrupted(func() error { return unix.Statfs(path, &st) }); err != nil {
		return &unwatchable{"the file system can not be examined: " + err.Error()}
	}
	kind := uint32(st.Type)
	if _, ok := watchableTypes[kind]; ok {
		return nil
	}
	name, known := knownTypes[kind]
	if !known {
		name = fmt.Sprintf("0x%x", kind)
	}
	return &unwatchable{"unsupported file system: changes on " + name + " are not all told to this machine"}
}

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
}

type mount struct {
	point string
	line  string
}

// around gives the mounts that what is at one of the paths, or below it, may be
// on, as one text.
func (m *mounts) around(paths ...string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refresh(); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, mount := range m.table {
		for _, path := range paths {
			if within(path, mount.point) || within(mount.point, path) {
				text.WriteString(mount.line)
				break
			}
		}
	}
	return text.String(), nil
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
			mounts = append(mounts, mount{mountPoint.Replace(fields[mountPointField]), line})
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
