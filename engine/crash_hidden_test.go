package engine_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/engine"
	"slipway/journal/crashfs"
	"slipway/journal/faultfs"
	"slipway/schema"
)

// statesOfACut bounds the disks that are tried for one cut.
const statesOfACut = 64 / crashStride

// killing gives a process that dies at its n-th change of the disk after the first one that
// trigger accepts, which has the fault, and tells whether it got that far.
func killing(disk *crashfs.Disk, n int, fault error, trigger func(kind, at string) bool) (p *crashfs.Process, died func() bool) {
	p = disk.Process()
	left, dead := -1, false
	p.Before = func(kind, at string) error {
		switch {
		case left < 0 && trigger(kind, at):
			left = n
			return fault
		case left > 0 && len(kindsOfFaults(kind)) > 1:
			left--
			if dead = left == 0; dead {
				p.Kill()
			}
		}
		return nil
	}
	return p, func() bool { return dead }
}

// halfARun looks for a Run of which only a part is there once the power is cut: now,
// and after each change of another process, which sweeps.
func halfARun(disk *crashfs.Disk, sweep func(o *operator) error) string {
	look := func(disk *crashfs.Disk, when string) string {
		for state := range disk.Cut(0).States(statesOfACut) {
			report, err := newOperator(state.Disk.Process(), true).keeper.Verify(context.Background(), paperCaller, "")
			if err != nil {
				return fmt.Sprintf("%s, disk [%s]: %v", when, state.Name, err)
			}
			for _, r := range report.Runs {
				if !r.Sound {
					return fmt.Sprintf("%s, disk [%s]: %s", when, state.Name, strings.Join(r.Faults, "; "))
				}
			}
		}
		return ""
	}
	if fault := look(disk, "after the death"); fault != "" {
		return fault
	}
	for state := range disk.Cut(0).States(statesOfACut) {
		o := newOperator(state.Disk.Process(), true)
		o.ids, o.git.worktree = 1_000_000, clean
		if err := sweep(o); err != nil {
			return fmt.Sprintf("disk [%s]: %v", state.Name, err)
		}
		if fault := look(state.Disk, "disk ["+state.Name+"], swept"); fault != "" {
			return fault
		}
	}
	fault := ""
	disk.After = func(op crashfs.Op) {
		if op.Changes && fault == "" {
			fault = look(disk, fmt.Sprintf("after %s %s of the next one", op.Kind, op.Path))
		}
	}
	o := newOperator(disk.Process(), true)
	o.ids, o.git.worktree = 1_000_000, clean
	if err := sweep(o); err != nil && fault == "" {
		fault = err.Error()
	}
	return fault
}

// TestDeathWhileAStartIsTakenBack: the name of a new Run could not be made durable,
// so the start takes the Run back, and dies over it.
func TestDeathWhileAStartIsTakenBack(t *testing.T) {
	if fault := takenBack(t, nil); fault != "" {
		t.Error(fault)
	}
}

func takenBack(t testing.TB, fate func(string) crashfs.SyncFate) string {
	for _, fault := range []error{syscall.EIO, &faultfs.Done{Err: syscall.EIO}} {
		for n, died := 1, true; died; n++ {
			var violation string
			if violation, died = takenBackUntil(t, fate, fault, n); violation != "" {
				return fmt.Sprintf("%v, death at change %d: %s", fault, n, violation)
			}
		}
	}
	return ""
}

// takenBackUntil lets the process die at the n-th change after the fault of the sync
// that makes the name durable, and tells whether it got that far.
func takenBackUntil(t testing.TB, fate func(string) crashfs.SyncFate, fault error, n int) (violation string, died bool) {
	q := engine.StartRequest{Goal: "begin", Budget: 9, Source: newIssue().envelope(t)}
	disk := crashfs.New(testWorkspace.GitCommonDir)
	disk.Fate = fate
	renamed := false
	files, dead := killing(disk, n, fault, func(kind, at string) bool {
		trigger := renamed && kind == "sync"
		renamed = renamed || kind == "rename" && strings.HasPrefix(at, "slipway/runs/")
		return trigger
	})
	o := newOperator(files, true)
	o.git.worktree = clean
	_, told := o.keeper.Start(context.Background(), paperCaller, q)
	if !dead() {
		if codeOf(told) != schema.CodeMutationOutcomeAmbiguous {
			violation = fmt.Sprintf("told %v", told)
		}
		return violation, false
	}
	return halfARun(disk, func(o *operator) error {
		_, err := o.keeper.Start(context.Background(), paperCaller, q)
		return err
	}), true
}

// TestDeathDuringARemoval: another process sweeps what is left, whose name may not be
// gone for good yet.
func TestDeathDuringARemoval(t *testing.T) {
	if fault := sweptForGood(t, nil); fault != "" {
		t.Error(fault)
	}
}

func sweptForGood(t testing.TB, fate func(string) crashfs.SyncFate) string {
	ctx := context.Background()
	base := crashfs.New(testWorkspace.GitCommonDir)
	base.Fate = fate
	o := newOperator(base.Process(), true)
	o.git.worktree = clean
	state, err := o.keeper.Start(ctx, paperCaller, engine.StartRequest{Goal: "end", Budget: 9, Source: newIssue().envelope(t)})
	if err == nil {
		_, err = o.keeper.Stop(ctx, paperCaller, engine.StopRequest{Run: state.RunID})
	}
	if err != nil {
		return err.Error()
	}
	for n := 1; ; n++ {
		disk := base.Copy()
		files, died := killing(disk, n, nil, func(string, string) bool { return true })
		_, told := newOperator(files, true).keeper.Prune(ctx, paperCaller, engine.PruneRequest{Run: state.RunID, Remove: true})
		fault := halfARun(disk, func(o *operator) error {
			_, err := o.keeper.Prune(ctx, paperCaller, engine.PruneRequest{Remove: true, Older: 1000 * time.Hour}) // sweeps alone
			return err
		})
		if fault != "" {
			return fmt.Sprintf("death at change %d: %s", n, fault)
		}
		if !died() {
			if told != nil {
				return told.Error()
			}
			return ""
		}
	}
}
