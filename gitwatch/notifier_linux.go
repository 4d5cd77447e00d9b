package gitwatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inotify is used without fsnotify between, which is in the way of a right
// answer in four places, each measured on Linux 6:
//
//   - It does not pass on IN_CLOSE_WRITE, the only event that a program causes
//     which changes a file through a memory mapping: such an edit stayed unseen.
//   - It keeps the path that a folder had when it was added: after the folder
//     above is renamed, events carry a path that no longer exists, also when the
//     folder is added again under its new one.
//   - It swallows IN_UNMOUNT and IN_IGNORED, so a watch can end silently.
//   - Its descriptor is out of reach, so a barrier needs a file to write to.
//
// The kernel queues an event before the system call that causes it returns, and
// hands out the queue in order. What was queued when a drain began is read by the
// time that as many bytes have been read: that is the barrier.
type inotify struct {
	file   *os.File // keeps the number from being given to another file while it is used
	conn   syscall.RawConn
	buffer []byte
}

const (
	// eventBufferBytes holds more than the longest event by far.
	eventBufferBytes = 64 << 10

	watchedEvents = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE |
		unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MOVE_SELF | unix.IN_DELETE_SELF |
		unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK
)

func newNotifier() (notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if errors.Is(err, unix.EMFILE) {
		return nil, &unwatchable{"limit: no further inotify instance is left (fs.inotify.max_user_instances)"}
	}
	if err != nil {
		return nil, &unwatchable{"inotify: " + err.Error()}
	}
	file := os.NewFile(uintptr(fd), "inotify")
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &inotify{file: file, conn: conn, buffer: make([]byte, eventBufferBytes)}, nil
}

func (n *inotify) add(path string) (id watchID, err error) {
	controlled := n.conn.Control(func(fd uintptr) {
		var wd int
		wd, err = unix.InotifyAddWatch(int(fd), path, watchedEvents)
		id = watchID(wd)
	})
	switch err := errors.Join(controlled, err); {
	case err == nil || isAbsence(err) || isForbidden(err):
		return id, err
	case errors.Is(err, unix.ENOSPC):
		return 0, errWatchLimit
	default:
		return 0, &unwatchable{"inotify: " + err.Error()}
	}
}

func (n *inotify) remove(id watchID) {
	_ = n.conn.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(id)) })
}

func (n *inotify) close() { _ = n.file.Close() }

func (n *inotify) wait(ready func()) {
	for n.conn.Read(func(fd uintptr) bool { return queuedBytes(fd) > 0 }) == nil {
		ready()
	}
}

func queuedBytes(fd uintptr) int {
	queued, err := unix.IoctlGetUint32(int(fd), unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return int(queued)
}

func (n *inotify) drain(take func(event)) (err error) {
	controlled := n.conn.Control(func(fd uintptr) {
		for left := queuedBytes(fd); left > 0; {
			var read int
			read, err = unix.Read(int(fd), n.buffer)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case err != nil:
				return
			}
			each(n.buffer[:read], take)
			left -= read
		}
	})
	return errors.Join(controlled, err)
}

// each hands on the events in data.
func each(data []byte, take func(event)) {
	for len(data) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(data[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(data[12:]))
		name, _, _ := bytes.Cut(data[unix.SizeofInotifyEvent:size], []byte{0})
		take(event{
			id:   watchID(binary.NativeEndian.Uint32(data)),
			name: string(name),
			what: happeningOf(mask),
		})
		data = data[size:]
	}
}

func happeningOf(mask uint32) (what happening) {
	for _, pair := range []struct {
		bits uint32
		what happening
	}{
		{unix.IN_MODIFY, written},
		{unix.IN_CLOSE_WRITE, closed},
		{unix.IN_CREATE | unix.IN_MOVED_TO, arrived},
		{unix.IN_DELETE | unix.IN_MOVED_FROM, left},
		{unix.IN_ISDIR, ofFolder},
		{unix.IN_IGNORED | unix.IN_DELETE_SELF, ended},
		{unix.IN_MOVE_SELF | unix.IN_UNMOUNT, displaced},
		{unix.IN_Q_OVERFLOW, lost},
	} {
		if mask&pair.bits != 0 {
			what |= pair.what
		}
	}
	return what
}

// watchShare is the part of the user's watches that this process takes at most,
// so that other programs find some left.
const watchShare = 2

// mostWatches is how many folders this process may watch.
func mostWatches() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return limit / watchShare
}
