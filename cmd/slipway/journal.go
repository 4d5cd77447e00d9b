package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// The operator's tools for what is stored. They work in this process under the locks
// of the Runs, like embedded mode, and so also where a daemon is what is in doubt.

// journalVerifyCommand is `slipway journal verify`.
type journalVerifyCommand struct {
	place
	format
	All bool    `help:"Check every Run of the repository."`
	Run *string `arg:"" optional:"" help:"The id of a Run, which is shown record by record."`
}

func (c *journalVerifyCommand) run(s *session) error {
	s.at(c.place)
	if c.All == (c.Run != nil) {
		return usageFault{"give either a Run or --all"}
	}
	id := ""
	if c.Run != nil {
		if id = *c.Run; checkRunArgument(id) != nil {
			return checkRunArgument(id)
		}
	}
	report, err := s.keeper().Verify(context.Background(), s.caller(), id)
	if err != nil {
		return err
	}
	if err := s.printReport(report, c.JSON, paperOf(os.Stdout).verified(report, c.Run != nil)); err != nil {
		return err
	}
	switch {
	case report.Damaged():
		return schema.Runtime(schema.CodeRunJournalInvalid, schema.NextListRuns(s.place()), nil, "not every Run is sound: the report on stdout names what is wrong")
	case !report.Sound:
		return schema.Runtime(schema.CodeRunBusy, schema.NextListRuns(s.place()), nil, "not every Run could be examined: another operation holds those that the report on stdout names; repeat later")
	}
	return nil
}

// printReport prints a value for programs or for people.
func (s *session) printReport(report any, asJSON bool, text string) error {
	if asJSON {
		encoded, err := schema.Marshal(report)
		if err != nil {
			return err
		}
		text = string(jsonLine(encoded))
	}
	return s.printAnswer([]byte(text))
}

// verified is the report of a verification; of a single Run record by record.
func (p paper) verified(report *engine.Verification, closely bool) string {
	if len(report.Runs) == 0 {
		return "There is no Run in this repository.\n"
	}
	var parts []string
	for i := range report.Runs {
		parts = append(parts, p.checked(&report.Runs[i], closely))
	}
	return strings.Join(parts, "\n")
}

func (p paper) checked(r *engine.RunCheck, closely bool) string {
	page := p.page()
	page.fact("Run", r.ID)
	switch {
	case r.Sound:
		page.fact("Verdict", "sound")
	case r.Busy:
		page.styled("Verdict", "not examined:\n"+strings.Join(r.Faults, "\n"), red)
	default:
		page.styled("Verdict", "damaged:\n"+strings.Join(r.Faults, "\n"), red)
	}
	page.fact("Worktree", r.Workspace)
	page.fact("State", string(r.State))
	page.fact("Journal", fmt.Sprintf("%d records, %d bytes, end %s", len(r.Records), r.Bytes, r.Tail))
	materials := 0
	for _, m := range r.Materials {
		if m.Fault == "" {
			materials++
		}
	}
	page.fact("Materials", fmt.Sprintf("%d of %d sound", materials, len(r.Materials)))
	projection := string(r.Projection)
	if r.Revision > 0 {
		projection += fmt.Sprintf(", of record %d", r.Revision)
	}
	page.fact("Projection", projection)
	page.fact("Notes", strings.Join(r.Notes, "\n"))
	text := page.finish()
	if closely {
		text += "\n" + p.recordTable(r) + p.materialTable(r)
	}
	return text
}

func (p paper) recordTable(r *engine.RunCheck) string {
	t := table{heads: []string{"RECORD", "AT", "BYTES", "TYPE", "CHECKSUM"}, style: func(int) string { return "" }}
	for _, record := range r.Records {
		t.rows = append(t.rows, []string{
			fmt.Sprint(record.Sequence), record.At.Local().Format(time.DateTime), fmt.Sprint(record.Bytes), string(record.Type), record.Chain,
		})
	}
	return t.text(p)
}

func (p paper) materialTable(r *engine.RunCheck) string {
	if len(r.Materials) == 0 {
		return ""
	}
	t := table{heads: []string{"BYTES", "MATERIAL"}, style: func(int) string { return "" }}
	for _, m := range r.Materials {
		name := string(m.Digest)
		if m.Fault != "" {
			name += "  " + plain(m.Fault)
		}
		t.rows = append(t.rows, []string{fmt.Sprint(m.Bytes), name})
	}
	return "\n" + t.text(p)
}

// journalExportCommand is `slipway journal export`.
type journalExportCommand struct {
	place
	format
	Output string `placeholder:"FILE" help:"The archive to make; what exists is never overwritten (default: slipway-RUN.tar.gz in the working directory)."`
	Run    string `arg:"" help:"The id of the Run."`
}

