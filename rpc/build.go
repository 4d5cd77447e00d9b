package rpc

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Stamps of a release, set by the linker:
//
//	-ldflags "-X slipway/rpc.version=v1.2.3 -X slipway/rpc.revision=0123abc -X slipway/rpc.revisionTime=2026-01-02T03:04:05Z"
//
// A build without them takes what the go command recorded.
var version, revision, revisionTime string

// dirtyMark ends the Revision of a build from a changed worktree.
const dirtyMark = "+dirty"

// devVersion is the version of a build that carries none.
const devVersion = "dev"

// Build is the identity of a slipwayd (daemon.md, 3.2): the stamps of its
// release, and the executable itself for builds that have none.
type Build struct {
	Version      string    // "dev" without a stamp
	Revision     string    // VCS revision, ending in "+dirty" for a changed worktree; "" unknown
	RevisionTime time.Time // zero where unknown
	Digest       string    // of the executable; "" unknown
	Modified     time.Time // of the executable file
}

// stamps are the parts of a Build that this very program carries.
var stamps = sync.OnceValue(readStamps)

func readStamps() Build {
	b := Build{Version: version, Revision: revision}
	when := revisionTime
	if info, ok := debug.ReadBuildInfo(); ok && version == "" && revision == "" {
		if info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		settings := make(map[string]string)
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		b.Revision, when = settings["vcs.revision"], settings["vcs.time"]
		if settings["vcs.modified"] == "true" {
			b.Revision += dirtyMark
		}
	}
	b.Version = cmp.Or(b.Version, devVersion)
	if t, err := time.ParseInLocation(time.RFC3339, when, time.UTC); err == nil {
		b.RevisionTime = t.UTC()
	}
	return b
}

// OwnBuild is the identity of the program that runs. `slipwayd --build` prints
// it, for clients that compare the daemon they could start with the one that
// runs.
func OwnBuild() Build {
	b := stamps()
	if path, err := ownExecutable(); err == nil {
		// A file that can not be read has no identity: the stamps are what is left.
		b.Digest, b.Modified, _ = fileIdentity(path)
	}
	return b
}

// stamped tells whether the stamps alone identify the build.
func (b Build) stamped() bool {
	return b.Revision != "" && !strings.HasSuffix(b.Revision, dirtyMark)
}

// Same tells whether the two are one build.
func (b Build) Same(other Build) bool {
	if b.stamped() && other.stamped() {
		return b.Version == other.Version && b.Revision == other.Revision
	}
	return b.Digest != "" && b.Digest == other.Digest
}

// Newer tells whether b is certainly the newer build of the two. Two builds of
// which neither is newer are the same or can not be compared. It is
// antisymmetric, so two installed builds never replace each other in turn.
func (b Build) Newer(other Build) bool {
	if b.Same(other) {
		return false
	}
	if b.stamped() && other.stamped() {
		return cmp.Or(compareVersions(b.Version, other.Version), b.RevisionTime.Compare(other.RevisionTime)) > 0
	}
	return !other.Modified.IsZero() && b.Modified.After(other.Modified)
}

// Name is the version of the build for people, with what tells it from others of
// the same version.
func (b Build) Name() string {
	short := cmp.Or(b.Revision, b.Digest)
	return strings.TrimSpace(b.Version + " " + short[:min(len(short), 12)])
}

// String is the identity on the wire: five words, "-" for what is unknown.
func (b Build) String() string {
	words := []string{b.Version, b.Revision, instant(b.RevisionTime), b.Digest, instant(b.Modified)}
	for i, word := range words {
		words[i] = cmp.Or(word, "-")
	}
	return strings.Join(words, " ")
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ParseBuild reads what [Build.String] wrote.
func ParseBuild(s string) (Build, error) {
	words := strings.Split(s, " ")
	if len(words) != 5 {
		return Build{}, fmt.Errorf("a build identity has five words, not %d", len(words))
	}
	for i, word := range words {
		if word == "-" {
			words[i] = ""
		}
	}
	b := Build{Version: words[0], Revision: words[1], Digest: words[3]}
	for i, into := range map[int]*time.Time{2: &b.RevisionTime, 4: &b.Modified} {
		if words[i] == "" {
			continue
		}
		t, err := time.ParseInLocation(time.RFC3339Nano, words[i], time.UTC)
		if err != nil {
			return Build{}, fmt.Errorf("word %d of a build identity is no instant", i+1)
		}
		*into = t
	}
	return b, nil
}

// How much of an executable is searched for its build id, in bytes. The linker puts
// it in a note right after the headers of an ELF file, and in every file at the start
// of the text.
const (
	headerBytes   = 4 << 10
	identityBytes = 64 << 10
)

// fileIdentity gives the digest and the time of an executable. It reads the
// start of the file only, so that every call of a client can afford it.
func fileIdentity(path string) (digest string, modified time.Time, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", time.Time{}, err
	}
	for _, size := range []int{headerBytes, identityBytes} {
		start := make([]byte, size)
		n, err := f.ReadAt(start, 0)
		if err != nil && err != io.EOF {
			return "", time.Time{}, err
		}
		if id := goBuildID(start[:n]); id != "" {
			return id, info.ModTime().UTC(), nil
		}
	}
	return fmt.Sprintf("file-%d-%d", info.Size(), info.ModTime().UnixNano()), info.ModTime().UTC(), nil
}

// goBuildID finds the id that the go command gave an executable. The id's last
// part is a digest of the content, which is enough; "" where there is none.
func goBuildID(start []byte) string {
	id := textBuildID(start)
	if id == "" {
		id = noteBuildID(start)
	}
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return ""
		}
	}
	return id
}

var (
	textMark = []byte("\xff Go build ID: \"")
	textEnd  = []byte("\"\n \xff")
	noteMark = []byte("\x04\x00\x00\x00Go\x00\x00") // type 4 of the owner "Go"
)

func textBuildID(start []byte) string {
	_, rest, found := bytes.Cut(start, textMark)
	if !found {
		return ""
	}
	id, _, found := bytes.Cut(rest, textEnd)
	if !found {
		return ""
	}
	return string(id)
}

// noteBuildID reads the ELF note: sizes of name and description, type, name,
// description. External linkers leave it where the text may be too far away.
func noteBuildID(start []byte) string {
	at := bytes.Index(start, noteMark)
	if at < 8 {
		return ""
	}
	size := uint64(binary.LittleEndian.Uint32(start[at-4:]))
	rest := start[at+len(noteMark):]
	if size == 0 || size > uint64(len(rest)) {
		return ""
	}
	id := rest[:size]
	if bytes.ContainsFunc(id, func(r rune) bool { return r > '~' || r < ' ' }) {
		return hex.EncodeToString(id)
	}
	return string(id)
}

// Release is what --version tells people.
type Release struct {
	Version string // "dev" in a build without one
	Commit  string // "unknown" where the build does not know
	Date    string // of the commit; "unknown" likewise
}

// Version is the release of this program.
func Version() Release {
	b := stamps()
	return Release{Version: b.Version, Commit: cmp.Or(b.Revision, "unknown"), Date: cmp.Or(instant(b.RevisionTime), "unknown")}
}

// String gives three lines, the first with the product's name and the version.
func (r Release) String() string {
	return fmt.Sprintf("slipway %s\ncommit %s\ndate %s\n", r.Version, r.Commit, r.Date)
}
