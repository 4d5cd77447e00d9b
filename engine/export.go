package engine

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"strings"
	"time"

	"slipway/journal"
	"slipway/schema"
)

// Exported is what went into an archive.
type Exported struct {
	RunID     string   `json:"id"`
	Sound     bool     `json:"sound"`  // as [Keeper.Verify] has it
	Faults    []string `json:"faults"` // why the Run is not
	Records   int      `json:"records"`
	Materials int      `json:"materials"`
	Files     []string `json:"files"` // in the archive
}

// Names of the files in an archive, below a folder named for the Run.
const (
	exportedJournal    = "journal.jsonl"
	exportedTranscript = "transcript.md"
	exportedMaterials  = "materials/"
)

// Export writes one stored Run as a gzipped tar archive: its journal as it is, its
// materials, and a transcript that people can read. A damaged Run is exported, too,
// as far as it goes: the archive is what one sends to whoever is to look at it. The
// same Run gives the same bytes.
//
// It writes nothing but the archive. The error is about the place, the storage, an id
// that is none, or that of to.
func (k *Keeper) Export(ctx context.Context, caller Caller, id string, to io.Writer) (*Exported, error) {
	if f := runIDFormFault(id); f != nil {
		return nil, f.At(k.Place(ctx, caller))
	}
	v, err := k.visit(ctx, caller, journal.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer v.store.Close()
	x, err := v.examine(ctx, id)
	if err != nil {
		return nil, v.readFailure(id, err)
	}
	a := newArchive(id, x.lastChange(), to)
	if x.stored.Journal != nil {
		a.add(exportedJournal, x.stored.Journal)
	}
	a.add(exportedTranscript, []byte(transcript(x)))
	report := &Exported{RunID: id, Sound: x.Sound, Faults: x.Faults, Records: len(x.Records)}
	for _, m := range x.Materials {
		if content, err := v.store.Material(id, m.Digest); err == nil {
			a.add(exportedMaterials+strings.TrimPrefix(string(m.Digest), "sha256:"), []byte(content))
			report.Materials++
		}
	}
	report.Files = a.files
	if err := a.close(); err != nil {
		return nil, schema.Runtime(schema.CodeRuntimeError, schema.NextInspectRun(v.place(), id), nil, "the archive can not be written: %v", err)
	}
	return report, nil
}

// lastChange is the time of the last sound record.
func (x *examination) lastChange() time.Time {
	if n := len(x.Records); n > 0 {
		return x.Records[n-1].At
	}
	return time.Unix(0, 0)
}

// archive is a tar file in the making; its first error is that of close.
type archive struct {
	folder string
	at     time.Time
	gzip   *gzip.Writer
	tar    *tar.Writer
	files  []string
	err    error
}

func newArchive(folder string, at time.Time, to io.Writer) *archive {
	zipped := gzip.NewWriter(to)
	return &archive{folder: folder, at: at.UTC().Truncate(time.Second), gzip: zipped, tar: tar.NewWriter(zipped)}
}

func (a *archive) add(name string, content []byte) {
	if a.err != nil {
		return
	}
	name = a.folder + "/" + name
	a.files = append(a.files, name)
	const ownerFile = 0o600
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: ownerFile, ModTime: a.at, Format: tar.FormatPAX}
	if a.err = a.tar.WriteHeader(header); a.err == nil {
		_, a.err = a.tar.Write(content)
	}
}

func (a *archive) close() error {
	for _, end := range []func() error{a.tar.Close, a.gzip.Close} {
		if err := end(); a.err == nil {
			a.err = err
		}
	}
	return a.err
}
