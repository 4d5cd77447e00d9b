package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"slipway/rpc"
	"slipway/schema"
)

// The commands that operate the daemon (daemon.md, 3.3 and 6). No host depends
// on them.

// daemonStartCommand is `slipway daemon start`.
type daemonStartCommand struct {
	patience
	format
}

func (c *daemonStartCommand) run(s *session) error {
	return s.health(rpc.Start, c.patience, c.JSON)
}

// daemonStopCommand is `slipway daemon stop`.
type daemonStopCommand struct {
	patience
}

func (c *daemonStopCommand) run(s *session) error {
	s.at(place{patience: c.patience})
	ended, err := rpc.Stop(context.Background(), s.options())
	if err != nil {
		return err
	}
	text := "No daemon was running.\n"
	if ended {
		text = "The daemon is stopped. The next command that needs one starts it again.\n"
	}
	return s.printAnswer([]byte(text))
}

// daemonRestartCommand is `slipway daemon restart`.
type daemonRestartCommand struct {
	patience
	format
}

func (c *daemonRestartCommand) run(s *session) error {
	return s.health(rpc.Restart, c.patience, c.JSON)
}

// daemonStatusCommand is `slipway daemon status`.
type daemonStatusCommand struct {
	patience
	format
	Prometheus bool `help:"Print the figures in the text format of Prometheus."`
}

func (c *daemonStatusCommand) run(s *session) error {
	switch {
	case c.Prometheus && c.JSON:
		s.setRoot("")
		return usageFault{"give one of --json and --prometheus"}
	case c.Prometheus:
		s.at(place{patience: c.patience})
		health, err := rpc.Status(context.Background(), s.options())
		if err != nil {
			return err
		}
		return s.printAnswer([]byte(health.Prometheus()))
	}
	return s.health(rpc.Status, c.patience, c.JSON)
}

// health does something with the daemon and prints how it is afterwards.
func (s *session) health(do func(context.Context, rpc.Options) (*rpc.Health, error), p patience, asJSON bool) error {
	s.at(place{patience: p})
	health, err := do(context.Background(), s.options())
	if err != nil {
		return err
	}
	if !asJSON {
		return s.printAnswer([]byte(healthText(health)))
	}
	answer, err := schema.Marshal(health)
	if err != nil {
		return err
	}
	return s.printAnswer(jsonLine(answer))
}

// daemonLogsCommand is `slipway daemon logs`.
type daemonLogsCommand struct {
	Lines int `default:"50" placeholder:"N" help:"How many lines to show, from the end (default: 50)."`
}

func (c *daemonLogsCommand) run(s *session) error {
	s.setRoot("")
	where, err := rpc.Place(context.Background(), nil)
	if err != nil {
		return err
	}
	if c.Lines < 1 {
		return usageFault{"--lines needs a number of lines, 1 or more"}
	}
	lines, err := rpc.LogTail(where.LogPath(), c.Lines)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return s.printAnswer([]byte("The daemon has written no log yet; it would be " + schema.Harmless(where.LogPath()) + ".\n"))
	}
	return s.printAnswer([]byte(strings.Join(lines, "\n") + "\n"))
}

func microseconds(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

func syncText(p50, p99 int64) string {
	if p99 == 0 {
		return ""
	}
	return fmt.Sprintf("half within %v, 99 of 100 within %v", microseconds(p50), microseconds(p99))
}

// healthText is the daemon's health for people.
func healthText(h *rpc.Health) string {
	p := newPage()
	p.fact("Daemon", map[bool]string{true: "running", false: "not running"}[h.Running])
	p.fact("Mode here", h.Mode)
	p.fact("Reason", h.ModeReason)
	p.fact("Socket", h.Socket)
	if f := h.Figures; f != nil {
		p.fact("Process", fmt.Sprint(f.PID))
		p.fact("Version", f.Version)
		p.fact("Up since", f.StartedAt.Local().Format(time.DateTime))
		p.fact("Connections", fmt.Sprintf("%d, with %d subscriptions", f.Connections, f.Subscriptions))
		p.fact("Calls", fmt.Sprintf("%d, of these %d failed and %d in flight", f.CallsTotal, f.CallsFailed, f.CallsInFlight))
		p.fact("Runs", fmt.Sprintf("%d in memory, %d active", f.RunsCached, f.RunsActive))
		for _, w := range f.Worktrees {
			p.fact("Worktree", fmt.Sprintf("%s (%s) %s", w.Root, w.Mode, w.Reason))
		}
		p.fact("Syncs", syncText(f.JournalSyncP50US, f.JournalSyncP99US))
		p.fact("Memory", fmt.Sprintf("%d MiB, %d open files", f.RSSBytes>>20, f.OpenFiles))
		for _, name := range slices.Sorted(maps.Keys(f.Methods)) {
			m := f.Methods[name]
			p.fact(name, fmt.Sprintf("%d calls, half within %v, 99 of 100 within %v", m.Count, microseconds(m.P50US), microseconds(m.P99US)))
		}
		if last := f.LastError; last != nil {
			p.fact("Last error", last.Code+" at "+last.At.Local().Format(time.DateTime))
		}
	}
	for _, problem := range h.Problems {
		p.fact("Problem", problem.Code+": "+problem.Message)
		p.fact("Remedy", problem.Remedy)
	}
	return p.finish()
}