// exportAnswer is the answer of an export.
type exportAnswer struct {
	*engine.Exported
	Archive string   `json:"archive"`
	Notes   []string `json:"notes"` // harmless things worth knowing
}

func (c *journalExportCommand) run(s *session) error {
	s.at(c.place)
	if err := checkRunArgument(c.Run); err != nil {
		return err
	}
	name := c.Output
	if name == "" {
		name = "slipway-" + c.Run + ".tar.gz"
	}
	var report *engine.Exported
	err := createFile(name, func(to io.Writer) (err error) {
		report, err = s.keeper().Export(context.Background(), s.caller(), c.Run, to)
		return err
	})
	if err != nil {
		return s.exportFailure(err, name)
	}
	page := newPage()
	page.fact("Archive", name)
	page.fact("Run", report.RunID)
	page.fact("Records", fmt.Sprint(report.Records))
	page.fact("Materials", fmt.Sprint(report.Materials))
	page.fact("Transcript", report.RunID+"/transcript.md, in the archive")
	page.styled("Damage", strings.Join(report.Faults, "\n"), red)
	notes := []string{}
	if s.inWorktree(name) {
		notes = append(notes, "the archive lies in the worktree, where it counts as a change unless Git ignores it: move it away, or name a place outside with --output")
	}
	page.fact("Note", strings.Join(notes, "\n"))
	return s.printReport(exportAnswer{report, name, notes}, c.JSON, page.finish())
}

// inWorktree tells whether a file lies in the worktree of the command.
func (s *session) inWorktree(name string) bool {
	w, err := s.keeper().Workspace(context.Background(), s.caller())
	if err != nil {
		return false
	}
	folder, err := filepath.Abs(filepath.Dir(name))
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return false
	}
	below, err := filepath.Rel(w.WorktreeRoot, folder)
	return err == nil && filepath.IsLocal(below)
}

// exportFailure says why there is no archive.
func (s *session) exportFailure(err error, name string) error {
	var failure *schema.Error
	if errors.As(err, &failure) {
		return err
	}
	if errors.Is(err, fs.ErrExist) {
		return s.runtimeError("the archive %s is there already: remove it, or name another file with --output", plain(name))
	}
	return s.runtimeError("the archive %s can not be made: %v", plain(name), reason(err))
}

// createFile makes a new file for its owner alone. Where it can not be completed
// there is none.
func createFile(name string, write func(io.Writer) error) error {
	const ownerFile = 0o600
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerFile)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(name) // what is wrong is reported already
	}
	return err
}

// journalPruneCommand is `slipway journal prune`.
type journalPruneCommand struct {
	place
	format
	All       bool          `help:"Every stopped or ended Run of this worktree."`
	OlderThan time.Duration `placeholder:"DURATION" default:"0s" help:"Only Runs without a change for that long, as in 90m or 720h, which are 30 days (default: 0s, however young)."`
	Remove    bool          `help:"Remove them for good. Without it, the command only lists them."`
	Run       *string       `arg:"" optional:"" help:"The id of a Run."`
}

func (c *journalPruneCommand) run(s *session) error {
	s.at(c.place)
	if c.All == (c.Run != nil) {
		return usageFault{"give either a Run or --all"}
	}
	if c.OlderThan < 0 {
		return usageFault{"--older-than needs a time of 0 or more, as in 90m or 720h"}
	}
	q := engine.PruneRequest{Older: c.OlderThan, Remove: c.Remove}
	if c.Run != nil {
		if q.Run = *c.Run; checkRunArgument(q.Run) != nil {
			return checkRunArgument(q.Run)
		}
	}
	report, err := s.keeper().Prune(context.Background(), s.caller(), q)
	if err != nil {
		return err
	}
	return s.printReport(report, c.JSON, paperOf(os.Stdout).pruned(report))
}

// pruned is the report of a removal, or of what one would do.
func (p paper) pruned(report *engine.Pruned) string {
	title, end := "These Runs would be removed:\n", "\nNothing was changed; --remove does it.\n"
	if report.Removed {
		title, end = "These Runs were removed:\n", ""
	}
	text := "No Run is to be removed.\n"
	if len(report.Runs) > 0 {
		t := table{heads: []string{"RUN", "STATE", "CHANGED", "BYTES", "GOAL"}, style: func(int) string { return "" }}
		for _, r := range report.Runs {
			t.rows = append(t.rows, []string{r.ID, string(r.State), since(r.UpdatedAt, p.now) + " ago", fmt.Sprint(r.Bytes), plain(r.Goal)})
		}
		text = title + t.text(p)
	} else {
		end = ""
	}
	if len(report.Kept) > 0 {
		text += "\nThese stay:\n"
		for _, k := range report.Kept {
			text += k.ID + "  " + plain(k.Reason) + "\n"
		}
	}
	return text + end
}
