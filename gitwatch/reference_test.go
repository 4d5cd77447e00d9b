package gitwatch

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"slipway/schema"
)

// The observation by the letter of git-observation.md: the plain questions one
// after the other, every file read at once, digests written out here. It shares
// nothing with what it checks and knows no limits.

func (s *sandbox) plainAnswer(root string, question ...string) ([]byte, string, error) {
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false", "-C", root}, question...)...)
	cmd.Env = append(append([]string(nil), s.realEnv...), "GIT_OPTIONAL_LOCKS=0")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	return out, complaint.String(), err
}

func (s *sandbox) reference(root string) schema.Observation {
	s.tb.Helper()
	head, complaint, err := s.plainAnswer(root, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil && complaint == "" {
		head = []byte("unborn\n")
	}
	index, _, err := s.plainAnswer(root, "ls-files", "--stage", "-z")
	s.must(err)
	answer, _, err := s.plainAnswer(root, "status", "--porcelain=v2", "-z", "--untracked-files=all")
	s.must(err)

	o := schema.Observation{
		Version: 1, Head: strings.TrimSuffix(string(head), "\n"),
		IndexFingerprint: sumOf(index), StatusFingerprint: sumOf(answer),
		ContentObservationComplete: true, ContentByteLimit: 67_108_864,
		DirtyFiles: []string{}, PathObservations: []schema.PathObservation{},
	}
	categories, states := referencePaths(string(answer))
	for path := range categories {
		o.DirtyFiles = append(o.DirtyFiles, path)
	}
	sort.Strings(o.DirtyFiles)
	o.PathCount = len(o.DirtyFiles)
	all := sha256.New()
	section(all, "path_count", fmt.Sprint(o.PathCount))
	for _, path := range o.DirtyFiles {
		p := s.referenceEntry(root, path)
		p.Category, p.State = joined(categories[path]), joined(states[path])
		o.PathObservations = append(o.PathObservations, p)
		switch p.Observation {
		case "missing", "unreadable", "content_unobserved":
			o.ContentObservationComplete = false
		case "regular":
			o.ContentBytesHashed += *p.Size
		case "oversize_sampled":
			o.ContentBytesHashed += 196_608
		}
		sections(all, p)
	}
	o.PathFingerprint = hexOf(all)
	o.SnapshotHash = referenceSnapshot(&o)
	return o
}

var recordForm = regexp.MustCompile(`(?s)^(?:1 (..) .{4} \d+ \d+ \d+ \w+ \w+ (.+)|2 (..) .{4} \d+ \d+ \d+ \w+ \w+ ([RC]\d+) (.+)|u (..) .{4} \d+ \d+ \d+ \d+ \w+ \w+ \w+ (.+)|\? (.+))$`)

func referencePaths(answer string) (categories, states map[string]map[string]bool) {
	categories, states = map[string]map[string]bool{}, map[string]map[string]bool{}
	add := func(path, category, state string) {
		if categories[path] == nil {
			categories[path], states[path] = map[string]bool{}, map[string]bool{}
		}
		categories[path][category], states[path][state] = true, true
	}
	records := strings.Split(strings.TrimSuffix(answer, "\x00"), "\x00")
	for i := 0; i < len(records) && answer != ""; i++ {
		m := recordForm.FindStringSubmatch(records[i])
		switch {
		case m == nil: // a header
		case m[1] != "":
			add(m[2], "ordinary", m[1])
		case m[3] != "":
			i++
			names := map[byte]string{'R': "rename", 'C': "copy"}
			name := names[m[4][0]]
			add(m[5], name, m[3]+" "+m[4])
			add(records[i], name+"_origin", m[3]+" "+m[4])
		case m[6] != "":
			add(m[7], "unmerged", m[6])
		default:
			add(m[8], "untracked", "??")
		}
	}
	return categories, states
}

func (s *sandbox) referenceEntry(root, path string) schema.PathObservation {
	p := schema.PathObservation{Path: path, Observation: "missing"}
	at := root
	var info os.FileInfo
	for _, element := range strings.Split(strings.TrimSuffix(path, "/"), "/") {
		if info != nil && !info.IsDir() {
			return p
		}
		at = filepath.Join(at, element)
		var err error
		if info, err = os.Lstat(at); err != nil {
			return p
		}
	}
	size, modified := info.Size(), info.ModTime().UnixNano()
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(at)
		s.must(err)
		size = int64(len(target))
		p.Observation, p.ContentFingerprintKind, p.ContentSHA256 = "symlink", "symlink_target_sha256", sumOf([]byte(target))
	case !info.Mode().IsRegular():
		p.Observation = "non_regular"
	default:
		data, err := os.ReadFile(at)
		s.must(err)
		p.ModifiedUnixNano = &modified
		p.Observation, p.ContentFingerprintKind, p.ContentSHA256 = "regular", "full_sha256", sumOf(data)
		if size > 16_777_216 {
			p.Observation, p.ContentFingerprintKind, p.ContentSHA256 = "oversize_sampled", "oversize_samples_v1", sampledOf(data)
		}
	}
	p.Size = &size
	return p
}

func sampledOf(data []byte) schema.Digest {
	h := sha256.New()
	section(h, "mode", "oversize_samples_v1")
	section(h, "size", fmt.Sprint(len(data)))
	for _, offset := range []int{0, len(data)/2 - 32_768, len(data) - 65_536} {
		section(h, "offset", fmt.Sprint(offset))
		section(h, "sample", string(data[offset:offset+65_536]))
	}
	return hexOf(h)
}

func referenceSnapshot(o *schema.Observation) schema.Digest {
	h := sha256.New()
	for _, field := range []struct {
		name  string
		value any
	}{
		{"version", o.Version}, {"head", o.Head}, {"index_fingerprint", o.IndexFingerprint},
		{"status_fingerprint", o.StatusFingerprint}, {"path_count", o.PathCount}, {"path_fingerprint", o.PathFingerprint},
		{"details_truncated", o.DetailsTruncated}, {"content_observation_complete", o.ContentObservationComplete},
		{"content_bytes_hashed", o.ContentBytesHashed}, {"content_byte_limit", o.ContentByteLimit},
		{"content_byte_limit_exceeded", o.ContentByteLimitExceeded}, {"content_deadline_exceeded", o.ContentDeadlineExceeded},
		{"retained_path_count", len(o.PathObservations)},
	} {
		section(h, field.name, fmt.Sprint(field.value))
	}
	for _, p := range o.PathObservations {
		sections(h, p)
	}
	return hexOf(h)
}

func sections(h hash.Hash, p schema.PathObservation) {
	number := func(n *int64) string {
		if n == nil {
			return "unknown"
		}
		return fmt.Sprint(*n)
	}
	section(h, "path", p.Path)
	section(h, "category", p.Category)
	section(h, "state", p.State)
	section(h, "observation", string(p.Observation))
	section(h, "size", number(p.Size))
	section(h, "modified_unix_nano", number(p.ModifiedUnixNano))
	section(h, "content_sha256", string(p.ContentSHA256))
	section(h, "content_fingerprint_kind", p.ContentFingerprintKind)
}

func section(h hash.Hash, name, content string) {
	fmt.Fprintf(h, "\x00%s\x00%d\x00%s", name, len(content), content)
}

func hexOf(h hash.Hash) schema.Digest { return schema.Digest(fmt.Sprintf("sha256:%x", h.Sum(nil))) }

func sumOf(data []byte) schema.Digest {
	return schema.Digest(fmt.Sprintf("sha256:%x", sha256.Sum256(data)))
}

func joined(set map[string]bool) string {
	var values []string
	for value := range set {
		values = append(values, value)
	}
	sort.Strings(values)
	return strings.Join(values, ",")
}
